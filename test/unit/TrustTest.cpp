//===- TrustTest.cpp - measured tables that only a careful reader distrusts ------------------------------------------===//
#include "TableTexts.h"
#include "braid/cost_models/Probe.h"

/// 17 rows on two hosts of 8, with what `more(i, time)` puts after the time.
template <class More> static std::string with(const std::string &head, More more) {
  return table(plain + "," + head, [=](int i, double bytes, double us) {
    return line({"2", "8", number(bytes), number(us), more(i, bytes, us)});
  });
}

TEST_CASE("columns of which either may be the time are refused", "[tables][trust]") {
  auto same = [](int, double, double us) { return number(us); };
  refused(with("avg_us", same), "t:1", "expected one column that is the time, got 'time_us' and 'avg_us'");
  refused(with("p50_us", same), "t:1", "got 'time_us' and 'p50_us' (leave out one, or name what it is");
  refused(with("latency_us", same), "t:1", "got 'time_us' and 'latency_us'");
  refused(with("Time [ms]", same), "t:1", "got two of 'time', 'time_us' and 'Time [ms]'");
  refused(with("time_us", same), "t:1", "got two of 'time'"); // in place beside out of place, both named alike
  refused(with("out_of_place_us", same), "t:1", "got 'time_us' and 'out_of_place_us'");
  auto two = [](const std::string &first, const std::string &second) {
    return table("nodes,ppn,bytes," + first + "," + second, [](int, double bytes, double us) {
      return line({"2", "8", number(bytes), number(us), number(2 * us)});
    });
  };
  refused(two("median_us", "p50_us"), "t:1", "got two of 'p50', 'median_us' and 'p50_us'");
  refused(two("mean_us", "avg_us"), "t:1", "got two of 'mean'");
  // One is the time, and the other is known to be none.
  accepted(two("p50_us", "mean_us"));
  accepted(two("p50_us", "Avg Latency (us)"));
  accepted(two("time_us", "max_us"));
  accepted(two("time_us", "p99_us"));
  accepted(two("out_of_place_us", "in_place_us"));
  accepted(two("time (\xc2\xb5s)", "compute_us"));
}

TEST_CASE("percentiles that fall and means outside are refused", "[tables][trust]") {
  auto spread = [](const std::string &head, auto... factors) {
    return table("nodes,ppn,bytes," + head, [=](int i, double bytes, double us) {
      return line({"2", "8", number(bytes), number(us * (i == 5 ? factors : 1))...});
    });
  };
  refused(spread("p50_us,p95_us", 1.0, 0.9), "t:7", "expected times that do not fall from p50 to p95, got");
  refused(spread("p50_us,p99_us,p999_us", 1.0, 3.0, 2.0), "t:7", "from p99 to p99.9");
  refused(spread("min_us,p50_us", 1.1, 1.0), "t:7", "from min to p50");
  refused(spread("min_us,avg_us,max_us", 1.0, 0.8, 2.0), "t:7", "from min to mean");
  refused(spread("min_us,avg_us,max_us", 0.5, 1.2, 1.1), "t:7", "from mean to max");
  refused(spread("min_us,time_us,max_us", 0.5, 1.2, 1.1), "t:7", "from time to max");
  refused(spread("p50_us,p90_ns", 1.0, 2.0), "t:2", "from p50 to p90");                          // one column's unit
  accepted(spread("min_us,p50_us,mean_us,p90_us,p99_us,max_us", 0.9, 1.0, 5.0, 1.2, 1.2, 50.0)); // means carry spikes
  refused(with("p99_us", [](int i, double, double us) { return i == 3 ? "N/A" : number(us); }), "t:5",
          "column p99_us, expected a number above zero, got 'N/A' (of what was not measured, leave the field empty)");
  accepted(with("p99_us", [](int i, double, double us) { return i == 3 ? "" : number(us); }));
}

TEST_CASE("copied rows are refused, repeated measurements are not", "[tables][trust]") {
  auto row = [](double bytes, double us) { return line({"2", "8", number(bytes), number(us)}); };
  refused(table(plain, [&](int i, double bytes, double us) { return row(bytes, us) + (i == 4 ? row(bytes, us) : ""); }),
          "t:7", "expected each row once, got that of line 6 again");
  std::string once = table(plain, [&](int, double bytes, double us) { return row(bytes, us); });
  refused(once + once, "t:20", "got that of line 2 again, and 16 more");
  refused(table(started + ranksOfNccl() + ncclHead,
                [](int i, double bytes, double us) { return ncclRow(bytes, us) + (i == 4 ? ncclRow(bytes, us) : ""); }),
          "t:27", "size, expected more than 16.0 KiB");
  // Three runs of each size, two of which came out alike once.
  CHECK(refusal(table(plain, [&](int i, double bytes, double us) {
          return row(bytes, us) + row(bytes, i == 4 ? us : 1.01 * us) + row(bytes, 1.02 * us);
        })) == "");
}

