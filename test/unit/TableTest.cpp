//===- TableTest.cpp - measured tables as people have them: read right, or refused with line and reason -----------===//
#include "TableTexts.h"

TEST_CASE("CSV: spellings that are read", "[tables]") {
  auto row = [](const char *separator, const char *end) {
    return [=](int, double bytes, double us) { return line({"2", "8", number(bytes), number(us)}, separator, end); };
  };
  accepted(table(plain, row(",", "\n")));
  accepted(table("# source:\n#\n" + plain, row(",", "\n")));
  accepted(table(plain + "\r", row(",", "\r\n"))); // Windows
  accepted(table("\xef\xbb\xbf" + plain, row(",", "\n")));
  accepted(table("nodes;gpus_per_node;bytes;time_us", row(";", "\n")));
  accepted(table("nodes\tppn\tsize\tlatency_us", row("\t", "\n")));
  accepted(table("Nodes, PPN, Size (B), Time (us)", row(" , ", "\n")));
  accepted(table(plain, [](int, double bytes, double us) {
    return line({"2", "8", "\"" + number(bytes) + "\"", number(us)}, ",", "\n# a comment\n\n,,,\n");
  }));
  accepted(table("nodes,ppn,bytes,time_ms",
                 [](int, double bytes, double us) { return line({"2", "8", number(bytes), number(us / 1e3)}); }));
  accepted(table("nodes,ppn,bytes,time_s",
                 [](int, double bytes, double us) { return line({"2", "8", number(bytes), number(us / 1e6)}); }));
  accepted(table("nodes,ppn,size,time_us", [](int i, double bytes, double us) { // with units
    return line({"2", "8", i < 10 ? number(bytes / 1024) + " KiB" : number(bytes / 1048576) + "MiB", number(us)});
  }));
  accepted(table("ranks,ppn,bytes,busbw_GBps", [](int, double bytes, double us) { // the time is taken from it
    return line({"16", "8", number(bytes), number(bytes * 1.875 / us / 1e3)});
  }));
  accepted(table("ranks,ppn,bytes,busbw_Gbps", [](int, double bytes, double us) { // bits
    return line({"16", "8", number(bytes), number(8 * bytes * 1.875 / us / 1e3)});
  }));
  accepted(table(plain, [](int i, double bytes, double us) { // tables put together
    return (i == 9 ? plain + "\n" : "") + line({"2", "8", number(bytes), number(us)});
  }));
  accepted(
      table(plain, [](int i, double bytes, double us) { // shuffled order of columns is the head's matter, of rows not
        return line({"2", "8", number(bytes), number(us * (i == 0 ? 1.004 : 1))});
      }));
}

