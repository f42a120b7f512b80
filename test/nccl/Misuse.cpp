//===- Misuse.cpp - calls as they must not be made ------------------------------------------------------------------===//
#include "test/nccl/Misuse.h"
#include <functional>
#include <string>
#include <thread>
#include <vector>

namespace braid::test {

namespace {

/// By one rank.
int alone(const nccl::Library &library) {
  makeCurrent(0);
  cuda::Address at = 0;
  cuda::Stream stream = nullptr;
  need(driver().check(driver().cuMemAlloc_v2(&at, 4096), "memory"));
  need(driver().check(driver().cuStreamCreate(&stream, 0), "stream"));
  auto *buffer = reinterpret_cast<char *>(at);
  std::vector<char> host(4096);
  nccl::UniqueId id = {}, unknown = {};
  nccl::Config blocking, wrong;
  blocking.blocking = 1;
  wrong.magic = 1;
  nccl::Comm comm = nullptr;
  int refused = 0;
  auto must = [&](nccl::Result result, const char *what) {
    if (result != nccl::ok)
      fail(std::string(what) + ": " + library.ncclGetLastError(comm));
  };
  auto refuses = [&](nccl::Result result, nccl::Result expected, const char *what) {
    if (result != expected)
      fail(std::string(what) + ": expected result " + std::to_string(expected) + ", got " + std::to_string(result));
    ++refused;
  };
  must(library.ncclGetUniqueId(&id), "id");
  refuses(library.ncclCommInitRankConfig(&comm, 1, unknown, 0, &blocking), nccl::invalidArgument,
          "an id that nobody made");
  refuses(library.ncclCommInitRankConfig(&comm, 1, id, 1, &blocking), nccl::invalidArgument, "a rank beyond the ranks");
  refuses(library.ncclCommInitRankConfig(&comm, 1, id, 0, &wrong), nccl::invalidArgument, "a config that is none");
  must(library.ncclCommInitRankConfig(&comm, 1, id, 0, &blocking), "connect");
  nccl::Comm again = nullptr;
  refuses(library.ncclCommInitRankConfig(&again, 1, id, 0, &blocking), nccl::invalidUsage, "a rank twice");
  refuses(library.ncclGroupEnd(), nccl::invalidUsage, "an end without a start");
  auto sum = [&](const void *from, void *to, nccl::Type type, nccl::Reduction op, nccl::Stream on) {
    return library.ncclAllReduce(from, to, 100, type, op, comm, on);
  };
  must(sum(buffer, buffer, nccl::f32, nccl::sum, stream), "a sum in place");
  refuses(sum(host.data(), buffer, nccl::f32, nccl::sum, stream), nccl::invalidArgument, "memory of the host");
  refuses(sum(buffer, buffer + 4, nccl::f32, nccl::sum, stream), nccl::invalidArgument, "memory that overlaps");
  refuses(sum(buffer, buffer, nccl::Type(12), nccl::sum, stream), nccl::invalidArgument, "a type that is none");
  refuses(sum(buffer, buffer, nccl::f32, nccl::Reduction(5), stream), nccl::invalidArgument,
          "a reduction that is none");
  refuses(sum(buffer, buffer, nccl::f32, nccl::sum, &refused), nccl::invalidArgument, "a stream that is none");
  refuses(library.ncclBroadcast(buffer, buffer, 1, nccl::f32, 1, comm, stream), nccl::invalidArgument,
          "a root beyond the ranks");
  refuses(library.ncclCommDestroy(comm), nccl::invalidUsage, "an end with calls in flight");
  need(driver().check(driver().cuStreamSynchronize(stream), "stream"));
  must(library.ncclCommFinalize(comm), "finalize");
  return refused;
}

/// By two ranks that differ: what each one's communicator says in the end. `device`: of each rank.
std::vector<nccl::Result> together(const nccl::Library &library, std::vector<int> device,
                                   const std::function<void(int rank, char *, nccl::Comm, cuda::Stream)> &body) {
  nccl::UniqueId id = {};
  std::vector<nccl::Result> results(2, nccl::ok);
  std::vector<std::thread> threads;
  library.ncclGetUniqueId(&id);
  for (int rank = 0; rank < 2; ++rank)
    threads.emplace_back([&, rank] {
      makeCurrent(device[size_t(rank)]);
      cuda::Address at = 0;
      cuda::Stream stream = nullptr;
      nccl::Config blocking;
      blocking.blocking = 1;
      nccl::Comm comm = nullptr;
      need(driver().check(driver().cuMemAlloc_v2(&at, 4096), "memory"));
      need(driver().check(driver().cuStreamCreate(&stream, 0), "stream"));
      nccl::Result &result = results[size_t(rank)];
      result = library.ncclCommInitRankConfig(&comm, 2, id, rank, &blocking);
      if (result != nccl::ok)
        return;
      body(rank, reinterpret_cast<char *>(at), comm, stream);
      while (driver().cuStreamSynchronize(stream) != cuda::success) // the other rank is not there yet
        std::this_thread::yield();
      library.ncclCommGetAsyncError(comm, &result);
    });
  for (std::thread &thread : threads)
    thread.join();
  return results;
}

int inPairs(const nccl::Library &library) {
  struct Mistake {
    const char *what;
    std::vector<int> device;
    std::function<void(int, char *, nccl::Comm, cuda::Stream)> body;
    bool all = true; ///< both ranks see it
  };
  using nccl::f32, nccl::i32, nccl::sum, nccl::max;
  auto sumOf = [&](size_t count, nccl::Type type, nccl::Reduction op, char *at, nccl::Comm comm, cuda::Stream on) {
    library.ncclAllReduce(at, at, count, type, op, comm, on);
  };
  auto right = [&](int, char *at, nccl::Comm comm, cuda::Stream on) { sumOf(100, f32, sum, at, comm, on); };
  const Mistake mistakes[] = {
      {"one device twice", {0, 0}, right},
      {"counts that differ",
       {0, 1},
       [&](int rank, char *at, nccl::Comm comm, cuda::Stream on) {
         sumOf(100 + size_t(rank), f32, sum, at, comm, on);
       }},
      {"types that differ",
       {0, 1},
       [&](int rank, char *at, nccl::Comm comm, cuda::Stream on) { sumOf(100, rank ? i32 : f32, sum, at, comm, on); }},
      {"reductions that differ",
       {0, 1},
       [&](int rank, char *at, nccl::Comm comm, cuda::Stream on) { sumOf(100, f32, rank ? max : sum, at, comm, on); }},
      {"collectives that differ",
       {0, 1},
       [&](int rank, char *at, nccl::Comm comm, cuda::Stream on) {
         rank ? void(library.ncclBroadcast(at, at, 100, f32, 0, comm, on)) : sumOf(100, f32, sum, at, comm, on);
       }},
      {"a message that is longer than expected",
       {0, 1},
       [&](int rank, char *at, nccl::Comm comm, cuda::Stream on) {
         rank ? library.ncclRecv(at, 50, f32, 0, comm, on) : library.ncclSend(at, 60, f32, 1, comm, on);
       },
       false}};
  if (together(library, {0, 1}, right) != std::vector<nccl::Result>{nccl::ok, nccl::ok})
    fail("two ranks that are right: expected no error");
  for (const Mistake &mistake : mistakes) {
    std::vector<nccl::Result> results = together(library, mistake.device, mistake.body);
    if (results[1] != nccl::invalidUsage || (mistake.all && results[0] != nccl::invalidUsage))
      fail(std::string(mistake.what) + ": expected an error of both ranks, got results " + std::to_string(results[0]) +
           " and " + std::to_string(results[1]));
  }
  return int(std::size(mistakes));
}

} // namespace

int misuse() {
  runtime::Outcome why;
  const nccl::Library *library = nccl::Library::find(why);
  need(why);
  int refused = alone(*library) + inPairs(*library);
  std::printf("%d calls refused\n", refused);
  return 0;
}

} // namespace braid::test
