//===- Paths.h - which connections carry the messages of an operation, and where switches send them ---------------===//
//
// A switch that has several equal links to a place (ECMP) picks one by a hash of what a packet says about its flow: addresses,
// ports, protocol. Who chooses source ports chooses links. A *path* is that choice for the flows of one operation, as one word of a
// plan:
//
//   to47000;0-1:50003.50007;1-0:50001.50012    rank 0 sends to rank 1 from source port 50003 (channels 0, 2, ...) and 50007 (1, 3,
//                                              ...), both to destination port 47000
//   0-1:1/50003                                the same flow over rail 1, the second NIC of both devices
//   x4                                         4 connections between any two ranks, whose ports nobody chooses
//
// Ranks are those of the job. Channel c of an operation uses connection c modulo their number.
//===--------------------------------------------------------------------------------------------------------------===//
#ifndef BRAID_RUNTIME_ALGORITHMS_PATHS_H
#define BRAID_RUNTIME_ALGORITHMS_PATHS_H

#include <map>
#include <string>
#include <utility>
#include <vector>

namespace braid::algorithms {

struct Paths {
  struct Connection {
    int port = 0;  ///< source port; 0: the system's choice
    int rail = -1; ///< NIC of both devices; -1: the one that they use anyway
    bool operator==(const Connection &o) const { return port == o.port && rail == o.rail; }
  };
  int connections = 0;     ///< without flows: so many between any two ranks; 0: there are flows, or nothing is said
  int destinationPort = 0; ///< of all flows; 0: any
  std::map<std::pair<int, int>, std::vector<Connection>> flows; ///< (from, to)

  bool empty() const { return connections == 0 && flows.empty(); }
  /// Those from one rank to another; none: the path does not say.
  std::vector<Connection> between(int from, int to) const;
  std::string spelling() const;
  /// Also the connections of another path.
  void add(const Paths &other);
  /// A sentence that says what is wrong, or empty.
  static std::string read(const std::string &text, Paths &paths);
};

} // namespace braid::algorithms

#endif
