//===- HostIdentity.cpp - which ranks run on one host --------------------------------------------------------------===//
#include "bootstrap/HostIdentity.h"
#include "bootstrap/Wire.h"
#include <cstdio>
#include <fstream>
#include <sys/stat.h>
#include <unistd.h>

namespace braid::runtime {

uint64_t hashOf(const HostIdentity &identity) {
  uint64_t hash = 14695981039346656037u; // FNV-1a, 64 bits
  for (const std::string *part : {&identity.host, &identity.bootId, &identity.memory}) {
    for (char c : *part)
      hash = (hash ^ static_cast<unsigned char>(c)) * 1099511628211u;
    hash = (hash ^ 0xff) * 1099511628211u; // so that "ab" "c" is not "a" "bc"
  }
  return hash;
}

std::string HostIdentity::encode() const {
  std::string text;
  Writer(text).u64(hash).string(host).string(bootId).string(memory);
  return text;
}

bool HostIdentity::decode(const std::string &text, HostIdentity &identity) {
  Reader reader(text);
  identity.hash = reader.u64();
  identity.host = reader.string();
  identity.bootId = reader.string();
  identity.memory = reader.string();
  return reader.complete();
}

bool HostIdentity::sameAs(const HostIdentity &other) const {
  return hash == other.hash && host == other.host && bootId == other.bootId && memory == other.memory;
}

HostIdentity thisHost() {
  HostIdentity identity;
  char name[256] = "";
  gethostname(name, sizeof name - 1);
  identity.host = name;
  std::ifstream file("/proc/sys/kernel/random/boot_id");
  std::getline(file, identity.bootId);
  struct stat status;
  if (stat("/dev/shm", &status) == 0)
    identity.memory = std::to_string(status.st_dev) + ":" + std::to_string(status.st_ino);
  identity.hash = hashOf(identity);
  return identity;
}

LocalPlace localPlace(const std::vector<HostIdentity> &all, int rank) {
  LocalPlace place{0, 0, 0, 0};
  for (int i = 0; i != static_cast<int>(all.size()); ++i) {
    bool first = true; // of its host
    for (int j = 0; j != i && first; ++j)
      first = !all[i].sameAs(all[j]);
    if (first && all[i].sameAs(all[rank]))
      place.host = place.hosts;
    place.hosts += first;
    if (all[i].sameAs(all[rank])) {
      place.rank += i < rank;
      ++place.ranks;
    }
  }
  return place;
}

} // namespace braid::runtime
