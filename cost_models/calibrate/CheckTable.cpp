//===- CheckTable.cpp - whether a measured table can be trusted --------------------------------------------------===//
//
// What goes wrong in tables that people keep: a unit is mistaken (us for ms; MB for MiB, 2.4, 4.9 or 7.4 %), bus
// bandwidth is copied as algorithm bandwidth, rows change places. A fit would bend its constants to such a table and
// report small residuals, so it is refused, with the line and what the mistake looks like.
//
// Real tables have small inversions (22 of 615 neighbours in 31 published tables are more than 5 % apart the wrong
// way), and their first row often carries the warm-up: these become notes.
//
// settings: all numbers here say how far off a row has to be to be refused; no price is made of them.
//===------------------------------------------------------------------------------------------------------------===//
#include "calibrate/CheckShape.h"
#include "pricing/Terms.h"
#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <tuple>

namespace braid::cost {

namespace {

using Series = std::vector<const MeasuredRow *>;

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values.empty() ? 0 : values[values.size() / 2];
}

bool near(double value, double expected, double part) { return std::abs(value / expected - 1) <= part; }

/// What a factor between two quantities that should agree looks like; empty where it looks like nothing known.
std::string mistake(double factor) {
  for (double wrong : {1e3, 1e-3, 1e6, 1e-6})
    if (near(factor, wrong, 0.2))
      return text("a factor of %g: microseconds, milliseconds or seconds taken for each other", wrong);
  for (double wrong : {8.0, 0.125})
    if (near(factor, wrong, 0.02))
      return text("a factor of %g: bits and bytes taken for each other", wrong);
  int power = 1;
  for (const char *units : {"kB and KiB", "MB and MiB", "GB and GiB"}) {
    double step = std::pow(1.024, power++);
    if (near(factor, step, 0.004) || near(factor, 1 / step, 0.004))
      return text("a factor of %.4g: %s taken for each other", factor, units);
  }
  return {};
}

class Check {
public:
  Check(MeasuredTable &table, const Cluster &cluster, const TrustOptions &options)
      : table(table), cluster(cluster), options(options) {
    std::map<std::tuple<CollectiveKind, int, int, std::string, std::string>, Series> found;
    for (const MeasuredRow &row : table.rows)
      found[{row.kind, row.hosts, row.perHost, row.algorithm, row.job}].push_back(&row);
    for (auto &[key, series] : found) {
      std::sort(series.begin(), series.end(), [](auto *a, auto *b) {
        return std::make_pair(a->bytes.value, a->line) < std::make_pair(b->bytes.value, b->line);
      });
      all.push_back(std::move(series));
    }
  }

  std::optional<Error> run() {
    if (std::optional<Error> wrong = wrongShape(table, cluster, options.placed))
      return wrong;
    for (auto check : {&Check::points, &Check::sizes, &Check::bandwidths, &Check::busAndAlgorithm, &Check::busAndTime,
                       &Check::order, &Check::plausible, &Check::repetitions, &Check::inversions})
      if (std::optional<Error> wrong = (this->*check)())
        return wrong;
    return std::nullopt;
  }

private:
  Error at(const MeasuredRow &row, const std::string &message) const {
    return {message, table.path + ":" + std::to_string(row.line)};
  }

  std::optional<Error> points() {
    std::set<int64_t> sizes;
    for (const MeasuredRow &row : table.rows)
      sizes.insert(row.bytes.value);
    int least = options.probe ? 2 : 6, span = options.probe ? 16 : 256;
    if (int(sizes.size()) < least)
      return Error{text("too few points: expected at least %d message sizes to tell latency from bandwidth, got %d",
                        least, int(sizes.size())),
                   table.path};
    if (*sizes.rbegin() < span * *sizes.begin())
      return Error{text("too few points: expected sizes that span a factor of %d, got %s to %s", span,
                        toString(Bytes{*sizes.begin()}).c_str(), toString(Bytes{*sizes.rbegin()}).c_str()),
                   table.path};
    return std::nullopt;
  }

