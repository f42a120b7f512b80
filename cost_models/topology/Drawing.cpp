//===- Drawing.cpp - a topology as Graphviz text and as SVG -----------------------------------------------------===//
#include "topology/State.h"
#include <algorithm>
#include <cstdio>
#include <set>

namespace braid::cost {

using VertexKind = Topology::VertexKind;

std::string drawDot(const Topology &topology) {
  const Cluster &c = topology.cluster();
  std::string quoted;
  for (char letter : c.name)
    quoted += letter == '"' || letter == '\\' ? std::string("\\") + letter : std::string(1, letter);
  std::string out = "graph \"" + quoted + "\" {\n";
  std::vector<std::string> inHost(c.hosts);
  for (const Topology::Vertex &vertex : topology.vertices())
    if (vertex.host >= 0)
      inHost[vertex.host] += "    \"" + vertex.name() + "\";\n";
  for (int host = 0; host < c.hosts; ++host)
    out += "  subgraph cluster_host" + std::to_string(host) + " {\n    label=\"host" + std::to_string(host) + "\";\n" +
           inHost[host] + "  }\n";
  for (size_t i = 0; i < topology.links().size(); i += 2) {
    const Topology::Link &link = topology.links()[i];
    out += "  \"" + topology.vertices()[link.from].name() + "\" -- \"" + topology.vertices()[link.to].name() +
           "\" [label=\"" + toString(link.bandwidth) + "\"];\n";
  }
  return out + "}\n";
}

namespace {

/// Rows from top to bottom; a host is a box with its NICs above its devices.
class Svg {
public:
  Svg(const Topology &topology, int mostHosts) : topology(topology) {
    const Cluster &c = topology.cluster();
    for (int host = 0; host < c.hosts; ++host)
      if (c.hosts <= mostHosts || host < mostHosts - 1 || host == c.hosts - 1)
        shown.push_back(host);
  }

  std::string text() {
    place();
    std::string body;
    for (size_t i = 0; i < topology.links().size(); i += 2)
      body += line(topology.links()[i]);
    for (size_t i = 0; i < boxes.size(); ++i)
      body += box(boxes[i]);
    for (size_t vertex = 0; vertex < at.size(); ++vertex)
      if (at[vertex].shown)
        body += node(topology.vertices()[vertex], at[vertex]);
    int height = bottom + 40;
    return "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"" + std::to_string(width) + "\" height=\"" +
           std::to_string(height) + "\" viewBox=\"0 0 " + std::to_string(width) + " " + std::to_string(height) +
           "\" font-family=\"sans-serif\" font-size=\"11\">\n<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n" +
           label(margin, 20, title(), "start") + body + label(margin, bottom + 25, legend(), "start") + "</svg>\n";
  }

private:
  static constexpr int margin = 20, cell = 52, gap = 24, rowHeight = 90;
  struct Point {
    double x = 0, y = 0;
    bool shown = false;
  };
  struct Box {
    int host;
    double x, y, width, height;
  };

  std::string title() const {
    const Cluster &c = topology.cluster();
    return c.name + ": " + std::to_string(c.hosts) + " hosts, " + std::to_string(c.ranks()) + " devices, " +
           c.topology + (c.planes > 1 ? ", " + std::to_string(c.planes) + " planes" : "");
  }
  std::string legend() const {
    const Cluster &c = topology.cluster();
    std::string out = "inside a host " + toString(c.intra.bandwidth) + ", " + toString(c.intra.latency);
    if (c.nics() > 0)
      out += "; NIC " + toString(c.inter.bandwidth) + ", " + toString(c.inter.latency);
    if (int(shown.size()) < c.hosts)
      out += "; " + std::to_string(c.hosts - int(shown.size())) + " hosts not drawn";
    return out;
  }

  /// Where everything is: hosts side by side, switches of each tier spread over the same width.
  void place() {
    const Cluster &c = topology.cluster();
    const auto &vertices = topology.vertices();
    at.resize(vertices.size());
    std::vector<int> tier[3]; // cores, spines, leaves
    std::vector<std::vector<int>> devices(c.hosts), nics(c.hosts);
    std::vector<int> hostSwitch(c.hosts);
    for (size_t i = 0; i < vertices.size(); ++i)
      switch (vertices[i].kind) {
      case VertexKind::Device:
        devices[vertices[i].host].push_back(int(i));
        break;
      case VertexKind::Nic:
        nics[vertices[i].host].push_back(int(i));
        break;
      case VertexKind::HostSwitch:
        hostSwitch[vertices[i].host] = int(i);
        break;
      case VertexKind::Core:
        tier[0].push_back(int(i));
        break;
      case VertexKind::Spine:
        tier[1].push_back(int(i));
        break;
      case VertexKind::Leaf:
        tier[2].push_back(int(i));
        break;
      }
    keepReached(tier);
    int tiers = 0;
    for (const std::vector<int> &row : tier)
      tiers += !row.empty();
    double x = margin, y = 40 + tiers * rowHeight;
    for (int host : shown) {
      double wide = std::max(devices[host].size(), std::max<size_t>(1, nics[host].size())) * cell + 10;
      boxes.push_back({host, x, y, wide, 150});
      spread(nics[host], x, wide, y + 34);
      spread({hostSwitch[host]}, x, wide, y + 82);
      spread(devices[host], x, wide, y + 130);
      x += wide + gap;
    }
    size_t most = 1;
    for (const std::vector<int> &row : tier)
      most = std::max(most, row.size());
    double wide = std::max(x - gap - margin, double(most * cell));
    width = int(std::max(wide + 2 * margin, 560.0));
    bottom = int(y + 160);
    double row = 60;
    for (const std::vector<int> &switches : tier)
      if (!switches.empty()) {
        spread(switches, margin, wide, row);
        row += rowHeight;
      }
  }

