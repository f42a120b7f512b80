//===- Arguments.cpp - the options of a tool without LLVM, as a table --------------------------------------------------------===//
#include "Arguments.h"
#include "braid/runtime/algorithms/Nearest.h"
#include <algorithm>
#include <cstring>
#include <getopt.h>

namespace braid::command {

/// Of a word that is no option, as it was written: "--sise=8" may have meant --size.
static std::string meantBy(const std::string &written, const std::vector<Option> &options) {
  if (written.compare(0, 2, "--") != 0)
    return "";
  std::vector<std::string> known = {"--help"};
  for (const Option &option : options)
    if (strlen(option.name) > 1)
      known.push_back(std::string("--") + option.name);
  return algorithms::didYouMean(written.substr(0, written.find('=')), known);
}

Arguments readArguments(int argc, char **argv, const std::vector<Option> &options) {
  constexpr int first = 256, help = 'h';
  std::string letters = ":h";
  std::vector<option> names = {{"help", no_argument, nullptr, help}};
  for (size_t i = 0; i < options.size(); ++i)
    if (strlen(options[i].name) == 1)
      letters += options[i].name + std::string(options[i].valued ? ":" : "");
    else
      names.push_back({options[i].name, options[i].valued ? required_argument : no_argument, nullptr, first + int(i)});
  names.push_back({nullptr, 0, nullptr, 0});
  Arguments arguments;
  optind = 1;
  opterr = 0;
  for (int found; (found = getopt_long(argc, argv, letters.c_str(), names.data(), nullptr)) != -1;) {
    if (found == help) {
      arguments.help = true;
      return arguments;
    }
    std::string written = argv[optind - 1];
    if (found == ':' || found == '?') {
      arguments.error = found == ':' ? written + ": expected a value, got none"
                                     : "option: expected one of those that --help lists, got '" + written + "'" +
                                           meantBy(written, options);
      return arguments;
    }
    auto chosen = std::find_if(options.begin(), options.end(), [&](const Option &option) {
      return strlen(option.name) == 1 ? option.name[0] == found : &option - options.data() == found - first;
    });
    std::string wrong = chosen->take(optarg ? optarg : "");
    if (!wrong.empty()) {
      arguments.error = (strlen(chosen->name) == 1 ? "-" : "--") + std::string(chosen->name) + ": " + wrong;
      return arguments;
    }
  }
  arguments.words.assign(argv + optind, argv + argc);
  return arguments;
}

Option textOption(const char *name, std::string &text) {
  return {name, [&text](const std::string &value) {
            text = value;
            return std::string();
          }};
}

Option flagOption(const char *name, bool &flag) {
  return {name,
          [&flag](const std::string &) {
            flag = true;
            return std::string();
          },
          /*valued=*/false};
}

Option wordOption(const char *name, std::string &word, std::vector<std::string> known) {
  return {name, [&word, known = std::move(known)](const std::string &value) -> std::string {
            std::string all;
            for (const std::string &one : known)
              all += (all.empty() ? "" : &one == &known.back() ? " or " : ", ") + one;
            if (std::find(known.begin(), known.end(), value) == known.end())
              return "expected " + all + ", got '" + value + "'" + algorithms::didYouMean(value, known);
            word = value;
            return "";
          }};
}

} // namespace braid::command
