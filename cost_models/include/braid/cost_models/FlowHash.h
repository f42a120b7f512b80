//===- FlowHash.h - which of several equal links a flow takes -----------------------------------------------------===//
//
// A switch (or a host with several ports) deals flows over equal links by a hash of what packets say about their flow. Three stages
// choose: the host its port (plane), a leaf its spine, a spine its core. A cluster file says how they choose, by a function or by a
// table of what was probed, and from which source ports a plan may choose; then a plan knows the way of each flow, and chooses.
//
//   mix     Braid's own mixing of both NICs, the port and the stage; for studies
//   crc32   CRC-32 (IEEE 802.3, as zlib's) of a key, modulo the number of links; the key is, highest byte first, the stage's seed
//           (4 bytes), then of the fields that are named in `hash_fields` in this order: source (4 bytes), destination (4),
//           protocol (1), source_port (2), destination_port (2)
//   table   lines "FROM TO PORT PATH": from the NIC FROM to the NIC TO (host0.nic0, or * for any) a flow of source port PORT takes
//           PATH, a number for each stage that has several links, dots between them; # begins a comment
//
// The seed of stage s (host 0, leaf 1, spine 2) is hash_seed + s; with routing shared_hash leaves and spines have the leaf's. A CRC is
// linear: another seed changes each value by the same bits, so that stages of crc32 are polarised whatever their seeds.
//===--------------------------------------------------------------------------------------------------------------===//
#ifndef BRAID_COST_MODELS_FLOWHASH_H
#define BRAID_COST_MODELS_FLOWHASH_H

#include "braid/cost_models/Result.h"
#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace braid::cost {

/// Of each stage that has several links the number of the link; -1: the table does not say.
using PortPath = std::array<int, 3>;

/// What was probed, or what a user wrote down of a real switch.
class PortTable {
public:
  static Result<PortTable> read(const std::string &path);
  static Result<PortTable> parse(const std::string &text, const std::string &path);

  /// Source ports that the table knows from one NIC to another ("host0.nic0"), with their paths, in order.
  const std::map<int, PortPath> &between(const std::string &from, const std::string &to) const;
  const std::map<std::pair<std::string, std::string>, std::map<int, PortPath>> &all() const { return entries; }
  /// For the cluster's hash: what it says, not how it is written.
  std::string meaning() const;

private:
  std::map<std::pair<std::string, std::string>, std::map<int, PortPath>> entries;
};

struct FlowHash {
  enum Function { Mix, Crc32, Table } function = Mix;
  enum Field { Source, Destination, Protocol, SourcePort, DestinationPort, fields };
  std::array<bool, fields> reads{true, true, true, true, true};
  std::string addresses; ///< of NICs: "10.0.{host}.{nic}"
  int protocol = 17;     ///< UDP, as RoCE
  int destinationPort = 4791;
  int firstPort = 0, lastPort = -1; ///< source ports that a plan may choose from; none: plans choose no ports
  std::shared_ptr<const PortTable> table;

  bool chooses() const { return firstPort <= lastPort; }
  /// Crc32: the link of `links` that a flow takes at a stage.
  int link(uint32_t seed, uint32_t source, uint32_t destination, int port, int links) const;
  /// The address of a NIC as a number; 0: `addresses` makes none of it.
  uint32_t addressOf(int host, int nic) const;
};

constexpr const char *flowHashFields[] = {"source", "destination", "protocol", "source_port", "destination_port"};

} // namespace braid::cost

#endif
