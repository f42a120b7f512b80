//===- Affinity.cpp - which processors the runtime's own threads use -----------------------------------------------===//
#include "bootstrap/Affinity.h"
#include <algorithm>
#include <climits>
#include <hwloc.h>
#include <memory>
#include <sched.h>

namespace braid::runtime {
namespace {

constexpr int mostProcessors = 1 << 16;

/// The set of a thread; the kernel's is larger than cpu_set_t on large machines, so it grows until it fits.
std::vector<int> processorsOf(pid_t thread) {
  std::vector<int> found;
  for (int size = 1024; size <= mostProcessors; size *= 2) {
    cpu_set_t *set = CPU_ALLOC(static_cast<size_t>(size));
    size_t bytes = CPU_ALLOC_SIZE(static_cast<size_t>(size));
    CPU_ZERO_S(bytes, set);
    bool good = sched_getaffinity(thread, bytes, set) == 0;
    for (int i = 0; good && i != size; ++i)
      if (CPU_ISSET_S(static_cast<size_t>(i), bytes, set))
        found.push_back(i);
    CPU_FREE(set);
    if (good)
      break;
  }
  return found;
}

bool bindThisThread(const std::vector<int> &processors) {
  size_t size = static_cast<size_t>(processors.back()) + 1;
  cpu_set_t *set = CPU_ALLOC(size);
  size_t bytes = CPU_ALLOC_SIZE(size);
  CPU_ZERO_S(bytes, set);
  for (int processor : processors)
    CPU_SET_S(static_cast<size_t>(processor), bytes, set);
  bool good = sched_setaffinity(0, bytes, set) == 0;
  CPU_FREE(set);
  return good;
}

/// Shares `allowed` out to `count` ranks; the one at `index` gets a part of it. Empty: hwloc can't tell.
std::vector<int> share(const std::vector<int> &allowed, int index, int count, const char *synthetic) {
  std::vector<int> mine;
  hwloc_topology_t topology;
  if (hwloc_topology_init(&topology))
    return mine;
  std::unique_ptr<hwloc_topology, void (*)(hwloc_topology_t)> owner(topology, hwloc_topology_destroy);
  if (synthetic && hwloc_topology_set_synthetic(topology, synthetic))
    return mine;
  // Processors and caches only: devices take long to look at and don't matter here.
  hwloc_topology_set_io_types_filter(topology, HWLOC_TYPE_FILTER_KEEP_NONE);
  if (hwloc_topology_load(topology))
    return mine;
  hwloc_bitmap_t set = hwloc_bitmap_alloc();
  for (int processor : allowed)
    hwloc_bitmap_set(set, static_cast<unsigned>(processor));
  bool good = hwloc_topology_restrict(topology, set, 0) == 0;
  hwloc_bitmap_free(set);
  if (!good)
    return mine;
  std::vector<hwloc_bitmap_t> parts(static_cast<size_t>(count), nullptr);
  hwloc_obj_t root = hwloc_get_root_obj(topology);
  if (hwloc_distrib(topology, &root, 1, parts.data(), static_cast<unsigned>(count), INT_MAX, 0) == 0) {
    int processor;
    hwloc_bitmap_foreach_begin(processor, parts[static_cast<size_t>(index)]) mine.push_back(processor);
    hwloc_bitmap_foreach_end();
  }
  for (hwloc_bitmap_t part : parts)
    if (part)
      hwloc_bitmap_free(part);
  return mine;
}

} // namespace

std::string rangesOf(const std::vector<int> &processors) {
  std::string text;
  for (size_t i = 0; i != processors.size();) {
    size_t j = i;
    while (j + 1 != processors.size() && processors[j + 1] == processors[j] + 1)
      ++j;
    text +=
        (text.empty() ? "" : ",") + std::to_string(processors[i]) + (j == i ? "" : "-" + std::to_string(processors[j]));
    i = j + 1;
  }
  return text;
}

bool parseRanges(const std::string &text, std::vector<int> &processors) {
  processors.clear();
  const char *at = text.c_str();
  auto number = [&](int &value) {
    char *end;
    long read = std::strtol(at, &end, 10);
    bool good = end != at && *at >= '0' && *at <= '9' && read < mostProcessors;
    at = end;
    value = static_cast<int>(read);
    return good;
  };
  do {
    int first, last;
    if (!number(first))
      return false;
    last = first;
    if (*at == '-' && (++at, !number(last)))
      return false;
    for (int i = first; i <= last; ++i)
      processors.push_back(i);
    if (last < first)
      return false;
  } while (*at == ',' && *++at);
  return *at == 0 && std::is_sorted(processors.begin(), processors.end());
}

std::string allowedProcessors() { return rangesOf(processorsOf(0)); }

Outcome chooseAffinity(int local, const std::vector<std::string> &sets, Affinity &affinity,
                       const Environment &environment, const char *synthetic) {
  affinity = Affinity();
  const char *word = environment("BRAID_AFFINITY");
  std::string wish = word ? word : "";
  if (!wish.empty() && wish != "on" && wish != "off")
    return {BRAID_INVALID, "BRAID_AFFINITY: expected on or off, got \"" + wish + "\""};
  if (!parseRanges(sets[static_cast<size_t>(local)], affinity.allowed))
    return {BRAID_INVALID, "processors of local rank " + std::to_string(local) + ": expected ranges, got \"" +
                               sets[static_cast<size_t>(local)] + "\""};
  if (wish == "off") {
    affinity.off = true;
    affinity.text = "threads on processors " + rangesOf(affinity.allowed) + " (BRAID_AFFINITY=off)";
    return {};
  }
  int index = 0, count = 0;
  for (size_t i = 0; i != sets.size(); ++i)
    if (sets[i] == sets[static_cast<size_t>(local)]) {
      index += static_cast<int>(i) < local;
      ++count;
    }
  affinity.chosen = share(affinity.allowed, index, count, synthetic);
  // Whatever hwloc says (an XML file of another machine may be set): nothing outside what is allowed.
  std::vector<int> inside;
  std::set_intersection(affinity.chosen.begin(), affinity.chosen.end(), affinity.allowed.begin(),
                        affinity.allowed.end(), std::back_inserter(inside));
  affinity.chosen = inside.empty() ? affinity.allowed : inside;
  affinity.text = "threads on processors " + rangesOf(affinity.chosen) + " of " + rangesOf(affinity.allowed) + " (" +
                  std::to_string(index + 1) + " of " + std::to_string(count) + " ranks that share them)";
  return {};
}

Outcome startThread(const Affinity &affinity, const char *name, std::function<void()> body, std::thread &thread) {
  std::vector<int> processors = affinity.off ? std::vector<int>() : affinity.chosen;
  return startQuietThread(
      name,
      [processors, body] {
        if (!processors.empty())
          bindThisThread(processors); // refused: a cgroup has become narrower meanwhile, and what is inherited holds
        body();
      },
      thread);
}

} // namespace braid::runtime
