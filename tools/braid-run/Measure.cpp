//===- Measure.cpp - writes down, gathers, writes out -----------------------------------------------------------===//
#include "Measure.h"
#include "braid/passes/JsonText.h"

#include "Record.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/MemoryBuffer.h"
#include <unistd.h>

namespace braid::run {

static std::string firstLine(const char *path, llvm::StringRef start = "") {
  auto file = llvm::MemoryBuffer::getFileAsStream(path);
  if (!file)
    return "";
  llvm::StringRef rest = (*file)->getBuffer();
  for (llvm::StringRef line; !rest.empty();) {
    std::tie(line, rest) = rest.split('\n');
    if (line.starts_with(start))
      return line.str();
  }
  return "";
}

/// The fabric's profile as JSON; null without one.
static llvm::json::Value readFabric(const std::string &path) {
  auto file = path.empty() ? nullptr : llvm::MemoryBuffer::getFile(path);
  if (path.empty() || !file)
    return nullptr;
  auto json = mlir::braid::parseJson((*file)->getBuffer());
  return json ? std::move(*json) : (llvm::consumeError(json.takeError()), llvm::json::Value(nullptr));
}

void Measurement::begin() {
  char name[256] = "";
  gethostname(name, sizeof(name) - 1);
  text = std::string("h ") + name + " " + firstLine("/proc/sys/kernel/random/boot_id") + "\n";
  runtime.record(1);
  stepEnded();
}

void Measurement::stepEnded() {
  runtime.mark(-1); // ends what was computed last
  auto add = [&](const char *format, auto... values) {
    char line[160];
    snprintf(line, sizeof(line), format, values...);
    text += line;
  };
  const braid_module_event *events = nullptr;
  int64_t count = runtime.events(&events);
  for (const braid_module_event &event : llvm::ArrayRef(events, count)) {
    if (event.mark >= 0) {
      add("m %lld %.9f %.9f %.9f\n", (long long)event.mark, event.begin, event.end, event.slowed);
      continue;
    }
    add("c %.9f %.9f %lld %lld ", event.begin, event.end, (long long)event.tensors, (long long)event.bytes);
    for (int64_t member = 0; member < event.members; ++member)
      text += (member ? "," : "") + std::to_string(event.ranks[member]);
    text += (event.members ? " " : "- ") + std::string(event.name) + "\n";
  }
  runtime.record(1); // forgets them
  if (step++ < options.steps) {
    double now = 0;
    (void)runtime.now(comm, &now);
    add("s %.9f\n", now);
  }
}

std::string Measurement::finish() {
  runtime.record(0);
  counters.end();
  double now = 0;
  (void)runtime.now(comm, &now);
  for (const doctor::RunCounters::Growth &growth : counters.growths())
    for (const doctor::Count &count : growth.counts.all)
      if (growth.wrong.empty() && count.value > 0)
        text += llvm::formatv("n {0:f9} {1:f0} {2} {3}\n", now, count.value, growth.port, count.counter->path);
  std::vector<std::string> texts;
  if (std::string error = runtime.gather(comm, text, texts); !error.empty() || texts.empty())
    return error;
  Marks marks;
  std::vector<Record> records(texts.size());
  bool good = readMarks(program.marks, marks);
  for (size_t rank = 0; rank < texts.size(); ++rank) {
    good &= readRecord(texts[rank], records[rank]) && int(records[rank].steps.size()) == options.steps;
    for (const Step &step : records[rank].steps)
      for (const Computed &one : step.computed)
        good &= size_t(one.mark) < marks.rows.size();
  }
  if (!good)
    return "what was recorded: expected events and steps of this program, got others: do all ranks run the same?";

  llvm::json::Value fabric = readFabric(options.fabric);
  const llvm::json::Object *cluster = fabric.getAsObject();
  const llvm::json::Array *emulated = cluster ? cluster->getArray("hosts") : nullptr;
  std::vector<int> hosts;
  for (size_t rank = 0; rank < records.size(); ++rank) {
    if (emulated && rank < emulated->size()) {
      hosts.push_back(int((*emulated)[rank].getAsInteger().value_or(0)));
      continue;
    }
    hosts.push_back(int(rank));
    for (size_t other = 0; other < rank; ++other)
      if (records[other].host == records[rank].host)
        hosts[rank] = hosts[other];
  }
  if (!options.timeline.empty())
    if (std::string error = writeTimeline(records, marks, hosts, options.warmUp, options.timeline); !error.empty())
      return error;
  if (options.profile.empty())
    return "";
  std::string processor = llvm::StringRef(firstLine("/proc/cpuinfo", "model name")).split(": ").second.str();
  std::string name = cluster ? cluster->getString("cluster").value_or("").str() : "";
  std::string source = llvm::formatv(" \"machine\": {0},\n", llvm::json::Value(processor)).str();
  if (!name.empty())
    source += llvm::formatv(" \"emulated_cluster\": {0},\n", llvm::json::Value(name)).str();
  return writeProfile(records, marks, options.warmUp, source, options.profile);
}

} // namespace braid::run
