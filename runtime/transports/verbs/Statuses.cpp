//===- Statuses.cpp - errors of completions as sentences -------------------------------------------------------------===//
#include "transports/verbs/Statuses.h"
#include <cmath>
#include <cstdio>

namespace braid::runtime::verbs {

bool ofRail(Status status) {
  switch (status) {
  case Status::Flushed:
  case Status::RetryExceeded:
  case Status::RnrRetryExceeded:
  case Status::RemoteAborted:
  case Status::Fatal:
  case Status::ResponseTimeout:
  case Status::General:
  case Status::LocalOperation:
    return true;
  default:
    return false;
  }
}

std::string describe(const Completion &completion, const Knobs &knobs) {
  struct Word {
    Status status;
    const char *what, *name, *advice;
  };
  static const Word words[] = {
      {Status::LocalLength, "a message longer than its buffer", "IBV_WC_LOC_LEN_ERR", "do all ranks run one version?"},
      {Status::LocalOperation, "the device could not execute it", "IBV_WC_LOC_QP_OP_ERR",
       "is the port up, and does its GID still exist (ibv_devinfo -v)?"},
      {Status::LocalProtection, "memory that is not registered here", "IBV_WC_LOC_PROT_ERR",
       "was a buffer freed while its operation was in flight?"},
      {Status::Flushed, "the connection had failed before", "IBV_WC_WR_FLUSH_ERR",
       "the peer, or the log of the kernel, knows why"},
      {Status::BadResponse, "an answer that makes no sense", "IBV_WC_BAD_RESP_ERR", "do switches alter packets?"},
      {Status::LocalAccess, "memory that may not be written here", "IBV_WC_LOC_ACCESS_ERR",
       "was a buffer freed while its operation was in flight?"},
      {Status::RemoteInvalidRequest, "the peer found it invalid", "IBV_WC_REM_INV_REQ_ERR",
       "do all ranks run one version?"},
      {Status::RemoteAccess, "memory that is not registered at the peer", "IBV_WC_REM_ACCESS_ERR",
       "was a buffer freed there while its operation was in flight?"},
      {Status::RemoteOperation, "the peer could not execute it", "IBV_WC_REM_OP_ERR",
       "what does the log of its kernel say?"},
      {Status::RetryExceeded, "retry exceeded", "IBV_WC_RETRY_EXC_ERR",
       "is its process alive, its port up, its GID reachable from here (ping the address), the path lossless? "
       "NCCL_IB_TIMEOUT and NCCL_IB_RETRY_CNT wait longer"},
      {Status::RnrRetryExceeded, "the receiver was never ready", "IBV_WC_RNR_RETRY_EXC_ERR", "is its process stopped?"},
      {Status::Fatal, "fatal error", "IBV_WC_FATAL_ERR", "what does the log of the kernel say of the device?"},
      {Status::ResponseTimeout, "no response in time", "IBV_WC_RESP_TIMEOUT_ERR", "is its port up?"},
      {Status::General, "transport error", "IBV_WC_GENERAL_ERR", "what does the log of the kernel say of the device?"},
  };
  char number[64];
  if (completion.vendor)
    std::snprintf(number, sizeof number, "%d, vendor 0x%x", int(completion.status), completion.vendor);
  else
    std::snprintf(number, sizeof number, "%d", int(completion.status));
  for (const Word &word : words)
    if (word.status == completion.status) {
      char tries[64] = "";
      if (word.status == Status::RetryExceeded)
        std::snprintf(tries, sizeof tries, ": no answer to %d tries of %.3g s each", knobs.retries + 1,
                      4.096e-6 * std::pow(2.0, knobs.timeout));
      return std::string(word.what) + " (" + word.name + ", " + number + ")" + tries + "; " + word.advice;
    }
  return std::string("status ") + number + " of ibv_wc_status; what does the log of the kernel say of the device?";
}

} // namespace braid::runtime::verbs
