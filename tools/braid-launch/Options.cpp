//===- Options.cpp - the command line of braid-launch --------------------------------------------------------------===//
#include "Options.h"
#include <cstdlib>

namespace braid::launch {

const char *const usage =
    R"(usage: braid-launch [-n N] [options] [--] program [arguments...]

Starts N ranks of a program on this host and ends them together. Each finds itself by BRAID_RANK and BRAID_RANKS.

  -n N                    ranks to start here (default 1)
  --prefix                begin each line of output with its rank, "[2] "
  --on-failure=end|keep   when a rank fails: end the others (default), or let them go on
  --grace=SECONDS         from asking ranks to end to ending them (default 5)
  --verbose               say what is started, and print what ranks report

Several hosts: one braid-launch on each, with the same BRAID_JOB_SECRET (16 bytes or more) in the environment.
  --ranks=N               ranks of the whole job (default: those started here)
  --first-rank=R          the lowest rank started here (default 0)
  --rendezvous=HOST:PORT  an address of the host of rank 0, where its launcher serves the store
  --deadline=SECONDS      to wait for that launcher (default 60)

Exit status: 128 + signal of the first rank that was killed or crashed; else that of the first rank that failed; else 0.
127 if the program is not found, 2 for a wrong command line.
)";

namespace {

bool readCount(const std::string &text, int least, int &value) {
  bool good = !text.empty() && text.size() <= 7 && text.find_first_not_of("0123456789") == std::string::npos;
  if (good)
    value = std::atoi(text.c_str());
  return good && value >= least;
}

bool readSeconds(const std::string &text, double &value) {
  char *end = nullptr;
  value = std::strtod(text.c_str(), &end);
  return !text.empty() && *end == 0 && value >= 0 && value <= 1e6;
}

} // namespace

std::string parseOptions(int argc, char **argv, Options &options, Asked &asked) {
  int at = 1;
  for (; at != argc; ++at) {
    std::string word = argv[at];
    if (word == "--") {
      ++at;
      break;
    }
    if (word.empty() || word[0] != '-')
      break;
    std::string name = word, value;
    bool given = false;
    if (size_t equals = word.find('='); word.rfind("--", 0) == 0 && equals != std::string::npos) {
      name = word.substr(0, equals);
      value = word.substr(equals + 1);
      given = true;
    }
    if (name == "--help" || name == "-h" || name == "--version") {
      asked = name == "--version" ? Asked::Version : Asked::Help;
      return {};
    }
    bool *flag = name == "--prefix" ? &options.prefix : name == "--verbose" ? &options.verbose : nullptr;
    if (flag) {
      if (given)
        return name + ": expected no value, got \"" + value + "\"";
      *flag = true;
      continue;
    }
    if (name != "-n" && name != "--ranks" && name != "--first-rank" && name != "--rendezvous" &&
        name != "--on-failure" && name != "--grace" && name != "--deadline")
      return "unknown option " + name;
    if (!given) {
      if (++at == argc)
        return name + ": expected a value, got none";
      value = argv[at];
    }
    std::string expected;
    if (name == "-n" && !readCount(value, 1, options.local))
      expected = "a number of ranks from 1";
    else if (name == "--ranks" && !readCount(value, 1, options.ranks))
      expected = "a number of ranks from 1";
    else if (name == "--first-rank" && !readCount(value, 0, options.firstRank))
      expected = "a rank";
    else if (name == "--grace" && !readSeconds(value, options.grace))
      expected = "seconds";
    else if (name == "--deadline" && !readSeconds(value, options.deadline))
      expected = "seconds";
    else if (name == "--on-failure" && value != "end" && value != "keep")
      expected = "end or keep";
    if (!expected.empty())
      return name + ": expected " + expected + ", got \"" + value + "\"";
    if (name == "--rendezvous")
      options.rendezvous = value;
    if (name == "--on-failure")
      options.keep = value == "keep";
  }
  options.command.assign(argv + at, argv + argc);
  if (options.command.empty())
    return "expected a program to start, got none";
  if (options.ranks == 0 && options.firstRank != 0)
    return "--first-rank: expected with --ranks";
  if (options.ranks == 0)
    options.ranks = options.local;
  if (options.firstRank + options.local > options.ranks)
    return "--ranks: expected at least " + std::to_string(options.firstRank + options.local) +
           " (--first-rank plus -n), got " + std::to_string(options.ranks);
  if (options.local != options.ranks && options.rendezvous.empty())
    return "--rendezvous: expected, since ranks run on other hosts too";
  return {};
}

} // namespace braid::launch
