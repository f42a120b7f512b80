//===- ComputeProfile.cpp - reads measured compute times --------------------------------------------------------===//
#include "analysis/ComputeProfile.h"

#include "llvm/Support/JSON.h"
#include "llvm/Support/MemoryBuffer.h"

namespace mlir::braid {

cost::Result<ComputeProfile> readComputeProfile(const std::string &path) {
  auto buffer = llvm::MemoryBuffer::getFile(path);
  if (!buffer)
    return cost::Error{"compute profile: cannot read, " + buffer.getError().message(), path};
  auto json = llvm::json::parse((*buffer)->getBuffer());
  if (!json)
    return cost::Error{"compute profile: expected JSON, " + llvm::toString(json.takeError()), path};
  const llvm::json::Object *top = json->getAsObject();
  const llvm::json::Object *locations = top ? top->getObject("locations") : nullptr;
  if (!locations || top->size() != 1)
    return cost::Error{"compute profile: expected an object with one key, \"locations\"", path};
  ComputeProfile profile;
  for (const auto &[key, value] : *locations) {
    auto text = value.getAsString();
    if (!text)
      return cost::Error{"compute profile: " + key.str() + ": expected a time with its unit in quotes, like \"40 us\"",
                         path};
    auto time = cost::parseSeconds(text->str());
    if (!time)
      return cost::Error{"compute profile: " + key.str() + ": " + time.error().message, path};
    profile.locations[key.str()] = *time;
  }
  return profile;
}

} // namespace mlir::braid
