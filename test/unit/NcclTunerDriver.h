//===- NcclTunerDriver.h - drives NCCL's tuner plugin as NCCL does ------------------------------------------------------===//
#ifndef BRAID_TEST_UNIT_NCCLTUNERDRIVER_H
#define BRAID_TEST_UNIT_NCCLTUNERDRIVER_H

#include "catch2/catch.hpp"
#include "runtime/engines/nccl/tuner/Abi.h"
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <dlfcn.h>
#include <fstream>
#include <mutex>
#include <string>
#include <unistd.h>
#include <vector>

namespace tuner_test {

using namespace braid::nccl;

/// A line of NCCL's log.
struct Line {
  int level;
  std::string text;
};
inline std::mutex logMutex;
inline std::vector<Line> logged;

inline void logLine(int level, unsigned long, const char *, int, const char *format, ...) {
  char text[8192];
  va_list arguments;
  va_start(arguments, format);
  std::vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  std::lock_guard<std::mutex> lock(logMutex);
  logged.push_back({level, text});
}
inline int warnings() {
  int count = 0;
  for (const Line &line : logged)
    count += line.level == Warn;
  return count;
}

/// As NCCL opens it: at once, and with its symbols for itself.
inline void *symbol(const char *name) {
  static void *library = dlopen(BRAID_NCCL_TUNER, RTLD_NOW | RTLD_LOCAL);
  void *found = library ? dlsym(library, name) : nullptr;
  if (!found) { // no Catch here: threads call this
    std::fprintf(stderr, "%s: expected the symbol %s, got: %s\n", BRAID_NCCL_TUNER, name, dlerror());
    std::abort();
  }
  return found;
}

/// What NCCL fills before it asks, and reads afterwards: the cheapest cell of what is possible, the first of equals.
struct Costs {
  float cell[algorithms][protocols];
  explicit Costs(float all = impossible) {
    for (auto &row : cell)
      for (float &cost : row)
        cost = all;
  }
  /// Rings and trees possible, as on GPUs with NVLink, at costs that have nothing to do with prices.
  static Costs ringsAndTrees() {
    Costs costs;
    for (int a : {0, 1})
      for (int p = 0; p < protocols; ++p)
        costs.cell[a][p] = 50.f + 7 * a + p;
    return costs;
  }
  std::pair<int, int> taken() const {
    std::pair<int, int> best = {-1, -1};
    float least = 3e38f;
    for (int a = 0; a < algorithms; ++a)
      for (int p = 0; p < protocols; ++p)
        if (cell[a][p] >= 0 && cell[a][p] < least) {
          least = cell[a][p];
          best = {a, p};
        }
    return best;
  }
};

/// A communicator that tunes through version 4, 5 or 6.
class Communicator {
public:
  Communicator(int version, size_t ranks, size_t nodes, ConstantsV5 *constants = nullptr) : version(version) {
    NvlDomainInfoV5 nvlink = {int(nodes), int(ranks / nodes), int(ranks / nodes)};
    if (version == 4)
      status = v4()->init(ranks, nodes, logLine, &context);
    else
      status = (version == 5 ? v5()->init : v6()->init)(&context, 0x1234, ranks, nodes, logLine, &nvlink,
                                                        constants ? constants : &own);
  }
  ~Communicator() {
    version == 4 ? v4()->destroy(context) : version == 5 ? v5()->finalize(context) : v6()->finalize(context);
  }
  Communicator(const Communicator &) = delete;

  int ask(int function, size_t bytes, Costs &costs, int &channels, int operations = 1) {
    GetCollInfo get = version == 4 ? v4()->getCollInfo : version == 5 ? v5()->getCollInfo : v6()->getCollInfo;
    return get(context, function, bytes, operations, reinterpret_cast<float **>(&costs.cell), algorithms, protocols, 0,
               &channels);
  }

  int status = -1;
  void *context = nullptr;

  static const TunerV4 *v4() { return static_cast<const TunerV4 *>(symbol("ncclTunerPlugin_v4")); }
  static const TunerV5 *v5() { return static_cast<const TunerV5 *>(symbol("ncclTunerPlugin_v5")); }
  static const TunerV6 *v6() { return static_cast<const TunerV6 *>(symbol("ncclTunerPlugin_v6")); }

private:
  int version;
  ConstantsV5 own = {};
};

/// A file that BRAID_TUNER_FILE names while it lives.
class TunerFile {
public:
  explicit TunerFile(const std::string &text) : path("/tmp/braid-tuner-" + std::to_string(getpid()) + ".json") {
    write(text);
    setenv("BRAID_TUNER_FILE", path.c_str(), 1);
    logged.clear();
  }
  ~TunerFile() {
    unsetenv("BRAID_TUNER_FILE");
    unlink(path.c_str());
  }
  void write(const std::string &text) { std::ofstream(path, std::ios::binary) << text; }
  const std::string path;
};

} // namespace tuner_test

#endif
