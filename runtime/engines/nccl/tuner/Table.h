//===- Table.h - the choices that a file holds ------------------------------------------------------------------===//
//
// `braid-sim emit nccl-tuner` writes the file (README.md describes it). It is read whole and checked before any of it is used: it
// may be cut off, of another version, or nonsense.
//===------------------------------------------------------------------------------------------------------------===//
#ifndef BRAID_RUNTIME_ENGINES_NCCL_TUNER_TABLE_H
#define BRAID_RUNTIME_ENGINES_NCCL_TUNER_TABLE_H

#include "engines/nccl/tuner/Abi.h"
#include <string>
#include <vector>

namespace braid::nccl {

/// A cell of NCCL's table, and what it is predicted to take.
struct Choice {
  int algorithm = 0, protocol = 0;
  int channels = 0;           ///< 0: as many as NCCL takes by itself
  size_t channelsFrom = 0;    ///< smaller collectives take fewer; NCCL knows how many
  double least = 0, most = 0; ///< microseconds, at both ends of the range
};

/// Sizes (the larger of what a rank sends and receives) for which one order of choices holds, the best first.
struct Range {
  size_t from = 0, to = 0; ///< bytes, both included
  std::vector<Choice> choices;
  std::string why;
};

/// One number of NCCL's own model that the file replaces.
struct Constant {
  size_t place = 0; ///< as an index of doubles in ConstantsV5
  double value = 0;
};

/// What holds for communicators of one shape.
struct Communicator {
  size_t ranks = 0, nodes = 0;
  std::vector<Range> ranges[functions]; ///< in order of size, without overlap
  std::vector<Constant> constants;
};

struct Table {
  static constexpr const char *format = "braid-nccl-tuner 1"; ///< name and version

  std::string cluster, hash;
  bool kept[algorithms] = {}; ///< by algorithm: what NCCL would run by it stays, since it has no price here
  std::vector<Communicator> communicators;

  /// The whole file, or an error: "FILE: expected ..., got ...".
  static std::string read(const std::string &path, Table &table);
  /// What the text of such a file says.
  static std::string parse(const std::string &text, Table &table);

  const Communicator *find(size_t ranks, size_t nodes) const;
  /// "8 on 1 node, 64 on 8 nodes": for the log.
  std::string shapes() const;
};

} // namespace braid::nccl

#endif
