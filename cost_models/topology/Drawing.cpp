//===- Drawing.cpp - a topology as Graphviz text and as SVG -----------------------------------------------------===//
//
// settings: all numbers here are places on the page.
//===------------------------------------------------------------------------------------------------------------===//
#include "topology/State.h"
#include <algorithm>
#include <cstdio>
#include <set>

namespace braid::cost {

using VertexKind = Topology::VertexKind;
using Level = Topology::Level;

/// Links inside hosts are green, the ways out of a host grey, links between hosts blue to purple, tier by tier.
static const char *colourOf(Level level) {
  static const char *const colours[] = {"#2a9d4a", "#999999", "#2b6cb0", "#c05621", "#805ad5"};
  return colours[int(level)];
}

/// Whether it adds what ranks send, for whoever draws it.
static bool reduces(const Cluster &c, VertexKind kind) {
  bool inHost = c.inNetwork.at == "host";
  return c.inNetwork.granted() && (kind == VertexKind::HostSwitch ? inHost : !inHost && kind >= VertexKind::Leaf);
}

std::string drawDot(const Topology &topology) {
  const Cluster &c = topology.cluster();
  std::string quoted;
  for (char letter : c.name)
    quoted += letter == '"' || letter == '\\' ? std::string("\\") + letter : std::string(1, letter);
  std::string out = "graph \"" + quoted + "\" {\n  node [shape=box];\n";
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
           "\" [label=\"" + toString(link.bandwidth) + "\", color=\"" + colourOf(link.level) + "\"];\n";
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
    for (const Box &one : boxes)
      body += box(one);
    for (size_t vertex = 0; vertex < at.size(); ++vertex)
      if (at[vertex].shown)
        body += node(topology.vertices()[vertex], at[vertex]);
    int y = bottom + 30;
    std::string key = legend(y);
    int height = y + 16;
    return "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"" + std::to_string(width) + "\" height=\"" +
           std::to_string(height) + "\" viewBox=\"0 0 " + std::to_string(width) + " " + std::to_string(height) +
           "\" font-family=\"sans-serif\" font-size=\"11\">\n<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n" +
           label(margin, 24, title(), "start", "font-size=\"14\"") + body + key + "</svg>\n";
  }

private:
  static constexpr int margin = 20, cell = 52, narrow = 40, gap = 24, boxHeight = 168;
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
    return c.name + ": " + std::to_string(c.hosts) + (c.hosts == 1 ? " host, " : " hosts, ") +
           std::to_string(c.ranks()) + " devices, " + c.topology +
           (c.planes > 1 ? ", " + std::to_string(c.planes) + " planes" : "");
  }
  /// What each colour is, one below the other; `y` moves down.
  std::string legend(int &y) const {
    const Cluster &c = topology.cluster();
    std::string out;
    auto entry = [&](const std::string &sample, const std::string &what) {
      out += sample + label(margin + 32, y + 4, what, "start");
      y += 18;
    };
    static const char *const names[] = {"device - switch of its host", "device - NIC", "NIC - leaf", "leaf - spine",
                                        "spine - core"};
    for (Level level : {Level::Intra, Level::HostLink, Level::Nic, Level::Spine, Level::Core}) {
      auto first = std::find_if(topology.links().begin(), topology.links().end(),
                                [&](const Topology::Link &link) { return link.level == level; });
      if (first == topology.links().end() || (level == Level::Intra && c.devicesPerHost == 1))
        continue;
      std::string what = std::string(names[int(level)]) + ", " + toString(first->bandwidth) + " each way";
      entry(stroke({double(margin), double(y)}, {margin + 24.0, double(y)}, colourOf(level)), what);
    }
    if (c.inNetwork.granted())
      entry(rectangle(margin, y - 6, 24, 12, reducing), "a switch that reduces");
    std::string latency = "latency inside a host " + toString(c.intra.latency);
    if (c.nics() > 0)
      latency += ", between hosts of a leaf " + toString(c.inter.latency);
    if (int(shown.size()) < c.hosts)
      latency += "; " + std::to_string(c.hosts - int(shown.size())) + " hosts not drawn";
    if (switchesLeft)
      latency += "; " + std::to_string(switchesLeft) + " switches over the hosts drawn are not drawn";
    return out + label(margin, y + 4, latency, "start");
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
    constexpr size_t most = 24;
    for (std::vector<int> &row : tier)
      if (row.size() > most) {
        switchesLeft += int(row.size() - most);
        row.erase(row.begin() + most - 1, row.end() - 1);
      }
    int tiers = 0;
    for (const std::vector<int> &row : tier)
      tiers += !row.empty();
    auto wideOf = [&](int host) {
      size_t most = std::max(devices[host].size(), std::max<size_t>(1, nics[host].size()));
      return double(most) * (most > 10 ? cell : narrow) + 24;
    };
    double inside = -gap; // of all hosts, side by side
    for (int host : shown)
      inside += wideOf(host) + gap;
    size_t longest = 1;
    for (const std::vector<int> &row : tier)
      longest = std::max(longest, row.size());
    double wide = std::max(inside, double(longest * cell));
    // Rows are further apart where they are long, so that lines do not lie down.
    double rowHeight = std::clamp(wide / 10, 90.0, 240.0);
    double x = margin + (wide - inside) / 2, y = 54 + tiers * rowHeight;
    for (int host : shown) {
      double own = wideOf(host);
      boxes.push_back({host, x, y, own, boxHeight});
      spread(nics[host], x, own, y + 20);
      if (devices[host].size() > 1) // else nothing uses it
        spread({hostSwitch[host]}, x, own, y + 76);
      spread(devices[host], x, own, y + 132);
      x += own + gap;
    }
    width = int(std::max(wide + 2 * margin, 560.0));
    bottom = int(y) + boxHeight;
    double row = 64;
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
  static std::string label(double x, double y, const std::string &text, const char *anchor, const char *more = "") {
    std::string safe;
    for (char c : text)
      safe += c == '<' ? "&lt;" : c == '&' ? "&amp;" : std::string(1, c);
    return "<text x=\"" + number(x) + "\" y=\"" + number(y) + "\" text-anchor=\"" + anchor + "\" " + more + ">" + safe +
           "</text>\n";
  }
  static std::string rectangle(double x, double y, double wide, double high, const char *style) {
    return "<rect x=\"" + number(x) + "\" y=\"" + number(y) + "\" width=\"" + number(wide) + "\" height=\"" +
           number(high) + "\" rx=\"4\" " + style + "/>\n";
  }
  static std::string stroke(const Point &a, const Point &b, const char *colour) {
    return "<line x1=\"" + number(a.x) + "\" y1=\"" + number(a.y) + "\" x2=\"" + number(b.x) + "\" y2=\"" +
           number(b.y) + "\" stroke=\"" + colour + "\"/>\n";
  }
  /// The name stands where no link goes.
  std::string box(const Box &b) const {
    return rectangle(b.x, b.y, b.width, b.height, "fill=\"none\" stroke=\"#888\"") +
           label(b.x + b.width / 2, b.y + b.height - 8, "host" + std::to_string(b.host), "middle");
  }
  std::string line(const Topology::Link &link) const {
    const Point &a = at[link.from], &b = at[link.to];
    return a.shown && b.shown ? stroke(a, b, colourOf(link.level)) : std::string();
  }
  std::string node(const Topology::Vertex &vertex, const Point &p) const {
    std::string name = vertex.name();
    if (size_t dot = name.find('.'); dot != std::string::npos)
      name = name.substr(dot + 1);
    const char *style = reduces(topology.cluster(), vertex.kind) ? reducing
                        : vertex.kind == VertexKind::Device      ? "fill=\"#e6f4ea\" stroke=\"#2a9d4a\""
                        : vertex.kind == VertexKind::HostSwitch  ? "fill=\"white\" stroke=\"#2a9d4a\""
                        : vertex.kind == VertexKind::Nic         ? "fill=\"#ebf4ff\" stroke=\"#2b6cb0\""
                                                                 : "fill=\"#fffaf0\" stroke=\"#c05621\"";
    bool inHost = vertex.kind == VertexKind::Device || vertex.kind == VertexKind::Nic;
    double half = inHost ? 18 : 23;
    return rectangle(p.x - half, p.y - 9, 2 * half, 18, style) + label(p.x, p.y + 4, name, "middle");
  }

  static constexpr const char *reducing = "fill=\"#fdf2b3\" stroke=\"#b7791f\" stroke-width=\"2\"";
  const Topology &topology;
  std::vector<int> shown; ///< hosts, ascending
  int switchesLeft = 0;   ///< of those that the hosts shown reach
  std::vector<Point> at;
  std::vector<Box> boxes;
  int width = 0, bottom = 0;
};

} // namespace

std::string drawSvg(const Topology &topology, int hosts) { return Svg(topology, std::max(2, hosts)).text(); }

} // namespace braid::cost
