//===- Main.cpp - ranks that run collectives by NCCL, or by the stand-in --------------------------------------------===//
//
//   nccl_ranks                  this process is a rank (braid-launch): every collective on a device, checked; a subset; then where it ran
//   nccl_ranks --modulo N       before that it makes the device of its rank modulo N current, as programs wrongly do
//   nccl_ranks --survive        the last rank ends early, the others go on in a communicator of their own
//   nccl_ranks --misuse         calls the library as it must not be called: each call has to be refused
//   nccl_ranks --library        what the library has: "version 2.28.9, 21 of 21 functions"
//   --deadline SECONDS          for ranks that are stuck; 60
//   --transport NAME            of messages that are not NCCL's
//
// The last line of a rank is "rank R on HOST: device D, N cases".
//===------------------------------------------------------------------------------------------------------------===//
#include "braid/runtime/braid_module.h"
#include "test/conformance/Check.h"
#include "test/conformance/Device.h"
#include "test/nccl/Misuse.h"
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <unistd.h>

using namespace braid;
using namespace braid::test;

namespace {

/// All collectives in some forms: types and reductions, apart and in place, one tensor and three, blocks of one size and of several. Every
/// root in the first form.
int collectives(braid_comm *comm, int ranks, int forms) {
  int cases = 0;
  Case one;
  one.ranks = ranks;
  one.memory = BRAID_MEMORY_DEVICE;
  one.tags = false;
  for (int c = BRAID_ALL_REDUCE; c <= BRAID_BARRIER; ++c)
    for (int form = 0; form < forms; ++form) {
      one.collective = braid_collective(c);
      one.type = form % 3 == 0 ? BRAID_F32 : form % 3 == 1 ? BRAID_BF16 : BRAID_I64;
      one.reduction = form == 1 ? BRAID_AVERAGE : form == 2 ? BRAID_MAX : BRAID_SUM;
      one.count = form == 5 ? 100003 : 1000 + size_t(form);
      one.place = form % 2 ? Case::InPlace : Case::Apart;
      one.tensors = form == 4 ? 3 : 1;
      one.ragged = c == BRAID_ALL_TO_ALL && form == 1;
      if (c == BRAID_RECV || (c == BRAID_SEND && ranks < 2) || (form && c == BRAID_BARRIER))
        continue;
      for (one.root = form % ranks; one.root < (one.rooted() && form == 0 ? ranks : form % ranks + 1);
           ++one.root, ++cases) {
        std::vector<Data> data;
        data.emplace_back(one, 0);
        data.emplace_back(one, 1);
        if (Verdict verdict = runCase(one, data, comm); !verdict.problem.empty())
          fail(one.text() + ": " + verdict.problem);
      }
    }
  return cases;
}

/// The last rank dies. The others hear of it in the operation that it is missed in, and go on without it.
[[noreturn]] void survive(braid_comm *comm, int rank, int ranks) {
  if (rank == ranks - 1)
    _exit(0);
  braid_op_options options = {};
  options.size = sizeof options;
  options.collective = BRAID_BARRIER;
  braid_op *op = nullptr;
  if (braid_op_plan(comm, &options, &op))
    fail(braid_last_error());
  if (!braid_op_start(op) && !braid_op_wait(op))
    fail("expected to hear that rank " + std::to_string(ranks - 1) + " has died, got a barrier of all ranks");
  std::fprintf(stderr, "rank %d heard: %s\n", rank, braid_last_error());
  std::vector<int32_t> others;
  for (int each = 0; each + 1 < ranks; ++each)
    others.push_back(each);
  braid_comm *left = nullptr;
  if (braid_comm_subset(comm, others.data(), others.size(), &left))
    fail(braid_last_error());
  int cases = collectives(left, ranks - 1, 1);
  if (braid_comm_destroy(left))
    fail(braid_last_error());
  std::printf("rank %d goes on: %d cases\n", rank, cases);
  std::fflush(stdout);
  _exit(0);
}

/// Rank `rank` is in one of two halves; both run beside each other.
int halves(braid_comm *comm, int rank, int ranks) {
  std::vector<int32_t> mine;
  for (int each = rank % 2; each < ranks; each += 2)
    mine.push_back(each);
  braid_comm *half = nullptr, *turned = nullptr;
  if (braid_comm_subset(comm, mine.data(), mine.size(), &half))
    fail(braid_last_error());
  int cases = collectives(half, int(mine.size()), 1);
  std::vector<int32_t> all;
  for (int each = 0; each < ranks; ++each)
    all.push_back(ranks - 1 - each);
  if (braid_comm_subset(comm, all.data(), all.size(), &turned))
    fail(braid_last_error());
  cases += collectives(turned, ranks, 1);
  if (braid_comm_destroy(turned) || braid_comm_destroy(half))
    fail(braid_last_error());
  for (int32_t other = 1; other < ranks && (rank == 0 || other <= rank);
       ++other) // rank 0 is in more of them than the others
    if (int32_t two[] = {0, other}; rank == 0 || rank == other) {
      braid_comm *pair = nullptr;
      if (braid_comm_subset(comm, two, 2, &pair))
        fail(braid_last_error());
      cases += collectives(pair, 2, 1);
      if (braid_comm_destroy(pair))
        fail(braid_last_error());
    }
  return cases;
}

/// A site of a compiled module whose plan names NCCL: the sum over all ranks of their numbers, and one.
int compiled(braid_comm *comm, int rank, int ranks) {
  // Version 4, site 0: all_reduce (0) of f32 (13), sum, memory of a device (2), engine nccl (2), on all ranks.
  static const int64_t site[] = {4, 0, 0, 13, 0, 0, 0, 0, 0, 0, 0, 2, 2, 0, 0, 0};
  constexpr size_t count = 64;
  auto word = [](const void *pointer) { return reinterpret_cast<int64_t>(pointer); };
  braid_module_use(comm);
  braid_module_on_error([](const char *message) { fail(message); });
  {
    Device device(comm, BRAID_MEMORY_DEVICE);
    std::vector<float> operand(count, float(rank + 1)), result(count, -1);
    auto twin = [&](std::vector<float> &here) {
      return device.twin(reinterpret_cast<unsigned char *>(here.data()), count * sizeof(float));
    };
    unsigned char *from = twin(operand), *to = twin(result);
    device.put();
    device.get();
    int64_t call = braid_module_begin(word(site), word("ring/LL128"), word("sum"));
    braid_module_tensor(call, word(from), word(to), count, count, 1, 1);
    braid_module_launch(call);
    braid_module_finish(call);
    device.get();
    if (!device.problem.empty() || result != std::vector<float>(count, float(ranks * (ranks + 1) / 2)))
      fail("a compiled site: expected " + std::to_string(ranks * (ranks + 1) / 2) + ", got " +
           std::to_string(result[0]) + device.problem);
  }
  braid_module_reset();
  return 1;
}

int asRank(int modulo, bool survivors, double deadline, const char *transport) {
  const char *number = std::getenv("BRAID_RANK");
  if (modulo)
    makeCurrent(number ? std::atoi(number) % modulo : 0);
  braid_comm_options options = {};
  options.size = sizeof options;
  options.engine = "nccl";
  options.deadline_s = deadline;
  options.transport = transport;
  braid_comm *comm = nullptr;
  int32_t rank = 0, ranks = 0;
  if (braid_comm_create(&options, &comm) || braid_comm_rank(comm, &rank, &ranks))
    fail(braid_last_error());
  int cases = collectives(comm, ranks, survivors ? 1 : 6);
  if (survivors)
    survive(comm, rank, ranks);
  if (ranks > 1)
    cases += halves(comm, rank, ranks);
  cases += compiled(comm, rank, ranks);
  void *memory = braid_alloc_in(comm, BRAID_MEMORY_DEVICE, 64);
  int device = -1;
  if (!memory)
    fail(braid_last_error());
  driver().cuPointerGetAttribute(&device, cuda::pointerDevice, reinterpret_cast<cuda::Address>(memory));
  braid_free(comm, memory);
  if (braid_comm_destroy(comm))
    fail(braid_last_error());
  char host[256] = "";
  gethostname(host, sizeof host - 1);
  std::printf("rank %d on %s: device %d, %d cases\n", rank, host, device, cases);
  return 0;
}

int library() {
  runtime::Outcome why;
  const nccl::Library *found = nccl::Library::find(why);
  need(why);
  int all = 0, here = 0;
#define BRAID_NCCL_COUNT(version, name, parameters)                                                                    \
  ++all;                                                                                                               \
  here += found->name != nullptr;
  BRAID_NCCL_FUNCTIONS(BRAID_NCCL_COUNT)
  std::printf("version %s, %d of %d functions\n", found->versionText().c_str(), here, all);
  return 0;
}

} // namespace

int main(int argc, char **argv) {
  int modulo = 0;
  bool survivors = false;
  double deadline = 60; // seconds
  const char *transport = nullptr;
  for (int i = 1; i < argc; ++i) {
    std::string word = argv[i];
    if (word == "--misuse")
      return misuse();
    if (word == "--library")
      return library();
    if (word == "--survive")
      survivors = true;
    else if (word == "--modulo" && i + 1 < argc)
      modulo = std::atoi(argv[++i]);
    else if (word == "--deadline" && i + 1 < argc)
      deadline = std::atof(argv[++i]);
    else if (word == "--transport" && i + 1 < argc)
      transport = argv[++i];
    else
      fail("expected --modulo N, --survive, --deadline SECONDS, --transport NAME, --misuse or --library, got " + word);
  }
  return asRank(modulo, survivors, deadline, transport);
}
