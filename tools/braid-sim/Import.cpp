//===- Import.cpp - braid-sim import, emit-trace: other simulators' workloads in and out ----------------------------===//
//
//   braid-sim import llama7b.txt --ranks 64 --compute-scale 0.5 -o llama7b.mlir
//   braid-sim compare llama7b.mlir --cluster CLUSTER.yaml
//===------------------------------------------------------------------------------------------------------------===//
#include "../command/Command.h"
#include "LoadModule.h"
#include "Subcommands.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Support/FileUtilities.h"
#include "workload/Pipeline.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace mlir::braid;
using namespace mlir::braid::sim;

static int write(StringRef path, const std::string &text) {
  if (path == "-") {
    llvm::outs() << text;
    return 0;
  }
  std::string error = ::braid::command::writeFile(path.str(), text);
  if (!error.empty())
    llvm::errs() << "error: " << error << "\n";
  return error.empty() ? 0 : 1;
}

/// What a text is, by its first line that is no comment; empty: unknown.
static StringRef formatOf(StringRef text) {
  while (text.starts_with("#") || text.ltrim().size() != text.size())
    text = text.starts_with("#") ? text.drop_front(std::min(text.find('\n'), text.size())) : text.ltrim();
  StringRef line = text.take_until([](char c) { return c == '\n'; });
  if (line.starts_with("{") || line.starts_with("["))
    return "chakra";
  if (line.contains("fwd_comm"))
    return "layers";
  if (line.starts_with("repeat,op,"))
    return "collectives";
  if (line.contains("TF_ms"))
    return "pipeline";
  if (line.starts_with("node,name,"))
    return "piper";
  return line.contains(',') ? "" : "layers";
}

