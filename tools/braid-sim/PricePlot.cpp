//===- PricePlot.cpp - prices as an SVG drawing -------------------------------------------------------------------===//
//
// Two panels, time and bus bandwidth. Over sizes where there are several, and then a line for each quantile, or for each
// value of the knob; else over the knob's values. A point's colour in the time panel is its algorithm and protocol. What
// colours mean stands below the panels, where no line goes.
//
//   time |        ,o      bus |    ,o--o
//        |    ,--o            |  ,o
//        | o-o                | o
//        +---------- size     +---------- size
//     -- p50   o ring Simple
//===------------------------------------------------------------------------------------------------------------===//
#include "PriceReport.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/FormatVariadic.h"
#include <algorithm>
#include <cmath>
#include <functional>

namespace mlir::braid::sim {

namespace {

constexpr const char *colours[] = {"#1b6ca8", "#d1495b", "#2e933c", "#edae49",
                                   "#6a4c93", "#00798c", "#8d5524", "#444444"};
constexpr const char *markers[] = {"#000000", "#e69f00", "#56b4e9", "#009e73",
                                   "#cc79a7", "#0072b2", "#d55e00", "#999999"};
const char *colour(size_t i) { return colours[i % (sizeof colours / sizeof *colours)]; }
/// Colours come again, dashed.
const char *dash(size_t i) {
  static const char *const dashes[] = {"", " stroke-dasharray=\"7 3\"", " stroke-dasharray=\"2 2\""};
  return dashes[i / (sizeof colours / sizeof *colours) % 3];
}
const char *marker(size_t i) { return markers[i % (sizeof markers / sizeof *markers)]; }

struct Line {
  std::string name;
  std::vector<double> values; ///< one for each place on the x axis
  std::vector<std::string> choices;
};

std::string escaped(llvm::StringRef text) {
  std::string out;
  for (char c : text)
    out += c == '<' ? "&lt;" : c == '&' ? "&amp;" : c == '"' ? "&quot;" : std::string(1, c);
  return out;
}

/// "10 us" for "10.0 us", "1 MiB" for "1.0 MiB".
std::string shortened(std::string text) {
  size_t dot = text.find('.'), end = text.find(' ');
  if (dot == std::string::npos || end == std::string::npos || dot > end)
    return text;
  size_t last = text.find_last_not_of('0', end - 1);
  return text.erase(last == dot ? dot : last + 1, end - (last == dot ? dot : last + 1));
}

/// 1, 2, 5, 10, 20, ... (every decade where they are many) from the last one below `low` to the first above `high`.
std::vector<double> logarithmicTicks(double low, double high) {
  std::vector<double> all;
  bool decades = high / low > 300;
  for (double decade = std::pow(10, std::floor(std::log10(low) + 1e-9)); all.empty() || all.back() < high * 0.999;
       decade *= 10)
    for (double step : {1.0, 2.0, 5.0})
      if ((step == 1 || !decades) && (all.empty() || all.back() < high * 0.999))
        all.push_back(decade * step);
  while (all.size() > 2 && all[1] <= low * 1.001)
    all.erase(all.begin());
  return all;
}

/// 0, 1, 2, ... of 1, 2 or 5 times a power of ten, three to six steps, to the first above `high`.
std::vector<double> linearTicks(double high) {
  double step = std::pow(10, std::floor(std::log10(high / 2.5)));
  for (double factor : {2.0, 2.5, 2.0}) // 1, 2, 5, 10
    if (high / step > 6)
      step *= factor;
  std::vector<double> all = {0};
  while (all.back() < high * 0.999)
    all.push_back(step * double(all.size()));
  return all;
}

/// One pair of axes with lines. That of time is logarithmic; that of bandwidth starts at 0.
class Panel {
public:
  Panel(double left, std::string title, std::string below, std::vector<std::string> places, std::vector<Line> lines,
        bool logarithmic)
      : left(left), title(std::move(title)), below(std::move(below)), places(std::move(places)),
        lines(std::move(lines)), logarithmic(logarithmic) {
    double low = 1e300, high = 0;
    for (const Line &line : this->lines)
      for (double value : line.values) {
        low = std::min(low, value);
        high = std::max(high, value);
      }
    ticks =
        logarithmic ? logarithmicTicks(std::max(low, 1e-12), std::max(high, 1e-12)) : linearTicks(std::max(high, 1e-9));
  }

