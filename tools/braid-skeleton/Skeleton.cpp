//===- Skeleton.cpp - what a step of a job does, read back ------------------------------------------------------===//
#include "tools/braid-skeleton/Skeleton.h"
#include "transports/emulated/Json.h"
#include <cmath>
#include <cstring>

namespace braid::skeleton {

using runtime::Json;

static bool parseKind(const std::string &text, algorithms::Collective &kind) {
  using algorithms::Collective;
  for (Collective c : {Collective::AllReduce, Collective::ReduceScatter, Collective::AllGather, Collective::AllToAll,
                       Collective::Permute, Collective::Broadcast, Collective::Reduce, Collective::Gather,
                       Collective::Scatter, Collective::Barrier})
    if (text == algorithms::name(c)) {
      kind = c;
      return true;
    }
  return false;
}

static std::string readCollective(const Json &json, int ranks, SkeletonCollective &c) {
  if (!parseKind(json["kind"].text(), c.kind))
    return "kind: expected a collective, got \"" + json["kind"].text() + "\"";
  c.bytes = int64_t(json["bytes"].number());
  c.crossesHosts = json["fabric"].text() == "inter";
  c.segments = std::max(1, int(json["segments"].number(1)));
  c.channels = std::max(1, int(json["channels"].number(1)));
  auto rankOf = [&](const Json &number) { return int(number.number(-1)); };
  for (const Json &group : json["groups"].items()) {
    c.groups.emplace_back();
    for (const Json &rank : group.items())
      c.groups.back().push_back(rankOf(rank));
  }
  for (const Json &pair : json["pairs"].items())
    if (pair.size() == 2)
      c.pairs.push_back({rankOf(pair[0]), rankOf(pair[1])});
  for (const std::vector<int> &group : c.groups)
    for (int rank : group)
      if (rank < 0 || rank >= ranks)
        return "groups: expected ranks below " + std::to_string(ranks) + ", got " + std::to_string(rank);
  for (auto [source, target] : c.pairs)
    if (source < 0 || source >= ranks || target < 0 || target >= ranks)
      return "pairs: expected ranks below " + std::to_string(ranks);
  if (json["algorithm"].text() == "none")
    return ""; // every group is one rank: nothing to do
  c.algorithm = algorithms::find(json["algorithm"].text());
  if (!c.algorithm)
    return "algorithm: expected one of the registry, got \"" + json["algorithm"].text() + "\"";
  return "";
}

static std::string readEvent(const Json &json, const SkeletonSchedule &schedule, SkeletonEvent &event) {
  if (json.size() < 2)
    return "expected an event of two elements or more";
  const std::string &what = json[0].text();
  event.index = int(json[1].number(-1));
  if (what == "compute") {
    event.kind = SkeletonEvent::Compute;
    event.seconds = json[1].number();
    return event.seconds >= 0 ? "" : "compute: expected seconds that are not negative";
  }
  if (what == "run") {
    event.kind = SkeletonEvent::Run;
    event.trips = std::llround(json.size() > 2 ? json[2].number(1) : 1);
    bool known = event.index >= 0 && event.index < int(schedule.blocks.size());
    return known ? "" : "run: expected a block that comes earlier, got " + std::to_string(event.index);
  }
  if (what != "start" && what != "wait")
    return "expected compute, start, wait or run, got \"" + what + "\"";
  event.kind = what == "start" ? SkeletonEvent::Start : SkeletonEvent::Wait;
  bool known = event.index >= 0 && event.index < int(schedule.collectives.size());
  return known ? "" : what + ": expected a collective of the schedule, got " + std::to_string(event.index);
}

std::string Skeleton::read(const std::string &path, Skeleton &skeleton) {
  Json json;
  std::string error = Json::read(path, json);
  if (!error.empty())
    return error;
  if (json["format"].text() != "braid-skeleton 1")
    return path + ": format: expected \"braid-skeleton 1\", got \"" + json["format"].text() + "\"";
  skeleton.program = json["program"].text();
  skeleton.cluster = json["cluster"].text();
  skeleton.ranks = int(json["ranks"].number());
  for (const Json &from : json["schedules"].items()) {
    SkeletonSchedule schedule;
    schedule.policy = from["policy"].text();
    std::string where = path + ": schedule " + schedule.policy + ": ";
    for (const Json &collective : from["collectives"].items()) {
      schedule.collectives.emplace_back();
      error = readCollective(collective, skeleton.ranks, schedule.collectives.back());
      if (!error.empty())
        return where + error;
    }
    for (const Json &block : from["blocks"].items()) {
      std::vector<SkeletonEvent> events;
      for (const Json &event : block.items()) {
        events.emplace_back();
        error = readEvent(event, schedule, events.back());
        if (!error.empty())
          return where + error;
      }
      schedule.blocks.push_back(std::move(events));
    }
    if (schedule.blocks.empty())
      return where + "expected at least one block, got none";
    skeleton.schedules.push_back(std::move(schedule));
  }
  return "";
}

} // namespace braid::skeleton
