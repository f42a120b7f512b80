//===- RunCounters.cpp - what the ports of a job count in a run -------------------------------------------------------===//
#include "RunCounters.h"
#include "bootstrap/RankInfo.h"
#include "braid/runtime/trace/TraceWriter.h"
#include <cstdio>
#include <cstdlib>
#include <unistd.h>
#include <utility>

namespace braid::doctor {

/// By the words of the launcher; where it says nothing of local ranks, the first of all.
static bool isFirstOfHost() {
  runtime::RankInfo info;
  (void)runtime::readRankInfo(info); // what is wrong with it the runtime says
  return info.localRank >= 0 ? info.localRank == 0 : info.rank == 0;
}

RunCounters::RunCounters(const std::string &transport) {
  if (transport.rfind("emulated", 0) == 0 || !isFirstOfHost())
    return;
  const char *given = std::getenv("BRAID_HOST_ROOT");
  std::string root = given ? given : "";
  size_t colon = root.find(':');
  rootAfter = colon == std::string::npos ? root : root.substr(colon + 1);
  Tree tree(root.substr(0, colon), "");
  for (Port &port : readPorts(tree, namedPorts(tree)))
    if (port.active()) {
      Counts counts = readCounts(tree, port);
      if (counts.packetsKnown || !counts.all.empty())
        before.push_back({std::move(port), std::move(counts)});
    }
  char text[256] = "";
  gethostname(text, sizeof text - 1);
  name = text;
}

void RunCounters::end() {
  if (std::exchange(ended, true))
    return;
  Tree tree(rootAfter, "");
  for (const auto &[port, counts] : before) {
    Growth growth{port.name(), "", readCounts(tree, port)};
    if (!growth.counts.packetsKnown && growth.counts.all.empty())
      growth.wrong = "its counters are gone: was the device taken away in the run?";
    growth.counts = doctor::grown(growth.counts, counts);
    bool fewer = growth.counts.packets < 0;
    for (const Count &count : growth.counts.all)
      fewer |= count.value < 0;
    if (fewer && growth.wrong.empty())
      growth.wrong = "its counters are lower than before the run: was the device reset?";
    grown.push_back(std::move(growth));
  }
}

std::string RunCounters::text() const {
  std::string lines;
  for (const Growth &growth : grown) {
    std::string start = "counters of " + name + " " + growth.port + ": ";
    if (!growth.wrong.empty()) {
      lines += start + growth.wrong + "\n";
      continue;
    }
    char number[64];
    std::string among;
    if (growth.counts.packetsKnown) {
      std::snprintf(number, sizeof number, " in %.0f packets", growth.counts.packets);
      among = number;
    }
    size_t still = 0;
    for (const auto &[counter, value] : growth.counts.all) {
      still += value == 0;
      if (value == 0)
        continue;
      std::snprintf(number, sizeof number, " + %.0f", value);
      lines += start + counter->path + number + among + ": " + counter->meaning + "; " + counter->fix + "\n";
    }
    size_t all = growth.counts.all.size();
    lines += start +
             (still == all ? "all " + std::to_string(all) + " of losses, retries, congestion and pauses"
                           : "the other " + std::to_string(still)) +
             " stayed as they were" + among + "\n";
  }
  return lines;
}

std::string RunCounters::json() const {
  std::string objects;
  for (const Growth &growth : grown) {
    objects += (objects.empty() ? "" : ", ") + ("{\"host\": " + trace::jsonString(name)) +
               ", \"port\": " + trace::jsonString(growth.port);
    char number[64];
    if (!growth.wrong.empty()) {
      objects += ", \"error\": " + trace::jsonString(growth.wrong) + "}";
      continue;
    }
    std::snprintf(number, sizeof number, "%.0f", growth.counts.packets);
    objects += std::string(", \"packets\": ") + (growth.counts.packetsKnown ? number : "null") + ", \"grown\": {";
    const char *comma = "";
    for (const auto &[counter, value] : growth.counts.all) {
      std::snprintf(number, sizeof number, ": %.0f", value);
      objects += comma + trace::jsonString(counter->path) + number;
      comma = ", ";
    }
    objects += "}}";
  }
  return objects;
}

void RunCounters::tell(const char *program) {
  end();
  if (std::exchange(told, true))
    return;
  std::string lines = text();
  for (size_t at = 0, next; (next = lines.find('\n', at)) != std::string::npos; at = next + 1)
    std::fprintf(stderr, "%s: %s\n", program, lines.substr(at, next - at).c_str());
}

} // namespace braid::doctor
