//===- RunCounters.cpp - what the ports of a job count in a run -------------------------------------------------------===//
#include "RunCounters.h"
#include "bootstrap/RankInfo.h"
#include "braid/runtime/trace/TraceWriter.h"
#include <cstdio>
#include <cstdlib>
#include <filesystem>
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
  for (const std::string &folder : {root.substr(0, colon), rootAfter})
    if (std::error_code unknown;
        !folder.empty() && !std::filesystem::is_directory(folder, unknown) && wrongRoot.empty())
      wrongRoot = "BRAID_HOST_ROOT: expected a folder that braid-doctor --record has filled, or BEFORE:AFTER, got '" +
                  folder + "'; no counters are told";
  if (!wrongRoot.empty())
    return;
  Tree tree(root.substr(0, colon), "");
  for (Port &port : readPorts(tree, namedPorts(tree)))
    if (port.active()) {
      Counts counts = readCounts(tree, port);
      if (!counts.empty())
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
    if (growth.counts.empty())
      growth.wrong = "its counters are gone: was the device taken away in the run?";
    growth.counts = doctor::grown(growth.counts, counts);
    grown.push_back(std::move(growth));
  }
}

std::string RunCounters::text() const {
  std::string lines = wrongRoot.empty() ? "" : wrongRoot + "\n";
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
    for (const Unknown &one : growth.counts.unknown)
      lines += start + one.path + ": not known: " + one.why + "\n";
    size_t all = growth.counts.all.size();
    bool whole = still == all && growth.counts.unknown.empty();
    if (all == 0)
      lines += start + "there is none of losses, retries, congestion and pauses" + among + "\n";
    else if (still > 0)
      lines += start +
               (whole ? "all " + std::to_string(all) + " of losses, retries, congestion and pauses"
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
    objects += "}, \"unknown\": {";
    comma = "";
    for (const Unknown &one : growth.counts.unknown) {
      objects += comma + trace::jsonString(one.path) + ": " + trace::jsonString(one.why);
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