  /// Where hosts are left out, switches that only they reach are too.
  void keepReached(std::vector<int> (&tier)[3]) const {
    if (int(shown.size()) == topology.cluster().hosts)
      return;
    std::set<int> reached;
    for (const Topology::Link &link : topology.links()) {
      const Topology::Vertex &from = topology.vertices()[link.from];
      if (link.level == Topology::Level::Nic && from.kind == VertexKind::Nic &&
          std::binary_search(shown.begin(), shown.end(), from.host))
        reached.insert(link.to);
    }
    for (int level : {1, 0}) // the switches above those that are kept
      for (const Topology::Link &link : topology.links())
        if (reached.count(link.from) &&
            topology.vertices()[link.to].kind == (level == 1 ? VertexKind::Spine : VertexKind::Core))
          reached.insert(link.to);
    for (std::vector<int> &row : tier)
      row.erase(std::remove_if(row.begin(), row.end(), [&](int v) { return !reached.count(v); }), row.end());
  }

  void spread(const std::vector<int> &row, double x, double wide, double y) {
    for (size_t i = 0; i < row.size(); ++i)
      at[row[i]] = {x + wide * (i + 0.5) / row.size(), y, true};
  }

  static std::string number(double value) {
    char text[32];
    std::snprintf(text, sizeof text, "%.1f", value);
    return text;
  }
  static std::string label(double x, double y, const std::string &text, const char *anchor) {
    std::string safe;
    for (char c : text)
      safe += c == '<' ? "&lt;" : c == '&' ? "&amp;" : std::string(1, c);
    return "<text x=\"" + number(x) + "\" y=\"" + number(y) + "\" text-anchor=\"" + anchor + "\">" + safe + "</text>\n";
  }
  static std::string rectangle(double x, double y, double wide, double high, const char *style) {
    return "<rect x=\"" + number(x) + "\" y=\"" + number(y) + "\" width=\"" + number(wide) + "\" height=\"" +
           number(high) + "\" rx=\"4\" " + style + "/>\n";
  }
  std::string box(const Box &b) const {
    return rectangle(b.x, b.y, b.width, b.height, "fill=\"none\" stroke=\"#888\"") +
           label(b.x + 4, b.y + 14, "host" + std::to_string(b.host), "start");
  }
  std::string line(const Topology::Link &link) const {
    const Point &a = at[link.from], &b = at[link.to];
    if (!a.shown || !b.shown)
      return {};
    const char *colour = link.level == Topology::Level::Intra      ? "#2a9d4a"
                         : link.level == Topology::Level::HostLink ? "#bbbbbb"
                         : link.level == Topology::Level::Nic      ? "#2b6cb0"
                         : link.level == Topology::Level::Spine    ? "#c05621"
                                                                   : "#805ad5";
    return "<line x1=\"" + number(a.x) + "\" y1=\"" + number(a.y) + "\" x2=\"" + number(b.x) + "\" y2=\"" +
           number(b.y) + "\" stroke=\"" + colour + "\"/>\n";
  }
  static std::string node(const Topology::Vertex &vertex, const Point &p) {
    std::string name = vertex.name();
    if (size_t dot = name.find('.'); dot != std::string::npos)
      name = name.substr(dot + 1);
    const char *fill = vertex.kind == VertexKind::Device ? "fill=\"#e6f4ea\" stroke=\"#2a9d4a\""
                       : vertex.kind == VertexKind::Nic  ? "fill=\"#ebf4ff\" stroke=\"#2b6cb0\""
                                                         : "fill=\"#fffaf0\" stroke=\"#c05621\"";
    return rectangle(p.x - 23, p.y - 9, 46, 18, fill) + label(p.x, p.y + 4, name, "middle");
  }

  const Topology &topology;
  std::vector<int> shown; ///< hosts, ascending
  std::vector<Point> at;
  std::vector<Box> boxes;
  int width = 0, bottom = 0;
};

} // namespace

std::string drawSvg(const Topology &topology, int hosts) { return Svg(topology, std::max(2, hosts)).text(); }

} // namespace braid::cost
