//===- Emit.cpp - braid-sim emit: choices as other systems read them --------------------------------------------===//
//
//   braid-sim emit nccl-tuner --cluster FILE -o choices.json                    libnccl-tuner-braid.so reads it
//   braid-sim emit nccl-env --cluster FILE --tuner-file choices.json -o nccl.conf
//   braid-sim emit ompi-rules --cluster FILE --ranks 64 -o rules.conf           Open MPI's component coll/tuned reads it
//   braid-sim emit xla-flags --backend gpu -o flags                             XLA_FLAGS names the file
//===------------------------------------------------------------------------------------------------------------===//
#include "../command/Command.h"
#include "Subcommands.h"
#include "braid/cost_models/Choices.h"
#include "braid/passes/Export.h"
#include "braid/runtime/algorithms/Nearest.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/raw_ostream.h"

namespace cost = ::braid::cost;
namespace cl = llvm::cl;

namespace {

/// "64x8,8x1": ranks and nodes.
cost::Result<std::vector<cost::CommunicatorShape>> parseShapes(llvm::StringRef text) {
  std::vector<cost::CommunicatorShape> shapes;
  llvm::SmallVector<llvm::StringRef> parts;
  text.split(parts, ',', -1, /*KeepEmpty=*/false);
  for (llvm::StringRef part : parts) {
    cost::CommunicatorShape shape;
    auto [ranks, nodes] = part.trim().split('x');
    if (ranks.getAsInteger(10, shape.ranks) || nodes.getAsInteger(10, shape.nodes))
      return cost::Error{"--communicators, expected ranks and nodes such as 64x8,8x1, got '" + text.str() + "'", ""};
    shapes.push_back(shape);
  }
  return shapes;
}

/// A file that NCCL opens wherever its job runs: a path does not depend on where this tool was called. A name without a folder is
/// for the loader to find, if it is a library's.
std::string pathForJobs(const char *option, const std::string &path) {
  bool library = llvm::StringRef(option) == "--plugin";
  if (path.empty() || (library && path.find('/') == std::string::npos))
    return path;
  if (!llvm::sys::fs::exists(path))
    llvm::errs() << "warning: " << option << ": no file '" << path << "' on this host; each host of the job needs it\n";
  llvm::SmallString<128> whole(path);
  return llvm::sys::fs::make_absolute(whole) ? path : whole.str().str();
}

cost::Result<std::string> flagsOfXla(llvm::StringRef backend) {
  using namespace mlir::braid;
  if (backend != "cpu" && backend != "gpu")
    return cost::Error{"--backend, expected cpu or gpu, got '" + backend.str() + "'", ""};
  return llvm::join(xlaFlags(backend == "cpu" ? XlaBackend::Cpu : XlaBackend::Gpu), "\n") + "\n";
}

} // namespace

