//===- Command.cpp - how every tool begins and ends -----------------------------------------------------------------===//
#include "Command.h"
#include "braid/runtime/algorithms/Nearest.h"
#include "braid/runtime/trace/AtomicFile.h"
#include <algorithm>
#include <cstdio>
#include <fcntl.h>
#include <filesystem>

namespace braid::command {

Tool::Tool(const char *name) : name(name) {
  // Standard output is opened for reading, so that writing to it is an error in the end.
  for (int stream : {0, 1, 2})
    if (fcntl(stream, F_GETFD) < 0)
      (void)open("/dev/null", stream == 2 ? O_WRONLY : O_RDONLY); // takes the lowest that is free
  prepareStreams(name);
}

std::string versionOf(const std::string &tool) { return tool + " (Braid " BRAID_VERSION ")"; }

int Tool::finish(int status) const {
  std::string why = flushStreams();
  if (why.empty())
    return status;
  std::fprintf(stderr, "%s: error: standard output: %s\n", name.c_str(), why.c_str());
  return status ? status : 1;
}

static void printUsage(FILE *out, const std::string &tool, const std::vector<Subcommand> &subcommands) {
  std::fprintf(out, "usage: %s SUBCOMMAND ...     %s SUBCOMMAND --help\n\n", tool.c_str(), tool.c_str());
  for (const Subcommand &subcommand : subcommands)
    std::fprintf(out, "  %-12s %s\n", subcommand.name, subcommand.summary);
}

int Tool::run(const std::vector<Subcommand> &subcommands, int argc, char **argv) const {
  std::string asked = argc > 1 ? argv[1] : "";
  if (asked == "--help" || asked == "-h" || asked == "help") {
    printUsage(stdout, name, subcommands);
    return finish(0);
  }
  if (asked == "--version") {
    std::printf("%s\n", versionOf(name).c_str());
    return finish(0);
  }
  for (const Subcommand &subcommand : subcommands)
    if (asked == subcommand.name) {
      std::string program = name + " " + asked;
      argv[1] = program.data();
      return finish(subcommand.run(argc - 1, argv + 1));
    }
  std::vector<std::string> known;
  for (const Subcommand &subcommand : subcommands)
    known.push_back(subcommand.name);
  std::string got = asked.empty() ? "none" : "'" + asked + "'" + algorithms::didYouMean(asked, known);
  std::fprintf(stderr, "%s: error: subcommand: expected one of these, got %s\n", name.c_str(), got.c_str());
  printUsage(stderr, name, subcommands);
  return 2;
}

static bool isFile(const std::string &path) { return !path.empty() && path != "-"; }

/// Also by links and by other ways to spell it. Files that are yet to be written are told apart by their paths.
static bool sameFile(const std::string &one, const std::string &other) {
  std::error_code unknown, unknownOther;
  if (std::filesystem::equivalent(one, other, unknown))
    return true;
  auto path = std::filesystem::weakly_canonical(one, unknown);
  auto otherPath = std::filesystem::weakly_canonical(other, unknownOther);
  return !unknown && !unknownOther && path == otherPath;
}

std::string checkOutputs(const Files &outputs, const Files &inputs) {
  for (auto output = outputs.begin(); output != outputs.end(); ++output) {
    const auto &[option, path] = *output;
    if (!isFile(path))
      continue;
    for (const auto &[what, input] : inputs)
      if (isFile(input) && sameFile(path, input))
        return option + ": expected another file than " + what + ", which would be lost, got '" + path + "'";
    std::error_code unknown; // who can't be looked at can't be written either, which is said below
    bool isDevice = std::filesystem::exists(path, unknown) &&
                    !std::filesystem::is_regular_file(path, unknown); // /dev/null takes any number
    for (auto other = outputs.begin(); other != output; ++other)
      if (isFile(other->second) && !isDevice && sameFile(path, other->second))
        return option + ": expected another file than " + other->first + ", got '" + path + "'";
    if (std::string why = trace::checkWritable(path); !why.empty())
      return option + ": " + why;
  }
  return {};
}

static std::string counted(const std::string &path, const std::string &content) {
  auto several = [](size_t count, const char *what) {
    return std::to_string(count) + " " + what + (count == 1 ? "" : "s");
  };
  if (content.find('\0') != std::string::npos)
    return several(content.size(), "byte");
  size_t lines = size_t(std::count(content.begin(), content.end(), '\n')) +
                 (!content.empty() && content.back() != '\n'); // an end without a line feed
  bool isCsv = path.size() > 4 && path.compare(path.size() - 4, 4, ".csv") == 0;
  return isCsv && lines > 0 ? several(lines - 1, "row") : several(lines, "line");
}

void sayWritten(const std::string &path, const std::string &what) {
  std::fprintf(stderr, "wrote %s (%s)\n", path.c_str(), what.c_str());
}

std::string writeFile(const std::string &path, const std::string &content) {
  std::string error = trace::writeAtomically(path, content);
  if (error.empty())
    sayWritten(path, counted(path, content));
  return error;
}

} // namespace braid::command
