//===- ComputeProfile.cpp - reads measured compute times --------------------------------------------------------===//
#include "analysis/ComputeProfile.h"
#include "braid/passes/JsonText.h"

#include "llvm/Support/JSON.h"
#include "llvm/Support/MemoryBuffer.h"

namespace mlir::braid {

static cost::Result<cost::Seconds> readTime(StringRef key, const llvm::json::Value &value, const std::string &path) {
  auto text = value.getAsString();
  if (!text)
    return cost::Error{"compute profile: " + key.str() + ": expected a time with its unit in quotes, like \"40 us\"",
                       path};
  cost::Result<cost::Seconds> time = cost::parseSeconds(text->str());
  if (!time)
    return cost::Error{"compute profile: " + key.str() + ": " + time.error().message, path};
  return time;
}

static cost::Result<ComputeProfile> readRecorded(const llvm::json::Object &top, ComputeProfile profile) {
  const std::string &path = profile.path;
  std::optional<StringRef> format = top.getString("format"), program = top.getString("program");
  std::optional<int64_t> version = top.getInteger("version");
  const llvm::json::Object *operations = top.getObject("operations");
  if (format != "braid-compute-profile" || version != 1)
    return cost::Error{"compute profile: expected format braid-compute-profile of version 1, got " +
                           format.value_or("no name").str() + " of version " +
                           (version ? std::to_string(*version) : "no number"),
                       path};
  if (!program || !operations)
    return cost::Error{"compute profile: expected \"program\" and \"operations\"", path};
  profile.program = program->str();
  for (const auto &[key, value] : *operations) {
    const llvm::json::Object *operation = value.getAsObject();
    const llvm::json::Value *median = operation ? operation->get("median") : nullptr;
    if (!median)
      return cost::Error{"compute profile: " + key.str() + ": expected an object with a \"median\"", path};
    cost::Result<cost::Seconds> time = readTime(key, *median, path);
    if (!time)
      return time.error();
    profile.operations[key.str()] = *time;
  }
  return profile;
}

cost::Result<ComputeProfile> readComputeProfile(const std::string &path) {
  auto buffer = llvm::MemoryBuffer::getFile(path);
  if (!buffer)
    return cost::Error{"compute profile: cannot read, " + buffer.getError().message(), path};
  if ((*buffer)->getBuffer().starts_with("\x1f\x8b"))
    return cost::Error{
        "compute profile: expected JSON, got a compressed file; make a profile of a profiler's trace with "
        "braid-sim profile",
        path};
  auto json = parseJson((*buffer)->getBuffer());
  if (!json)
    return cost::Error{"compute profile: expected JSON, " + llvm::toString(json.takeError()), path};
  ComputeProfile profile;
  profile.path = path;
  const llvm::json::Object *top = json->getAsObject();
  if (json->getAsArray() || (top && top->get("traceEvents")))
    return cost::Error{"compute profile: expected times by location, got a profiler's trace: make a profile of it with "
                       "braid-sim profile",
                       path};
  if (top && top->get("format"))
    return readRecorded(*top, std::move(profile));
  const llvm::json::Object *locations = top ? top->getObject("locations") : nullptr;
  if (!locations || top->size() != 1)
    return cost::Error{"compute profile: expected an object with one key, \"locations\", or a profile that braid-run "
                       "--record-profile wrote",
                       path};
  if (locations->empty())
    return cost::Error{"compute profile: expected the time of at least one location, got none", path};
  for (const auto &[key, value] : *locations) {
    cost::Result<cost::Seconds> time = readTime(key, value, path);
    if (!time)
      return time.error();
    profile.locations[key.str()] = *time;
  }
  return profile;
}

} // namespace mlir::braid
