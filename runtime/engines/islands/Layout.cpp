//===- Layout.cpp - reads which ranks run by which engine --------------------------------------------------------------===//
#include "engines/islands/Layout.h"
#include "core/Environment.h"
#include "engines/Engines.h"
#include <algorithm>
#include <cstdlib>

namespace braid::runtime::islands {

namespace {

Outcome wrong(const std::string &text, const std::string &got) {
  return {BRAID_INVALID, "islands" + byVariable("BRAID_ISLANDS", text) +
                             ": expected ENGINE:RANKS with semicolons between them, as in 'mpi:0-2;braid:3-7', got " +
                             got + " in '" + text + "'"};
}

bool readNumber(const std::string &text, int &number) {
  bool good = !text.empty() && text.size() <= 7 && text.find_first_not_of("0123456789") == std::string::npos;
  number = good ? std::atoi(text.c_str()) : -1;
  return good;
}

/// The parts of a text between separators.
std::vector<std::string> split(const std::string &text, char separator) {
  std::vector<std::string> parts;
  for (size_t at = 0; at <= text.size();) {
    size_t end = std::min(text.find(separator, at), text.size());
    parts.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  return parts;
}

} // namespace

Outcome readLayout(const std::string &text, const std::vector<int> &members, int me, Layout &layout) {
  layout = Layout();
  layout.me = me;
  layout.islandOf.assign(members.size(), -1);
  layout.indexIn.assign(members.size(), 0);
  for (const std::string &part : split(text, ';')) {
    size_t colon = part.find(':');
    if (colon == std::string::npos)
      return wrong(text, "'" + part + "'");
    Island island;
    island.engine = part.substr(0, colon);
    std::vector<std::string> names;
    if (Outcome known = readEngines(island.engine, names); !known)
      return {known.status, "islands" + byVariable("BRAID_ISLANDS", text) + ": '" + part + "': " + known.text};
    if (names.size() != 1)
      return wrong(text, "several engines, '" + island.engine + "',");
    for (const std::string &range : split(part.substr(colon + 1), ',')) {
      size_t dash = range.find('-');
      int first = 0, last = 0;
      if (!readNumber(range.substr(0, dash), first) ||
          !readNumber(dash == std::string::npos ? range : range.substr(dash + 1), last) || last < first)
        return wrong(text, "ranks '" + range + "'");
      for (size_t rank = 0; rank < members.size(); ++rank) {
        if (members[rank] < first || members[rank] > last)
          continue;
        if (layout.islandOf[rank] >= 0)
          return wrong(text, "rank " + std::to_string(members[rank]) + " twice");
        layout.islandOf[rank] = int(layout.islands.size());
        island.ranks.push_back(int(rank));
      }
    }
    if (island.ranks.empty())
      continue;
    std::sort(island.ranks.begin(), island.ranks.end());
    for (size_t i = 0; i < island.ranks.size(); ++i)
      layout.indexIn[size_t(island.ranks[i])] = int(i);
    layout.islands.push_back(std::move(island));
  }
  for (size_t rank = 0; rank < members.size(); ++rank)
    if (layout.islandOf[rank] < 0)
      return wrong(text, "no island for rank " + std::to_string(members[rank]));
  return {};
}

} // namespace braid::runtime::islands
