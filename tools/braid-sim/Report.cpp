//===- Report.cpp - braid-sim report: the plan, its timelines and its reasons on one page -----------------------===//
#include "Report.h"
#include "../command/Command.h"
#include "Subcommands.h"
#include "report/Page.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace mlir::braid;
using namespace mlir::braid::sim;

/// As a shell reads it.
static std::string quoted(llvm::StringRef argument) {
  constexpr llvm::StringLiteral plain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_./=:,@%+";
  if (!argument.empty() && argument.find_first_not_of(plain) == llvm::StringRef::npos)
    return argument.str();
  std::string text = "'";
  for (char c : argument)
    text += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return text + "'";
}

static std::string commandOf(int argc, char **argv) {
  std::string command = argv[0]; // "braid-sim report"
  for (int i = 1; i < argc; ++i)
    command += " " + quoted(argv[i]);
  return command;
}

std::string mlir::braid::sim::reportToHtml(llvm::json::Object data) {
  constexpr llvm::StringLiteral place = "{{data}}";
  llvm::StringRef page = reportPage;
  auto [head, tail] = page.split(place);
  std::string text = head.str();
  // Inside <script> only "</script" and "<!--" mean anything to a browser: JSON has another spelling for "<".
  for (char c : llvm::formatv("{0}", llvm::json::Value(std::move(data))).str())
    text += c == '<' ? std::string("\\u003c") : std::string(1, c);
  return text + tail.str();
}

int mlir::braid::sim::runReport(int argc, char **argv) {
  llvm::cl::OptionCategory category("braid-sim report");
  PlanOptionsOnCommandLine options(category);
  SystemOptionsOnCommandLine systemOptions(category);
  llvm::cl::opt<std::string> format("format", llvm::cl::init("html"), llvm::cl::desc("html (default), table, json"),
                                    llvm::cl::cat(category));
  llvm::cl::opt<std::string> output("o", llvm::cl::init("-"), llvm::cl::desc("file to write; default: standard output"),
                                    llvm::cl::cat(category));
  llvm::cl::HideUnrelatedOptions(category);
  llvm::cl::ParseCommandLineOptions(argc, argv, "the plan, its timelines and its reasons on one page\n");
  auto fail = [](const std::string &text) {
    llvm::errs() << "error: " << text << "\n";
    return 1;
  };
  if (format != "html" && format != "table" && format != "json")
    return fail("--format: expected html, table or json, got '" + format + "'");
  options.outputs = {{"-o", output}};
  FailureOr<::braid::cost::SystemOptions> systemsAsked = systemOptions.read();
  if (failed(systemsAsked))
    return 1;
  std::vector<Remark> remarks;
  FailureOr<PlannedModule> planned = loadAndPlan(options, &remarks);
  if (failed(planned))
    return 1;
  SystemRows systems = systemRows(planned->plan, *systemsAsked);
  Report report{planned->plan, systems, options.input, commandOf(argc, argv), std::move(remarks)};
  std::string text;
  if (format == "table")
    text = reportToText(report);
  else if (format == "json")
    text = llvm::formatv("{0:2}\n", llvm::json::Value(reportToJson(report)));
  else
    text = reportToHtml(reportToJson(report));
  if (output == "-") {
    llvm::outs() << text;
    return 0;
  }
  std::string error = ::braid::command::writeFile(output, text);
  return error.empty() ? 0 : fail(error);
}
