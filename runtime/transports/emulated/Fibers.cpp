//===- Fibers.cpp - ranks that take turns on one thread ---------------------------------------------------------===//
#include "transports/emulated/Fibers.h"
#include "core/RankLocal.h"
#include <deque>
#include <ucontext.h>
#include <vector>

namespace braid::runtime {

static thread_local Fibers *current = nullptr;

struct Fibers::State {
  static constexpr size_t stackBytes = 1 << 20; ///< touched as far as it is used
  std::vector<ucontext_t> contexts;
  std::vector<void *> locals; ///< of each fiber, see RankLocal.h
  std::vector<std::unique_ptr<char[]>> stacks;
  std::deque<int> ready;
  int running = -1;
  ucontext_t home;
  const std::function<void(int)> *body = nullptr;

  /// Gives the thread to the next that is ready; the first context, when none is.
  void yield(ucontext_t &from) {
    running = -1;
    if (!ready.empty()) {
      running = ready.front();
      ready.pop_front();
    }
    ucontext_t *next = running < 0 ? &home : &contexts[size_t(running)];
    useRankLocal(running < 0 ? nullptr : &locals[size_t(running)]);
    if (next != &from)
      swapcontext(&from, next);
  }
  static void start(unsigned low, unsigned high, unsigned rank) {
    auto *state = reinterpret_cast<State *>(uintptr_t(high) << 32 | low);
    (*state->body)(int(rank));
    state->yield(state->contexts[rank]);
  }
};

Fibers::Fibers(int ranks) : state(new State) {
  state->contexts.resize(size_t(ranks));
  state->locals.resize(size_t(ranks));
  for (int rank = 0; rank < ranks; ++rank)
    state->stacks.emplace_back(new char[State::stackBytes]);
}
Fibers::~Fibers() = default;

void Fibers::run(const std::function<void(int)> &body) {
  State &s = *state;
  s.body = &body;
  for (size_t rank = 0; rank < s.contexts.size(); ++rank) {
    ucontext_t &context = s.contexts[rank];
    getcontext(&context);
    context.uc_stack.ss_sp = s.stacks[rank].get();
    context.uc_stack.ss_size = State::stackBytes;
    context.uc_link = &s.home;
    uintptr_t self = reinterpret_cast<uintptr_t>(&s);
    makecontext(&context, reinterpret_cast<void (*)()>(&State::start), 3, unsigned(self), unsigned(self >> 32),
                unsigned(rank));
    s.ready.push_back(int(rank));
  }
  Fibers *outer = current;
  current = this;
  s.yield(s.home);
  current = outer;
}

Fibers *Fibers::running() { return current; }

bool Fibers::othersReady() const { return !state->ready.empty(); }

void Fibers::yield() {
  int me = state->running;
  state->ready.push_back(me);
  state->yield(state->contexts[size_t(me)]);
}

void Fibers::park(int rank, std::atomic<uint32_t> &word, uint32_t seen, double) {
  if (word.load(std::memory_order_acquire) == seen)
    state->yield(state->contexts[size_t(rank)]);
}

void Fibers::unpark(int rank, std::atomic<uint32_t> &) {
  if (rank != state->running) // else it was about to park, and will not
    state->ready.push_back(rank);
}

} // namespace braid::runtime
