//===- TraceWriter.cpp - timelines as Chrome trace events -------------------------------------------------------===//
#include "braid/runtime/trace/TraceWriter.h"
#include "braid/runtime/trace/AtomicFile.h"
#include <algorithm>
#include <cmath>
#include <cstdio>

namespace braid::trace {

std::string jsonString(const std::string &text) {
  std::string out = "\"";
  for (size_t i = 0; i < text.size();) {
    unsigned char c = text[i];
    if (c == '"' || c == '\\') {
      out += '\\';
      out += char(c);
      ++i;
    } else if (c < 0x20 || c == 0x7f) {
      char escape[8];
      std::snprintf(escape, sizeof escape, "\\u%04x", c);
      out += escape;
      ++i;
    } else if (c < 0x80) {
      out += char(c);
      ++i;
    } else {
      size_t length = c >= 0xf0 && c < 0xf5 ? 4 : c >= 0xe0 && c < 0xf0 ? 3 : c >= 0xc2 && c < 0xe0 ? 2 : 0;
      bool valid = length && i + length <= text.size();
      for (size_t k = 1; valid && k < length; ++k)
        valid = (text[i + k] & 0xc0) == 0x80;
      if (valid)
        out.append(text, i, length);
      else
        out += '?';
      i += valid ? length : 1;
    }
  }
  return out + '"';
}

static int64_t nanoseconds(Microseconds time) { return std::llround(time.count() * 1e3); }

static std::string microsecondsText(int64_t ns) {
  char text[48];
  bool negative = ns < 0;
  uint64_t magnitude = negative ? uint64_t(-ns) : uint64_t(ns);
  std::snprintf(text, sizeof text, "%s%llu.%03llu", negative ? "-" : "", (unsigned long long)(magnitude / 1000),
                (unsigned long long)(magnitude % 1000));
  return text;
}

static std::string detailsText(const Details &details) {
  if (details.empty())
    return {};
  std::string out = ",\"args\":{";
  for (size_t i = 0; i < details.size(); ++i)
    out += (i ? "," : "") + jsonString(details[i].first) + ":" + jsonString(details[i].second);
  return out + "}";
}

/// The fields that every event has.
static std::string head(const char *phase, Track track, const std::string &name) {
  return std::string("{\"ph\":\"") + phase + "\",\"pid\":" + std::to_string(track.rank) +
         ",\"tid\":" + std::to_string(track.stream) + ",\"name\":" + jsonString(name);
}

void TraceWriter::nameRank(int rank, const std::string &name) {
  metadata.push_back(head("M", {rank, 0}, "process_name") + ",\"args\":{\"name\":" + jsonString(name) + "}}");
  metadata.push_back(head("M", {rank, 0}, "process_sort_index") + ",\"args\":{\"sort_index\":" + std::to_string(rank) +
                     "}}");
}

void TraceWriter::nameTrack(Track track, const std::string &name) {
  metadata.push_back(head("M", track, "thread_name") + ",\"args\":{\"name\":" + jsonString(name) + "}}");
  metadata.push_back(head("M", track, "thread_sort_index") +
                     ",\"args\":{\"sort_index\":" + std::to_string(track.stream) + "}}");
}

void TraceWriter::slice(Track track, const std::string &name, const std::string &category, Microseconds begin,
                        Microseconds end, const Details &details) {
  int64_t from = nanoseconds(begin), to = std::max(from, nanoseconds(end));
  events.push_back(head("X", track, name) + ",\"cat\":" + jsonString(category) + ",\"ts\":" + microsecondsText(from) +
                   ",\"dur\":" + microsecondsText(to - from) + detailsText(details) + "}");
}

void TraceWriter::async(Track track, const std::string &name, const std::string &category, Microseconds begin,
                        Microseconds end, const Details &details) {
  int64_t from = nanoseconds(begin), to = std::max(from, nanoseconds(end));
  std::string common = ",\"cat\":" + jsonString(category) + ",\"id\":" + std::to_string(nextId++) + ",\"ts\":";
  events.push_back(head("b", track, name) + common + microsecondsText(from) + detailsText(details) + "}");
  events.push_back(head("e", track, name) + common + microsecondsText(to) + "}");
}

void TraceWriter::counter(int rank, const std::string &name, Microseconds time, double value) {
  char number[32];
  std::snprintf(number, sizeof number, "%.17g", std::isfinite(value) ? value : 0.0);
  events.push_back(head("C", {rank, 0}, name) + ",\"ts\":" + microsecondsText(nanoseconds(time)) +
                   ",\"args\":{\"value\":" + number + "}}");
}

void TraceWriter::flow(const std::string &name, Track from, Microseconds fromTime, Track to, Microseconds toTime) {
  std::string common = ",\"cat\":\"flow\",\"id\":" + std::to_string(nextId++) + ",\"ts\":";
  events.push_back(head("s", from, name) + common + microsecondsText(nanoseconds(fromTime)) + "}");
  events.push_back(head("f", to, name) + common + microsecondsText(nanoseconds(toTime)) + ",\"bp\":\"e\"}");
}

std::string TraceWriter::json() const {
  size_t length = 64;
  for (const auto *list : {&metadata, &events})
    for (const std::string &event : *list)
      length += event.size() + 2;
  std::string out;
  out.reserve(length);
  out += "{\"displayTimeUnit\":\"ms\",\"traceEvents\":[\n";
  bool first = true;
  for (const auto *list : {&metadata, &events})
    for (const std::string &event : *list) {
      if (!first)
        out += ",\n";
      first = false;
      out += event;
    }
  out += "\n]}\n";
  return out;
}

std::string TraceWriter::write(const std::string &path) const { return writeAtomically(path, json()); }

} // namespace braid::trace
