//===- MeasuredTables.h - measured tables for tests: texts, and what given constants predict -----------------*- C++ -*-===//
#ifndef BRAID_TEST_UNIT_MEASUREDTABLES_H
#define BRAID_TEST_UNIT_MEASUREDTABLES_H

#include "braid/cost_models/Fit.h"
#include <catch2/catch.hpp>
#include <cmath>
#include <sstream>
#include <string>

namespace braid::cost {

inline Cluster shipped(const std::string &name) {
  Result<Cluster> cluster = readCluster(BRAID_SOURCE_DIR "/cost_models/clusters/" + name + ".yaml");
  REQUIRE(cluster);
  return *cluster;
}

inline MeasuredTable parsed(const std::string &text, const TableHints &hints = {}) {
  Result<MeasuredTable> table = parseMeasured(text, "t", hints);
  INFO((table ? "" : table.error().text()));
  REQUIRE(table);
  return *table;
}

/// A table of 2 hosts x 8: 20 us + 10 GB/s, sizes of 1 KiB to 64 MiB; `change` may spoil the i-th row's fields.
template <class Change> std::string csv(Change change) {
  std::ostringstream out;
  out << "collective,nodes,gpus_per_node,algo,bytes,time_us,algbw_GBps,busbw_GBps\n";
  for (int i = 0; i < 17; ++i) {
    double bytes = std::exp2(10 + i), time = 20 + bytes / 10e3, alg = bytes / time / 1e3, bus = alg * 1.875;
    change(i, bytes, time, alg, bus);
    out << "allreduce,2,8,default," << int64_t(bytes) << "," << time << "," << alg << "," << bus << "\n";
  }
  return out.str();
}

/// Where a fit starts.
inline FittedConstants startsOf(CalibratedModel model) {
  FittedConstants constants;
  for (const ConstantInfo &info : constantsOf(model))
    constants.push_back(info.start);
  return constants;
}

/// Rows of both models' algorithms, with times that the given constants predict.
inline MeasuredTable synthetic(CalibratedModel model, const Cluster &cluster, const FittedConstants &truth) {
  MeasuredTable table;
  table.path = "synthetic";
  std::vector<std::string> algorithms = {"ring", "tree"};
  if (model == CalibratedModel::Messages)
    algorithms = {"ring", "recursive_doubling", "rabenseifner"};
  for (int hosts : {2, 8, 32})
    for (const std::string &algorithm : algorithms)
      for (int64_t bytes = 64; bytes <= 1 << 30; bytes *= 4) {
        MeasuredRow row;
        row.hosts = hosts;
        row.perHost = cluster.devicesPerHost;
        row.algorithm = algorithm;
        row.job = "one";
        row.bytes = {bytes};
        row.time = predictRow(row, cluster, model, truth)->predicted;
        table.rows.push_back(row);
      }
  return table;
}

} // namespace braid::cost

#endif