  std::string draw(const std::function<std::string(double)> &label, const std::vector<std::string> &choices) const {
    std::string out = text(left, top - 12, title, "start", "font-weight=\"bold\"");
    for (double tick : ticks) {
      out += rule(left, y(tick), left + width, y(tick));
      out += text(left - 6, y(tick) + 4, label(tick), "end");
    }
    size_t step = std::max<size_t>(1, (places.size() + 6) / 7);
    for (size_t i = 0; i < places.size(); i += step) {
      out += rule(x(i), top + height, x(i), top + height + 4, "#333");
      out += text(x(i), top + height + 17, places[i], "middle");
    }
    out += text(left + width / 2, top + height + 36, below, "middle");
    out += llvm::formatv("<rect x=\"{0:f1}\" y=\"{1:f1}\" width=\"{2:f1}\" height=\"{3:f1}\" fill=\"none\" "
                         "stroke=\"#333\"/>\n",
                         left, top, width, height)
               .str();
    for (size_t i = 0; i < lines.size(); ++i) {
      const Line &line = lines[i];
      std::string points;
      for (size_t k = 0; k < line.values.size(); ++k)
        points += llvm::formatv("{0:f1},{1:f1} ", x(k), y(line.values[k])).str();
      // Lines that coincide show as bands within each other.
      double wide = 1.6 + 0.9 * double(std::min<size_t>(4, lines.size() - 1 - i));
      out += llvm::formatv("<polyline points=\"{0}\" fill=\"none\" stroke=\"{1}\" stroke-width=\"{2:f1}\"{3}/>\n",
                           points, colour(i), wide, dash(i))
                 .str();
      for (size_t k = 0; k < line.choices.size(); ++k) {
        size_t which = std::find(choices.begin(), choices.end(), line.choices[k]) - choices.begin();
        out += llvm::formatv("<circle cx=\"{0:f1}\" cy=\"{1:f1}\" r=\"3.4\" fill=\"{2}\" stroke=\"white\" "
                             "stroke-width=\"0.7\"><title>{3}, {4}: {5}</title></circle>\n",
                             x(k), y(line.values[k]), marker(which), escaped(line.name), escaped(line.choices[k]),
                             label(line.values[k]))
                   .str();
      }
    }
    return out;
  }

  static std::string text(double x, double y, llvm::StringRef what, const char *anchor, const char *more = "") {
    return llvm::formatv("<text x=\"{0:f1}\" y=\"{1:f1}\" text-anchor=\"{2}\" {3}>{4}</text>\n", x, y, anchor, more,
                         escaped(what))
        .str();
  }

  static constexpr double width = 400, height = 300, top = 80;

private:
  static std::string rule(double x1, double y1, double x2, double y2, const char *stroke = "#ddd") {
    return llvm::formatv("<line x1=\"{0:f1}\" y1=\"{1:f1}\" x2=\"{2:f1}\" y2=\"{3:f1}\" stroke=\"{4}\"/>\n", x1, y1, x2,
                         y2, stroke)
        .str();
  }
  double x(size_t place) const {
    return left + (places.size() < 2 ? width / 2 : width * place / double(places.size() - 1));
  }
  double y(double value) const {
    double low = ticks.front(), high = ticks.back();
    double part =
        logarithmic ? std::log(std::max(value, low) / low) / std::log(high / low) : (value - low) / (high - low);
    return top + height * (1 - part);
  }

