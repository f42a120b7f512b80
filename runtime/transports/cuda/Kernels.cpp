//===- Kernels.cpp - finds kernels by name and launches them --------------------------------------------------------===//
#include "transports/cuda/Kernels.h"
#include "transports/cuda/Images.h"
#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <dlfcn.h>

namespace braid::runtime::cuda {

namespace {

/// Blocks of a launch at most. A few dozen fill an NVLink or a network card; all multiprocessors would be taken from the
/// computation that goes on beside (NCCL's channels are the same choice).
unsigned mostBlocks(std::string *wrong = nullptr) {
  constexpr unsigned blocks = 32, most = 65535; // most: what the y dimension of a grid has, too
  const char *given = std::getenv("BRAID_CUDA_BLOCKS");
  const std::string text = given ? given : "";
  unsigned number = 0;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error == std::errc() && end == text.data() + text.size() && number >= 1 && number <= most)
    return number;
  if (wrong && !text.empty())
    *wrong = "BRAID_CUDA_BLOCKS: expected a number from 1 to " + std::to_string(most) + ", got '" + text + "'";
  return blocks;
}

/// Beside the library or program that this is part of, or in lib beside its folder.
std::vector<std::string> places() {
  if (const char *given = std::getenv("BRAID_CUDA_KERNELS"); given && *given)
    return {given};
  Dl_info info;
  std::string here = dladdr(reinterpret_cast<void *>(&mostBlocks), &info) && info.dli_fname ? info.dli_fname : "";
  size_t slash = here.rfind('/');
  std::string folder = slash == std::string::npos ? "" : here.substr(0, slash + 1);
  return {folder + "libbraid_cuda.so", folder + "../lib/libbraid_cuda.so"};
}

} // namespace

Outcome Kernels::open(const Driver &driver, std::unique_ptr<Kernels> &kernels) {
  std::string errors, wrong;
  mostBlocks(&wrong);
  if (!wrong.empty())
    return {BRAID_INVALID, wrong};
  for (const std::string &place : places()) {
    void *library = dlopen(place.c_str(), RTLD_NOW | RTLD_LOCAL);
    const void *images = library ? dlsym(library, "braid_cuda_images") : nullptr;
    if (images) {
      kernels.reset(new Kernels(driver, static_cast<const braid_cuda_image *>(images)));
      return {};
    }
    const char *error = dlerror();
    errors += (errors.empty() ? "" : "; ") + std::string(error ? error : place + " has no images");
  }
  return {BRAID_UNSUPPORTED,
          "cuda: no kernels: expected libbraid_cuda.so beside the runtime, which a build with nvcc makes, got '" +
              errors + "'"};
}

Outcome Kernels::find(const std::string &name, Function &function) {
  auto known = functions.find(name);
  if (known != functions.end()) {
    function = known->second;
    return {};
  }
  constexpr Result notFound = 500; // CUDA_ERROR_NOT_FOUND
  for (size_t i = 0; images[i].name; ++i) {
    if (i == modules.size()) {
      Module module = nullptr;
      Outcome loaded =
          driver.check(driver.cuModuleLoadData(&module, images[i].data), std::string("kernels ") + images[i].name);
      if (!loaded)
        return loaded;
      modules.push_back(module);
    }
    Result found = driver.cuModuleGetFunction(&function, modules[i], name.c_str());
    if (found == success) {
      functions[name] = function;
      return {};
    }
    if (found != notFound)
      return driver.check(found, "kernel " + name);
  }
  return {BRAID_UNSUPPORTED, "cuda: expected a kernel " + name + ", got a library without it"};
}

Outcome Kernels::launch(const std::string &name, size_t work, ReduceArguments arguments, Stream stream) {
  if (arguments.count == 0)
    return {};
  Function function = nullptr;
  Outcome found = find(name, function);
  if (!found)
    return found;
  static const unsigned most = mostBlocks();
  unsigned blocks = unsigned(std::clamp<size_t>((work + blockThreads - 1) / blockThreads, 1, most));
  void *list[] = {&arguments};
  return driver.check(driver.cuLaunchKernel(function, blocks, 1, 1, blockThreads, 1, 1, 0, stream, list, nullptr),
                      "launch of " + name);
}

static size_t vectors(size_t bytes) { return (bytes + 15) / 16; }

Outcome Kernels::reduce(braid_type type, braid_reduction reduction, const ReduceArguments &arguments, Stream stream) {
  return launch(std::string("braid_") + name(reduction) + "_" + name(type), vectors(arguments.count * sizeOf(type)),
                arguments, stream);
}

Outcome Kernels::divide(braid_type type, const ReduceArguments &arguments, Stream stream) {
  return launch(std::string("braid_divide_") + name(type), arguments.count, arguments, stream);
}

Outcome Kernels::convert(braid_type to, braid_type from, const ReduceArguments &arguments, Stream stream) {
  return launch(std::string("braid_convert_") + name(to) + "_" + name(from), arguments.count, arguments, stream);
}

Outcome Kernels::copy(const ReduceArguments &arguments, Stream stream) {
  return launch("braid_copy", vectors(arguments.count), arguments, stream);
}

} // namespace braid::runtime::cuda