  /// Sizes that all double but for one step of 1.907: from there on MB were taken for MiB.
  std::optional<Error> sizes() {
    for (const Series &series : all) {
      std::vector<double> steps;
      for (size_t i = 1; i < series.size(); ++i)
        steps.push_back(double(series[i]->bytes.value) / double(series[i - 1]->bytes.value));
      double usual = median(steps);
      size_t same = std::count_if(steps.begin(), steps.end(), [&](double step) { return near(step, usual, 1e-6); });
      if (steps.size() < 5 || same + 2 < steps.size())
        continue;
      for (size_t i = 0; i < steps.size(); ++i)
        if (double left = std::log(steps[i]) / std::log(usual); left > 1.5 && near(left, std::round(left), 1e-6))
          table.notes.push_back(text("line %d: sizes grow by %.4g, from %s to %s by more: %d rows are missing",
                                     series[i + 1]->line, usual, toString(series[i]->bytes).c_str(),
                                     toString(series[i + 1]->bytes).c_str(), int(std::round(left)) - 1));
      for (size_t i = 0; i < steps.size(); ++i)
        if (std::string why = mistake(steps[i] / usual); !why.empty() && !near(steps[i], usual, 1e-6))
          return at(*series[i + 1], text("bytes: expected %.0f as all other sizes grow by %.4g, got %lld; %s",
                                         double(series[i]->bytes.value) * usual, usual,
                                         (long long)series[i + 1]->bytes.value, why.c_str()));
    }
    return std::nullopt;
  }

  /// What a column of bandwidths is rounded by: half of the last digit that any row has.
  double rounding(double MeasuredRow::*column) const {
    double digit = 1;
    for (const MeasuredRow &row : table.rows)
      while (digit > 1e-4 && row.*column > 0 && std::abs(std::remainder(row.*column, digit)) > 1e-3 * digit)
        digit /= 10;
    return 0.6 * digit;
  }

  static double bandwidthOf(const MeasuredRow &row) { return double(row.bytes.value) / row.time.value / 1e9; }

  /// Time against the bandwidth printed beside it.
  std::optional<Error> bandwidths() {
    std::vector<double> ratios;
    for (const MeasuredRow &row : table.rows)
      if (row.algBandwidth >= 0.1)
        ratios.push_back(row.algBandwidth / bandwidthOf(row));
    double usual = median(ratios), slack = rounding(&MeasuredRow::algBandwidth);
    for (const MeasuredRow &row : table.rows) {
      double ratio = row.algBandwidth / bandwidthOf(row);
      if (row.algBandwidth < 0 || std::abs(row.algBandwidth - bandwidthOf(row)) <= slack + 0.015 * bandwidthOf(row))
        continue;
      std::string why = mistake(ratios.size() >= 3 && near(ratio, usual, 0.05) ? usual : ratio);
      double factor = busFactor(row.kind, row.ranks());
      if (why.empty() && factor != 1 && near(ratio, factor, 0.02))
        why = text("a factor of %.4g: bus bandwidth in the column of algorithm bandwidth", factor);
      return at(row, text("time and bandwidth disagree: expected %s over %s to be %.4g GB/s, got %.4g%s",
                          toString(row.bytes).c_str(), toString(row.time).c_str(), bandwidthOf(row), row.algBandwidth,
                          why.empty() ? "" : ("; " + why).c_str()));
    }
    return std::nullopt;
  }

  std::optional<Error> busAndAlgorithm() {
    double slackOfBus = rounding(&MeasuredRow::busBandwidth), slackOfAlg = rounding(&MeasuredRow::algBandwidth);
    for (const MeasuredRow &row : table.rows) {
      double factor = busFactor(row.kind, row.ranks());
      if (row.algBandwidth < 0.1 || row.busBandwidth < 0.1)
        continue;
      double ratio = row.busBandwidth / row.algBandwidth;
      if (std::abs(row.busBandwidth - factor * row.algBandwidth) <=
          slackOfBus + factor * (slackOfAlg + 0.015 * row.algBandwidth))
        continue;
      const char *why = factor != 1 && near(ratio, 1 / factor, 0.03) ? "; the two columns look exchanged"
                        : near(ratio, 1, 0.01)                       ? "; the two columns hold the same"
                                                                     : "; are nodes and ranks per node right?";
      return at(row, text("bus and algorithm bandwidth: expected a ratio of %.4g for %d ranks, got %.4g%s", factor,
                          row.ranks(), ratio, why));
    }
    return std::nullopt;
  }

