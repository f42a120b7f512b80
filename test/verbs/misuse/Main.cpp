//===- Main.cpp - how misuse of RDMA verbs ends, one line a program ---------------------------------------------------===//
//
//   verbs_misuse --double              on the double
//   verbs_misuse [DEVICE]              on a device of this machine; the first by default
//===------------------------------------------------------------------------------------------------------------===//
#include "test/verbs/misuse/Misuse.h"
#include "transports/verbs/double/Fabric.h"
#include <cstdio>

using namespace braid::test;

int main(int argc, char **argv) {
  std::string device = argc > 1 ? argv[1] : "";
  std::shared_ptr<verbs::Fabric> fabric;
  std::unique_ptr<verbs::Provider> provider;
  if (device == "--double") {
    fabric = verbs::Fabric::create();
    provider = fabric->provider(0);
    device = "double0";
  } else {
    braid::runtime::Outcome opened = verbs::openLibrary(provider);
    std::vector<std::string> names;
    if (opened && device.empty())
      opened = provider->devices(names);
    if (!opened || (device.empty() && names.empty())) {
      std::fprintf(stderr, "verbs_misuse: %s\n", opened ? "expected an RDMA device, got none" : opened.text.c_str());
      return 1;
    }
    device = device.empty() ? names[0] : device;
  }
  std::chrono::milliseconds patience(fabric ? 20 : 2000);
  for (const Misuse &misuse : misuses()) {
    std::printf("%s: %s\n", misuse.name, play(misuse, *provider, device, patience).c_str());
    std::fflush(stdout);
  }
}
