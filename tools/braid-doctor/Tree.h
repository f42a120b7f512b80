//===- Tree.h - what a host says of itself: files, commands, environment ------------------------------------*- C++ -*-===//
//
// Every check reads through one place, so that a host can be looked at where it isn't: `--record DIR` keeps all that was read,
// `--root DIR` reads it again. A recorded tree has the host's own paths (DIR/sys/class/infiniband/...); what commands printed is
// in DIR/commands, the job's variables in DIR/environment, NAME=VALUE a line. A copy of a host's /sys and /proc does as well.
//===------------------------------------------------------------------------------------------------------------===//
#ifndef BRAID_DOCTOR_TREE_H
#define BRAID_DOCTOR_TREE_H

#include <optional>
#include <string>
#include <vector>

namespace braid::doctor {

class Tree {
public:
  /// `root` "": this host. `record` "": nothing is kept.
  Tree(std::string root, std::string record);

  /// The whole file, not kept; none if it can't be read.
  std::optional<std::string> peek(const std::string &path) const;
  /// The same, and kept.
  std::optional<std::string> bytes(const std::string &path);
  /// The same as text, without the blanks at its end.
  std::optional<std::string> read(const std::string &path);
  /// The names in a folder, sorted; none if there is no such folder.
  std::vector<std::string> list(const std::string &path);
  /// What a command prints, kept as `name`; none if it isn't there, fails, or takes more than 10 seconds.
  std::optional<std::string> command(const std::string &name, const std::vector<std::string> &words);
  /// A variable of the job's environment.
  std::optional<std::string> variable(const std::string &name);

  bool live() const { return root.empty(); }
  /// Why something could not be recorded, or "".
  const std::string &recordError() const { return error; }

private:
  void keep(const std::string &path, const std::string &text);

  std::string root, record, error, variables;
};

} // namespace braid::doctor

#endif
