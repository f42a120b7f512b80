//===- Kernels.h - launches the kernels -----------------------------------------------------------------------------===//
#ifndef BRAID_RUNTIME_TRANSPORTS_CUDA_KERNELS_H
#define BRAID_RUNTIME_TRANSPORTS_CUDA_KERNELS_H

#include "reduce/Reduce.h"
#include "transports/cuda/Driver.h"
#include "transports/cuda/KernelArguments.h"
#include <map>
#include <memory>
#include <string>
#include <vector>

struct braid_cuda_image;

namespace braid::runtime::cuda {

/// The kernels in one context, which is current in the calling thread; each is loaded when it is first wanted. Launches are
/// asynchronous, in the order of their stream.
class Kernels {
public:
  /// Opens the library of images.
  static Outcome open(const Driver &driver, std::unique_ptr<Kernels> &kernels);

  /// to[i] = also[i] = a[i] op b[i]; `also` may be null. `average`: divided by `ranks` too.
  Outcome reduce(braid_type type, braid_reduction reduction, const ReduceArguments &arguments, Stream stream);
  /// to[i] /= ranks
  Outcome divide(braid_type type, const ReduceArguments &arguments, Stream stream);
  /// to[i] = a[i] in another type.
  Outcome convert(braid_type to, braid_type from, const ReduceArguments &arguments, Stream stream);
  /// to = also = a, `count` bytes.
  Outcome copy(const ReduceArguments &arguments, Stream stream);

private:
  explicit Kernels(const Driver &driver, const braid_cuda_image *images) : driver(driver), images(images) {}
  Outcome launch(const std::string &name, size_t work, ReduceArguments arguments, Stream stream);
  Outcome find(const std::string &name, Function &function);

  const Driver &driver;
  const braid_cuda_image *images;
  std::vector<Module> modules; ///< those of `images` that are loaded so far
  std::map<std::string, Function> functions;
};

} // namespace braid::runtime::cuda

#endif