TEST_CASE("CSV: what is refused, by line", "[tables]") {
  auto spoiled = [](int at, auto change) {
    return table(plain, [=](int i, double bytes, double us) {
      return i == at ? change(bytes, us) : line({"2", "8", number(bytes), number(us)});
    });
  };
  auto time = [&](int at, const std::string &text) {
    return spoiled(at, [=](double bytes, double) { return line({"2", "8", number(bytes), text}); });
  };
  auto scaled = [&](int at, double factor) {
    return spoiled(at, [=](double bytes, double us) { return line({"2", "8", number(bytes), number(us * factor)}); });
  };
  refused(time(4, "nan"), "t:6", "column time_us, expected a number above zero, got 'nan'");
  refused(time(4, "inf"), "t:6", "got 'inf'");
  refused(time(4, "N/A"), "t:6", "got 'N/A'");
  refused(time(4, "-3"), "t:6", "got '-3'");
  refused(time(4, "0"), "t:6", "got '0'");
  refused(time(4, "20.1 us"), "t:6", "got '20.1 us'");
  refused(time(16, "1"), "t:18", "2.2 times the links");
  refused(time(9, "5"), "t:11", "inversion");
  refused(scaled(5, 1e-3), "t:7", "expected at least 500 ns"); // one row in ms
  refused(scaled(15, 1e-3), "t:17", "2.2 times the links");
  refused(scaled(3, 1e3), "t:5", "jump"); // in ns
  refused(scaled(16, 1e3), "t:18", "a thousandth of the links");
  refused(spoiled(3, [](double, double us) { return line({"2", "8", "1,048,576", number(us)}); }), "t:5",
          "expected 4 fields, got 6");
  refused(spoiled(3, [](double, double us) { return line({"2", "8", "\"1,048,576\"", number(us)}); }), "t:5",
          "column bytes, expected a number, got '1,048,576'");
  refused(spoiled(3, [](double, double us) { return line({"2", "8", "8M", number(us)}); }), "t:5", "got '8M'");
  refused(spoiled(16, [](double bytes, double) { return "2,8," + number(bytes) + "\n"; }), "t:18",
          "expected 4 fields, got 3"); // truncated
  refused(spoiled(7, [](double, double us) { return line({"2", "8", "8192", number(4 * us)}); }), "t:9", "twice");
  refused(spoiled(7, [](double bytes, double us) { return line({"2.5", "8", number(bytes), number(us)}); }), "t:9",
          "whole numbers of nodes");
  refused(plain + "\n2,8,1048576,120\n", "t: ", "too few points");
  refused(plain + "\n", "t: ", "expected rows of times below its head, got none; was it cut off");
  for (const char *empty : {"", "\n\n", "\xef\xbb\xbf", " \r\n"})
    refused(empty, "t: ", "got an empty file; did the benchmark run, and was its standard output kept?");
  refused("# a comment\n", "t: ", "expected a head that names its columns, got comments only");
  refused(table("nodes,ppn,count,time_us",
                [](int, double bytes, double us) { return line({"2", "8", number(bytes / 4), number(us)}); }),
          "t:1", "with a column 'bytes', got 'nodes, ppn, count, time_us' (a count of elements is none");
  refused(table("nodes,ppn,bytes,time",
                [](int, double bytes, double us) { return line({"2", "8", number(bytes), number(us)}); }),
          "t:1", "with its unit (time_us, p50_us, median_s), got 'nodes, ppn, bytes, time'");
  refused(table("nodes,hosts,ppn,bytes,time_us",
                [](int, double bytes, double us) { return line({"2", "2", "8", number(bytes), number(us)}); }),
          "t:1", "got two of 'nodes'");
  refused(table("nodes,ppn,bytes,time_us,algbw_GBps",
                [](int, double bytes, double us) { // bits as bytes
                  return line({"2", "8", number(bytes), number(us), number(8 * bytes / us / 1e3)});
                }),
          "t:", "bits and bytes");
  // Two algorithms interleaved and not told apart; told apart, it is a table.
  auto interleaved = [](const std::string &head, const std::string &ring, const std::string &tree) {
    return table(head, [=](int, double bytes, double us) {
      return ring + line({"2", "8", number(bytes), number(3 * us)}) + tree +
             line({"2", "8", number(bytes), number(us)});
    });
  };
  refused(interleaved(plain, "", ""), "t:3", "do columns 'algorithm' or 'job' miss");
  CHECK(refusal(interleaved("algo," + plain, "ring,", "tree,")) == "");
  refused(table("collective," + plain,
                [](int, double bytes, double us) { return line({"alltoall", "2", "8", number(bytes), number(us)}); }),
          "t: ", "got 0; 17 rows set aside: the model has no all_to_all");
  refused(table("collective," + plain,
                [](int, double bytes, double us) { return line({"sendrecv", "2", "8", number(bytes), number(us)}); }),
          "t: ", "got none; 17 rows set aside: collective 'sendrecv' is none that is priced");
}

//===- nccl-tests -------------------------------------------------------------------------------------------------===//

TEST_CASE("nccl-tests: what is read", "[tables]") {
  auto row = [](int, double bytes, double us) { return ncclRow(bytes, us); };
  std::string whole = table(started + ranksOfNccl() + ncclHead, row);
  accepted(whole + "# Out of bounds values : 0 OK\n# Avg bus bandwidth    : 93.1\n#\n");
  accepted(table(ranksOfNccl() + ncclHead, row)); // the collective by its bus bandwidth
  // Each line with a launcher's mark.
  for (const char *mark : {"[1,0]<stdout>:", "0: ", " 3: "}) {
    std::istringstream lines(whole);
    std::string marked;
    for (std::string l; std::getline(lines, l);)
      marked += mark + l + "\r\n";
    accepted(marked);
  }
  // A second run in one file: the rows of each have its collective.
  std::string gather =
      table("# Collective test starting: all_gather_perf\n# nThread 1 nGpus 8\n" + ranksOfNccl() + ncclHead,
            [](int, double bytes, double us) { return ncclRow(bytes, us, "float", 15.0 / 16); });
  Result<MeasuredTable> both = parseMeasured(whole + gather, "t");
  REQUIRE(both);
  REQUIRE(both->rows.size() == 34);
  CHECK(both->rows.front().kind == CollectiveKind::AllReduce);
  CHECK(both->rows.back().kind == CollectiveKind::AllGather);
  CHECK(both->rows.back().ranks() == 16);
  CHECK(!findDistrust(*both, machine()));
}

