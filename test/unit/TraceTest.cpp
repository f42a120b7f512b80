//===- TraceTest.cpp - the trace writer's output is JSON that Perfetto accepts ----------------------------------===//
#include "braid/runtime/trace/AtomicFile.h"
#include "braid/runtime/trace/TraceWriter.h"
#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <map>
#include <memory>
#include <sstream>
#include <stdexcept>
#include <sys/stat.h>
#include <unistd.h>
#include <yaml-cpp/yaml.h>

using namespace braid::trace;
using Catch::Matchers::Contains;

namespace {

Microseconds us(double value) { return Microseconds(value); }

/// JSON is YAML's flow style (with the escapes that the writer uses), so the parser at hand reads the writer's output
/// back.
YAML::Node parse(const std::string &json) { return YAML::Load(json); }

/// Empty, or what a viewer would stumble over.
std::string validate(const std::string &json) {
  YAML::Node events = parse(json)["traceEvents"];
  std::map<std::pair<int, int>, std::vector<std::pair<double, double>>> slices;
  std::map<std::string, int> open; // b without e
  for (const YAML::Node &event : events) {
    std::string phase = event["ph"].as<std::string>();
    if (!event["pid"] || !event["tid"] || !event["name"])
      return "an event without pid, tid or name";
    if (phase == "M")
      continue;
    double begin = event["ts"].as<double>();
    std::pair<int, int> track = {event["pid"].as<int>(), event["tid"].as<int>()};
    if (phase == "X")
      slices[track].push_back({begin, begin + event["dur"].as<double>()});
    if (phase == "b" || phase == "e") {
      std::string id = event["cat"].as<std::string>() + "/" + event["id"].as<std::string>();
      if ((open[id] += phase == "b" ? 1 : -1) < 0)
        return "an end without a begin";
    }
  }
  for (auto &[id, count] : open)
    if (count)
      return "a begin without an end";
  for (auto &[track, list] : slices) { // slices of one track nest or are disjoint
    std::sort(list.begin(), list.end(),
              [](auto a, auto b) { return a.first != b.first ? a.first < b.first : a.second > b.second; });
    std::vector<double> ends;
    for (auto [begin, end] : list) {
      while (!ends.empty() && ends.back() <= begin + 1e-4)
        ends.pop_back();
      if (!ends.empty() && end > ends.back() + 1e-4)
        return "two slices of a track overlap";
      ends.push_back(end);
    }
  }
  return {};
}

TraceWriter sample() {
  TraceWriter trace;
  trace.nameRank(3, "rank 3");
  trace.nameTrack({3, 0}, "compute");
  trace.nameTrack({3, 1}, "inter-host");
  trace.slice({3, 0}, "matmul", "compute", us(0), us(10.5), {{"loc", "\"main\" at a\\b\n\x01"}});
  trace.slice({3, 0}, "part", "compute", us(2), us(3));
  trace.slice({3, 0}, "wait", "exposed", us(10.5), us(12));
  trace.async({3, 1}, "all_reduce", "collective", us(1), us(11));
  trace.async({3, 1}, "all_reduce", "collective", us(5), us(12), {{"bytes", "25.0 MiB"}});
  trace.counter(3, "bytes in flight", us(1), 26214400);
  trace.flow("start to wait", {3, 0}, us(1), {3, 1}, us(11));
  return trace;
}

struct Folder { // removed at the end
  std::string path = "/tmp/braid-trace-test-" + std::to_string(::getpid());
  Folder() { ::mkdir(path.c_str(), 0700); }
  ~Folder() { (void)!std::system(("rm -rf '" + path + "'").c_str()); }
};

std::string contentOf(const std::string &path) {
  std::ifstream file(path);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

} // namespace

TEST_CASE("a trace is read back with its names, times and details") {
  YAML::Node events = parse(sample().json())["traceEvents"];
  std::map<std::string, int> phases;
  for (const YAML::Node &event : events)
    ++phases[event["ph"].as<std::string>()];
  CHECK(phases == std::map<std::string, int>{{"M", 6}, {"X", 3}, {"b", 2}, {"e", 2}, {"C", 1}, {"s", 1}, {"f", 1}});
  CHECK(events[0]["args"]["name"].as<std::string>() == "rank 3");
  CHECK(events[6]["name"].as<std::string>() == "matmul");
  CHECK(events[6]["ts"].as<double>() == 0);
  CHECK(events[6]["dur"].as<double>() == Approx(10.5));
  CHECK(events[6]["args"]["loc"].as<std::string>() == "\"main\" at a\\b\n\x01");
  CHECK(events[9]["id"].as<int>() != events[11]["id"].as<int>()); // two collectives of one name
  CHECK(validate(sample().json()) == "");
}

TEST_CASE("the validation finds overlapping slices and lonely ends") {
  TraceWriter bad = sample();
  bad.slice({3, 0}, "overlaps", "compute", us(9), us(11));
  CHECK(validate(bad.json()) == "two slices of a track overlap");
  CHECK(validate(R"({"traceEvents":[{"ph":"e","pid":0,"tid":0,"name":"x","cat":"c","id":1,"ts":0}]})") ==
        "an end without a begin");
}

TEST_CASE("slices that touch do not overlap after rounding") {
  TraceWriter trace;
  double at = 0;
  for (int i = 0; i < 1000; ++i) {
    double next = at + 0.1 + 1e-4 * i / 3;
    trace.slice({0, 0}, "x", "c", us(at), us(next));
    at = next;
  }
  CHECK(validate(trace.json()) == "");
}

TEST_CASE("an empty trace and odd names are still JSON") {
  CHECK(parse(TraceWriter().json())["traceEvents"].size() == 0);
  TraceWriter trace;
  trace.slice({0, 0}, "bad \xff utf8, good \xc3\xa9", "c", us(1), us(0.5)); // ends before it begins: no negative length
  YAML::Node event = parse(trace.json())["traceEvents"][0];
  CHECK(event["name"].as<std::string>() == "bad ? utf8, good \xc3\xa9");
  CHECK(event["dur"].as<double>() == 0);
}

TEST_CASE("a file is replaced whole, and keeps its old content when writing fails") {
  Folder folder;
  std::string path = folder.path + "/trace.json";
  REQUIRE(sample().write(path) == "");
  CHECK(contentOf(path) == sample().json());
  REQUIRE(writeAtomically(path, "new") == "");
  CHECK(contentOf(path) == "new");

  CHECK_THAT(sample().write(folder.path + "/none/trace.json"), Contains("cannot write") && Contains("No such file"));
  CHECK_THAT(sample().write(folder.path), Contains("Is a directory"));
  CHECK(checkWritable(path) + checkWritable(folder.path + "/other.json") + checkWritable("/dev/null") == "");
  CHECK_THAT(checkWritable(folder.path + "/none/trace.json"), Contains("cannot write") && Contains("No such file"));
  CHECK_THAT(checkWritable(path + "/trace.json"), Contains("Not a directory"));
  CHECK_THAT(checkWritable(folder.path), Contains("Is a directory"));
  CHECK_THAT(checkWritable(folder.path + "/none/"), Contains("cannot write"));
  CHECK_THAT(checkWritable(""), Contains("cannot write"));

  std::string link = folder.path + "/link.json"; // a link stays a link
  REQUIRE(::symlink(path.c_str(), link.c_str()) == 0);
  REQUIRE(writeAtomically(link, "through") == "");
  CHECK(contentOf(path) == "through");
  struct stat status{};
  REQUIRE(::lstat(link.c_str(), &status) == 0);
  CHECK(S_ISLNK(status.st_mode));

  // Nothing but these two: no temporary file is left over.
  std::unique_ptr<FILE, int (*)(FILE *)> listing(::popen(("ls -A '" + folder.path + "' | wc -l").c_str(), "r"),
                                                 ::pclose);
  int files = 0;
  REQUIRE(std::fscanf(listing.get(), "%d", &files) == 1);
  CHECK(files == 2);
}

TEST_CASE("a full disk is an error with its reason") {
  CHECK(writeAtomically("/dev/full", std::string(1 << 20, 'x')) == "cannot write /dev/full: No space left on device");
  CHECK(checkWritable("/dev/full").empty()); // it can be opened
}
