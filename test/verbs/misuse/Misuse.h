//===- Misuse.h - programs that use RDMA verbs wrongly ---------------------------------------------------------------===//
//
// Each makes two ends on one device, with a protection domain each, does one thing wrong and records how it ends: the errno of
// calls that fail, and the status of the completion of every request. They are written against the seam of the transport (Verbs.h),
// so the same program runs on the double and on a device.
//===------------------------------------------------------------------------------------------------------------===//
#ifndef BRAID_TEST_VERBS_MISUSE_MISUSE_H
#define BRAID_TEST_VERBS_MISUSE_MISUSE_H

#include "transports/verbs/Verbs.h"
#include <chrono>
#include <functional>
#include <map>

namespace braid::test {

namespace verbs = runtime::verbs;

/// Requests of the send queue have numbers from 1 on, receives from 101 on.
struct End {
  std::string name; ///< in records
  std::unique_ptr<verbs::Device> device;
  verbs::Gid gid;
  std::unique_ptr<verbs::CompletionQueue> completions;
  static constexpr size_t registered = 1 << 15; ///< bytes of the region, with as many at both sides that are not
  std::vector<char> memory = std::vector<char>(3 * registered);
  char *begin() { return memory.data() + registered; } ///< of the region
  std::unique_ptr<verbs::MemoryRegion> region;
  std::unique_ptr<verbs::QueuePair> pair;
  std::map<uint64_t, std::string> ends; ///< of requests; empty: none yet
};

/// Two ends. What is made wrongly from the start is said before `connect`.
class Stage {
public:
  struct Wish {
    int completions = 256;
    int rnrRetries = 2;
    unsigned pairAccess = verbs::RemoteWrite | verbs::RemoteRead | verbs::RemoteAtomic; ///< of b
    unsigned regionAccess =
        verbs::LocalWrite | verbs::RemoteWrite | verbs::RemoteRead | verbs::RemoteAtomic; ///< of both
  };
  /// `patience`: for a completion that may never come.
  Stage(verbs::Provider &provider, const std::string &device, std::chrono::milliseconds patience)
      : provider(provider), name(device), patience(patience) {
    a.name = "a";
    b.name = "b";
  }

  void open(const Wish &wish);
  void open() { open(Wish()); }
  void connect();
  int modify(End &end, verbs::State state);
  void errorState(End &end) { call(end, "error", modify(end, verbs::State::Error)); }

  /// A request of 64 bytes from the beginning of a's region to, or from, that of b's.
  verbs::WorkRequest request(verbs::WorkRequest::Operation operation);
  void post(End &end, verbs::WorkRequest request);
  void receive(End &end, uint32_t bytes = 256);
  /// Until every request has a completion, or nothing comes any more.
  void settle();
  /// Until this one has a completion.
  void await(End &end, uint64_t id);
  /// Calls of `function` until one fails, which is recorded; says so if `least` did not succeed before, or too many did.
  template <typename Function> void untilRefused(const char *what, int least, Function function) {
    int done = 0, error = 0;
    while (done < 4096 && (error = function()) == 0)
      ++done;
    call(a, std::string(what) + (done < least ? " too early" : ""), error);
  }
  /// Records a call that failed.
  void call(End &end, const std::string &what, int error);
  void say(const std::string &what);

  std::string record();

  End a, b;
  Wish wish;

private:
  bool poll(End &end);
  void wait(const std::function<bool()> &open, const std::vector<End *> &polled);
  verbs::QueuePairAttributes attributes(End &end);
  verbs::Provider &provider;
  const std::string name;
  const std::chrono::milliseconds patience;
  std::string calls;
};

struct Misuse {
  const char *name;
  void (*run)(Stage &);
};
const std::vector<Misuse> &misuses();

/// How it ends: "a.send=EINVAL a1=LOC_PROT_ERR b101=none".
std::string play(const Misuse &misuse, verbs::Provider &provider, const std::string &device,
                 std::chrono::milliseconds patience);

} // namespace braid::test

#endif