  /// Time against the bus bandwidth, where that stands alone or the other is too small to be told from zero.
  std::optional<Error> busAndTime() {
    double slack = rounding(&MeasuredRow::busBandwidth);
    for (const MeasuredRow &row : table.rows) {
      double expected = bandwidthOf(row) * busFactor(row.kind, row.ranks()), ratio = row.busBandwidth / expected;
      if (row.ranks() == 1 || row.busBandwidth < 0 || std::abs(row.busBandwidth - expected) <= slack + 0.02 * expected)
        continue;
      std::string why = mistake(ratio);
      if (why.empty())
        why = near(row.busBandwidth, bandwidthOf(row), 0.02) ? "algorithm bandwidth in the column of bus bandwidth"
                                                             : "are nodes and ranks per node right?";
      return at(row,
                text("time and bus bandwidth disagree: expected %s over %s on %d ranks to be %.4g GB/s, got %.4g; %s",
                     toString(row.bytes).c_str(), toString(row.time).c_str(), row.ranks(), expected, row.busBandwidth,
                     why.c_str()));
    }
    return std::nullopt;
  }

  std::optional<Error> order() { return wrongOrder(table); }

  /// Against what networks and this cluster's links can do.
  std::optional<Error> plausible() {
    for (const Series &series : all) {
      const MeasuredRow &first =
          **std::min_element(series.begin(), series.end(), [](auto *a, auto *b) { return a->time < b->time; });
      Seconds least = microseconds(first.hosts > 1 ? 0.5 : 0.05);
      if (first.ranks() > 1 && first.time < least)
        return at(first, text("time: expected at least %s between %d ranks, got %s; is its unit right?",
                              toString(least).c_str(), first.ranks(), toString(first.time).c_str()));
      const MeasuredRow &small = *series.front();
      if (small.bytes.value <= 1 << 16 && small.time.value > 5e-5 * std::max(200, small.ranks()))
        return at(small, text("time: expected less than %s for %s, got %s; is its unit right?",
                              toString(Seconds{5e-5 * std::max(200, small.ranks())}).c_str(),
                              toString(small.bytes).c_str(), toString(small.time).c_str()));
      for (const MeasuredRow *row : series)
        if (std::optional<Error> wrong = rate(*row))
          return wrong;
    }
    return std::nullopt;
  }

  /// The bandwidth of a long row against that of the links.
  std::optional<Error> rate(const MeasuredRow &row) const {
    if (row.ranks() == 1 || row.bytes.value < 1 << 20)
      return std::nullopt;
    bool between = row.hosts > 1 || !row.hostsKnown;
    double links = between ? cluster.inter.bandwidth.value * std::max(1, cluster.nicsPerHost) : 0;
    if (row.hosts == 1)
      links = std::max(links, cluster.intra.bandwidth.value);
    double bus = double(row.bytes.value) * busFactor(row.kind, row.ranks()) / row.time.value;
    // A tree of two hosts sends each byte once where a ring sends it nearly twice; switches that reduce do, too. Ranks of a
    // host's processor share caches, several times as fast as the memory that the file has.
    bool caches = row.hosts == 1 && (table.format == "braid-bench" || table.format == "OSU");
    double most = caches ? 20 : 2.2;
    if (bus > most * links)
      return at(row,
                text("bandwidth: expected at most %.4g GB/s, %g times the links of cluster file %s, got %.4g; is the "
                     "unit of time or size wrong, is bus bandwidth taken for algorithm bandwidth, or is it another "
                     "cluster's file?",
                     most * links / 1e9, most, cluster.name.c_str(), bus / 1e9));
    if (row.bytes.value >= 64 << 20 && bus < links / 1000)
      return at(
          row,
          text("bandwidth: expected at least %.4g GB/s, a thousandth of the links of cluster file %s, got %.4g; is "
               "the unit of time or size wrong?",
               links / 1e12, cluster.name.c_str(), bus / 1e9));
    return std::nullopt;
  }