TEST_CASE("rows that were dropped are told", "[tables][trust]") {
  std::string text = table(plain, [](int i, double bytes, double us) {
    return i == 4 || i == 5 ? "" : line({"2", "8", number(bytes), number(us)});
  });
  CHECK(refusal(text) == "");
  Result<MeasuredTable> read = parseMeasured(text, "t");
  REQUIRE(read);
  CHECK(!findDistrust(*read, machine()));
  REQUIRE(read->notes.size() == 1);
  CHECK(read->notes[0] == "line 6: sizes grow by 2, from 8.0 KiB to 64.0 KiB by more: 2 rows are missing");
}

TEST_CASE("hosts and ranks that the cluster file has not are refused", "[tables][trust]") {
  auto on = [](const std::string &nodes, const std::string &each) {
    return table(plain, [=](int, double bytes, double us) { return line({nodes, each, number(bytes), number(us)}); });
  };
  refused(on("4", "8"), "t:2", "nodes: expected at most the 2 hosts of cluster file h100-ib-ndr-2x8, got 4");
  refused(on("2", "16"), "t:2", "ranks per node: expected the 8 devices of a host");
  refused(on("2", "4"), "t:2", "sets devices_per_host and nics_per_host, if jobs are of 4 ranks per node");
  CHECK(refusal(on("1", "4")) == ""); // half a host
  refused(table("nodes,ppn,ranks,bytes,time_us",
                [](int i, double bytes, double us) {
                  return line({"2", "8", i == 3 ? "32" : "16", number(bytes), number(us)});
                }),
          "t:5", "ranks, expected the product of nodes and ranks per node, 16, got '32'");
  TableHints other = onTwoHosts();
  other.perHost = 4;
  refused(on("2", "8"), "t:2", "--per-node, expected what the table says, 8, or nothing, got 4", other);
  TableHints gather;
  gather.kind = CollectiveKind::AllGather;
  refused(table("collective," + plain,
                [](int, double bytes, double us) { return line({"all_reduce", "2", "8", number(bytes), number(us)}); }),
          "t:2", "--collective, expected what the table says, all_reduce, or nothing, got all_gather", gather);
  // A part of the cluster is told, since beyond it the model is alone.
  Result<MeasuredTable> read = parseMeasured(on("1", "8"), "t");
  REQUIRE(read);
  CHECK(!findDistrust(*read, machine()));
  REQUIRE(read->notes.size() == 1);
  CHECK(read->notes[0].find("at most 1 of the 2 hosts") == 0);
}

TEST_CASE("bandwidths that contradict the time are refused, in any column and unit", "[tables][trust]") {
  auto bandwidth = [](const std::string &head, double factor) {
    return with(head, [=](int, double bytes, double us) { return number(factor * bytes / us / 1e3); });
  };
  accepted(bandwidth("algbw_GBps", 1));
  accepted(bandwidth("algbw", 1));
  accepted(bandwidth("algbw (MB/s)", 1e3));
  accepted(bandwidth("algbw_Gbps", 8));
  accepted(bandwidth("algbw_gbit_s", 8));
  accepted(bandwidth("algbw_GiBps", 1 / 1.073741824));
  accepted(bandwidth("busbw_GB_s", 1.875));
  refused(bandwidth("algbw_GBps", 8), "t:", "a factor of 8: bits and bytes taken for each other");
  refused(bandwidth("algbw_GBps", 1 / 1.073741824), "t:", "GB and GiB taken for each other");
  refused(bandwidth("algbw_GBps", 1e3), "t:", "a factor of 1000");
  refused(bandwidth("busbw_GBps", 8 * 1.875), "t:", "time and bus bandwidth disagree");
  refused(bandwidth("busbw_GBps", 8 * 1.875), "t:", "bits and bytes");
  refused(bandwidth("busbw_GBps", 1), "t:", "algorithm bandwidth in the column of bus bandwidth");
  refused(with("algbw", [](int i, double bytes, double us) { return i == 16 ? "0.00" : number(bytes / us / 1e3); }),
          "t:18", "GB/s, got 0");
  // Rounded to one decimal, small ones to nothing.
  accepted(with("algbw", [](int, double bytes, double us) { return number(std::round(bytes / us / 100) / 10); }));
  refused(with("algbw", [](int, double bytes, double us) { return number(std::round(bytes / us / 1e3)) + "%"; }), "t:2",
          "got '0%'");
}

