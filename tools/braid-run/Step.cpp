//===- Step.cpp - calls the entry function ----------------------------------------------------------------------===//
//
// A tensor is passed as a descriptor of 8-byte words: allocated pointer, aligned pointer, offset, sizes, strides. Results
// come back as the descriptors of all results, one after another, and belong to the caller.
//
//===------------------------------------------------------------------------------------------------------------===//
#include "Step.h"

#include "Data.h"
#include "braid/runtime/trace/AtomicFile.h"
#include "llvm/Support/FormatVariadic.h"
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <memory>

using namespace mlir;

namespace braid::run {

namespace {

int64_t bytesOf(const Port &port) { return port.type.getNumElements() * elementBytesOf(port.type); }

std::vector<int64_t> descriptorOf(const Port &port, char *data) {
  std::vector<int64_t> words = {int64_t(data), int64_t(data), 0};
  words.insert(words.end(), port.type.getShape().begin(), port.type.getShape().end());
  std::vector<int64_t> strides(port.type.getRank(), 1);
  for (int64_t dim = port.type.getRank() - 2; dim >= 0; --dim)
    strides[dim] = strides[dim + 1] * port.type.getDimSize(dim + 1);
  words.insert(words.end(), strides.begin(), strides.end());
  return words;
}

size_t wordsOf(const Port &port) { return 3 + 2 * size_t(port.type.getRank()); }

/// The times of all executions, in order.
std::string report(const RunOptions &options, std::vector<double> seconds) {
  seconds.erase(seconds.begin(), seconds.begin() + options.leadIn);
  if (!options.times.empty()) {
    std::string text = "{\"steps_s\": [";
    for (double time : seconds)
      text += (text.back() == '[' ? "" : ", ") + llvm::formatv("{0:e12}", time).str();
    if (std::string error = ::braid::trace::writeAtomically(options.times, text + "]}\n"); !error.empty())
      return error;
  }
  if (options.time) {
    llvm::sort(seconds);
    printf("median step: %.9g s\n", seconds[seconds.size() / 2]);
  }
  return "";
}

} // namespace

std::string runSteps(Program &program, const RunOptions &options, int rank, int ranks) {
  std::vector<char *> data;
  for (auto [index, port] : llvm::enumerate(program.arguments)) {
    // Asked of the system first, which refuses what it can't have; memory that ranks share it promises without end.
    std::unique_ptr<char, void (*)(void *)> own(static_cast<char *>(malloc(size_t(bytesOf(port)) + 1)), std::free);
    if (!own)
      return llvm::formatv("argument {0}: {1}: expected memory for {2} bytes, got none", index, port.type,
                           bytesOf(port));
    MutableArrayRef<char> bytes(own.get(), size_t(bytesOf(port)));
    auto given = options.data.find(index);
    std::string error = fill(bytes, port.type, given != options.data.end() ? given->second : port.data, rank, ranks);
    if (!error.empty())
      return "argument " + std::to_string(index) + ": " + error;
    data.push_back(static_cast<char *>(options.allocate(bytes.size(), /*site=*/1)));
    memcpy(data.back(), bytes.data(), bytes.size());
  }
  size_t resultWords = 0;
  for (const Port &port : program.results)
    resultWords += wordsOf(port);
  std::vector<double> seconds;
  double last = 0; ///< begin of a step
  for (int step = 0; step < options.steps; ++step) {
    std::vector<std::vector<int64_t>> descriptors;
    for (auto [port, bytes] : llvm::zip(program.arguments, data))
      descriptors.push_back(descriptorOf(port, bytes));
    std::vector<int64_t> results(resultWords);
    // The wrapper takes the address of the results, then one pointer for each argument; a packed call takes the address of
    // each of these.
    std::vector<void *> pointers, packed;
    if (resultWords)
      pointers.push_back(results.data());
    for (std::vector<int64_t> &descriptor : descriptors)
      pointers.push_back(descriptor.data());
    for (void *&pointer : pointers)
      packed.push_back(&pointer);
    int64_t copied = options.copied(), allocated = options.allocated();
    double begin = 0;
    if (options.beginStep) {
      if (std::string error = options.beginStep(step, begin); !error.empty())
        return error;
      if (step > 0)
        seconds.push_back(begin - last);
      last = begin;
      program.entry()(packed.data());
    } else {
      auto before = std::chrono::steady_clock::now();
      program.entry()(packed.data());
      seconds.push_back(std::chrono::duration<double>(std::chrono::steady_clock::now() - before).count());
    }
    if (options.afterCall)
      options.afterCall();

    if (options.memory && step + 1 == options.steps && (options.allRanks || rank == 0))
      printf("rank %d: the last step copied %lld bytes, and asked for memory %lld times\n", rank,
             (long long)(options.copied() - copied), (long long)(options.allocated() - allocated));

    const int64_t *next = results.data();
    std::vector<void *> owned;
    for (auto [index, port] : llvm::enumerate(program.results)) {
      auto *allocated = reinterpret_cast<char *>(next[0]);
      auto *aligned = reinterpret_cast<char *>(next[1]) + next[2] * elementBytesOf(port.type);
      next += wordsOf(port);
      owned.push_back(allocated);
      bool last = step + 1 == options.steps;
      if ((options.allRanks || rank == 0) && (port.type.getRank() == 0 || last)) {
        std::string who = options.allRanks ? "rank " + std::to_string(rank) + " " : "";
        printf("%sstep %d result %zu: %s\n", who.c_str(), step, size_t(index),
               show(aligned, port.type, options.elements).c_str());
      }
      if (auto carried = options.carry.find(index); carried != options.carry.end())
        memcpy(data[carried->second], aligned, bytesOf(port));
      if (auto output = options.outputs.find(index); last && output != options.outputs.end()) {
        std::string error = ::braid::trace::writeAtomically(expandPath(output->second, rank, ranks),
                                                            std::string(aligned, size_t(bytesOf(port))));
        if (!error.empty())
          return error;
      }
    }
    // A result may be an argument's buffer, which stays.
    for (auto [index, port] : llvm::enumerate(program.arguments)) {
      llvm::erase(owned, static_cast<void *>(data[index]));
      if (port.isBuffer && step + 1 == options.steps && (options.allRanks || rank == 0))
        printf("%sstep %d argument %zu: %s\n", options.allRanks ? ("rank " + std::to_string(rank) + " ").c_str() : "",
               step, size_t(index), show(data[index], port.type, options.elements).c_str());
    }
    llvm::sort(owned);
    owned.erase(std::unique(owned.begin(), owned.end()), owned.end());
    for (void *memory : owned)
      options.release(memory);
  }
  for (char *memory : data)
    options.release(memory);
  if (double end = 0; options.beginStep) {
    if (std::string error = options.beginStep(options.steps, end); !error.empty())
      return error;
    seconds.push_back(end - last);
  }
  if (rank == 0)
    if (std::string error = report(options, seconds); !error.empty())
      return error;
  return "";
}

} // namespace braid::run
