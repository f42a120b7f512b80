//===- PricePlot.cpp - prices as an SVG drawing -------------------------------------------------------------------===//
//
// Two panels, time and bus bandwidth. Over sizes where there are several, and then a line for each quantile, or for each
// value of the knob; else over the knob's values. A point's colour in the time panel is its algorithm and protocol.
//
//   time |        ,o      bus |    ,o--o
//        |    ,--o            |  ,o
//        | o-o   ring Simple  | o
//        +---------- bytes    +---------- bytes
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

/// One pair of axes with lines. Both axes of time are logarithmic; that of bandwidth starts at 0.
class Panel {
public:
  Panel(double left, std::string title, std::vector<std::string> places, std::vector<Line> lines, bool logarithmic)
      : left(left), title(std::move(title)), places(std::move(places)), lines(std::move(lines)),
        logarithmic(logarithmic) {
    low = logarithmic ? 1e300 : 0;
    high = 0;
    for (const Line &line : this->lines)
      for (double value : line.values) {
        low = std::min(low, value);
        high = std::max(high, value);
      }
    if (logarithmic) {
      low = std::pow(10, std::floor(std::log10(std::max(low, 1e-12))));
      high = std::pow(10, std::ceil(std::log10(std::max(high, low * 1.001))));
    } else if (high <= 0) {
      high = 1;
    }
  }

  std::string draw(const std::function<std::string(double)> &label, const std::vector<std::string> &choices) const {
    std::string out = text(left, top - 14, title, "start", "font-weight=\"bold\"");
    for (double tick : ticks()) {
      out += llvm::formatv("<line x1=\"{0:f1}\" y1=\"{1:f1}\" x2=\"{2:f1}\" y2=\"{1:f1}\" stroke=\"#ddd\"/>\n", left,
                           y(tick), left + width)
                 .str();
      out += text(left - 6, y(tick) + 4, label(tick), "end");
    }
    size_t step = std::max<size_t>(1, (places.size() + 6) / 7);
    for (size_t i = 0; i < places.size(); i += step)
      out += text(x(i), top + height + 18, places[i], "middle");
    for (size_t i = 0; i < lines.size(); ++i) {
      const Line &line = lines[i];
      std::string points;
      for (size_t k = 0; k < line.values.size(); ++k)
        points += llvm::formatv("{0:f1},{1:f1} ", x(k), y(line.values[k])).str();
      out += llvm::formatv("<polyline points=\"{0}\" fill=\"none\" stroke=\"{1}\" stroke-width=\"1.6\"/>\n", points,
                           colour(i))
                 .str();
      for (size_t k = 0; k < line.choices.size(); ++k) {
        size_t which = std::find(choices.begin(), choices.end(), line.choices[k]) - choices.begin();
        out += llvm::formatv(
                   "<circle cx=\"{0:f1}\" cy=\"{1:f1}\" r=\"3.4\" fill=\"{2}\"><title>{3}, {4}: {5}</title></circle>\n",
                   x(k), y(line.values[k]), marker(which), escaped(line.name), escaped(line.choices[k]),
                   label(line.values[k]))
                   .str();
      }
    }
    return out +
           llvm::formatv(
               "<rect x=\"{0:f1}\" y=\"{1:f1}\" width=\"{2:f1}\" height=\"{3:f1}\" fill=\"none\" stroke=\"#333\"/>\n",
               left, top, width, height)
               .str();
  }

  static std::string text(double x, double y, llvm::StringRef what, const char *anchor, const char *more = "") {
    return llvm::formatv("<text x=\"{0:f1}\" y=\"{1:f1}\" text-anchor=\"{2}\" {3}>{4}</text>\n", x, y, anchor, more,
                         escaped(what))
        .str();
  }

  static constexpr double width = 400, height = 300, top = 60;

private:
  double x(size_t place) const {
    return left + (places.size() < 2 ? width / 2 : width * place / double(places.size() - 1));
  }
  double y(double value) const {
    double part = logarithmic ? std::log(std::max(value, low) / low) / std::log(high / low) : value / high;
    return top + height * (1 - part);
  }
  std::vector<double> ticks() const {
    std::vector<double> ticks;
    if (logarithmic) {
      for (double tick = low; tick <= high * 1.001; tick *= 10)
        ticks.push_back(tick);
      return ticks;
    }
    double step = std::pow(10, std::floor(std::log10(high / 2)));
    while (high / step > 6)
      step *= high / step > 15 ? 5 : 2;
    for (double tick = 0; tick <= high; tick += step)
      ticks.push_back(tick);
    return ticks;
  }

  double left;
  std::string title;
  std::vector<std::string> places;
  std::vector<Line> lines;
  bool logarithmic;
  double low, high;
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
      places.push_back(cost::toString(row.bytes));
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

  std::string kind = ::braid::algorithms::name(first.kind);
  std::string what =
      kind + " on " + first.pricer->cluster().name + ", " + std::to_string(first.ranks) + " ranks, engine " +
      cost::name(first.pricer->engine()) +
      (overSizes ? ", by size" : ", " + cost::toString(first.rows.front().bytes) + ", by " + reports.knob) +
      (overSizes && swept ? ", " + quantileName(first.quantiles.front()) : "") + "; predicted, not measured";
  size_t entries = std::max(times.size(), choices.size());
  double bottom = Panel::top + Panel::height + 40;
  std::string out =
      llvm::formatv(
          "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"1020\" height=\"{0:f0}\" font-family=\"sans-serif\" "
          "font-size=\"11\">\n<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n",
          bottom + 16 * entries + 16)
          .str();
  out += Panel::text(70, 22, what, "start", "font-size=\"14\"");
  out +=
      Panel(70, "time", places, times, true).draw([](double s) { return cost::toString(cost::Seconds{s}); }, choices);
  out += Panel(580, "bus bandwidth", places, buses, false)
             .draw([](double g) { return llvm::formatv("{0} GB/s", llvm::format("%.4g", g)).str(); }, choices);
  for (size_t i = 0; i < times.size(); ++i) {
    double y = bottom + 16 * i;
    out += llvm::formatv("<line x1=\"70\" y1=\"{0:f1}\" x2=\"95\" y2=\"{0:f1}\" stroke=\"{1}\" stroke-width=\"2\"/>\n",
                         y, colour(i))
               .str();
    out += Panel::text(102, y + 4, times[i].name, "start");
  }
  for (size_t i = 0; i < choices.size(); ++i) {
    double y = bottom + 16 * i;
    out += llvm::formatv("<circle cx=\"590\" cy=\"{0:f1}\" r=\"4\" fill=\"{1}\"/>\n", y, marker(i)).str();
    out += Panel::text(602, y + 4, choices[i], "start");
  }
  return out + "</svg>\n";
}

} // namespace mlir::braid::sim
