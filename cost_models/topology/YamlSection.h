//===- YamlSection.h - reading a layered YAML mapping with good errors ------------------------------------------===//
//
// A cluster file may name a `base` file, whose keys it overrides one by one. A *section* is one mapping (the whole
// file, or a part such as `device`) in all layers, the file itself first. It is asked for keys; at the end, finish()
// rejects what nobody asked for.
//
// Any constant is a plain scalar, or a mapping {value: ..., source: ...} or {value: ..., assumption: ...}. A source or
// assumption in a section stands for all of its constants that have none of their own; one that says nothing ("", "n/a") is
// an error, and so is a constant out of its range (Ranges.h).
//
// Everything here throws ReadError, and is caught in ClusterReader.cpp.
//===------------------------------------------------------------------------------------------------------------===//
#ifndef BRAID_COST_MODELS_TOPOLOGY_YAMLSECTION_H
#define BRAID_COST_MODELS_TOPOLOGY_YAMLSECTION_H

#include "braid/cost_models/Cluster.h"
#include "braid/cost_models/Result.h"
#include "braid/cost_models/Units.h"
#include "braid/runtime/algorithms/Nearest.h"
#include "topology/Ranges.h"
#include <set>
#include <string>
#include <vector>
#include <yaml-cpp/yaml.h>

namespace braid::cost {

struct ReadError {
  Error error;
};

/// A value, the file it stands in, and its key if it has one.
struct PlacedNode {
  std::string file;
  YAML::Node node;
  YAML::Node key = YAML::Node(YAML::NodeType::Undefined);
  std::string line() const; ///< "file:line" of the key, or of the value
};

/// How the name of a layer that is no file begins: what a caller has set.
constexpr const char *overridePrefix = "override of ";

using algorithms::nearest;

/// As C's %g writes it.
std::string numberText(double value);

/// What was read, and where it comes from.
struct Provenance {
  std::vector<std::string> assumptions;
  std::vector<WrittenConstant> written;
};

class YamlSection {
public:
  /// `name` is the path for messages: "device"; empty for the whole file. What is read is appended to `provenance`.
  YamlSection(std::string name, std::vector<PlacedNode> layers, const YamlSection *parent, Provenance &provenance);

  /// Whether an optional key is there.
  bool has(const char *key) const;
  YamlSection section(const char *key); ///< an error if it is in no layer
  /// A list of mappings, of the first layer that has it; at least one. `otherwise`: what to write where there is none.
  std::vector<YamlSection> sections(const char *key, const char *otherwise);
  /// For a key that another one replaces: allows it in files below the one that has `other`; beside it, it is an error.
  void replaced(const char *key, const char *other);
  std::string text(const char *key);
  /// Shape of the machine, mostly; `constant`: a figure that wants a source.
  std::string oneOf(const char *key, const std::vector<std::string> &words, bool constant = false);
  int whole(const char *key, int least, int most, bool constant = false);
  /// A number without a unit in [least, most].
  double number(const char *key, double least, double most);
  Seconds time(const char *key);
  Bytes size(const char *key);
  BytesPerSecond bandwidth(const char *key);
  FlopsPerSecond flops(const char *key);
  /// Keys of the section in all layers, in the order of the files.
  std::vector<std::string> keys() const;

  /// The file that a key stands in.
  std::string fileOf(const char *key) const { return find(key).file; }
  /// Rejects every key that was not asked for.
  void finish() const;
  /// Notes an assumption that is not one of a single key.
  void assume(const std::string &why) { provenance->assumptions.push_back((name.empty() ? "" : name + ": ") + why); }

  [[noreturn]] void fail(const char *key,
                         const std::string &message) const; ///< at the key, or at the section without it

private:
  std::string full(const std::string &key) const { return name.empty() ? key : name + "." + key; }
  PlacedNode find(const char *key) const; ///< node is null if there is none
  /// The scalar of a constant; `constant` also notes where it comes from.
  std::string scalar(const char *key, bool constant);
  void noteProvenance(const char *key, const PlacedNode &placed, const YAML::Node &own);
  /// At the place in the caller's file where the key could stand, with the files below in which it could too.
  [[noreturn]] void missing(const char *key, const std::string &message) const;
  template <typename T>
  T within(const char *key, const char *what, const ranges::Range<T> &range, Result<T> (*parse)(const std::string &));

  std::string name;
  std::vector<PlacedNode> layers;
  const YamlSection *parent;
  Provenance *provenance;
  std::set<std::string> asked;
  mutable std::set<std::string> known; ///< asked for, or asked about
};

} // namespace braid::cost

#endif