  /// The same cell twice with times that no noise explains: rows of several algorithms, jobs or machines under one name.
  std::optional<Error> repetitions() {
    for (const Series &series : all)
      for (size_t i = 1; i < series.size(); ++i) {
        const MeasuredRow &a = *series[i - 1], &b = *series[i];
        double ratio = a.bytes == b.bytes ? std::max(a.time / b.time, b.time / a.time) : 1;
        if (ratio > 2)
          return at(b,
                    text("twice: expected one time for %s, got %s and, in line %d, %s; do columns 'algorithm' or 'job' "
                         "miss, which tell them apart?",
                         toString(a.bytes).c_str(), toString(b.time).c_str(), a.line, toString(a.time).c_str()));
      }
    return wrongRepetition(table);
  }

  /// A time that grows far faster than the message: a protocol's switch costs some round trips, never a factor of 30.
  std::optional<Error> jump(const MeasuredRow &a, const MeasuredRow &b) const {
    if (b.time / a.time < 30 * std::max(1.0, double(b.bytes.value) / double(a.bytes.value)))
      return std::nullopt;
    return at(b, text("jump: expected times that grow as messages do, got one where %s takes %s and %s %s; is its unit "
                      "right?",
                      toString(a.bytes).c_str(), toString(a.time).c_str(), toString(b.bytes).c_str(),
                      toString(b.time).c_str()));
  }

  std::optional<Error> inversions() {
    for (const Series &series : all) {
      int fallen = 0;
      for (size_t i = 1; i < series.size(); ++i) {
        const MeasuredRow &a = *series[i - 1], &b = *series[i];
        if (std::optional<Error> wrong = jump(a, b))
          return wrong;
        if (a.bytes == b.bytes || a.time < b.time * 1.05)
          continue;
        std::string what = text("%s takes %s and %s only %s", toString(a.bytes).c_str(), toString(a.time).c_str(),
                                toString(b.bytes).c_str(), toString(b.time).c_str());
        bool warmUp = i == 1 && series.size() > 3 && a.time < b.time * 4;
        if (!warmUp && a.time > b.time * 1.5 && !options.acceptInversions)
          return at(b, "inversion: expected times that do not fall as messages grow, got one where " + what +
                           " (measure again, or leave out the row that is wrong; --accept-inversions if it is real)");
        if (!warmUp)
          ++fallen;
        table.notes.push_back("line " + std::to_string(b.line) + ": " + what +
                              (warmUp ? ": the first row is a warm-up" : ""));
      }
      const MeasuredRow &first = *series.front(), &last = *series.back();
      if (options.probe && first.bytes < last.bytes && !(first.time < last.time))
        return at(last,
                  text("inversion: expected %s to take longer than %s, which takes %s, got %s (measure again: nothing "
                       "tells latency from bandwidth here)",
                       toString(last.bytes).c_str(), toString(first.bytes).c_str(), toString(first.time).c_str(),
                       toString(last.time).c_str()));
      if (fallen >= 3 && fallen * 5 > int(series.size()) && !options.acceptInversions)
        return at(*series.front(),
                  text("inversions: expected times that do not fall as messages grow, got %d of %d that "
                       "do; are the rows in order?",
                       fallen, int(series.size()) - 1));
    }
    return std::nullopt;
  }

  MeasuredTable &table;
  const Cluster &cluster;
  const TrustOptions &options;
  std::vector<Series> all;
};

} // namespace

std::optional<Error> findDistrust(MeasuredTable &table, const Cluster &cluster, const TrustOptions &options) {
  return Check(table, cluster, options).run();
}

} // namespace braid::cost
