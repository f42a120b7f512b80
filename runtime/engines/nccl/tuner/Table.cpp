//===- Table.cpp - the choices that a file holds ----------------------------------------------------------------===//
#include "engines/nccl/tuner/Table.h"
#include "json/Json.h"
#include <cerrno>
#include <cmath>
#include <cstring>
#include <fcntl.h>
#include <optional>
#include <sys/stat.h>
#include <unistd.h>

namespace braid::nccl {

using runtime::Json;

// A real file has some 100 KiB. Every rank of a job reads it, so what it may cost is bounded: a value takes about 100 bytes.
static constexpr off_t mostBytes = 4 << 20;
static constexpr size_t mostValues = 200000;
static constexpr size_t longestText = 1000; ///< of what goes to the log

namespace {

/// What goes to a terminal: no control characters, not endless.
std::string printable(const std::string &text, size_t longest = longestText) {
  std::string out;
  for (char c : text.substr(0, longest))
    out += (unsigned char)c < 0x20 || c == 0x7f ? '?' : c;
  return text.size() > longest ? out + "..." : out;
}

/// Checks as it goes; after the first error nothing counts.
class Reader {
public:
  explicit Reader(Table &table) : table(table) {}

  std::string run(const Json &file) {
    const Json &format = file["format"];
    if (format.text() != Table::format)
      return std::string("expected the format \"") + Table::format +
             "\", which braid-sim emit nccl-tuner of the same build writes, got " +
             (format.kind() == Json::String ? "\"" + printable(format.text()) + "\"" : "none");
    table.cluster = printable(file["cluster"]["name"].text());
    table.hash = printable(file["cluster"]["hash"].text());
    for (const Json &name : file["keep"].items()) {
      int algorithm = indexOf(name.text(), algorithmNames, algorithms);
      if (algorithm < 0)
        fail("expected names of algorithms in \"keep\", got \"" + printable(name.text()) + "\"");
      else
        table.kept[algorithm] = true;
    }
    if (file["communicators"].kind() != Json::Array)
      fail("expected the key \"communicators\" with a list");
    for (const Json &item : file["communicators"].items())
      readCommunicator(item);
    return error;
  }

private:
  bool fail(const std::string &text) {
    if (error.empty())
      error = where.empty() ? text : where + ": " + text;
    return false;
  }

  std::optional<double> whole(const Json &object, const char *key, double most) {
    const Json &value = object[key];
    if (value.kind() == Json::Number && value.number() >= 0 && value.number() <= most &&
        std::floor(value.number()) == value.number())
      return value.number();
    fail(std::string("expected \"") + key + "\", a whole number from 0 to " + std::to_string(int64_t(most)));
    return std::nullopt;
  }

  static int indexOf(const std::string &name, const char *const *names, int count) {
    for (int i = 0; i < count; ++i)
      if (name == names[i])
        return i;
    return -1;
  }

  void readCommunicator(const Json &item) {
    where = "communicator " + std::to_string(table.communicators.size());
    table.communicators.emplace_back();
    std::optional<double> ranks = whole(item, "ranks", 1 << 24), nodes = whole(item, "nodes", 1 << 24);
    if (!ranks || !nodes)
      return;
    Communicator &communicator = table.communicators.back();
    communicator.ranks = size_t(*ranks);
    communicator.nodes = size_t(*nodes);
    for (const auto &[name, ranges] : item["collectives"].fields()) {
      int function = indexOf(name, functionNames, functions);
      if (function < 0) {
        fail("expected a collective, got \"" + printable(name) + "\"");
        return;
      }
      for (const Json &range : ranges.items())
        readRange(name, range, communicator.ranges[function]);
    }
    readConstants(item["constants"], communicator.constants);
  }

  void readRange(const std::string &collective, const Json &item, std::vector<Range> &ranges) {
    where = "communicator " + std::to_string(table.communicators.size() - 1) + ", " + collective + ", range " +
            std::to_string(ranges.size());
    std::optional<double> from = whole(item, "min_bytes", 0x1p53), to = whole(item, "max_bytes", 0x1p53);
    if (!from || !to)
      return;
    if (*to < *from || (!ranges.empty() && *from <= double(ranges.back().to))) {
      fail("expected sizes that rise and do not overlap");
      return;
    }
    ranges.emplace_back();
    Range &range = ranges.back();
    range.from = size_t(*from);
    range.to = size_t(*to);
    range.why = printable(item["why"].text());
    for (const Json &choice : item["choices"].items())
      readChoice(choice, range.choices);
    if (range.choices.empty())
      fail("expected \"choices\", a list of at least one");
  }

