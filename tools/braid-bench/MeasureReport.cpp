//===- MeasureReport.cpp - rows of measured times: a table, CSV, JSON -------------------------------------------------===//
#include "MeasureReport.h"
#include "braid/cost_models/Units.h"
#include <cstdarg>
#include <cstdio>

namespace braid::bench {

double MeasuredRow::busBandwidth() const {
  double others = double(ranks - 1) / ranks, factor = 1;
  if (kind == Kind::AllReduce)
    factor = 2 * others;
  else if (kind != Kind::Broadcast && kind != Kind::Reduce && kind != Kind::Permute)
    factor = others;
  return median.value > 0 ? factor * double(bytes) / median.value : 0;
}

__attribute__((format(printf, 1, 2))) static std::string format(const char *pattern, ...) {
  char text[512];
  va_list values;
  va_start(values, pattern);
  vsnprintf(text, sizeof text, pattern, values);
  va_end(values);
  return text;
}

static std::string timeText(double seconds) { return cost::toString(cost::Seconds{seconds}); }

std::string tableHead() {
  return "bytes: of the larger buffer of a rank, as nccl-tests counts them (of an all_gather the result)\n" +
         format("%-14s %10s %-18s %10s %-23s %11s  %9s %9s %9s\n", "collective", "bytes", "algorithm", "median",
                "95 % interval", "bus", "p50", "p95", "p99");
}

std::string tableRow(const MeasuredRow &row) {
  std::string interval = timeText(row.median.low) + " .. " + timeText(row.median.high);
  return format("%-14s %10zu %-18s %10s %-23s %11s  %9s %9s %9s\n", kindNames[int(row.kind)], row.bytes,
                row.algorithm.c_str(), timeText(row.median.value).c_str(), interval.c_str(),
                cost::toString(cost::BytesPerSecond{row.busBandwidth()}).c_str(), timeText(row.p50).c_str(),
                timeText(row.p95).c_str(), timeText(row.p99).c_str());
}

std::string toCsv(const std::vector<MeasuredRow> &rows) {
  std::string text = "collective,type,ranks,hosts,bytes,algorithm,channels,chunks,transport,buffers,p50_s,p95_s,p99_s,"
                     "samples,median_s,median_low_s,median_high_s,batches,calls_per_batch,bus_bytes_per_s\n";
  for (const MeasuredRow &row : rows)
    text += format("%s,%s,%d,%d,%zu,%s,%d,%d,%s,%s,%.6g,%.6g,%.6g,%zu,%.6g,%.6g,%.6g,%zu,%d,%.6g\n",
                   kindNames[int(row.kind)], row.type.c_str(), row.ranks, row.hosts, row.bytes, row.algorithm.c_str(),
                   row.channels, row.chunks, row.transport.c_str(), row.buffers.c_str(), row.p50, row.p95, row.p99,
                   row.samples, row.median.value, row.median.low, row.median.high, row.batches, row.callsPerBatch,
                   row.busBandwidth());
  return text;
}

std::string toJson(const std::vector<MeasuredRow> &rows, const std::string &counters) {
  std::string text = "{\"format\": \"braid-bench measure 1\", \"rows\": [";
  for (const MeasuredRow &row : rows) {
    text += &row == rows.data() ? "\n" : ",\n";
    text += format("  {\"collective\": \"%s\", \"type\": \"%s\", \"ranks\": %d, \"hosts\": %d, \"bytes\": %zu, "
                   "\"algorithm\": \"%s\", \"channels\": %d, \"chunks\": %d, ",
                   kindNames[int(row.kind)], row.type.c_str(), row.ranks, row.hosts, row.bytes, row.algorithm.c_str(),
                   row.channels, row.chunks);
    text += format("\"transport\": \"%s\", \"buffers\": \"%s\", \"p50_s\": %.6g, \"p95_s\": %.6g, \"p99_s\": %.6g, "
                   "\"samples\": %zu, ",
                   row.transport.c_str(), row.buffers.c_str(), row.p50, row.p95, row.p99, row.samples);
    text +=
        format("\"median_s\": %.6g, \"median_low_s\": %.6g, \"median_high_s\": %.6g, \"batches\": %zu, "
               "\"calls_per_batch\": %d, \"bus_bytes_per_s\": %.6g}",
               row.median.value, row.median.low, row.median.high, row.batches, row.callsPerBatch, row.busBandwidth());
  }
  return text + "\n], \"counters\": [" + counters + "]}\n";
}

} // namespace braid::bench
