//===- Driver.cpp - finds NVIDIA's driver ---------------------------------------------------------------------------===//
#include "transports/cuda/Driver.h"
#include "core/Environment.h"
#include <cstdlib>
#include <dlfcn.h>

namespace braid::runtime::cuda {

namespace {

constexpr const char *otherwise = "; install NVIDIA's driver, or use memory of the host";

/// Also of another library with the same functions (BRAID_CUDA_DRIVER), which tests put in its place.
Outcome load(Driver &driver) {
  const char *given = std::getenv("BRAID_CUDA_DRIVER");
  std::string name = given && *given ? given : "libcuda.so.1";
  void *library = dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!library)
    return {BRAID_UNSUPPORTED, "cuda: no driver: expected " + name + byVariable("BRAID_CUDA_DRIVER", name) + ", got '" +
                                   dlerror() + "'" + otherwise};
#define BRAID_CUDA_LOAD(function, parameters)                                                                          \
  driver.function = reinterpret_cast<decltype(driver.function)>(dlsym(library, #function));                            \
  if (!driver.function)                                                                                                \
    return {BRAID_UNSUPPORTED,                                                                                         \
            "cuda: " + name + ": expected a function " #function ", got none; is the driver too old?"};
  BRAID_CUDA_FUNCTIONS(BRAID_CUDA_LOAD)
#undef BRAID_CUDA_LOAD
#define BRAID_CUDA_LOAD(function, parameters)                                                                          \
  driver.function = reinterpret_cast<decltype(driver.function)>(dlsym(library, #function));
  BRAID_CUDA_LATER_FUNCTIONS(BRAID_CUDA_LOAD)
#undef BRAID_CUDA_LOAD
  Outcome done = driver.check(driver.cuInit(0), name + ": cuInit");
  if (!done)
    return {done.status, done.text + otherwise};
  int devices = 0;
  done = driver.check(driver.cuDeviceGetCount(&devices), name + ": cuDeviceGetCount");
  if (done && devices < 1)
    return {BRAID_UNSUPPORTED, "cuda: " + name + ": expected a device, got none" + otherwise};
  return done;
}

} // namespace

const Driver *Driver::find(Outcome &why) {
  struct Found {
    Driver driver;
    Outcome outcome = load(driver);
  };
  static const Found *found = new Found; // never unloaded: the process may end while others still use it
  why = found->outcome;
  return why ? &found->driver : nullptr;
}

Outcome Driver::check(Result result, const std::string &what) const {
  if (result == success)
    return {};
  const char *text = nullptr;
  if (cuGetErrorString(result, &text) != success || !text)
    text = "unknown error";
  constexpr Result outOfMemory = 2;
  return {result == outOfMemory ? BRAID_OUT_OF_MEMORY : BRAID_SYSTEM,
          "cuda: " + what + ": " + text + " (error " + std::to_string(result) + ")"};
}

} // namespace braid::runtime::cuda
