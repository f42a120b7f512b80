//===- Hosts.cpp - which host a device is on, where hosts may differ --------------------------------------------===//
//
//   host_groups: [{hosts: 2, devices_per_host: 8, ...}, {hosts: 1, devices_per_host: 4, ...}]
//
//   device   0 .. 7   8 .. 15   16 .. 19
//   host     0        1         2
//===------------------------------------------------------------------------------------------------------------===//
#include "braid/cost_models/Cluster.h"

namespace braid::cost {

namespace {
/// A group of hosts, and what comes before it.
struct Place {
  int devices, nics;     ///< of each of its hosts
  const Device *kind;    ///< null: the cluster's
  int host, device, nic; ///< the first ones of the group
};

/// The group for which `found(first of the group, number in the group)` holds; the last one if none does.
template <typename Found> Place find(const Cluster &c, Found found) {
  Place place{c.devicesPerHost, c.nicsPerHost, nullptr, 0, 0, 0};
  for (const HostGroup &group : c.groups) {
    place.devices = group.devicesPerHost;
    place.nics = group.nicsPerHost;
    place.kind = &group.device;
    if (&group == &c.groups.back() || found(place, group.hosts))
      break;
    place.host += group.hosts;
    place.device += group.hosts * group.devicesPerHost;
    place.nic += group.hosts * group.nicsPerHost;
  }
  return place;
}

Place ofDevice(const Cluster &c, int device) {
  return find(c, [&](const Place &p, int hosts) { return device < p.device + hosts * p.devices; });
}
Place ofHost(const Cluster &c, int host) {
  return find(c, [&](const Place &p, int hosts) { return host < p.host + hosts; });
}
} // namespace

int Cluster::ranks() const { return firstDevice(hosts); }
int Cluster::nics() const { return firstNic(hosts); }

int Cluster::hostOf(int device) const {
  Place p = ofDevice(*this, device);
  return p.host + (device - p.device) / p.devices;
}
int Cluster::deviceInHost(int device) const {
  Place p = ofDevice(*this, device);
  return (device - p.device) % p.devices;
}
int Cluster::firstDevice(int host) const {
  Place p = ofHost(*this, host);
  return p.device + (host - p.host) * p.devices;
}
int Cluster::firstNic(int host) const {
  Place p = ofHost(*this, host);
  return p.nic + (host - p.host) * p.nics;
}
int Cluster::devicesIn(int host) const { return ofHost(*this, host).devices; }
int Cluster::nicsIn(int host) const { return ofHost(*this, host).nics; }
const Device &Cluster::kindOf(int device) const {
  const Device *kind = ofDevice(*this, device).kind;
  return kind ? *kind : this->device;
}

} // namespace braid::cost
