//===- MeasuredTableTest.cpp - measured tables: reading, refusing ----------------------------------------------------===//
#include "MeasuredTables.h"

using namespace braid;
using namespace braid::cost;
using Catch::Detail::Approx;

static const std::string measured = BRAID_SOURCE_DIR "/test/data/measured/";

/// What findDistrust says of it; empty: nothing.
static std::string distrust(const std::string &text) {
  MeasuredTable table = parsed(text);
  std::optional<Error> error = findDistrust(table, shipped("h100-ib-ndr-2x8"));
  return error ? error->text() : "";
}

TEST_CASE("readers: nccl-tests, OSU, CSV", "[calibrate]") {
  MeasuredTable nccl =
      parsed("# nThread 1 nGpus 1 minBytes 8 maxBytes 16\n"
             "#  Rank  0 Group  0 Pid 7 on node-a device  0 [0x06] NVIDIA H100\n"
             "#  Rank  1 Group  0 Pid 8 on node-b device  0 [0x06] NVIDIA H100\n"
             "#       size         count      type   redop    root     time   algbw   busbw #wrong     time\n"
             "#        (B)    (elements)                               (us)  (GB/s)  (GB/s)            (us)\n"
             "           8             2     float     sum      -1    20.50    0.00    0.00      0    19.1\n"
             "    67108864      16777216     float     sum      -1   3355.4   20.00   20.00      0   3300\n"
             "# Out of bounds values : 0 OK\n");
  REQUIRE(nccl.rows.size() == 2);
  CHECK(nccl.rows[1].hosts == 2);
  CHECK(nccl.rows[1].perHost == 1);
  CHECK(nccl.rows[1].kind == CollectiveKind::AllReduce); // by its bus bandwidth
  CHECK(nccl.rows[1].time.value == Approx(3355.4e-6));
  CHECK(nccl.rows[1].busBandwidth == 20);

  // As pasted into a page: no #, other lines around it.
  TableHints hints;
  hints.hosts = 2;
  hints.perHost = 8;
  MeasuredTable pasted = parsed("Collective test starting: all_gather_perf\n"
                                "   size  count type redop root  time algbw busbw #wrong  time algbw busbw #wrong\n"
                                "    (B) (elements)               (us) (GB/s) (GB/s)        (us) (GB/s) (GB/s)\n"
                                "8388608 131072 float none -1 166.6 50.34 47.19 N/A 164.1 51.11 47.92 N/A\n"
                                "Avg bus bandwidth : 146.948\n",
                                hints);
  REQUIRE(pasted.rows.size() == 1);
  CHECK(pasted.rows[0].kind == CollectiveKind::AllGather);
  CHECK(pasted.rows[0].time.value == Approx(166.6e-6));

  hints.hosts = 4;
  hints.perHost = 2;
  const char *osu =
      "# OSU MPI Allgather Latency Test v7.3\n# Datatype: MPI_CHAR.\n"
      "# Size       Avg Latency(us)   Min Latency(us)   Max Latency(us)  Iterations   P50 Tail Lat(us)   P90 Tail "
      "Lat(us)   P99 Tail Lat(us)\n"
      "4  2.10  1.95  2.31  1000  2.05  2.2  3.0\n";
  MeasuredTable table = parsed(osu, hints);
  REQUIRE(table.rows.size() == 1);
  CHECK(table.rows[0].kind == CollectiveKind::AllGather);
  CHECK(table.rows[0].time.value == Approx(2.05e-6));
  CHECK(table.rows[0].p99.value == Approx(3e-6));
  CHECK(parseMeasured(osu, "t").error().text().find("--nodes") != std::string::npos);

  // The median where there are several times, units by suffix, ranks instead of ranks per node.
  MeasuredTable ours =
      parsed("collective,type,ranks,hosts,bytes,algorithm,transport,p50_s,p99_s,median_s,bus_bytes_per_s\n"
             "all_reduce,f32,8,2,1024,ring,tcp,3e-5,9e-5,2e-5,1e8\n");
  CHECK(ours.format == "braid-bench");
  CHECK(ours.rows[0].perHost == 4);
  CHECK(ours.rows[0].time.value == Approx(2e-5));
  CHECK(ours.rows[0].busBandwidth == Approx(0.1));
  // A time from the bandwidth where it is not printed.
  CHECK(parsed("nodes,ppn,algo,bytes,time_us,busbw_GBps\n5,8,Ring,1073741824,,190\n").rows[0].time.value ==
        Approx(1073741824 * 1.95 / 190e9));
}

