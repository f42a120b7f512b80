//===- Command.h - how every tool begins and ends -------------------------------------------------------------------===//
//
// A tool that loses what it says must not look as if it had succeeded: standard output that is closed, or on a full disk, is
// one error and an exit status that is not 0. Files that are to be written are looked at before the work, not after it.
//
//   int main(int argc, char **argv) {
//     braid::command::Tool tool("braid-sim"); // before anything else opens a file
//     return tool.run(subcommands, argc, argv);
//   }
//===------------------------------------------------------------------------------------------------------------===//
#ifndef BRAID_TOOLS_COMMAND_COMMAND_H
#define BRAID_TOOLS_COMMAND_COMMAND_H

#include <string>
#include <utility>
#include <vector>

namespace braid::command {

/// A row of a tool's table. `run` parses its own options; its argv[0] is "TOOL NAME". It returns the exit status.
struct Subcommand {
  const char *name;
  int (*run)(int argc, char **argv);
  const char *summary;
};

class Tool {
public:
  /// Holds the places of standard streams that are closed: else the first file or connection that is opened would take the
  /// place of standard output, and what the tool prints would go there.
  explicit Tool(const char *name);
  /// The exit status of a tool that has said all it had to: not 0 if standard output did not take it, which it says.
  int finish(int status) const;
  /// The whole of a tool that is a table of subcommands; the exit status.
  int run(const std::vector<Subcommand> &subcommands, int argc, char **argv) const;

private:
  const std::string name;
};

/// "TOOL (Braid 0.1.0)".
std::string versionOf(const std::string &tool);

/// Options, or what else a user calls a file, and the paths that they name, "" and "-" among them.
using Files = std::vector<std::pair<std::string, std::string>>;
/// An error that names the first output that can't be written, or that is one of the inputs or another output, or "".
std::string checkOutputs(const Files &outputs, const Files &inputs = {});

/// Writes a whole file or nothing, and says so on standard error, where no output of the tool is: "wrote FILE (12 rows)", rows of a
/// CSV without its head, else lines, or bytes of what is no text. What went wrong, or "".
std::string writeFile(const std::string &path, const std::string &content);
/// Says so of a file that was written by other means; `what`: "2 timelines".
void sayWritten(const std::string &path, const std::string &what);

// The streams that a tool prints with, PlainStreams.cpp or LlvmStreams.cpp:

/// Called once, first of all.
void prepareStreams(const std::string &tool);
/// Writes out what waits for standard output. What stood in the way, or "".
std::string flushStreams();

} // namespace braid::command

#endif
