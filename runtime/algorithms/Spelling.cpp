//===- Spelling.cpp - an algorithm and what it takes, as one word -------------------------------------------------===//
//
// Plans, C programs and reports name an algorithm by one word, so that what was priced reaches the runtime whole: a name, then
// key=value pairs in parentheses, separated by blanks (a comma would end a column of a table). Lists have dots between their elements.
//===------------------------------------------------------------------------------------------------------------===//
#include "braid/runtime/algorithms/PackedTrees.h"
#include "braid/runtime/algorithms/Paths.h"
#include <algorithm>
#include <cstdlib>

namespace braid::algorithms {

namespace {

/// -1: not a number below a billion.
int readNumber(const std::string &text) {
  bool digits = !text.empty() && text.size() < 10 && text.find_first_not_of("0123456789") == std::string::npos;
  return digits ? std::atoi(text.c_str()) : -1;
}

/// "0.2.1": a permutation of the numbers below its length; empty: it is none.
std::vector<int> readOrder(const std::string &text) {
  std::vector<int> order;
  for (size_t at = 0; at <= text.size();) {
    size_t end = std::min(text.find('.', at), text.size());
    order.push_back(readNumber(text.substr(at, end - at)));
    at = end + 1;
  }
  std::vector<int> sorted = order;
  std::sort(sorted.begin(), sorted.end());
  for (size_t i = 0; i < sorted.size(); ++i)
    if (sorted[i] != int(i))
      return {};
  return order;
}

std::string readArgument(const Algorithm &algorithm, const std::string &key, const std::string &value,
                         StepOptions &options) {
  if (key == "order" && algorithm.ordered) {
    options.byHosts = value == "hosts";
    options.order = options.byHosts ? std::vector<int>() : readOrder(value);
    return options.byHosts || !options.order.empty()
               ? ""
               : "order, expected hosts, or each rank once as in 0.2.1.3, got '" + value + "'";
  }
  if (key == "servers" && algorithm.name == "parameter_server") {
    options.servers = readNumber(value);
    return options.servers > 0 ? "" : "servers, expected a number from 1 on, got '" + value + "'";
  }
  return "expected what '" + algorithm.name + "' takes, got '" + key + "'";
}

/// The last few packings, by their words, so that operations and ranks of one process share their plans.
std::shared_ptr<const Packing> packingOf(const std::string &spelling, const std::map<std::string, std::string> &words,
                                         std::string &problem) {
  constexpr size_t most = 64;
  static std::mutex mutex;
  static std::map<std::string, std::shared_ptr<const Packing>> known;
  std::lock_guard<std::mutex> lock(mutex);
  if (auto found = known.find(spelling); found != known.end())
    return found->second;
  std::shared_ptr<const Packing> packing = Packing::read(words, problem);
  if (known.size() >= most)
    known.clear();
  return packing ? known[spelling] = packing : nullptr;
}

} // namespace

const Algorithm *parse(const std::string &spelling, StepOptions &options, std::string &problem) {
  problem.clear();
  size_t open = spelling.find('(');
  const Algorithm *algorithm = find(spelling.substr(0, open));
  if (!algorithm || open == std::string::npos)
    return algorithm;
  if (spelling.back() != ')') {
    problem = "expected a ) at the end, got '" + spelling + "'";
    return nullptr;
  }
  std::map<std::string, std::string> words;
  for (size_t at = open + 1; at + 1 < spelling.size();) {
    size_t end = std::min(spelling.find(' ', at), spelling.size() - 1), equals = std::min(spelling.find('=', at), end);
    words[spelling.substr(at, equals - at)] = equals < end ? spelling.substr(equals + 1, end - equals - 1) : "";
    at = end + 1;
  }
  if (auto path = words.find("path"); path != words.end()) {
    auto read = std::make_shared<Paths>();
    if (std::string wrong = Paths::read(path->second, *read); !wrong.empty())
      problem = "path, " + wrong;
    options.path = std::move(read);
    words.erase(path);
  }
  if (problem.empty() && algorithm->needs == Needs::Topology)
    options.packing = packingOf(spelling.substr(0, spelling.find(" path=")), words, problem);
  else
    for (auto &[key, value] : words)
      if (problem.empty())
        problem = readArgument(*algorithm, key, value, options);
  return problem.empty() ? algorithm : nullptr;
}

} // namespace braid::algorithms
