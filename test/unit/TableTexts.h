//===- TableTexts.h - texts of measured tables, right and spoiled ---------------------------------------------------===//
#ifndef BRAID_TEST_UNIT_TABLETEXTS_H
#define BRAID_TEST_UNIT_TABLETEXTS_H

#include "braid/cost_models/Fit.h"
#include <catch2/catch.hpp>
#include <cmath>
#include <sstream>

using namespace braid;
using namespace braid::cost;
using Catch::Detail::Approx;

/// 2 hosts of 8, of links that carry 50 GB/s a GPU.
inline const Cluster &machine() {
  static Result<Cluster> cluster = readCluster(BRAID_SOURCE_DIR "/cost_models/clusters/h100-ib-ndr-2x8.yaml");
  REQUIRE(cluster);
  return *cluster;
}

/// A text in which the i-th of 17 rows, 1 KiB and up, is `row(i, bytes, time in us)`. The truth is 20 us + 10 GB/s.
template <class Row> std::string table(const std::string &head, Row row) {
  std::ostringstream out;
  out << head << "\n";
  for (int i = 0; i < 17; ++i)
    out << row(i, std::exp2(10 + i), 20 + std::exp2(10 + i) / 10e3);
  return out.str();
}

/// What is wrong with it, by reader or by check; empty: nothing.
inline std::string refusal(const std::string &text, const TableHints &hints = {}) {
  Result<MeasuredTable> read = parseMeasured(text, "t", hints);
  if (!read)
    return read.error().text();
  if (std::optional<Error> error = findDistrust(*read, machine()))
    return error->text();
  Result<FitResult> fit = fitTable(*read, machine());
  return fit ? "" : fit.error().text();
}

inline void refused(const std::string &text, const std::string &place, const std::string &why,
                    const TableHints &hints = {}) {
  std::string said = refusal(text, hints);
  INFO("said: " << said);
  CHECK(said.find(place) == 0);
  CHECK(said.find(why) != std::string::npos);
}

/// Read as 17 rows of the truth: no unit, no column, no size is mistaken.
inline void accepted(const std::string &text, const TableHints &hints = {}, double factor = 1) {
  std::string said = refusal(text, hints);
  INFO(text.substr(0, 400) << "\nsaid: " << said);
  CHECK(said == "");
  Result<MeasuredTable> read = parseMeasured(text, "t", hints);
  REQUIRE(read);
  REQUIRE(read->rows.size() == 17);
  for (int i = 0; i < 17; ++i) {
    CHECK(read->rows[i].bytes.value == int64_t(std::exp2(10 + i)));
    CHECK(read->rows[i].time.value == Approx(factor * (20e-6 + std::exp2(10 + i) / 10e9)).epsilon(0.01));
    CHECK(read->rows[i].ranks() == 16);
  }
}

inline TableHints onTwoHosts() {
  TableHints hints;
  hints.hosts = 2;
  hints.perHost = 8;
  return hints;
}

inline std::string line(std::initializer_list<std::string> fields, const char *separator = ",",
                        const char *end = "\n") {
  std::string out;
  for (const std::string &field : fields)
    out += (out.empty() ? "" : separator) + field;
  return out + end;
}

inline std::string number(double value, int digits = 10) {
  std::ostringstream out;
  out.precision(digits);
  out << value;
  return out.str();
}

inline const std::string plain = "nodes,gpus_per_node,bytes,time_us";

inline const std::string started = "# Collective test starting: all_reduce_perf\n# nThread 1 nGpus 8 minBytes 1024\n";
inline const std::string ncclHead =
    "#                                                              out-of-place                       in-place\n"
    "#       size         count      type   redop    root     time   algbw   busbw #wrong     time   algbw   busbw "
    "#wrong\n"
    "#        (B)    (elements)                               (us)  (GB/s)  (GB/s)            (us)  (GB/s)  (GB/s)";

/// -g 8 on two hosts.
inline std::string ranksOfNccl() {
  std::string out;
  for (int rank = 0; rank < 16; ++rank)
    out += "#  Rank " + std::to_string(rank) + " Group  0 Pid " + std::to_string(700 + rank / 8) + " on node-" +
           (rank < 8 ? "a" : "b") + " device " + std::to_string(rank % 8) + " [0x06] NVIDIA H100\n";
  return out;
}

/// Out of place the truth, in place a third of it.
inline std::string ncclRow(double bytes, double us, const std::string &type = "float", double busFactor = 1.875) {
  auto three = [&](double t) {
    return number(t, 8) + " " + number(bytes / t / 1e3, 6) + " " + number(bytes / t / 1e3 * busFactor, 6) + " 0 ";
  };
  return "  " + number(bytes) + " " + number(bytes / 4) + " " + type + " sum -1 " + three(us) + three(us / 3) + "\n";
}

#endif
