//===- NcclXml.cpp - the topology that NCCL found ---------------------------------------------------------------===//
//
// NCCL writes it with NCCL_TOPO_DUMP_FILE=topo.xml. Of its elements these matter here:
//
//   <gpu dev="0" sm="90" ...><nvlink target="..." count="18" .../></gpu>
//   <nic><net name="mlx5_0" dev="0" speed="400000" .../></nic>      speed in Mb/s
//   <cpu vendor="GenuineIntel" ...>
//===------------------------------------------------------------------------------------------------------------===//
#include "braid/cost_models/Machine.h"
#include <boost/property_tree/xml_parser.hpp>
#include <fstream>
#include <sstream>

namespace braid::cost {

using Tree = boost::property_tree::ptree;

/// sm -> a device that has it, by the name that the data sheets use.
static std::string deviceOf(int sm) {
  switch (sm) {
  case 70:
    return "V100 (compute capability 7.0)";
  case 80:
    return "A100 (compute capability 8.0)";
  case 90:
    return "H100 (compute capability 9.0)";
  default:
    return "GPU of compute capability " + std::to_string(sm / 10) + "." + std::to_string(sm % 10);
  }
}

/// An attribute that is a number in [low, high]; `otherwise` where there is none. Throws what else property trees throw.
static double number(const Tree &attributes, const char *key, double low, double high, double otherwise) {
  boost::optional<std::string> text = attributes.get_optional<std::string>(key);
  if (!text)
    return otherwise;
  char *end = nullptr;
  double value = std::strtod(text->c_str(), &end);
  if (text->empty() || *end || !(value >= low && value <= high))
    throw boost::property_tree::ptree_bad_data(std::string(key) + "=\"" + *text + "\", no number from " +
                                                   std::to_string(int64_t(low)) + " to " +
                                                   std::to_string(int64_t(high)),
                                               *text);
  return value;
}

static void collect(const Tree &tree, Machine &machine) {
  for (const auto &[tag, child] : tree) {
    const Tree &none = tree.get_child("", tree);
    const Tree &attributes = child.count("<xmlattr>") ? child.get_child("<xmlattr>") : none;
    if (tag == "gpu") {
      Accelerator gpu;
      gpu.computeCapability = int(number(attributes, "sm", 0, 999, 0));
      gpu.name = deviceOf(gpu.computeCapability);
      for (const auto &[kind, link] : child)
        if (kind == "nvlink")
          gpu.nvlinks += int(number(link.get_child("<xmlattr>", none), "count", 0, 999, 1));
      machine.accelerators.push_back(gpu);
    } else if (tag == "net") {
      NetworkCard card;
      card.name = attributes.get("name", std::string("net"));
      // setting: the most that is believed; -1: not known
      card.bitsPerSecond = std::max(0.0, number(attributes, "speed", -1, 1e8, -1)) * 1e6;
      card.kind = card.name.compare(0, 3, "mlx") == 0 ? NetworkCard::InfiniBand : NetworkCard::Ethernet;
      machine.cards.push_back(card);
    } else if (tag == "cpu" && machine.cpu.empty()) {
      std::string vendor = attributes.get("vendor", std::string());
      machine.cpu = vendor == "GenuineIntel" ? "Intel" : vendor == "AuthenticAMD" ? "AMD" : vendor;
    }
    collect(child, machine);
  }
}

/// The parser calls itself for each element inside another: no more than machines have, lest its stack ends.
static bool nestedDeeply(const std::string &xml) {
  int depth = 0;
  for (size_t at = xml.find('<'); at != std::string::npos; at = xml.find('<', at + 1)) {
    size_t end = xml.find('>', at);
    if (at + 1 < xml.size() && xml[at + 1] == '/')
      --depth;
    else if (at + 1 < xml.size() && xml[at + 1] != '?' && xml[at + 1] != '!' &&
             (end == std::string::npos || xml[end - 1] != '/') && ++depth > 64)
      return true;
  }
  return false;
}

std::string readNcclXml(const std::string &path, Machine &machine) {
  Tree tree;
  std::ifstream file(path, std::ios::binary);
  std::ostringstream content;
  if (file.peek() != EOF)
    content << file.rdbuf();
  if (!file.is_open() || file.bad()) // a directory can be opened
    return path + ": expected a readable file, got none";
  if (nestedDeeply(content.str()))
    return path + ": expected XML of NCCL, got more than 64 elements inside each other";
  try {
    std::istringstream text(content.str());
    boost::property_tree::read_xml(text, tree);
  } catch (const boost::property_tree::xml_parser_error &error) {
    return path + ": expected XML of NCCL (NCCL_TOPO_DUMP_FILE), got: " + error.message() +
           (error.line() ? " in line " + std::to_string(error.line()) : std::string());
  }
  if (!tree.count("system"))
    return path + ": expected XML of NCCL with a <system>, got none";
  machine.name = "from-nccl";
  machine.source = "converted from NCCL's XML";
  try {
    collect(tree, machine);
  } catch (const boost::property_tree::ptree_error &error) {
    return path + ": expected XML of NCCL, got: " + error.what();
  }
  return machine.accelerators.empty() ? path + ": expected at least one <gpu>, got none" : "";
}

} // namespace braid::cost
