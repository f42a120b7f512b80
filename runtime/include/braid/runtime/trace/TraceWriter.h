//===- TraceWriter.h - timelines as Chrome trace events ---------------------------------------------------------===//
//
// Writes the JSON form of Chrome trace events that Perfetto (ui.perfetto.dev) and chrome://tracing open. The same
// writer serves predicted and measured timelines, so that the two can be laid side by side:
//
//   process   one per rank ("rank 0")
//   track     one per stream of a rank ("compute", "inter-host")       -> a thread of the process
//   slice     a kernel, or a wait: has the track for itself            -> an X event; slices of a track nest or are
//   disjoint
//   async     a collective in flight: may overlap anything             -> a pair of b and e events with an id of its
//   own
//   counter   a quantity over time (bytes in flight, memory)           -> a C event
//   flow      an arrow from one slice to another (start to wait)       -> s and f events
//
// Format: "Trace Event Format", Google, sections Complete, Async, Flow, Counter, Metadata events. Times are
// microseconds; they are rounded to nanoseconds at both ends, so that slices that touch do not overlap.
//===------------------------------------------------------------------------------------------------------------===//
#ifndef BRAID_RUNTIME_TRACE_TRACEWRITER_H
#define BRAID_RUNTIME_TRACE_TRACEWRITER_H

#include <chrono>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace braid::trace {

using Microseconds = std::chrono::duration<double, std::micro>;
inline Microseconds fromSeconds(double seconds) { return std::chrono::duration<double>(seconds); }

/// A text as JSON spells it, in quotes. Bytes that are not UTF-8 become '?', since one of them makes viewers refuse the whole file.
std::string jsonString(const std::string &text);

/// Facts shown when a slice is selected, in this order.
using Details = std::vector<std::pair<std::string, std::string>>;

/// Where a slice lies: a stream of a rank.
struct Track {
  int rank = 0;
  int stream = 0;
};

class TraceWriter {
public:
  /// Names the process of `rank` ("rank 0") and fixes its place in the list.
  void nameRank(int rank, const std::string &name);
  /// Names a track ("compute") and fixes its place under its process.
  void nameTrack(Track track, const std::string &name);

  /// A slice on a track.
  void slice(Track track, const std::string &name, const std::string &category, Microseconds begin, Microseconds end,
             const Details &details = {});
  /// An interval that may overlap any other of its track.
  void async(Track track, const std::string &name, const std::string &category, Microseconds begin, Microseconds end,
             const Details &details = {});
  /// The value of a quantity of a rank from `time` on.
  void counter(int rank, const std::string &name, Microseconds time, double value);
  /// An arrow between two slices that contain these times.
  void flow(const std::string &name, Track from, Microseconds fromTime, Track to, Microseconds toTime);

  size_t size() const { return events.size(); }

  /// The whole trace. Events are in the order in which they were added, names first.
  std::string json() const;
  /// Writes json() atomically. Returns an empty string, or a sentence that says what failed.
  std::string write(const std::string &path) const;

private:
  std::vector<std::string> metadata;
  std::vector<std::string> events;
  uint64_t nextId = 1;
};

} // namespace braid::trace

#endif