  void readChoice(const Json &item, std::vector<Choice> &choices) {
    Choice choice;
    choice.algorithm = indexOf(item["algorithm"].text(), algorithmNames, algorithms);
    choice.protocol = indexOf(item["protocol"].text(), protocolNames, protocols);
    if (choice.algorithm < 0 || choice.protocol < 0) {
      fail("expected \"algorithm\" and \"protocol\" as NCCL knows them, got \"" + printable(item["algorithm"].text()) +
           "\" and \"" + printable(item["protocol"].text()) + "\"");
      return;
    }
    std::optional<double> channels = whole(item, "channels", mostChannels);
    std::optional<double> channelsFrom = whole(item, "channels_from_bytes", 0x1p53);
    const Json &times = item["predicted_us"];
    if (times.size() != 2 || times[0].kind() != Json::Number || times[1].kind() != Json::Number ||
        times[0].number() < 0 || times[1].number() < 0)
      fail("expected \"predicted_us\", two times");
    if (!error.empty())
      return;
    choice.channels = int(*channels);
    choice.channelsFrom = size_t(*channelsFrom);
    choice.least = times[0].number();
    choice.most = times[1].number();
    choices.push_back(choice);
  }

  /// {"base_latency": {"tree": {"LL": 6.8}}, "hop_latency_network": {...}, "ll_most": [[...], ...]}: what is there is replaced.
  void readConstants(const Json &item, std::vector<Constant> &constants) {
    where = "communicator " + std::to_string(table.communicators.size() - 1) + ", constants";
    const char *const latencies[] = {"base_latency", "hop_latency_nvlink", "hop_latency_pcie", "hop_latency_network"};
    for (const auto &[name, value] : item.fields()) {
      if (int group = indexOf(name, latencies, 4); group >= 0) {
        for (const auto &[algorithm, row] : value.fields())
          for (const auto &[protocol, number] : row.fields()) {
            int a = indexOf(algorithm, algorithmNames, algorithms), p = indexOf(protocol, protocolNames, protocols);
            if (a < 0 || p < 0)
              fail("expected an algorithm and a protocol, got \"" + printable(algorithm) + "\" and \"" +
                   printable(protocol) + "\"");
            else
              add(constants, size_t((group * algorithms + a) * protocols + p), number);
          }
      } else if (name == "ll_most") {
        for (size_t generation = 0; generation < value.size(); ++generation)
          for (size_t scale = 0; scale < value[int(generation)].size(); ++scale)
            if (generation >= 4 || scale >= 3)
              fail("expected \"ll_most\" of 4 generations at 3 scales");
            else
              add(constants, offsetof(ConstantsV5, llMost) / sizeof(double) + generation * 3 + scale,
                  value[int(generation)][int(scale)]);
      } else {
        fail("expected one of NCCL's constants, got \"" + printable(name) + "\"");
      }
    }
  }
  void add(std::vector<Constant> &constants, size_t place, const Json &value) {
    if (value.kind() != Json::Number || !(value.number() > 0) || value.number() > 1e9)
      fail("expected a number above 0 and at most 1e9");
    else
      constants.push_back({place, value.number()});
  }

  Table &table;
  std::string where, error;
};

} // namespace

std::string Table::parse(const std::string &text, Table &table) {
  Json file;
  std::string error = Json::parse(text, file, mostValues);
  return error.empty() ? Reader(table).run(file) : error;
}

std::string Table::read(const std::string &path, Table &table) {
  const std::string shown = printable(path, 300);
  auto failed = [&] { return shown + ": expected a readable file, got: " + std::strerror(errno); };
  int file = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK); // a pipe without a writer does not hold the job up
  if (file < 0)
    return failed();
  struct Closer {
    int file;
    ~Closer() { close(file); }
  } closer{file};
  struct stat status = {};
  if (fstat(file, &status) != 0)
    return failed();
  if (!S_ISREG(status.st_mode))
    return shown + ": expected a file, got something else of that name";
  if (status.st_size > mostBytes)
    return shown + ": expected at most 4 MiB, got " + std::to_string(status.st_size) + " bytes";
  std::string text(size_t(status.st_size), '\0');
  size_t got = 0;
  while (got < text.size()) {
    ssize_t some = ::read(file, &text[got], text.size() - got);
    if (some < 0 && errno == EINTR)
      continue;
    if (some < 0)
      return failed();
    if (some == 0)
      break; // it has become shorter
    got += size_t(some);
  }
  text.resize(got);
  std::string error = parse(text, table);
  return error.empty() ? error : shown + ": " + error;
}

const Communicator *Table::find(size_t ranks, size_t nodes) const {
  for (const Communicator &communicator : communicators)
    if (communicator.ranks == ranks && communicator.nodes == nodes)
      return &communicator;
  return nullptr;
}

std::string Table::shapes() const {
  std::string out;
  for (const Communicator &c : communicators) {
    if (out.size() > longestText)
      return out + ", ...";
    out += (out.empty() ? "" : ", ") + std::to_string(c.ranks) + " on " + std::to_string(c.nodes) +
           (c.nodes == 1 ? " node" : " nodes");
  }
  return out.empty() ? "none" : out;
}

} // namespace braid::nccl