TEST_CASE("texts that editors, shells and spreadsheets made are read, or refused for what they are",
          "[tables][trust]") {
  auto row = [](const char *end) {
    return [=](int, double bytes, double us) { return line({"2", "8", number(bytes), number(us)}, ",", end); };
  };
  accepted(table(plain, row(",\n")));       // a separator at the end
  accepted(table(plain + ",", row(",\n"))); // of the head, too
  std::string mac = table(plain, row("\n"));
  std::replace(mac.begin(), mac.end(), '\n', '\r');
  accepted(mac);
  std::string wide = "\xff\xfe";
  for (char c : table(plain, row("\n")))
    wide += std::string(1, c) + '\0';
  refused(wide, "t: ", "expected text in UTF-8, got bytes that are none (UTF-16 of a Windows shell");
  refused(table("nodes;ppn;bytes;time_us",
                [](int i, double bytes, double us) {
                  return line({"2", "8", number(bytes), i == 4 ? "21,6" : number(us)}, ";");
                }),
          "t:6", "got '21,6' (decimals after a point, and nothing between thousands)");
  refused(table(plain, [](int i, double bytes,
                          double us) { return line({"2", "8", number(bytes), i == 4 ? "21,6" : number(us)}); }),
          "t:6", "expected 4 fields, got 5 (decimals after a point");
  refused(table(plain, [](int i, double bytes,
                          double us) { return line({"2", "8", number(bytes), i == 4 ? "\"21" : number(us)}); }),
          "t:6", "expected quotes in pairs");
  // The table of nccl-tests as a CSV, with its word for wrong results.
  auto converted = [](const std::string &wrong) {
    return table("size,count,type,redop,root,time_us,algbw,busbw,#wrong", [=](int i, double bytes, double us) {
      return line({number(bytes), number(bytes / 4), "float", "sum", "-1", number(us), number(bytes / us / 1e3),
                   number(bytes / us / 1e3 * 1.875), i == 7 ? wrong : "0"});
    });
  };
  accepted(converted("N/A"), onTwoHosts());
  refused(converted("3"), "t:9", "column #wrong, expected 0", onTwoHosts());
}

