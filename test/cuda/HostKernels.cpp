//===- HostKernels.cpp - KernelList.h as a table of functions -------------------------------------------------------===//
#include "test/cuda/HostKernels.h"
#include "transports/cuda/KernelBody.h"
#include "transports/cuda/KernelList.h"

namespace braid::test {

namespace {

using namespace runtime;
using namespace runtime::cuda;

struct Entry {
  const char *name;
  HostKernel kernel;
};

#define BRAID_ENTRY(name, ...)                                                                                         \
  {name, [](size_t thread, size_t threads, const ReduceArguments &k) { __VA_ARGS__({thread, threads}, k); }},
#define BRAID_REDUCE_ENTRY(op, Which, average, type, T)                                                                \
  BRAID_ENTRY("braid_" #op "_" #type, reduceBody<T, arithmetic::Op::Which, average>)
#define BRAID_DIVIDE_ENTRY(type, T) BRAID_ENTRY("braid_divide_" #type, divideBody<T>)
#define BRAID_CONVERT_ENTRY(to, To, from, From) BRAID_ENTRY("braid_convert_" #to "_" #from, convertBody<To, From>)
#define BRAID_COPY_ENTRY() BRAID_ENTRY("braid_copy", copyBody)

const Entry entries[] = {BRAID_KERNELS_BYTES(BRAID_REDUCE_ENTRY, BRAID_DIVIDE_ENTRY)    //
                         BRAID_KERNELS_F8(BRAID_REDUCE_ENTRY, BRAID_DIVIDE_ENTRY)       //
                         BRAID_KERNELS_FLOATS(BRAID_REDUCE_ENTRY, BRAID_DIVIDE_ENTRY)   //
                         BRAID_KERNELS_INTEGERS(BRAID_REDUCE_ENTRY, BRAID_DIVIDE_ENTRY) //
                         BRAID_KERNELS_MOVES(BRAID_CONVERT_ENTRY, BRAID_COPY_ENTRY)};

} // namespace

HostKernel hostKernel(const std::string &name) {
  for (const Entry &entry : entries)
    if (name == entry.name)
      return entry.kernel;
  return nullptr;
}

std::vector<std::string> kernelNames() {
  std::vector<std::string> names;
  for (const Entry &entry : entries)
    names.push_back(entry.name);
  return names;
}

} // namespace braid::test
