//===- Engines.cpp - the list of engines ---------------------------------------------------------------------------===//
#include "engines/Engines.h"
#include "core/Environment.h"
#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <dlfcn.h>
#include <map>
#include <mutex>

namespace braid::runtime {

namespace {

struct Registry {
  std::mutex mutex;
  std::map<std::string, EngineMaker> engines = {
#ifdef BRAID_RT_WITH_MPI
      {"mpi", makeMpiEngine},
#endif
#ifdef BRAID_RT_WITH_NCCL
      {"nccl", makeNcclEngine},
#endif
  };
};

Registry &registry() {
  static Registry all;
  return all;
}

EngineMaker find(const std::string &name) {
  std::lock_guard<std::mutex> lock(registry().mutex);
  auto found = registry().engines.find(name);
  return found == registry().engines.end() ? nullptr : found->second;
}

} // namespace

void addEngine(const std::string &name, EngineMaker make) {
  std::lock_guard<std::mutex> lock(registry().mutex);
  registry().engines[name] = make;
}

Outcome readEngines(const std::string &text, std::vector<std::string> &names) {
  names.clear();
  for (size_t at = 0; at < text.size() || (at && at == text.size());) {
    size_t end = std::min(text.find(',', at), text.size());
    std::string name = text.substr(at, end - at);
    at = end + 1;
    if (name != braidEngine && !find(name)) {
      std::string known = braidEngine;
      for (auto &[each, make] : registry().engines)
        known += ", " + each;
      return {BRAID_UNSUPPORTED, "engine" + byVariable("BRAID_ENGINE", text) + ": expected one of " + known +
                                     ", or several with commas between them, got '" + name + "'"};
    }
    if (std::find(names.begin(), names.end(), name) != names.end())
      return {BRAID_INVALID,
              "engine" + byVariable("BRAID_ENGINE", text) + ": expected each engine once, got '" + text + "'"};
    names.push_back(name);
  }
  if (names.empty())
    names.push_back(braidEngine);
  return {};
}

Outcome makeEngine(const std::string &name, const EngineContext &context, std::unique_ptr<Engine> &engine) {
  EngineMaker make = find(name);
  if (!make)
    return {BRAID_UNSUPPORTED, "engine '" + name + "': not in this build"};
  Outcome made = make(context, engine);
  return made ? made : Outcome(made.status, "engine '" + name + "': " + made.text);
}

/// Added to, never taken from: the libraries stay.
static std::atomic<void (*)()> waiting[4];

void whileWaiting(void (*body)()) {
  for (auto &each : waiting) {
    void (*none)() = nullptr;
    if (each.load() == body || each.compare_exchange_strong(none, body))
      return;
  }
}

void progressLibraries() {
  for (auto &each : waiting)
    if (void (*body)() = each.load(std::memory_order_relaxed))
      body();
    else
      return;
}

std::vector<std::string> enginePlaces(const std::string &library) {
  std::vector<std::string> places;
  if (const char *folder = std::getenv("BRAID_ENGINE_PATH"); folder && *folder)
    return {std::string(folder) + "/" + library};
  Dl_info info;
  std::string here = dladdr(reinterpret_cast<void *>(&enginePlaces), &info) && info.dli_fname ? info.dli_fname : "";
  if (size_t slash = here.rfind('/'); slash != std::string::npos) {
    here.resize(slash + 1);
    places = {here + library, here + "../lib/" + library};
  }
  places.push_back(library);
  return places;
}

} // namespace braid::runtime