int mlir::braid::sim::runEmit(int argc, char **argv) {
  cl::OptionCategory category("braid-sim emit");
  cl::opt<std::string> format(cl::Positional, cl::desc("<nccl-tuner|nccl-env|ompi-rules|xla-flags>"),
                              cl::cat(category));
  cl::opt<std::string> clusterPath("cluster", cl::desc("cluster file (YAML); required, but for xla-flags"),
                                   cl::cat(category));
  cl::opt<std::string> output("o", cl::init("-"), cl::desc("file to write; default: standard output"),
                              cl::cat(category));
  cl::opt<std::string> most("most", cl::init("16GiB"),
                            cl::desc("nccl-tuner, ompi-rules: the largest size that has choices; default: 16GiB"),
                            cl::cat(category));
  cl::opt<std::string> communicators(
      "communicators", cl::cat(category),
      cl::desc("nccl-tuner: RANKSxNODES,... (default: the cluster, a host, a device of each host)"));
  cl::opt<std::string> by(
      "by", cl::init("table"), cl::cat(category),
      cl::desc("nccl-tuner: table (default, choices by size) or constants (of NCCL's own model, as calibrated)"));
  cl::opt<bool> overrule(
      "overrule-unpriced", cl::cat(category),
      cl::desc(
          "nccl-tuner: choose also where NCCL would take an algorithm that has no price (NVLS, ...); default: off"));
  cl::opt<std::string> tunerFile("tuner-file", cl::desc("nccl-env: the file of nccl-tuner; default: none"),
                                 cl::cat(category));
  cl::opt<std::string> plugin("plugin", cl::init("libnccl-tuner-braid.so"), cl::cat(category),
                              cl::desc("nccl-env: the plugin's library, a path or a name on LD_LIBRARY_PATH; "
                                       "default: libnccl-tuner-braid.so"));
  cl::opt<int> ranks("ranks", cl::init(0), cl::desc("ompi-rules: the first N devices (default: all)"),
                     cl::cat(category));
  cl::opt<std::string> backend("backend", cl::init("gpu"), cl::desc("xla-flags: cpu, gpu (default)"),
                               cl::cat(category));
  cl::HideUnrelatedOptions(category);
  cl::ParseCommandLineOptions(argc, argv,
                              "choices for others: NCCL's tuner and environment, Open MPI's rules, XLA's flags\n");
  auto fail = [](const std::string &text) {
    llvm::errs() << "error: " << text << "\n";
    return 1;
  };
  bool ofCluster = format == "nccl-tuner" || format == "nccl-env" || format == "ompi-rules";
  if (!ofCluster && format != "xla-flags")
    return fail("format, expected nccl-tuner, nccl-env, ompi-rules or xla-flags, got '" + format + "'" +
                ::braid::algorithms::didYouMean(format, {"nccl-tuner", "nccl-env", "ompi-rules", "xla-flags"}));
  if (plugin.getNumOccurrences() && tunerFile.empty())
    return fail("--plugin, expected --tuner-file, the file that the plugin reads, beside it, got none");
  if (ofCluster && clusterPath.empty())
    return fail("--cluster, expected a cluster file, got none");
  if (by != "table" && by != "constants")
    return fail("--by, expected table or constants, got '" + by + "'");
  if (std::string error =
          ::braid::command::checkOutputs({{"-o", output}}, {{"--cluster", clusterPath}, {"--tuner-file", tunerFile}});
      !error.empty())
    return fail(error);
  cost::Result<cost::Bytes> largest = cost::parseBytes(most);
  if (!largest)
    return fail("--most: " + largest.error().text());
  if (largest->value < 1 || largest->value > int64_t(1) << 44)
    return fail("--most, expected 1 B to 16 TiB, got '" + most + "'");
  cost::Result<std::vector<cost::CommunicatorShape>> shapes = parseShapes(communicators);
  if (!shapes)
    return fail(shapes.error().text());

  cost::Result<std::string> text = std::string();
  if (!ofCluster) {
    text = flagsOfXla(backend);
  } else {
    cost::Result<cost::Cluster> cluster = cost::readCluster(clusterPath);
    if (!cluster)
      return fail(cluster.error().text());
    if (format != "ompi-rules" && !cluster->staleNccl.empty())
      llvm::errs() << "warning: " << cluster->staleNccl << "\n";
    if (format == "nccl-tuner")
      text = cost::emitNcclTuner(*cluster, {*shapes, *largest, by == "constants", overrule});
    else if (format == "nccl-env")
      text =
          cost::emitNcclEnvironment(*cluster, pathForJobs("--tuner-file", tunerFile), pathForJobs("--plugin", plugin));
    else
      text = cost::emitOpenMpiRules(*cluster, ranks.getNumOccurrences() ? ranks : cluster->ranks(), *largest);
  }
  if (!text)
    return fail(text.error().text());
  if (output == "-") {
    llvm::outs() << *text;
    return 0;
  }
  std::string error = ::braid::command::writeFile(output, *text);
  return error.empty() ? 0 : fail(error);
}
