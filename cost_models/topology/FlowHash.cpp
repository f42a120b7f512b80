//===- FlowHash.cpp - hashes of flows, and tables of what was probed ----------------------------------------------===//
#include "braid/cost_models/FlowHash.h"
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <sstream>

namespace braid::cost {

//===- CRC-32 -----------------------------------------------------------------------------------------------------===//

/// IEEE 802.3: polynomial 0x04c11db7, reflected, begun and ended with all ones.
static uint32_t crc32(const uint8_t *bytes, size_t count) {
  uint32_t crc = 0xffffffffu;
  for (size_t i = 0; i < count; ++i) {
    crc ^= bytes[i];
    for (int bit = 0; bit < 8; ++bit)
      crc = crc >> 1 ^ (crc & 1 ? 0xedb88320u : 0);
  }
  return ~crc;
}

int FlowHash::link(uint32_t seed, uint32_t source, uint32_t destination, int port, int links) const {
  uint8_t key[17];
  size_t size = 0;
  auto add = [&](uint32_t value, int bytes) {
    for (int byte = bytes - 1; byte >= 0; --byte)
      key[size++] = uint8_t(value >> 8 * byte);
  };
  add(seed, 4);
  const uint32_t values[fields] = {source, destination, uint32_t(protocol), uint32_t(port), uint32_t(destinationPort)};
  const int widths[fields] = {4, 4, 1, 2, 2};
  for (int field = 0; field < fields; ++field)
    if (reads[size_t(field)])
      add(values[field], widths[field]);
  return int(crc32(key, size) % uint32_t(links));
}

uint32_t FlowHash::addressOf(int host, int nic) const {
  std::string text = addresses;
  auto put = [&](const std::string &word, int number) {
    for (size_t at; (at = text.find(word)) != std::string::npos;)
      text.replace(at, word.size(), std::to_string(number));
  };
  put("{host}", host);
  put("{nic}", nic);
  uint32_t address = 0;
  std::istringstream in(text);
  for (int part = 0; part < 4; ++part) {
    int number = -1;
    char dot = '.';
    if (!(in >> number) || number < 0 || number > 255 || (part < 3 && (!in.get(dot) || dot != '.')))
      return 0;
    address = address << 8 | uint32_t(number);
  }
  return in.peek() == std::istringstream::traits_type::eof() ? address : 0;
}

//===- tables -----------------------------------------------------------------------------------------------------===//

static bool readPath(const std::string &word, PortPath &path) {
  path = {-1, -1, -1};
  std::istringstream in(word);
  for (int stage = 0; stage < 3; ++stage) {
    if (!(in >> path[size_t(stage)]) || path[size_t(stage)] < 0 || path[size_t(stage)] > 1 << 16)
      return false;
    if (in.peek() == std::istringstream::traits_type::eof())
      return true;
    if (in.get() != '.')
      return false;
  }
  return false;
}

/// "host3.nic0", or "*".
static bool isNic(const std::string &word) {
  int host, nic, end = 0;
  return word == "*" ||
         (std::sscanf(word.c_str(), "host%d.nic%d%n", &host, &nic, &end) == 2 && size_t(end) == word.size());
}

Result<PortTable> PortTable::parse(const std::string &text, const std::string &path) {
  PortTable table;
  std::istringstream lines(text);
  int number = 0;
  for (std::string line; std::getline(lines, line);) {
    std::string place = path + ":" + std::to_string(++number);
    std::istringstream words(line.substr(0, line.find('#')));
    std::vector<std::string> all;
    for (std::string word; words >> word;)
      all.push_back(word);
    if (all.empty())
      continue;
    char *end = nullptr;
    long port = all.size() > 2 ? std::strtol(all[2].c_str(), &end, 10) : 0;
    PortPath taken;
    if (all.size() != 4 || !isNic(all[0]) || !isNic(all[1]) || *end || port < 1024 || port > 65535 ||
        !readPath(all[3], taken))
      return Error{
          "table of paths, expected FROM TO PORT PATH as in \"host0.nic0 host1.nic0 50000 2\" (ports from 1024 to "
          "65535; * for any NIC; a path with a number for each stage as 2.1), got \"" +
              line + "\"",
          place};
    auto [entry, isNew] = table.entries[{all[0], all[1]}].try_emplace(int(port), taken);
    if (!isNew && entry->second != taken)
      return Error{"table of paths, expected one path for port " + all[2] + " from " + all[0] + " to " + all[1] +
                       ", got another one",
                   place};
  }
  if (table.entries.empty())
    return Error{"table of paths, expected at least one line FROM TO PORT PATH, got none", path};
  return table;
}

Result<PortTable> PortTable::read(const std::string &path) {
  std::ifstream file(path);
  std::stringstream text;
  if (!file || !(text << file.rdbuf()))
    return Error{std::string("table of paths, expected a readable file, got: ") + std::strerror(errno), path};
  return parse(text.str(), path);
}

const std::map<int, PortPath> &PortTable::between(const std::string &from, const std::string &to) const {
  static const std::map<int, PortPath> none;
  const std::pair<std::string, std::string> nearestFirst[] = {{from, to}, {from, "*"}, {"*", to}, {"*", "*"}};
  for (const auto &ends : nearestFirst)
    if (auto found = entries.find(ends); found != entries.end())
      return found->second;
  return none;
}

std::string PortTable::meaning() const {
  std::string text;
  for (const auto &[ends, ports] : entries)
    for (const auto &[port, path] : ports) {
      text += ends.first + ">" + ends.second + ":" + std::to_string(port) + "=";
      for (int link : path)
        text += std::to_string(link) + ".";
    }
  return text;
}

} // namespace braid::cost
