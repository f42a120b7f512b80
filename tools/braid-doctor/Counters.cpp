//===- Counters.cpp - what a port has counted of losses, retries, congestion and pauses -------------------------------===//
//
// The only table of their names. counters/: Documentation/ABI/stable/sysfs-class-infiniband of the Linux kernel. hw_counters/: of
// the drivers: mlx5 (drivers/infiniband/hw/mlx5/counters.c), bnxt_re (hw/bnxt_re/hw_counters.c), irdma (hw/irdma/verbs.c), rxe
// (sw/rxe/rxe_hw_counters.c).
//===------------------------------------------------------------------------------------------------------------===//
#include "Counters.h"
#include <cstdlib>
#include <sstream>

namespace braid::doctor {

static constexpr auto Lost = Counter::Lost, Slowed = Counter::Slowed;

static const char *const outOfSequence = "packets came out of sequence: some were lost, or adaptive routing is on and "
                                         "the receiver not ready for it";
static const char *const missed = "peers missed packets of this port";
static const char *const late = "peers did not acknowledge in time";
static const char *const again = "packets were sent again";
static const char *const notReady = "peers were not ready to receive";
static const char *const toldToSlow = "this port was told to slow down";
static const char *const tellsToSlow = "senders to this port were told to slow down";
static const char *const lossless = "see lossless", *const losslessPeers = "see lossless, at the peers too";
static const char *const timeout = "see lossless; raise NCCL_IB_TIMEOUT";
static const char *const busy = "software of the peers is late: check their load";
static const char *const cable = "clean or replace cable and transceiver";
static const char *const flows = "its flows meet others: see the plan's paths";
static const char *const incast = "many flows meet here: see the plan's paths";

static const Counter table[] = {{Lost, "hw_counters/out_of_sequence", outOfSequence, lossless},    // mlx5
                                {Lost, "hw_counters/oos_drop_count", outOfSequence, lossless},     // bnxt_re
                                {Lost, "hw_counters/out_of_seq_request", outOfSequence, lossless}, // rxe
                                {Lost, "hw_counters/packet_seq_err", missed, losslessPeers},       // mlx5
                                {Lost, "hw_counters/seq_err_naks_rcvd", missed, losslessPeers},    // bnxt_re
                                {Lost, "hw_counters/rcvd_seq_err", missed, losslessPeers},         // rxe
                                {Lost, "hw_counters/local_ack_timeout_err", late, timeout},        // mlx5
                                {Lost, "hw_counters/to_retransmits", late, timeout},               // bnxt_re
                                {Lost, "hw_counters/completer_retry_err", again, lossless},        // rxe
                                {Lost, "hw_counters/roce_adp_retrans", again, lossless},           // mlx5
                                {Lost, "hw_counters/RetransSegs", again, lossless},                // irdma
                                {Lost, "hw_counters/tcpRetransSegs", again, lossless},   // irdma, of older kernels
                                {Lost, "hw_counters/rnr_nak_retry_err", notReady, busy}, // mlx5
                                {Lost, "hw_counters/rnr_naks_rcvd", notReady, busy},     // bnxt_re
                                {Lost, "hw_counters/rcvd_rnr_err", notReady, busy},      // rxe
                                {Lost, "counters/port_xmit_discards", "packets were dropped before the wire", lossless},
                                {Lost, "counters/port_rcv_errors", "damaged packets came", cable},
                                {Lost, "counters/symbol_error", "the cable garbles symbols", cable},
                                // Of DCQCN: receivers that met marked packets tell senders to slow down (CNP).
                                {Slowed, "hw_counters/np_cnp_sent", tellsToSlow, incast},   // mlx5
                                {Slowed, "hw_counters/tx_cnp_pkts", tellsToSlow, incast},   // bnxt_re
                                {Slowed, "hw_counters/cnpSent", tellsToSlow, incast},       // irdma
                                {Slowed, "hw_counters/rp_cnp_handled", toldToSlow, flows},  // mlx5
                                {Slowed, "hw_counters/rx_cnp_pkts", toldToSlow, flows},     // bnxt_re
                                {Slowed, "hw_counters/cnpHandled", toldToSlow, flows},      // irdma
                                {Slowed, "pauses", "the switch stopped this port", flows}}; // PFC

/// Packets sent and received, of whichever the device has: the port's own, or rxe's.
static const char *const packets[][2] = {{"counters/port_xmit_packets", "counters/port_rcv_packets"},
                                         {"hw_counters/sent_pkts", "hw_counters/rcvd_pkts"}};

std::string Counter::name() const {
  std::string whole = path;
  return whole.substr(whole.find('/') + 1); // all, if there is none
}

std::optional<double> Counts::of(const Counter *counter) const {
  for (const Count &count : all)
    if (count.counter == counter)
      return count.value;
  return std::nullopt;
}

/// Frames by which the link's other end has stopped this one: rx_prio3_pause of mlx5, rx_pause of others, as `ethtool -S` has them.
static std::optional<std::string> pauses(Tree &tree, const Port &port) {
  std::string interface = tree.read(port.folder() + "/gid_attrs/ndevs/0").value_or("");
  std::optional<std::string> text;
  if (!interface.empty())
    text = tree.command("ethtool-" + interface, {"ethtool", "-S", interface});
  if (!text)
    return std::nullopt;
  std::istringstream lines(*text);
  double all = 0;
  bool any = false;
  for (std::string line; std::getline(lines, line);) {
    size_t from = line.find_first_not_of(" \t"), colon = line.find(':');
    std::string name = from < colon && colon != std::string::npos ? line.substr(from, colon - from) : "";
    if (name.compare(0, 3, "rx_") == 0 && name.size() >= 8 && name.compare(name.size() - 6, 6, "_pause") == 0) {
      all += numberOf(line.substr(colon + 1));
      any = true;
    }
  }
  return any ? std::optional(std::to_string(all)) : std::nullopt;
}

/// Ports whose driver counts nothing have "N/A (no PMA)" instead.
static bool isNumber(const std::optional<std::string> &text) { return text && text->find_first_of("0123456789") == 0; }

Counts readCounts(Tree &tree, const Port &port) {
  Counts counts;
  for (const auto &pair : packets) {
    std::optional<std::string> sent = tree.read(port.folder() + "/" + pair[0]),
                               received = tree.read(port.folder() + "/" + pair[1]);
    if (!isNumber(sent) || !isNumber(received) || counts.packetsKnown)
      continue;
    counts.packetsKnown = true;
    counts.packets = numberOf(*sent) + numberOf(*received);
  }
  for (const Counter &counter : table) {
    bool own = std::string(counter.path).find('/') != std::string::npos;
    std::optional<std::string> text = own ? tree.read(port.folder() + "/" + counter.path) : pauses(tree, port);
    if (isNumber(text))
      counts.all.push_back({&counter, numberOf(*text)});
  }
  return counts;
}

Counts grown(const Counts &after, const Counts &before) {
  Counts counts = after;
  counts.packetsKnown = after.packetsKnown && before.packetsKnown;
  counts.packets = counts.packetsKnown ? after.packets - before.packets : 0;
  counts.all.clear();
  for (const Count &count : after.all)
    if (std::optional<double> began = before.of(count.counter))
      counts.all.push_back({count.counter, count.value - *began});
  return counts;
}

} // namespace braid::doctor