TEST_CASE("nccl-tests: what is refused, by line", "[tables]") {
  auto spoiled = [](int at, auto change) {
    return table(started + ranksOfNccl() + ncclHead,
                 [=](int i, double bytes, double us) { return i == at ? change(bytes, us) : ncclRow(bytes, us); });
  };
  refused(spoiled(3, [](double, double) { return std::string(" 8192 2048 float sum -1 nan 0 0 0\n"); }), "t:25",
          "column time, expected a number above zero, got 'nan'");
  refused(spoiled(16, [](double, double) { return std::string("  67108864 16777216 float sum -1 67"); }), "t:38",
          "expected at least 13 fields, got 6 (was it cut off?)");
  refused(spoiled(3, [](double, double) { return std::string(" 8,192 2,048 float sum -1 21 0 0 0\n"); }), "t:25",
          "without separators, got '8,192'");
  refused(spoiled(10, [](double bytes, double us) { return ncclRow(bytes, us * 8); }), "t:33", "inversion");
  refused(table("# Collective test starting: sendrecv_perf\n" + ranksOfNccl() + ncclHead,
                [](int, double bytes, double us) { return ncclRow(bytes, us); }),
          "t:", "got the program 'sendrecv_perf'");
  refused(table(started + ncclHead, [](int, double bytes, double us) { return ncclRow(bytes, us); }),
          "t: ", "--nodes and --per-node");
  refused(started + ranksOfNccl() + "# size count type redop root busbw time\n 8 2 float sum -1 1 2\n", "t:19",
          "expected columns time, algbw and busbw");
  refused(started + ranksOfNccl() + ncclHead + "\n# Test failure\n", "t: ", "expected rows below the head");
}

//===- OSU --------------------------------------------------------------------------------------------------------===//

TEST_CASE("OSU: what is read", "[tables]") {
  std::string title = "# OSU MPI Allreduce Latency Test v7.3\n# Datatype: MPI_CHAR.\n";
  accepted(table(title + "# Size       Avg Latency(us)",
                 [](int, double bytes, double us) { return line({number(bytes), number(us)}, "   "); }),
           onTwoHosts());
  accepted(table(title + "# Size       Avg Latency(us)   Min Latency(us)   Max Latency(us)  Iterations",
                 [](int, double bytes, double us) {
                   return line({number(bytes), number(us), number(us / 2), number(us * 2), "1000"}, "   ", "\r\n");
                 }),
           onTwoHosts());
  // Percentiles: the median is the time; validation is a word.
  std::string full =
      table(title + "# Size       Avg Latency(us)   Min Latency(us)   Max Latency(us)  Iterations  Validation  "
                    "P50 Tail Lat(us)  P90 Tail Lat(us)  P99 Tail Lat(us)",
            [](int, double bytes, double us) {
              return line({number(bytes), number(us * 3), number(us / 2), number(us * 9), "1000", "Pass", number(us),
                           number(us * 2), number(us * 5)},
                          "   ");
            });
  accepted(full, onTwoHosts());
  CHECK(parseMeasured(full, "t", onTwoHosts())->rows[0].p99.value == Approx(5 * 20.1024e-6));
  // What a rank sends to each other one: the result is 16 times as large.
  Result<MeasuredTable> gathered =
      parseMeasured("# OSU MPI Allgather Latency Test v7.3\n# Size  Avg Latency(us)\n64 3.1\n", "t", onTwoHosts());
  REQUIRE(gathered);
  CHECK(gathered->rows[0].bytes.value == 1024);
}

TEST_CASE("ranks of one host share caches, which are faster than its memory", "[tables]") {
  auto measured = [](double rate) { // GB/s
    return table("collective,ranks,hosts,bytes,algorithm,transport,median_s", [=](int, double bytes, double) {
      return line({"all_reduce", "2", "1", number(bytes), "ring", "shm", number(1e-6 + bytes / (rate * 1e9))});
    });
  };
  CHECK(refusal(measured(4500)) == ""); // ten times the 450 GB/s of the links inside
  refused(measured(45000), "t:", "20 times the links");
}

TEST_CASE("OSU: what is refused", "[tables]") {
  auto row = [](int, double bytes, double us) { return line({number(bytes), number(us)}, "  "); };
  refused(table("# OSU MPI Allreduce Latency Test v7.3\n# Size  Avg Latency(us)", row),
          "t: ", "--nodes and --per-node");
  refused(table("# OSU MPI Bandwidth Test v7.3\n# Size      Bandwidth (MB/s)", row), "t:2",
          "expected a column of latencies, 'Avg Latency(us)', got 'Bandwidth (MB/s)'", onTwoHosts());
  refused(
      table("# OSU MPI Non-blocking Allreduce Latency Test v7.3\n# Size  Overall(us)  Compute(us)  Overlap(%)", row),
      "t:2", "got 'Overall(us)'", onTwoHosts());
  refused(table("# OSU MPI Latency Test v7.3\n# Size  Latency (us)", row), "t: ", "expected a title", onTwoHosts());
  refused("# OSU MPI Allreduce Latency Test v7.3\n# Size  Min Latency(us)  Avg Latency(us)\n# Size  Avg Latency(us)\n4 "
          "nan\n",
          "t:4", "expected a number above zero in column 'Avg Latency(us)', got 'nan'",
          onTwoHosts()); // the second head counts
  refused("# OSU MPI Allreduce Latency Test v7.3\n4 2.1\n", "t:2", "expected a head", onTwoHosts());
  refused("# OSU MPI Allreduce Latency Test v7.3\n# Size  Avg Latency(us)\n4 nan\n", "t:3",
          "expected a number above zero in column 'Avg Latency(us)', got 'nan'", onTwoHosts());
}
