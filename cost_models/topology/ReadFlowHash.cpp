//===- ReadFlowHash.cpp - the keys of a cluster file that say how switches hash -----------------------------------===//
#include "topology/ReadFlowHash.h"
#include "topology/YamlFiles.h"
#include <algorithm>
#include <cstdio>
#include <utility>

namespace braid::cost {

/// Words with spaces or commas between them.
static std::vector<std::string> wordsOf(const std::string &text) {
  std::vector<std::string> words;
  std::string word;
  for (char c : text + " ") {
    if (c != ' ' && c != ',')
      word += c;
    else if (!word.empty())
      words.push_back(std::exchange(word, ""));
  }
  return words;
}

static void readHashFields(YamlSection &section, FlowHash &h) {
  h.reads.fill(false);
  for (const std::string &word : wordsOf(section.text("hash_fields"))) {
    auto field = std::find(std::begin(flowHashFields), std::end(flowHashFields), word);
    if (field == std::end(flowHashFields))
      section.fail("hash_fields",
                   "expected some of source, destination, protocol, source_port, destination_port, got \"" + word +
                       "\"");
    h.reads[size_t(field - std::begin(flowHashFields))] = true;
  }
}

/// What a plan must know to choose source ports (FlowHash.h).
void readFlowHash(YamlSection &section, Cluster &c) {
  FlowHash &h = c.flowHash;
  std::string first;
  for (const char *key :
       {"source_ports", "path_table", "hash", "hash_fields", "addresses", "protocol", "destination_port"})
    if (section.has(key) && first.empty())
      first = key;
  if (first.empty())
    return;
  if (c.routing == Routing::Static)
    section.fail(first.c_str(), "expected routing: hash (or shared_hash) beside it, got static");
  if (section.has("hash"))
    h.function = section.oneOf("hash", {"mix", "crc32"}) == "mix" ? FlowHash::Mix : FlowHash::Crc32;
  if (section.has("path_table")) {
    if (section.has("hash"))
      section.fail("path_table", "expected either a table or a hash, got both");
    Result<PortTable> table = PortTable::read(besideFile(section.fileOf("path_table"), section.text("path_table")));
    if (!table)
      throw ReadError{table.error()};
    h.table = std::make_shared<const PortTable>(*table);
    h.function = FlowHash::Table;
    h.firstPort = 1024;
    h.lastPort = 65535;
  }
  if (section.has("hash_fields"))
    readHashFields(section, h);
  if (section.has("destination_port"))
    h.destinationPort = section.whole("destination_port", 1, 65535);
  if (section.has("protocol"))
    h.protocol = section.oneOf("protocol", {"udp", "tcp"}) == "udp" ? 17 : 6;
  if (section.has("addresses"))
    h.addresses = section.text("addresses");
  if (h.function == FlowHash::Crc32)
    for (int host = 0; host < c.hosts; ++host)
      for (int nic = 0; nic < c.nicsIn(host); ++nic)
        if (h.addressOf(host, nic) == 0)
          section.fail("addresses",
                       "expected IPv4 addresses of NICs like \"10.0.{host}.{nic}\" for hash crc32, got \"" +
                           h.addresses + "\" for NIC " + std::to_string(nic) + " of host " + std::to_string(host));
  if (section.has("source_ports")) {
    std::string text = section.text("source_ports");
    int end = 0;
    if (std::sscanf(text.c_str(), "%d..%d%n", &h.firstPort, &h.lastPort, &end) != 2 || size_t(end) != text.size() ||
        h.firstPort < 1024 || h.lastPort > 65535 || h.lastPort < h.firstPort)
      section.fail("source_ports", "expected a range within 1024..65535, like 49152..65535, got \"" + text + "\"");
  }
  if (!h.chooses())
    section.fail(first.c_str(), "expected source_ports (or path_table) beside it, from which plans choose, got none");
}

} // namespace braid::cost