TEST_CASE("readers name the line of what they cannot read", "[calibrate]") {
  auto error = [](const std::string &text) { return parseMeasured(text, "t").error().text(); };
  CHECK(error("") ==
        "t: measured table, expected what nccl-tests or the OSU benchmarks print, or a CSV with a head, got an "
        "empty file; did the benchmark run, and was its standard output kept?");
  CHECK(error("a,b\n1,2\n").find("with a column 'bytes'") != std::string::npos);
  CHECK(error("bytes,time\n8,1\n").find("with its unit") != std::string::npos);
  CHECK(error("nodes,ppn,bytes,time_us\n2,8,8\n") == "t:2: row, expected 4 fields, got 3 (was it cut off?)");
  CHECK(error("nodes,ppn,bytes,time_us\n2,8,8,fast\n") == "t:2: column time_us, expected a number above zero, got "
                                                          "'fast' (of what was not measured, leave the field empty)");
  CHECK(error("bytes,time_us\n8,1\n").find("--nodes") != std::string::npos);
  CHECK(error("nodes,ppn,bytes,time_us\n2,8,-8,1\n").find("bytes") != std::string::npos);
}

TEST_CASE("tables that cannot be trusted are refused, with the reason", "[calibrate]") {
  auto nothing = [](int, double &, double &, double &, double &) {};
  CHECK(distrust(csv(nothing)) == "");
  auto says = [](const std::string &text, const std::string &what) {
    INFO(text);
    CHECK(text.find(what) != std::string::npos);
  };
  says(distrust(csv([](int, double &, double &time, double &, double &) { time /= 1e3; })), "milliseconds");
  says(distrust(csv([](int i, double &, double &time, double &, double &) { time *= i == 9 ? 1e3 : 1; })),
       "milliseconds");
  says(distrust(csv([](int, double &, double &, double &alg, double &bus) {
         alg /= 1.048576;
         bus /= 1.048576;
       })),
       "MB and MiB");
  says(distrust(csv([](int, double &, double &, double &alg, double &bus) { std::swap(alg, bus); })), "bus bandwidth");
  says(distrust(csv([](int, double &, double &, double &alg, double &bus) { bus = alg; })), "hold the same");
  says(distrust(csv([](int i, double &, double &time, double &alg, double &bus) {
         if (i == 12)
           time /= 3, alg *= 3, bus *= 3;
       })),
       "--accept-inversions");
  // Without bandwidths beside the times, only what is possible can be asked.
  auto alone = [](double factor, double step = 1) {
    std::ostringstream out;
    out << "nodes,gpus_per_node,bytes,time_us\n";
    for (int i = 0; i < 17; ++i)
      out << "2,8," << int64_t(std::exp2(10 + i) / (i > 10 ? step : 1)) << ","
          << factor * (20 + std::exp2(10 + i) / 10e3) << "\n";
    return out.str();
  };
  CHECK(distrust(alone(1)) == "");
  says(distrust(alone(1e-3)), "unit");
  says(distrust(alone(1e3)), "unit");
  says(distrust(alone(1, 1.048576)), "MB and MiB");
  says(distrust("nodes,ppn,bytes,time_us\n2,8,8,20\n2,8,1024,20\n2,8,65536,30\n"), "too few points");
}

TEST_CASE("real tables are not refused", "[calibrate]") {
  const std::pair<const char *, const char *> tables[] = {
      {"marenostrum5_ib_ndr200_nccl_allreduce", "h100-ib-ndr200-64x4"},
      {"jitter_marenostrum5_ib_ndr200_nccl_allreduce", "h100-ib-ndr200-64x4"},
      {"pico_leonardo_ib_hdr_ompi_allreduce", "cpu-ib-hdr-2048x1"},
      {"pico_marenostrum5_ib_ndr_ompi_allreduce", "cpu-ib-ndr200-64x1"},
      {"dstack_nebius_ib_2x8_h100", "h100-ib-ndr-2x8"},
      {"oci_roce_2x8_a100", "a100-roce-2x8"},
      {"aws_efa_2xp4de_a100", "a100-roce-2x8"},
      {"superbench_a100_8gpu_single_node", "a100-roce-2x8"}};
  for (const auto &[name, cluster] : tables) {
    Result<MeasuredTable> table = readMeasured(measured + name + ".csv");
    REQUIRE(table);
    std::optional<Error> error = findDistrust(*table, shipped(cluster));
    INFO(name << ": " << (error ? error->text() : ""));
    CHECK(!error);
  }
}