int mlir::braid::sim::runImport(int argc, char **argv) {
  namespace cl = llvm::cl;
  cl::OptionCategory category("braid-sim import");
  cl::opt<std::string> input(cl::Positional, cl::Required, cl::desc("<workload>"), cl::cat(category));
  cl::opt<std::string> output("o", cl::init("-"), cl::desc("file to write; default: standard output"),
                              cl::cat(category));
  cl::opt<std::string> format(
      "format", cl::init("auto"), cl::cat(category),
      cl::desc(
          "auto (default); layers: ASTRA-sim 1.0, SimAI, CSV of layers; collectives: AICB; piper; chakra; pipeline"));
  ReadOptions options;
  cl::opt<int64_t> ranks("ranks", cl::desc("number of ranks; default: the file's"), cl::cat(category));
  cl::opt<int64_t> tensor("tensor-parallel", cl::desc("ranks of a tensor parallel group; default: the file's, or 1"),
                          cl::cat(category));
  cl::opt<int64_t> expert("expert-parallel", cl::desc("ranks of an expert parallel group; default: the file's, or 1"),
                          cl::cat(category));
  cl::opt<int64_t> pipeline("pipeline-parallel", cl::desc("pipeline stages; default: the file's, or 1"),
                            cl::cat(category));
  cl::opt<double> scale("compute-scale", cl::init(1), cl::desc("factor on times of computation; default: 1"),
                        cl::cat(category));
  cl::opt<int> bottom("last-bottom-layer", cl::init(-1), cl::cat(category),
                      cl::desc("DLRM: number of the last layer (from 0) that goes on beside the exchange of "
                               "embeddings; default: the file's"));
  cl::opt<std::string> elementType("element-type", cl::desc("f32, bf16, f16; default: the format's"),
                                   cl::cat(category));
  cl::opt<std::string> edges("edges", cl::desc("piper: the file of edges; default: none"), cl::cat(category));
  cl::opt<std::string> groups("groups", cl::desc("chakra: JSON, process group -> lists of ranks; default: none"),
                              cl::cat(category));
  cl::opt<int> row("row", cl::init(0), cl::desc("pipeline: which row of the table, from 0; default: 0"),
                   cl::cat(category));
  cl::opt<int> stage("stage", cl::init(0), cl::desc("pipeline: which stage's program, from 0; default: 0"),
                     cl::cat(category));
  cl::HideUnrelatedOptions(category);
  cl::ParseCommandLineOptions(argc, argv, "a workload of another simulator, or a trace, as a program\n");
  auto wrong = [](const llvm::Twine &what) {
    llvm::errs() << "error: " << what << "\n";
    return 1;
  };
  for (auto *option : {&ranks, &tensor, &expert, &pipeline})
    if (option->getNumOccurrences() && (*option < 1 || *option > (1 << 24)))
      return wrong("--" + option->ArgStr + ": expected 1 to 16777216, got " + Twine(option->getValue()));
  if (!(scale > 0 && scale < 1e9))
    return wrong("--compute-scale: expected a factor above 0, got " + Twine(std::to_string(scale)));
  if (!elementType.empty() && elementType != "f32" && elementType != "bf16" && elementType != "f16")
    return wrong("--element-type: expected f32, bf16 or f16, got '" + elementType + "'");
  options.parallelism = {ranks, tensor, expert, pipeline};
  options.computeScale = scale;
  options.lastBottomLayer = bottom;
  options.edges = edges;
  options.groups = groups;

  std::string message;
  std::unique_ptr<llvm::MemoryBuffer> file = openInputFile(input, &message);
  if (!file)
    return wrong(message);
  StringRef text = file->getBuffer();
  text.consume_front("\xef\xbb\xbf"); // the mark that spreadsheets put in front of UTF-8
  if (text.contains('\0'))
    return wrong(input +
                 ": expected text or JSON, got binary data: unpack what is compressed, and give Chakra traces as JSON");
  StringRef kind = format == "auto" ? formatOf(text) : StringRef(format);
  MLIRContext context(MLIRContext::Threading::DISABLED);
  context.loadDialect<BraidDialect>();
  FailureOr<Workload> workload = failure();
  if (kind == "layers")
    workload = readLayers(&context, input, text, options);
  else if (kind == "collectives")
    workload = readCollectiveList(&context, input, text, options);
  else if (kind == "piper")
    workload = readPiper(&context, input, text, options);
  else if (kind == "chakra")
    workload = readChakra(&context, input, text, options);
  else if (kind == "pipeline") {
    FailureOr<std::vector<Pipeline>> rows = readPipelines(input, text);
    if (failed(rows))
      return 1;
    if (row < 0 || row >= int(rows->size()))
      return wrong("--row: expected 0 to " + Twine(rows->size() - 1) + ", got " + Twine(row));
    const Pipeline &chosen = (*rows)[row];
    if (stage < 0 || stage >= chosen.stages)
      return wrong("--stage: expected 0 to " + Twine(chosen.stages - 1) + ", got " + Twine(stage));
    workload = stageOf(chosen, stage);
  } else if (format == "auto")
    return wrong(input + ": expected a table of layers, a list of collectives, Piper's nodes, a Chakra trace or a "
                         "table of pipelines (--format)");
  else
    return wrong("--format: expected auto, layers, collectives, piper, chakra or pipeline, got '" + format + "'");
  if (failed(workload))
    return 1;
  if (workload->nodes.empty())
    return wrong(input + ": expected computation or collectives, got none");
  int rounded = 0;
  StringRef type = elementType.empty() ? StringRef(workload->elementType) : StringRef(elementType);
  OwningOpRef<ModuleOp> module = writeProgram(&context, *workload, type, rounded);
  if (failed(verify(*module)))
    return 1;
  for (const std::string &note : workload->notes)
    llvm::errs() << "note: " << input << ": " << note << "\n";
  if (rounded)
    llvm::errs() << "note: " << input << ": " << rounded << " buffers are rounded up to whole elements of " << type
                 << " for each rank\n";
  std::string program;
  llvm::raw_string_ostream os(program);
  module->print(os, OpPrintingFlags().enableDebugInfo(true, false));
  return write(output, program + "\n");
}

int mlir::braid::sim::runEmitTrace(int argc, char **argv) {
  namespace cl = llvm::cl;
  cl::OptionCategory category("braid-sim emit-trace");
  cl::opt<std::string> input(cl::Positional, cl::Required, cl::desc("<program.mlir>"), cl::cat(category));
  cl::opt<std::string> output("o", cl::init("-"), cl::desc("file to write; default: standard output"),
                              cl::cat(category));
  cl::HideUnrelatedOptions(category);
  cl::ParseCommandLineOptions(argc, argv, "a program of timed computation as a Chakra trace of one rank\n");
  FailureOr<ParsedModule> parsed = parseProgram(input);
  if (failed(parsed))
    return 1;
  ProgramDiagnostics handler(*parsed->sources, parsed->context.get(), input);
  FailureOr<llvm::json::Value> trace = writeChakra(*parsed->module);
  if (failed(trace))
    return 1;
  return write(output, llvm::formatv("{0:2}\n", *trace).str());
}