TEST_CASE("nccl-tests: more of what is printed", "[tables][trust]") {
  auto row = [](int, double bytes, double us) { return ncclRow(bytes, us); };
  std::string body = table(ranksOfNccl() + ncclHead, row);
  for (const char *graph :
       {"# nThread 1 nGpus 8 minBytes 1024 maxBytes 67108864 step: 2(factor) warmup iters: 1 iters: 20 agg "
        "iters: 1 validation: 1 graph: 20 unalign: 0\n",
        "# nccl-tests version 2.17.9 nccl-headers=22903 nccl-library=22903\n# nThread 1 nGpus 8\n"})
    accepted(graph + body + "# Out of bounds values : 0 OK\n# Avg bus bandwidth    : 93.1 \n");
  refused(body + "# Out of bounds values : 12 FAILED\n", "t:37",
          "(a run whose results are wrong says nothing of its time)");
  refused(body + "  134217728 33554432 float sum -1 13441.8 9.98 18.7 0 4480.6 29.9\n", "t:37",
          "expected at least 13 fields, got 11");
  refused(body + "  134,217,728 33554432 float sum -1 13441.8 9.98 18.7 0 4480.6 29.9 56.2 0\n", "t:37",
          "got '134,217,728'");
  // Wrong in place, where it counts as much; not checked (N/A) is not wrong.
  auto inPlace = [](const std::string &wrong) {
    return table(ranksOfNccl() + ncclHead, [=](int i, double bytes, double us) {
      std::string text = ncclRow(bytes, us);
      return i == 2 ? text.substr(0, text.rfind('0')) + wrong + "\n" : text;
    });
  };
  accepted(inPlace("N/A"));
  refused(inPlace("7"), "t:22", "#wrong, expected 0");
  // Versions before 2.13: no root, and blanks where nothing is reduced.
  std::string old =
      table(started + ranksOfNccl() +
                "# size count type redop time algbw busbw error time algbw busbw error\n"
                "#  (B) (elements)  (us) (GB/s) (GB/s)  (us) (GB/s) (GB/s)",
            [](int, double bytes, double us) {
              std::string rate = number(bytes / us / 1e3, 6),
                          three = number(us, 8) + " " + rate + " " + number(bytes / us / 1e3 * 0.9375, 6) + " N/A ";
              return number(bytes) + " " + number(bytes / 64) + " float " + three + three + "\n";
            });
  old.replace(old.find("all_reduce_perf"), 15, "all_gather_perf");
  accepted(old);
  // A terminal's colours, a title of its window, and what clears a line's end; the lines keep their numbers.
  std::string coloured = "\x1b]0;job 7\a\x1b[1m" + started + "\x1b[0m" +
                         table(ranksOfNccl() + ncclHead, [](int i, double bytes, double us) {
                           return "\x1b[38;5;" + std::to_string(i) + "m" + ncclRow(bytes, us) + "\x1b[0m\x1b[K";
                         });
  accepted(coloured);
  refused(coloured + "  134217728 33554432 float sum -1 13441.8 9.98 18.7 0 4480.6 29.9\n", "t:39", "got 11");
  // Nothing names the program: the collective is known by redop, root and bandwidths, or the way out is said.
  auto unnamed = [](const char *redop, const char *root, double factor) {
    return table(ranksOfNccl() + ncclHead, [=](int, double bytes, double us) {
      std::string rate = number(bytes / us / 1e3, 6),
                  three = number(us, 8) + " " + rate + " " + number(bytes / us / 1e3 * factor, 6) + " 0 ";
      return number(bytes) + " " + number(bytes / 4) + " float " + redop + " " + root + " " + three + three + "\n";
    });
  };
  auto kindOf = [](const std::string &text) {
    Result<MeasuredTable> read = parseMeasured(text, "t");
    return read ? read->rows.back().kind : CollectiveKind::Permute;
  };
  CHECK(kindOf(unnamed("sum", "-1", 1.875)) == CollectiveKind::AllReduce);
  CHECK(kindOf(unnamed("sum", "-1", 0.9375)) == CollectiveKind::ReduceScatter);
  CHECK(kindOf(unnamed("none", "0", 1)) == CollectiveKind::Broadcast);
  refused(unnamed("none", "-1", 0.9375), "t: ", "got none, of which all_gather or all_to_all is the one: --collective");
  refused(unnamed("none", "-1", 1), "t: ", "got none (--collective gives it)");
  // Which of the two times it is, is said.
  Result<MeasuredTable> read = parseMeasured(body, "t");
  REQUIRE(read);
  CHECK(read->notes.back().find("out-of-place") != std::string::npos);
  // What the lines say, and the caller says otherwise.
  TableHints four;
  four.hosts = 4;
  refused(body, "t: ", "--nodes, expected what the table says, 2, or nothing, got 4", four);
  four.perHost = 4;
  refused(body, "t: ", "--nodes, expected what the table says, 2, or nothing, got 4", four);
  four.hosts = 0;
  refused(body, "t: ", "--per-node, expected what the table says, 8, or nothing, got 4", four);
  // Lines of ranks that a page left out.
  std::string abridged = body;
  abridged.erase(abridged.find("#  Rank 3"), abridged.find("#  Rank 7") - abridged.find("#  Rank 3"));
  refused(abridged, "t: ", "expected a line for each of 16, got 12 (--nodes and --per-node say how many");
  accepted(abridged, onTwoHosts());
}

