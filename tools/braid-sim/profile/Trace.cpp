//===- Trace.cpp - Chrome trace events from a file ------------------------------------------------------------------===//
#include "Trace.h"
#include "braid/cost_models/Units.h"
#include "braid/passes/JsonText.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include <cerrno>
#include <cmath>
#include <cstring>
#include <zlib.h>

using namespace mlir;
using namespace mlir::braid;
using namespace mlir::braid::sim;
namespace json = llvm::json;

/// Also of text that is not compressed, which zlib hands on as it is. An error or "".
static std::string readFile(const std::string &path, std::string &text) {
  errno = 0;
  gzFile file = gzopen(path.c_str(), "rb");
  if (!file)
    return path + ": cannot read, " + (errno ? strerror(errno) : "out of memory");
  std::vector<char> chunk(1 << 20);
  int got;
  constexpr size_t limit = size_t(4) << 30;
  errno = 0;
  while ((got = gzread(file, chunk.data(), chunk.size())) > 0 && text.size() < limit)
    text.append(chunk.data(), got);
  int error = Z_OK;
  const char *why = gzerror(file, &error);
  std::string failed;
  if (error == Z_ERRNO)
    failed = path + ": cannot read, " + strerror(errno);
  else if (error != Z_OK)
    failed = path + ": expected a whole gzip file, got one that is damaged or cut off (" + why + ")";
  else if (text.size() >= limit)
    failed = path + ": expected a trace of less than 4 GiB: trace fewer steps";
  gzclose_r(file);
  return failed;
}

/// Of numbers that are written as text, too: older writers quote times and identifiers.
static std::optional<double> number(const json::Value *value) {
  if (!value)
    return std::nullopt;
  if (auto plain = value->getAsNumber())
    return plain;
  double parsed = 0;
  if (auto quoted = value->getAsString(); quoted && !quoted->getAsDouble(parsed))
    return parsed;
  return std::nullopt;
}

static std::string identifier(const json::Value *value) {
  if (!value)
    return "";
  if (auto text = value->getAsString())
    return text->str();
  return llvm::formatv("{0}", *value).str();
}

StringRef TraceEvent::text(StringRef key) const { return args ? args->getString(key).value_or("") : ""; }
std::string TraceEvent::value(StringRef key) const { return args ? identifier(args->get(key)) : ""; }

std::string mlir::braid::sim::readTrace(const std::string &path, Trace &trace) {
  std::string text;
  if (std::string error = readFile(path, text); !error.empty())
    return error;
  if (!json::isUTF8(text))
    text = json::fixUTF8(text);
  auto parsed = parseJson(text);
  if (!parsed)
    return path + ": expected a trace (JSON), " + llvm::toString(parsed.takeError());
  trace.json = std::move(*parsed);
  const json::Array *events = trace.json.getAsArray();
  if (const json::Object *top = trace.json.getAsObject())
    events = top->getArray("traceEvents");
  if (!events)
    return path + ": expected Chrome trace events (\"traceEvents\"), got other JSON";
  for (auto [index, value] : llvm::enumerate(*events)) {
    const json::Object *event = value.getAsObject();
    if (!event)
      return path + ": event " + std::to_string(index) + ": expected an object";
    StringRef phase = event->getString("ph").value_or("");
    const json::Object *args = event->getObject("args");
    std::pair thread(identifier(event->get("pid")), identifier(event->get("tid")));
    StringRef name = event->getString("name").value_or("");
    if (phase == "M" && name == "thread_name" && args)
      trace.threads[thread] = args->getString("name").value_or("").str();
    if (phase != "X")
      continue;
    std::string which = llvm::formatv("{0}: event {1} ('{2}'): ", path, index, name);
    auto wrong = [&](const std::string &what) { return which + what; };
    std::optional<double> begin = number(event->get("ts")), duration = number(event->get("dur"));
    if (!begin || !std::isfinite(*begin))
      return wrong("expected a time (ts) in microseconds");
    if (!duration || !std::isfinite(*duration) || *duration < 0)
      return wrong("expected a duration (dur) in microseconds, of 0 or more");
    // A TPU's own clock says the same in picoseconds.
    if (std::optional<double> ps = args ? number(args->get("device_duration_ps")) : std::nullopt;
        ps && *ps > 1e6 && std::abs(std::log2(*duration * 1e6 / *ps)) > 1)
      return wrong(llvm::formatv("expected a duration (dur) in microseconds, got {0} where the device measured {1} us",
                                 *duration, *ps * 1e-6));
    trace.events.push_back({name, event->getString("cat").value_or(""), args, std::move(thread), *begin * 1e-6,
                            (*begin + *duration) * 1e-6});
  }
  if (trace.events.empty())
    return path + ": expected events with a duration (ph X), got none";
  return "";
}

std::vector<double> mlir::braid::sim::selfTimes(const std::vector<const TraceEvent *> &events,
                                                std::vector<int> *parents) {
  std::vector<int> order(events.size());
  for (size_t index = 0; index < order.size(); ++index)
    order[index] = int(index);
  llvm::sort(order, [&](int a, int b) {
    const TraceEvent &x = *events[a], &y = *events[b];
    return std::tie(x.thread, x.begin, y.end, a) < std::tie(y.thread, y.begin, x.end, b);
  });
  std::vector<double> self(events.size());
  if (parents)
    parents->assign(events.size(), -1);
  std::vector<int> open;
  for (int index : order) {
    const TraceEvent &event = *events[index];
    while (!open.empty() && (events[open.back()]->thread != event.thread || events[open.back()]->end <= event.begin))
      open.pop_back();
    self[index] = event.end - event.begin;
    if (!open.empty()) {
      self[open.back()] -= std::min(event.end, events[open.back()]->end) - event.begin;
      if (parents)
        (*parents)[index] = open.back();
    }
    open.push_back(index);
  }
  return self;
}

bool mlir::braid::sim::namesCollective(StringRef name) {
  for (StringRef kind : {"all-reduce", "all-gather", "all-to-all", "reduce-scatter", "collective-permute",
                         "collective-broadcast", "ragged-all-to-all", "send.", "send-", "recv.", "recv-",
                         "c10d::", "_c10d_functional", "record_param_comms", "nccl:", "gloo:"})
    if (name.starts_with(kind))
      return true;
  return name == "send" || name == "recv" || name.contains("ncclKernel") || name.contains("ncclDevKernel") ||
         name.contains("rcclGenericKernel") || name.contains("nvshmem");
}
