//===- Record.cpp - records as text, as a timeline, as a profile ------------------------------------------------===//
#include "Record.h"

#include "braid/cost_models/Units.h"
#include "braid/runtime/trace/AtomicFile.h"
#include "braid/runtime/trace/TraceWriter.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/JSON.h"
#include <map>

namespace braid::run {

bool readRecord(llvm::StringRef text, Record &record) {
  llvm::SmallVector<llvm::StringRef> lines, words;
  text.split(lines, '\n', -1, /*KeepEmpty=*/false);
  for (llvm::StringRef line : lines) {
    auto [kind, rest] = line.split(' ');
    words.clear();
    if (kind == "h") {
      record.host = rest.str();
    } else if (kind == "s") {
      record.steps.emplace_back();
      if (rest.getAsDouble(record.steps.back().begin))
        return false;
    } else if (kind == "m") {
      Computed one;
      rest.split(words, ' ');
      if (record.steps.empty() || words.size() != 4 || words[0].getAsInteger(10, one.mark) ||
          words[1].getAsDouble(one.begin) || words[2].getAsDouble(one.end) || words[3].getAsDouble(one.slowed))
        return false;
      record.steps.back().computed.push_back(one);
    } else if (kind == "c") {
      Flown one;
      rest.split(words, ' ', 5);
      if (record.steps.empty() || words.size() != 6 || words[0].getAsDouble(one.begin) ||
          words[1].getAsDouble(one.end) || words[2].getAsInteger(10, one.tensors) ||
          words[3].getAsInteger(10, one.bytes))
        return false;
      llvm::SmallVector<llvm::StringRef> ranks;
      if (words[4] != "-")
        words[4].split(ranks, ',');
      for (llvm::StringRef word : ranks)
        if (word.getAsInteger(10, one.ranks.emplace_back()))
          return false;
      one.name = words[5].str();
      record.steps.back().flown.push_back(std::move(one));
    } else if (kind == "n") {
      Counted one;
      rest.split(words, ' ', 2);
      if (words.size() != 3 || words[0].getAsDouble(one.time) || words[1].getAsDouble(one.growth))
        return false;
      one.name = words[2].str();
      record.counted.push_back(std::move(one));
    } else {
      return false;
    }
  }
  return true;
}

bool readMarks(llvm::StringRef json, Marks &marks) {
  auto value = llvm::json::parse(json);
  if (!value)
    return llvm::consumeError(value.takeError()), false;
  const llvm::json::Object *top = value->getAsObject();
  const llvm::json::Array *rows = top ? top->getArray("marks") : nullptr;
  if (!rows || !top->getString("program"))
    return false;
  marks.program = top->getString("program")->str();
  for (const llvm::json::Value &row : *rows) {
    const llvm::json::Object *mark = row.getAsObject();
    auto field = [&](llvm::StringRef name) { return mark ? mark->getString(name).value_or("").str() : ""; };
    marks.rows.push_back({field("key"), field("kernel"), field("name"), field("operation")});
  }
  return true;
}

//===- timeline -------------------------------------------------------------------------------------------------===//

std::string writeTimeline(const std::vector<Record> &records, const Marks &marks, const std::vector<int> &hosts,
                          int first, const std::string &path) {
  trace::TraceWriter writer;
  double zero = records[0].steps[first].begin; // the timeline begins with rank 0's first step
  for (auto [rank, record] : llvm::enumerate(records)) {
    int process = int(rank);
    writer.nameRank(process, "rank " + std::to_string(rank));
    const char *names[] = {"compute", "intra-host", "inter-host"};
    for (int stream = 0; stream < 3; ++stream)
      writer.nameTrack({process, stream}, names[stream]);
    bool elsewhere = hosts[rank] != hosts[0] && record.host != records[0].host;
    double shift = elsewhere ? records[0].steps[0].begin - record.steps[0].begin : 0;
    auto time = [&](double seconds) { return trace::fromSeconds(seconds + shift - zero); };
    for (const Counted &one : record.counted) {
      writer.counter(process, one.name, time(record.steps[0].begin), 0);
      writer.counter(process, one.name, time(one.time), one.growth);
    }
    for (const Step &step : llvm::ArrayRef(record.steps).drop_front(first)) {
      // Operations of one kernel that follow each other are one slice, as in the prediction.
      for (size_t at = 0; at < step.computed.size();) {
        size_t end = at + 1;
        const Mark &mark = marks.rows[step.computed[at].mark];
        while (end < step.computed.size() && step.computed[end].begin == step.computed[end - 1].end &&
               step.computed[end].mark != step.computed[at].mark &&
               marks.rows[step.computed[end].mark].kernel == mark.kernel)
          ++end;
        writer.slice({process, 0}, mark.name, "compute", time(step.computed[at].begin),
                     time(step.computed[end - 1].end));
        at = end;
      }
      for (const Flown &flown : step.flown) {
        bool crosses = false;
        size_t count = flown.ranks.empty() ? records.size() : flown.ranks.size();
        for (size_t index = 0; index < count; ++index)
          crosses |= hosts[flown.ranks.empty() ? index : flown.ranks[index]] != hosts[rank];
        std::string name = flown.name;
        if (flown.tensors > 1)
          name += " and " + std::to_string(flown.tensors - 1) + " more";
        name += ", " + cost::toString(cost::Bytes{flown.bytes});
        writer.async({process, crosses ? 2 : 1}, name, "collective", time(flown.begin), time(flown.end),
                     {{"time", cost::toString(cost::Seconds{flown.end - flown.begin})}});
      }
    }
  }
  return writer.write(path);
}

//===- profile --------------------------------------------------------------------------------------------------===//

/// The value below which a part `q` of them lies.
static double quantile(std::vector<double> values, double q) {
  llvm::sort(values);
  return values[size_t(q * double(values.size() - 1) + 0.5)];
}

static std::string timeText(double seconds) { return llvm::formatv("\"{0:f4} us\"", seconds * 1e6).str(); }

std::string writeProfile(const std::vector<Record> &records, const Marks &marks, int first, const std::string &source,
                         const std::string &path) {
  struct Operation {
    const Mark *mark = nullptr;
    std::vector<double> medians, all; ///< of ranks; of ranks and steps
    int64_t count = 0;
  };
  std::map<std::string, Operation> operations;
  std::vector<double> computation;
  for (const Record &record : records) {
    std::map<std::string, std::vector<double>> mine; // of each step: the time of one execution
    for (const Step &step : llvm::ArrayRef(record.steps).drop_front(first)) {
      std::map<std::string, std::pair<double, int64_t>> sums;
      double total = 0;
      for (const Computed &one : step.computed) {
        const Mark &mark = marks.rows[one.mark];
        operations[mark.key].mark = &mark;
        auto &[sum, count] = sums[mark.key];
        double own = one.end - one.begin - one.slowed; // the cluster file says the rest, which counts once
        sum += own;
        ++count;
        total += own;
      }
      computation.push_back(total);
      for (auto &[key, sum] : sums) {
        mine[key].push_back(sum.first / double(sum.second));
        operations[key].count += sum.second;
      }
    }
    for (auto &[key, times] : mine) {
      operations[key].medians.push_back(quantile(times, 0.5));
      llvm::append_range(operations[key].all, times);
    }
  }
  if (computation.empty() || quantile(computation, 0.5) <= 0)
    return "--record-profile: expected computation that takes time, got none: the program has none, or the virtual "
           "clock ran, which does not see what a processor computes: record on the machine's or the wall clock";
  std::string text;
  llvm::raw_string_ostream os(text);
  os << "{\"format\": \"braid-compute-profile\",\n \"version\": 1,\n \"program\": \"" << marks.program << "\",\n"
     << source << " \"ranks\": " << records.size() << ",\n \"steps\": " << records[0].steps.size() - first << ",\n"
     << " \"computation_per_step\": " << timeText(quantile(computation, 0.5)) << ",\n \"operations\": {";
  const char *comma = "\n";
  for (auto &[key, operation] : operations) {
    os << comma << "  \"" << key << "\": {\"median\": " << timeText(quantile(operation.medians, 0.5))
       << ", \"lower_quartile\": " << timeText(quantile(operation.all, 0.25))
       << ", \"upper_quartile\": " << timeText(quantile(operation.all, 0.75)) << ", \"count\": " << operation.count
       << ", \"name\": " << llvm::formatv("{0}", llvm::json::Value(operation.mark->operation)) << "}";
    comma = ",\n";
  }
  os << "\n }}\n";
  return trace::writeAtomically(path, text);
}

} // namespace braid::run
