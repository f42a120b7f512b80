//===- Report.h - findings as text and as JSON ----------------------------------------------------------------*- C++ -*-===//
#ifndef BRAID_DOCTOR_REPORT_H
#define BRAID_DOCTOR_REPORT_H

#include "Finding.h"

namespace braid::doctor {

/// What the report says before its findings.
struct Heading {
  std::string host;
  cost::Cluster cluster;
  bool clusterGiven;
  bool all; ///< also what is as it should be
};

/// Problems first, then by check and subject; each with its cost.
std::string textReport(const Heading &heading, const std::vector<Finding> &findings);
std::string jsonReport(const Heading &heading, const std::vector<Finding> &findings);

} // namespace braid::doctor

#endif
