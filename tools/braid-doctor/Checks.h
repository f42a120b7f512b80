//===- Checks.h - what is looked at: a file for each -------------------------------------------------------*- C++ -*-===//
#ifndef BRAID_DOCTOR_CHECKS_H
#define BRAID_DOCTOR_CHECKS_H

#include "Finding.h"
#include "Ports.h"

namespace braid::doctor {

/// What the checks know. Each adds a finding for all that it has looked at, also where that is as it should be.
struct Patient {
  Tree &tree;
  std::vector<Port> ports; ///< of the fabric
  cost::Cluster cluster;   ///< that the host is to be a part of
  bool clusterGiven;       ///< by the user; else a default, whose rates are no expectation
  std::vector<Finding> &findings;
  Tree *before = nullptr; ///< a record of the host before a run: counters are those of the run

  void add(Level level, const char *check, std::string subject, std::string found, std::string expected = "",
           std::string fix = "", Changes changes = {}) const {
    findings.push_back({level, check, std::move(subject), std::move(found), std::move(expected), std::move(fix),
                        std::move(changes), ""});
  }
};

/// PCI addresses of NVIDIA's GPUs.
std::vector<std::string> findGpus(Tree &tree);

void checkPorts(const Patient &patient);        ///< state, rate, firmware
void checkGids(const Patient &patient);         ///< addresses that RoCE v2 can use
void checkMtu(const Patient &patient);          ///< packets of RDMA
void checkLossless(const Patient &patient);     ///< traffic class, DSCP, PFC, ECN
void checkPci(const Patient &patient);          ///< slots; ACS on bridges
void checkTranslation(const Patient &patient);  ///< IOMMU
void checkGpuDirect(const Patient &patient);    ///< NICs that read the memory of GPUs
void checkLockedMemory(const Patient &patient); ///< RLIMIT_MEMLOCK
void checkQueuePairs(const Patient &patient);   ///< limits of the device
void checkManager(const Patient &patient);      ///< rdma_cm, where the job asks for it
void checkCounters(const Patient &patient);     ///< lost packets, retries, pauses: so far, or in a run

} // namespace braid::doctor

#endif