TEST_CASE("OSU: more of what is printed", "[tables][trust]") {
  auto untitled = table("\x1b[1m# Size       Avg Latency(us)\x1b[0m", [](int, double bytes, double us) {
    return "\x1b[36m" + number(bytes) + "\x1b[0m  " + number(us, 8) + "\n";
  });
  TableHints named = onTwoHosts();
  refused(untitled, "t: ", "expected a title such as", named);
  named.kind = CollectiveKind::AllReduce;
  accepted(untitled, named);
  std::string title = "# OSU MPI-CUDA Allreduce Latency Test v7.5\n# Datatype: MPI_FLOAT.\n";
  std::string head = title + "# Size       Avg Latency(us)   Min Latency(us)   Max Latency(us)  Iterations  "
                             "P50 Tail Lat(us)  P90 Tail Lat(us)  P99 Tail Lat(us)";
  auto full = [&](double min, double p90) {
    return table(head, [=](int i, double bytes, double us) {
      return line({number(bytes), number(us), number(us * (i == 6 ? min : 0.9)), number(us * 3), "1000", number(us),
                   number(us * (i == 6 ? p90 : 1.1)), number(us * 2)},
                  "   ");
    });
  };
  accepted(full(0.9, 1.1), onTwoHosts());
  refused(full(1.2, 1.1), "t:10", "from min to p50", onTwoHosts());
  refused(full(0.9, 2.5), "t:10", "from p90 to p99", onTwoHosts());
  std::istringstream lines(full(0.9, 1.1));
  std::string marked;
  for (std::string l; std::getline(lines, l);)
    marked += "[1,0]<stdout>:" + l + "\n";
  accepted(marked, onTwoHosts());
  refused(full(0.9, 1.1) + "134217728 13441 13000\n", "t:21", "column 'Max Latency(us)', got none", onTwoHosts());
  refused(full(0.9, 1.1) + "134,217,728 13441 13000 14000 1000 13441 13441 13442\n", "t:21",
          "size, expected a whole number without separators, got '134,217,728'", onTwoHosts());
  refused(full(0.9, 1.1) + "4096 20 19 22 1000 20 20 21\n", "t:21",
          "as a run goes through its sizes upwards, got 4.0 KiB", onTwoHosts());
  refused(title + "# Size  Avg Latency(us)\n", "t: ", "expected rows below the head of OSU, got none", onTwoHosts());
  // A CSV that cites a title is a CSV.
  accepted(table("# OSU MPI Allreduce Latency Test, as a CSV\n" + plain,
                 [](int, double bytes, double us) { return line({"2", "8", number(bytes), number(us)}); }));
}

TEST_CASE("a probe trusts no table that a fit distrusts, but for its few sizes", "[tables][trust]") {
  TrustOptions probe;
  probe.probe = true;
  auto said = [&](const std::string &rows) {
    Result<MeasuredTable> read = parseMeasured(plain + "\n" + rows, "t");
    if (!read)
      return read.error().text();
    std::optional<Error> error = findDistrust(*read, machine(), probe);
    return error ? error->text() : std::string();
  };
  CHECK(said("2,8,1024,20.1\n2,8,16777216,1700\n") == "");
  CHECK(said("2,8,1024,20.1\n").find("expected at least 2 message sizes") != std::string::npos);
  CHECK(said("2,8,1024,20.1\n2,8,4096,21\n").find("span a factor of 16, got 1.0 KiB to 4.0 KiB") != std::string::npos);
  CHECK(said("2,8,1024,2000\n2,8,16777216,1700\n").find("t:3: inversion") == 0);
  CHECK(said("2,8,1024,2000\n2,8,1048576,400\n2,8,16777216,1700\n").find("inversion") != std::string::npos);
  CHECK(said("4,8,1024,20.1\n4,8,16777216,1700\n").find("t:2: nodes") == 0);
  CHECK(said("2,8,1024,20.1\n2,8,16777216,17\n").find("2.2 times the links") != std::string::npos);
  CHECK(said("2,8,1024,20.1\n2,8,1024,20.1\n2,8,16777216,1700\n").find("t:3: twice") == 0);
  // Rows that no one latency and bandwidth meets are told.
  Result<MeasuredTable> bent =
      parseMeasured(plain + "\n2,8,1024,20\n2,8,4096,200\n2,8,65536,205\n2,8,16777216,1700\n", "t");
  REQUIRE(bent);
  Result<ProbeResult> met = probeFit(*bent, machine(), CalibratedModel::Nccl);
  REQUIRE(met);
  REQUIRE(!met->notes.empty());
  CHECK(met->notes.back().find("rows are met within 1.3: no one latency and bandwidth fits all sizes here") !=
        std::string::npos);
  // Where factors meet the rows only by making another machine of the profile.
  for (const char *times : {"2,8,1024,2010000\n2,8,16777216,170000000\n", "2,8,1024,0.01\n2,8,16777216,1\n"}) {
    Result<MeasuredTable> read = parseMeasured(plain + "\n" + times, "t");
    REQUIRE(read);
    Result<ProbeResult> far = probeFit(*read, machine(), CalibratedModel::Nccl);
    REQUIRE(!far);
    CHECK(far.error().text().find("is it this machine's file?") != std::string::npos);
  }
}