  double left;
  std::string title, below;
  std::vector<std::string> places;
  std::vector<Line> lines;
  bool logarithmic;
  std::vector<double> ticks; ///< from one end of the axis to the other
};

} // namespace

std::string plotSvg(const PriceReports &reports) {
  const PriceReport &first = reports.reports.front();
  bool overSizes = first.rows.size() > 1 || reports.knob.empty(), swept = !reports.knob.empty();
  std::vector<std::string> places, choices;
  std::vector<Line> times, buses;
  auto point = [&](Line &time, Line *bus, const PriceReport &report, const PriceRow &row, size_t quantile) {
    time.values.push_back(row.quantiles[quantile].first.value);
    std::string choice = choiceName(*row.choice);
    time.choices.push_back(choice);
    if (std::find(choices.begin(), choices.end(), choice) == choices.end())
      choices.push_back(choice);
    if (bus)
      bus->values.push_back(busBandwidth(report, row.bytes, row.quantiles[quantile].first));
  };
  if (overSizes) {
    for (const PriceRow &row : first.rows)
      places.push_back(shortened(cost::toString(row.bytes)));
    // A line for each value of the knob at the first quantile asked for, or for each quantile.
    for (const PriceReport &report : reports.reports)
      for (size_t q = 0; q < (swept ? 1 : report.quantiles.size()); ++q) {
        Line time{swept ? reports.knob + " = " + report.value : quantileName(report.quantiles[q]), {}, {}}, bus = time;
        for (const PriceRow &row : report.rows)
          point(time, &bus, report, row, q);
        times.push_back(time);
        buses.push_back(bus);
      }
  } else {
    for (const PriceReport &report : reports.reports)
      places.push_back(report.value);
    for (size_t q = 0; q < first.quantiles.size(); ++q) {
      Line time{quantileName(first.quantiles[q]), {}, {}}, bus = time;
      for (const PriceReport &report : reports.reports)
        point(time, &bus, report, report.rows.front(), q);
      times.push_back(time);
      buses.push_back(bus);
    }
  }

  std::string what = std::string(::braid::algorithms::name(first.kind)) + " on " + first.pricer->cluster().name + ": " +
                     std::to_string(first.ranks) + " ranks, engine " + cost::name(first.pricer->engine());
  std::string how = "predicted, not measured";
  if (overSizes && swept)
    how = quantileName(first.quantiles.front()) + "; " + how;
  if (!overSizes)
    how = "operand of each rank " + shortened(cost::toString(first.rows.front().bytes)) + "; " + how;
  std::string below = overSizes ? "operand of each rank" : reports.knob;
  size_t entries = std::max(times.size(), choices.size());
  double bottom = Panel::top + Panel::height + 64;
  std::string out =
      llvm::formatv(
          "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0:f0}\" height=\"{1:f0}\" font-family=\"sans-serif\" "
          "font-size=\"11\">\n<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n",
          std::max(1020.0, 90 + 8.5 * double(what.size())), bottom + 16 * entries + 8)
          .str();
  out += Panel::text(70, 24, what, "start", "font-size=\"14\"");
  out += Panel::text(70, 42, how, "start", "fill=\"#555\"");
  auto seconds = [](double s) { return shortened(cost::toString(cost::Seconds{s})); };
  auto rate = [](double g) { return llvm::formatv("{0} GB/s", llvm::format("%.4g", g)).str(); };
  out += Panel(70, "time", below, places, times, true).draw(seconds, choices);
  out += Panel(580, "bus bandwidth, as nccl-tests has it", below, places, buses, false).draw(rate, choices);
  for (size_t i = 0; i < times.size(); ++i) {
    double y = bottom + 16 * i;
    out +=
        llvm::formatv("<line x1=\"70\" y1=\"{0:f1}\" x2=\"95\" y2=\"{0:f1}\" stroke=\"{1}\" stroke-width=\"2\"{2}/>\n",
                      y, colour(i), dash(i))
            .str();
    out += Panel::text(102, y + 4, times[i].name, "start");
  }
  size_t longest = 0;
  for (const Line &line : times)
    longest = std::max(longest, line.name.size());
  double beside = 150 + 6.5 * double(longest);
  for (size_t i = 0; i < choices.size(); ++i) {
    double y = bottom + 16 * i;
    out += llvm::formatv("<circle cx=\"{2:f1}\" cy=\"{0:f1}\" r=\"4\" fill=\"{1}\"/>\n", y, marker(i), beside).str();
    out += Panel::text(beside + 12, y + 4, choices[i], "start");
  }
  return out + "</svg>\n";
}

} // namespace mlir::braid::sim
