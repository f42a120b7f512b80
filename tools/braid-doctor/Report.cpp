//===- Report.cpp - findings as text and as JSON ----------------------------------------------------------------------===//
#include "Report.h"
#include "Cost.h"
#include "braid/runtime/trace/TraceWriter.h"
#include <algorithm>
#include <cstdio>
#include <map>

namespace braid::doctor {

static const char *const levels[] = {"problem", "warning", "not checked", "ok"};

static std::vector<Finding> sorted(std::vector<Finding> findings) {
  std::stable_sort(findings.begin(), findings.end(),
                   [](const Finding &a, const Finding &b) { return a.level < b.level; });
  return findings;
}

static std::string percent(double change) {
  char text[32];
  std::snprintf(text, sizeof text, "%+.1f %%", 100 * change);
  return text;
}

namespace {
/// Prices each change once; the cluster as it should be is the yardstick.
class Prices {
public:
  explicit Prices(const cost::Cluster &cluster) : cluster(cluster), sound(price(cluster, {})) {}

  static bool any(const Changes &changes) { return changes.bandwidth != 1 || !changes.keys.empty(); }

  const cost::Result<Times> &of(const Changes &changes) {
    std::string key = std::to_string(changes.bandwidth);
    for (const auto &[name, value] : changes.keys)
      key += "\n" + name + "=" + value;
    auto found = known.find(key);
    return found != known.end() ? found->second : known.emplace(key, price(cluster, changes)).first->second;
  }

  const cost::Cluster &cluster;
  const cost::Result<Times> sound;

private:
  std::map<std::string, cost::Result<Times>> known;
};
} // namespace

/// "p50 6.1 ms -> 7.4 ms (+21.0 %), p99 ...", or why there is no price; "" where there is nothing to pay.
static std::string costText(const Finding &finding, Prices &prices) {
  if (!finding.unpriced.empty())
    return finding.unpriced;
  if (!Prices::any(finding.changes))
    return "";
  const cost::Result<Times> &changed = prices.of(finding.changes);
  for (const cost::Result<Times> *times : {&prices.sound, &changed})
    if (!*times)
      return "not priced: " + times->error().text();
  auto change = [](const char *name, cost::Seconds from, cost::Seconds to) {
    return std::string(name) + " " + cost::toString(from) + " -> " + cost::toString(to) + " (" +
           percent(to / from - 1) + ")";
  };
  return change("p50", prices.sound->p50, changed->p50) + ", " + change("p99", prices.sound->p99, changed->p99) + "; " +
         finding.changes.source;
}

static std::string yardstick(const Heading &heading) {
  return "all_reduce of " + cost::toString(pricedBytes) + " on all " + std::to_string(heading.cluster.ranks()) +
         " devices of " + heading.cluster.name + (heading.clusterGiven ? "" : " (a default: no --cluster was given)");
}

std::string textReport(const Heading &heading, const std::vector<Finding> &findings) {
  Prices prices(heading.cluster);
  std::string out = heading.host + "; costs are predicted (simulated, not measured): " + yardstick(heading) + "\n\n";
  int counts[4] = {};
  for (const Finding &finding : sorted(findings)) {
    ++counts[int(finding.level)];
    if (finding.level == Level::Ok && !heading.all)
      continue;
    char head[160];
    std::snprintf(head, sizeof head, "%-12s%-10s %-12s ", levels[int(finding.level)], finding.check.c_str(),
                  finding.subject.c_str());
    out += head + finding.found + (finding.expected.empty() ? "" : ", expected " + finding.expected) + "\n";
    if (std::string cost = costText(finding, prices); !cost.empty())
      out += "            costs: " + cost + "\n";
    if (!finding.fix.empty())
      out += "            fix: " + finding.fix + "\n";
  }
  auto several = [](int count, const char *what) {
    return std::to_string(count) + " " + what + (count == 1 ? "" : "s");
  };
  return out + "\n" + several(counts[0], "problem") + ", " + several(counts[1], "warning") + ", " +
         std::to_string(counts[2]) + " not checked, " + std::to_string(counts[3]) + " as it should be" +
         (heading.all || !counts[3] ? "" : " (--all shows them)") + "\n";
}

std::string jsonReport(const Heading &heading, const std::vector<Finding> &findings) {
  Prices prices(heading.cluster);
  auto field = [](const char *name, const std::string &value) {
    return trace::jsonString(name) + ": " + trace::jsonString(value);
  };
  std::string out = "{\n  " + field("host", heading.host) + ",\n  " + field("cluster", heading.cluster.name) + ",\n  " +
                    field("priced", yardstick(heading)) + ",\n  \"findings\": [";
  const char *separator = "\n";
  for (const Finding &finding : sorted(findings)) {
    out += separator + std::string("    {") + field("level", levels[int(finding.level)]) + ", " +
           field("check", finding.check) + ", " + field("subject", finding.subject) + ", " +
           field("found", finding.found) + ", " + field("expected", finding.expected) + ", " +
           field("fix", finding.fix) + ", " + field("cost", costText(finding, prices));
    if (finding.unpriced.empty() && Prices::any(finding.changes) && prices.sound && prices.of(finding.changes)) {
      char numbers[160];
      const Times &changed = *prices.of(finding.changes);
      std::snprintf(numbers, sizeof numbers, ", \"p50_s\": [%.9g, %.9g], \"p99_s\": [%.9g, %.9g]",
                    prices.sound->p50.value, changed.p50.value, prices.sound->p99.value, changed.p99.value);
      out += numbers;
    }
    out += "}";
    separator = ",\n";
  }
  return out + "\n  ]\n}\n";
}

} // namespace braid::doctor
