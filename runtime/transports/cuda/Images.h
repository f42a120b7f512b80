//===- Images.h - compiled kernels, in a library of their own -------------------------------------------------------===//
//
// libbraid_cuda.so holds what nvcc made of the .cu files, a fat binary for each, and nothing else: it depends on no other library.
// The runtime opens it when the first kernel is wanted, so that a build without nvcc lacks one file.
//===------------------------------------------------------------------------------------------------------------===//
#ifndef BRAID_RUNTIME_TRANSPORTS_CUDA_IMAGES_H
#define BRAID_RUNTIME_TRANSPORTS_CUDA_IMAGES_H

extern "C" {

/// For cuModuleLoadData.
struct braid_cuda_image {
  const char *name;
  const void *data;
};

/// All of them; the last has no name.
extern const struct braid_cuda_image braid_cuda_images[];
}

#endif
