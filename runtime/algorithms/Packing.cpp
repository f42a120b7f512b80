//===- Packing.cpp - a graph in words, and the plans that are made from it --------------------------------------===//
#include "braid/runtime/algorithms/PackedTrees.h"
#include <cstdio>
#include <cstdlib>

namespace braid::algorithms {

std::shared_ptr<const PackedPlan> Packing::plan(Collective collective, int ranks, int root,
                                                std::string &problem) const {
  if (ranks != graph.ranks) {
    problem = "expected a graph of " + std::to_string(ranks) + " ranks, got one of " + std::to_string(graph.ranks);
    return nullptr;
  }
  bool rooted = collective == Collective::Broadcast || collective == Collective::Reduce;
  std::lock_guard<std::mutex> lock(mutex); // the second to ask waits
  auto [found, isNew] = plans.try_emplace({collective, rooted ? root : 0});
  auto &[made, wrong] = found->second;
  if (isNew)
    if (auto plan = std::make_shared<PackedPlan>(packTrees(graph, collective, blockBytes, wrong, rooted ? root : 0));
        wrong.empty())
      made = plan;
  problem = wrong;
  return made;
}

/// Shortest text that reads back as the same number.
static std::string number(double value) {
  char text[32];
  for (int digits = 1; digits <= 17; ++digits) {
    std::snprintf(text, sizeof text, "%.*g", digits, value);
    if (std::strtod(text, nullptr) == value)
      break;
  }
  return text;
}

std::string Packing::spelling() const {
  std::map<std::pair<double, double>, std::map<std::pair<int, int>, int>> classes; // (bandwidth, latency) -> links
  for (const FabricGraph::Link &link : graph.links)
    ++classes[{link.bandwidth, link.latency}][{link.from, link.to}];
  std::string out = "packed_trees(ranks=" + std::to_string(graph.ranks) + " nodes=" + std::to_string(graph.nodes) +
                    " block=" + number(blockBytes) + " links=";
  for (auto &[kind, links] : classes) {
    std::string list;
    for (auto &[ends, count] : links)
      for (; count > 0; --count) {
        auto back = links.find({ends.second, ends.first});
        bool both = ends.first != ends.second && back != links.end() && back->second > 0;
        if (both)
          --back->second;
        list +=
            (list.empty() ? "" : ".") + std::to_string(ends.first) + (both ? "-" : ">") + std::to_string(ends.second);
      }
    out += (out.back() == '=' ? "" : ";") + number(kind.first) + "/" + number(kind.second) + ":" + list;
  }
  return out + ")";
}

namespace {

/// Reads words of a spelling from the left.
struct Cursor {
  const char *at;

  bool take(char c) {
    bool there = *at == c;
    at += there;
    return there;
  }
  bool number(double &value) {
    char *end;
    value = std::strtod(at, &end);
    bool read = end != at && value >= 0 && value < 1e300;
    at = end;
    return read;
  }
  bool node(int &value) {
    char *end;
    long read = std::strtol(at, &end, 10);
    bool good = *at >= '0' && *at <= '9' && read < 1 << 20;
    at = end;
    value = int(read);
    return good;
  }
};

} // namespace

std::shared_ptr<const Packing> Packing::read(const std::map<std::string, std::string> &words, std::string &problem) {
  FabricGraph graph;
  double block = 0;
  std::string links;
  for (auto &[key, value] : words) {
    Cursor cursor{value.c_str()};
    bool good = key == "ranks"   ? cursor.node(graph.ranks)
                : key == "nodes" ? cursor.node(graph.nodes)
                : key == "block" ? cursor.number(block)
                                 : key == "links";
    if (key == "links") {
      links = value;
    } else if (!good || *cursor.at) {
      problem = "expected ranks, nodes, block or links and a number, got '" + key + "=" + value + "'";
      return nullptr;
    }
  }
  if (graph.ranks < 1 || graph.nodes < graph.ranks || block <= 0) {
    problem = "expected ranks from 1 on, as many nodes or more, and a block above 0 bytes, got ranks=" +
              std::to_string(graph.ranks) + ", nodes=" + std::to_string(graph.nodes) + ", block=" + number(block);
    return nullptr;
  }
  Cursor cursor{links.c_str()};
  while (*cursor.at) {
    FabricGraph::Link link{};
    bool good = cursor.number(link.bandwidth) && cursor.take('/') && cursor.number(link.latency) && cursor.take(':');
    do {
      good = good && cursor.node(link.from);
      bool both = cursor.take('-');
      good = good && (both || cursor.take('>')) && cursor.node(link.to) && link.from < graph.nodes &&
             link.to < graph.nodes && link.bandwidth > 0;
      if (good)
        graph.links.push_back(link);
      if (good && both)
        graph.links.push_back({link.to, link.from, link.bandwidth, link.latency});
    } while (good && cursor.take('.'));
    if (!good || (*cursor.at && !cursor.take(';'))) {
      problem = "links, expected bandwidth/latency:from-to.from>to;... of nodes below " + std::to_string(graph.nodes) +
                ", got '" + std::string(cursor.at).substr(0, 20) + "' after " + std::to_string(graph.links.size()) +
                " links";
      return nullptr;
    }
  }
  return std::make_shared<Packing>(std::move(graph), block);
}

} // namespace braid::algorithms
