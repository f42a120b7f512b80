//===- Counters.cpp - what a port has counted of losses, retries, congestion and pauses -------------------------------===//
//
// The only table of their names. counters/: Documentation/ABI/stable/sysfs-class-infiniband of the Linux kernel. hw_counters/: of
// the drivers: mlx5 (drivers/infiniband/hw/mlx5/counters.c), bnxt_re (hw/bnxt_re/hw_counters.c), irdma (hw/irdma/verbs.c), rxe
// (sw/rxe/rxe_hw_counters.c).
//===------------------------------------------------------------------------------------------------------------===//
#include "Counters.h"
#include <charconv>
#include <cmath>
#include <cstdint>
#include <cstdio>
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

constexpr int word = 32; ///< bits: query_q_counter_out of mlx5 (include/linux/mlx5/mlx5_ifc.h)

static const Counter table[] = {{Lost, "hw_counters/out_of_sequence", outOfSequence, lossless, word}, // mlx5
                                {Lost, "hw_counters/oos_drop_count", outOfSequence, lossless},        // bnxt_re
                                {Lost, "hw_counters/out_of_seq_request", outOfSequence, lossless},    // rxe
                                {Lost, "hw_counters/packet_seq_err", missed, losslessPeers, word},    // mlx5
                                {Lost, "hw_counters/seq_err_naks_rcvd", missed, losslessPeers},       // bnxt_re
                                {Lost, "hw_counters/rcvd_seq_err", missed, losslessPeers},            // rxe
                                {Lost, "hw_counters/local_ack_timeout_err", late, timeout, word},     // mlx5
                                {Lost, "hw_counters/to_retransmits", late, timeout},                  // bnxt_re
                                {Lost, "hw_counters/completer_retry_err", again, lossless},           // rxe
                                {Lost, "hw_counters/roce_adp_retrans", again, lossless, word},        // mlx5
                                {Lost, "hw_counters/RetransSegs", again, lossless},                   // irdma
                                {Lost, "hw_counters/tcpRetransSegs", again, lossless}, // irdma, of older kernels
                                {Lost, "hw_counters/rnr_nak_retry_err", notReady, busy, word}, // mlx5
                                {Lost, "hw_counters/rnr_naks_rcvd", notReady, busy},           // bnxt_re
                                {Lost, "hw_counters/rcvd_rnr_err", notReady, busy},            // rxe
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

/// What a file or a line says: a number, or why it is none. Ports whose driver counts nothing have "N/A (no PMA)", or no file.
struct Reading {
  std::optional<double> value;
  std::string why;
};

static Reading readingOf(const std::optional<std::string> &text) {
  Reading reading;
  if (!text || text->compare(0, 3, "N/A") == 0)
    return reading;
  uint64_t number = 0;
  auto [end, wrong] = std::from_chars(text->data(), text->data() + text->size(), number);
  if (wrong == std::errc() && end == text->data() + text->size())
    reading.value = double(number);
  else
    reading.why = "expected a number from 0 to 18446744073709551615, got '" + *text + "'";
  return reading;
}

/// Whether that counts frames by which the link's other end has stopped this one: rx_prio3_pause of mlx5, rx_pause of others;
/// rx_pause_frames and rx_pfc_frames of bnxt_en; link_xoff_rx.nic and rx_priority_3_xoff.nic of ice, under irdma.
static bool countsPauses(const std::string &name) {
  auto ends = [&](const std::string &with) {
    return name.size() > with.size() && name.compare(name.size() - with.size(), with.size(), with) == 0;
  };
  bool received = name.compare(0, 3, "rx_") == 0;
  return (received && (ends("_pause") || ends("_xoff.nic"))) || name == "rx_pause" || name == "rx_pause_frames" ||
         name == "rx_pfc_frames" || name == "link_xoff_rx.nic";
}

/// The sum, as `ethtool -S` has them.
static Reading pauses(Tree &tree, const Port &port) {
  std::string interface = tree.read(port.folder() + "/gid_attrs/ndevs/0").value_or("");
  std::optional<std::string> text;
  if (!interface.empty())
    text = tree.command("ethtool-" + interface, {"ethtool", "-S", interface});
  Reading sum;
  std::istringstream lines(text.value_or(""));
  for (std::string line; std::getline(lines, line);) {
    size_t from = line.find_first_not_of(" \t"), colon = line.find(':');
    std::string name = from < colon && colon != std::string::npos ? line.substr(from, colon - from) : "";
    if (!countsPauses(name))
      continue;
    size_t begin = line.find_first_not_of(" \t", colon + 1), end = line.find_last_not_of(" \t\r");
    Reading one = readingOf(begin == std::string::npos ? std::string() : line.substr(begin, end + 1 - begin));
    if (one.value)
      sum.value = sum.value.value_or(0) + *one.value;
    else if (!one.why.empty() && sum.why.empty())
      sum.why = name + ": " + one.why;
  }
  return sum.why.empty() ? sum : Reading{std::nullopt, sum.why};
}

Counts readCounts(Tree &tree, const Port &port) {
  Counts counts;
  std::string why;
  for (const auto &pair : packets) {
    Reading sent = readingOf(tree.read(port.folder() + "/" + pair[0])),
            received = readingOf(tree.read(port.folder() + "/" + pair[1]));
    for (const auto &[path, one] : {std::pair(pair[0], &sent), std::pair(pair[1], &received)})
      if (why.empty() && !one->why.empty())
        why = path + (": " + one->why);
    if (!sent.value || !received.value || counts.packetsKnown)
      continue;
    counts.packetsKnown = true;
    counts.packets = *sent.value + *received.value;
  }
  if (!counts.packetsKnown && !why.empty())
    counts.unknown.push_back({"packets", why});
  for (const Counter &counter : table) {
    bool own = std::string(counter.path).find('/') != std::string::npos;
    Reading one = own ? readingOf(tree.read(port.folder() + "/" + counter.path)) : pauses(tree, port);
    if (one.value)
      counts.all.push_back({&counter, *one.value});
    else if (!one.why.empty())
      counts.unknown.push_back({counter.path, one.why});
  }
  return counts;
}

/// How far a counter has come; none: it is lower than it was, and has not begun again by itself. Of 32 bits it has if that took it
/// less than half of the way round (RFC 1982 tells numbers that follow from those that precede so, too).
static std::optional<double> growth(int bits, double before, double after) {
  const double round = std::pow(2.0, bits);
  if (after >= before)
    return after - before;
  if (bits < 64 && before < round && after + round - before < round / 2)
    return after + round - before;
  return std::nullopt;
}

static std::string fallen(double before, double after) {
  char text[128];
  std::snprintf(text, sizeof text, "it is lower than before the run, %.0f after %.0f: was the device reset?", after,
                before);
  return text;
}

Counts grown(const Counts &after, const Counts &before) {
  static const char *const firstOnly = "it could be read before the run, and no more after it",
                           *const lastOnly = "it could be read after the run, and not before it";
  auto said = [](const Counts &counts, const std::string &path) {
    for (const Unknown &one : counts.unknown)
      if (one.path == path)
        return ": " + one.why;
    return std::string();
  };
  Counts counts;
  counts.packetsKnown = after.packetsKnown && before.packetsKnown && after.packets >= before.packets;
  counts.packets = counts.packetsKnown ? after.packets - before.packets : 0;
  if (after.packetsKnown && before.packetsKnown && !counts.packetsKnown)
    counts.unknown.push_back({"packets", fallen(before.packets, after.packets)});
  else if (after.packetsKnown != before.packetsKnown)
    counts.unknown.push_back(
        {"packets", before.packetsKnown ? firstOnly + said(after, "packets") : lastOnly + said(before, "packets")});
  for (const Counter &counter : table) {
    std::optional<double> began = before.of(&counter), ended = after.of(&counter);
    if (began && ended) {
      if (std::optional<double> more = growth(counter.bits, *began, *ended))
        counts.all.push_back({&counter, *more});
      else
        counts.unknown.push_back({counter.path, fallen(*began, *ended)});
    } else if (began || ended) {
      counts.unknown.push_back(
          {counter.path, began ? firstOnly + said(after, counter.path) : lastOnly + said(before, counter.path)});
    }
  }
  for (const Unknown &one : after.unknown) // what said nothing at both times
    if (!said(before, one.path).empty())
      counts.unknown.push_back(one);
  return counts;
}

} // namespace braid::doctor
