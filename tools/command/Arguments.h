//===- Arguments.h - the options of a tool without LLVM, as a table -----------------------------------------*- C++ -*-===//
#ifndef BRAID_TOOLS_COMMAND_ARGUMENTS_H
#define BRAID_TOOLS_COMMAND_ARGUMENTS_H

#include <cstdio>
#include <cstdlib>
#include <functional>
#include <string>
#include <vector>

namespace braid::command {

/// One option: how it is written, and what takes its value.
struct Option {
  const char *name; ///< "cluster" is --cluster, "o" is -o
  /// Returns what is wrong with the value ("expected ..., got ..."), or "".
  std::function<std::string(const std::string &value)> take;
  bool valued = true;
};

/// What a command line said beside its options.
struct Arguments {
  std::vector<std::string> words; ///< that are no options
  bool help = false;              ///< --help or -h: the rest was not read
  std::string error;              ///< names the option; empty: all were read
};
Arguments readArguments(int argc, char **argv, const std::vector<Option> &options);

Option textOption(const char *name, std::string &text);
Option flagOption(const char *name, bool &flag);
/// One of these words.
Option wordOption(const char *name, std::string &word, std::vector<std::string> known);

/// A number in [low, high] that Number holds exactly.
template <class Number> Option numberOption(const char *name, Number &number, double low, double high) {
  return {name, [&number, low, high](const std::string &text) -> std::string {
            char *end = nullptr;
            double value = strtod(text.c_str(), &end);
            if (text.empty() || *end || !(value >= low && value <= high) || double(Number(value)) != value) {
              char range[80];
              snprintf(range, sizeof range, "expected a number from %.10g to %.10g, got ", low, high);
              return range + ("'" + text + "'");
            }
            number = Number(value);
            return "";
          }};
}

} // namespace braid::command

#endif
