//===- Paths.cpp - paths as one word of a plan ----------------------------------------------------------------------===//
#include "braid/runtime/algorithms/Paths.h"
#include <algorithm>
#include <cstdlib>

namespace braid::algorithms {

namespace {

/// Reads a number of at most nine digits and leaves the rest.
bool takeNumber(const std::string &text, size_t &at, int &number) {
  size_t end = at;
  while (end < text.size() && end - at < 10 && text[end] >= '0' && text[end] <= '9')
    ++end;
  if (end == at || end - at > 9)
    return false;
  number = std::atoi(text.substr(at, end - at).c_str());
  at = end;
  return true;
}

bool take(const std::string &text, size_t &at, char c) {
  if (at >= text.size() || text[at] != c)
    return false;
  ++at;
  return true;
}

bool isPort(int number) { return number > 0 && number < 1 << 16; }

/// "0-1:50003.1/50007"
std::string readFlow(const std::string &word, Paths &paths) {
  std::string expected = "expected flows like 0-1:50003.50007 (or with a rail, 0-1:1/50003), got '" + word + "'";
  int from = 0, to = 0;
  size_t at = 0;
  if (!takeNumber(word, at, from) || !take(word, at, '-') || !takeNumber(word, at, to) || !take(word, at, ':'))
    return expected;
  auto [flow, isNew] = paths.flows.try_emplace({from, to});
  if (from == to || !isNew)
    return "expected flows between two ranks, each once, got '" + word + "'";
  do {
    Paths::Connection one;
    if (!takeNumber(word, at, one.port))
      return expected;
    if (take(word, at, '/')) {
      one.rail = one.port;
      if (!takeNumber(word, at, one.port))
        return expected;
    }
    if (!isPort(one.port))
      return "expected ports from 1 to 65535, got '" + word + "'";
    if (std::find(flow->second.begin(), flow->second.end(), one) != flow->second.end())
      return "expected different ports for the connections of a flow, got '" + word + "'";
    flow->second.push_back(one);
  } while (take(word, at, '.'));
  return at == word.size() ? "" : expected;
}

} // namespace

std::string Paths::read(const std::string &text, Paths &paths) {
  paths = {};
  size_t at = 1;
  if (text.size() > 1 && text[0] == 'x')
    return takeNumber(text, at, paths.connections) && at == text.size() && paths.connections > 0 &&
                   paths.connections <= 64
               ? ""
               : "expected 1 to 64 connections, like x4, got '" + text + "'";
  for (size_t begin = 0; begin <= text.size();) {
    size_t end = std::min(text.find(';', begin), text.size());
    std::string word = text.substr(begin, end - begin);
    at = 2;
    if (begin == 0 && word.compare(0, 2, "to") == 0) {
      if (!takeNumber(word, at, paths.destinationPort) || at != word.size() || !isPort(paths.destinationPort))
        return "expected a destination port from 1 to 65535, like to4791, got '" + word + "'";
    } else if (std::string problem = readFlow(word, paths); !problem.empty()) {
      return problem;
    }
    begin = end + 1;
  }
  return paths.flows.empty() ? "expected at least one flow, like 0-1:50003, got '" + text + "'" : "";
}

std::string Paths::spelling() const {
  if (connections > 0)
    return "x" + std::to_string(connections);
  std::string text = destinationPort > 0 ? "to" + std::to_string(destinationPort) : "";
  for (const auto &[ends, all] : flows) {
    text += (text.empty() ? "" : ";") + std::to_string(ends.first) + "-" + std::to_string(ends.second);
    for (size_t i = 0; i < all.size(); ++i)
      text +=
          (i ? "." : ":") + (all[i].rail < 0 ? "" : std::to_string(all[i].rail) + "/") + std::to_string(all[i].port);
  }
  return text;
}

void Paths::add(const Paths &other) {
  connections = std::max(connections, other.connections);
  if (other.destinationPort > 0)
    destinationPort = other.destinationPort;
  for (const auto &[ends, all] : other.flows)
    for (const Connection &one : all)
      if (std::vector<Connection> &own = flows[ends]; std::find(own.begin(), own.end(), one) == own.end())
        own.push_back(one);
}

std::vector<Paths::Connection> Paths::between(int from, int to) const {
  auto found = flows.find({from, to});
  if (found != flows.end())
    return found->second;
  return std::vector<Connection>(size_t(connections));
}

} // namespace braid::algorithms
