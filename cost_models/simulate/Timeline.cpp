//===- Timeline.cpp - played schedules for Perfetto -------------------------------------------------------------===//
#include "braid/cost_models/Schedule.h"
#include "braid/runtime/trace/TraceWriter.h"

using namespace braid;
using namespace braid::cost;

std::string braid::cost::writeTimeline(const std::vector<std::pair<std::string, Played>> &processes,
                                       const std::string &path) {
  trace::TraceWriter writer;
  for (size_t p = 0; p < processes.size(); ++p) {
    int process = int(p);
    writer.nameRank(process, processes[p].first);
    const char *names[] = {"compute", "intra-host", "inter-host"};
    for (int stream = 0; stream < 3; ++stream)
      writer.nameTrack({process, stream}, names[stream]);
    for (const Interval &interval : processes[p].second.timeline) {
      trace::Microseconds begin = trace::fromSeconds(interval.begin.value),
                          end = trace::fromSeconds(interval.end.value);
      if (interval.bucket < 0)
        writer.slice({process, 0}, interval.name, "compute", begin, end);
      else
        writer.async({process, interval.fabric == Fabric::Intra ? 1 : 2}, interval.name, "collective", begin, end,
                     {{"bucket", std::to_string(interval.bucket)}, {"time", toString(interval.end - interval.begin)}});
    }
  }
  return writer.write(path);
}
