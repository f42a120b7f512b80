//===- DiffModules.cpp - two planned modules ---------------------------------------------------------------------===//
//
// Plans are read from the modules' text. Launches that share a tensor are connected, as in DiffPlans.cpp; tensors are known by
// what computes them, so that it does not matter where planning has moved anything. What was asked for and what it gave stands
// in the certificates. Prices need the cluster files, which modules name only.
//===------------------------------------------------------------------------------------------------------------===//
#include "DiffModules.h"
#include "LoadModule.h"
#include "braid/dialect/BraidDialect.h"
#include "braid/passes/PlannedLaunches.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"
#include <algorithm>
#include <array>
#include <map>
#include <numeric>

using namespace mlir;
using namespace mlir::braid;
using namespace mlir::braid::sim;
namespace cost = ::braid::cost;
namespace json = llvm::json;

namespace {

struct Side {
  ParsedModule parsed;
  PlannedText text;
  DictionaryAttr certificate;
  std::unique_ptr<cost::Pricer> pricer; ///< null: no cluster file
};

std::string toText(Attribute attr) {
  if (auto text = dyn_cast_or_null<StringAttr>(attr))
    return text.str();
  if (auto number = dyn_cast_or_null<FloatAttr>(attr))
    return llvm::formatv("{0:g}", number.getValueAsDouble());
  std::string text;
  llvm::raw_string_ostream os(text);
  if (attr)
    attr.print(os);
  else
    os << "absent";
  return text;
}

double number(DictionaryAttr certificate, StringRef key) {
  auto value = certificate.getAs<FloatAttr>(key);
  return value ? value.getValueAsDouble() : 0;
}

LogicalResult load(const std::string &path, const std::string &cluster, const std::string &placement, Side &side) {
  auto fail = [&](const Twine &what) {
    llvm::errs() << path << ": error: " << what << "\n";
    return failure();
  };
  FailureOr<ParsedModule> parsed = parseProgram(path);
  if (failed(parsed))
    return failure();
  side.parsed = std::move(*parsed);
  side.certificate = (*side.parsed.module)->getAttrOfType<DictionaryAttr>(BraidDialect::getCertificateAttrName());
  if (!side.certificate)
    return fail("expected a planned module, got one without braid.certificate (braid-opt --braid-plan makes it)");
  FailureOr<PlannedText> text = readPlannedLaunches(*side.parsed.module);
  if (failed(text))
    return failure();
  side.text = std::move(*text);
  if (cluster.empty())
    return success();
  cost::Result<cost::Cluster> read = cost::readCluster(cluster);
  if (!read)
    return fail(read.error().text());
  if (auto hash = side.certificate.getAs<StringAttr>("cluster_hash"); hash && hash.getValue() != read->hash)
    return fail("it is planned for cluster " + toText(side.certificate.get("cluster")) + " (" + hash.getValue() +
                "), got " + cluster + " (" + read->hash + ")");
  auto ranks = side.certificate.getAs<IntegerAttr>("ranks");
  cost::Result<cost::Placement> places =
      cost::readPlacement(placement.empty() ? "packed" : placement, ranks ? int(ranks.getInt()) : 0, *read);
  if (!places)
    return fail(places.error().text());
  bool nccl = llvm::all_of(side.text.launches,
                           [](const PlannedLaunch &l) { return l.algorithm.find('/') != std::string::npos; });
  side.pricer = std::make_unique<cost::Pricer>(*read, *places, nccl ? cost::Engine::Nccl : cost::Engine::Braid,
                                               nccl ? cost::BucketForm::Copies : cost::BucketForm::OneLaunch);
  return success();
}

class ModuleDiffer {
public:
  ModuleDiffer(const Side &a, const Side &b) : sides{&a, &b} {}

  void print(llvm::raw_ostream &os) {
    auto sets = connected();
    int same = 0, differ = 0;
    std::string text;
    llvm::raw_string_ostream list(text);
    for (auto &set : sets) {
      std::string kind = kindOf(set);
      if (kind.empty()) {
        ++same;
        continue;
      }
      ++differ;
      list << "\n  " << kind << "\n";
      for (int side : {0, 1})
        for (int l : set[side])
          list << "    " << "AB"[side] << " #" << l << " " << describe(sides[side]->text.launches[l]) << "\n";
      for (int on : {0, 1})
        if (sides[on]->pricer)
          list << "    price on " << "AB"[on] << ": A's choice " << cost::toString(price(on, 0, set[0])) << ", B's "
               << cost::toString(price(on, 1, set[1])) << "\n";
    }
    os << (differ ? std::to_string(differ) + (differ == 1 ? " difference; " : " differences; ")
                  : "the plans are the same: ")
       << same << (same == 1 ? " launch is the same" : " launches are the same") << "\n"
       << text << "\n";
    printCertificates(os);
    if (differ && !(sides[0]->pricer && sides[1]->pricer))
      os << "prices: --cluster A.yaml --against B.yaml\n";
  }

  json::Object toJson() {
    json::Array differences, causes;
    int same = 0;
    for (auto &set : connected()) {
      std::string kind = kindOf(set);
      if (kind.empty()) {
        ++same;
        continue;
      }
      json::Object one{{"kind", kind}};
      for (int side : {0, 1}) {
        json::Array list;
        for (int l : set[side])
          list.push_back(json::Object{{"number", l}, {"what", describe(sides[side]->text.launches[l])}});
        one[side ? "b" : "a"] = std::move(list);
        if (sides[side]->pricer)
          one[side ? "price_on_b_s" : "price_on_a_s"] =
              json::Array{price(side, 0, set[0]).value, price(side, 1, set[1]).value};
      }
      differences.push_back(std::move(one));
    }
    for (const auto &[key, a, b] : asked())
      causes.push_back(json::Object{{"key", key}, {"a", a}, {"b", b}});
    return json::Object{{"differences", std::move(differences)},
                        {"same", same},
                        {"objective_s", json::Array{number(sides[0]->certificate, "objective_s"),
                                                    number(sides[1]->certificate, "objective_s")}},
                        {"causes", std::move(causes)}};
  }

private:
  using Set = std::array<std::vector<int>, 2>;

  std::vector<Set> connected() const {
    std::map<std::string, std::vector<int>> holders; // tensor -> nodes; B's after A's
    int first = int(sides[0]->text.launches.size()), count = first + int(sides[1]->text.launches.size());
    std::vector<int> root(count);
    std::iota(root.begin(), root.end(), 0);
    auto find = [&](int node) {
      while (root[node] != node)
        node = root[node] = root[root[node]];
      return node;
    };
    for (int node = 0; node < count; ++node) {
      const PlannedLaunch &launch =
          node < first ? sides[0]->text.launches[node] : sides[1]->text.launches[node - first];
      for (const std::string &tensor : launch.tensors)
        holders[tensor + " " + ::braid::algorithms::name(launch.spec.kind)].push_back(node);
    }
    for (auto &[tensor, nodes] : holders) {
      auto middle = std::lower_bound(nodes.begin(), nodes.end(), first);
      for (int i = 0; i < std::min(int(middle - nodes.begin()), int(nodes.end() - middle)); ++i) {
        int x = find(nodes[i]), y = find(middle[i]);
        root[std::max(x, y)] = std::min(x, y);
      }
    }
    std::map<int, Set> sets;
    for (int node = 0; node < count; ++node)
      sets[find(node)][node >= first].push_back(node < first ? node : node - first);
    std::vector<Set> list;
    for (auto &[node, set] : sets)
      list.push_back(std::move(set));
    return list;
  }

  /// Empty: the same.
  std::string kindOf(const Set &set) const {
    if (set[0].size() != 1 || set[1].size() != 1)
      return "other buckets";
    const PlannedLaunch &a = sides[0]->text.launches[set[0][0]], &b = sides[1]->text.launches[set[1][0]];
    std::string kind;
    auto add = [&](bool differs, const char *what) {
      if (differs)
        kind += (kind.empty() ? "" : ", ") + std::string(what);
    };
    add(a.algorithm != b.algorithm, "other algorithm");
    add(a.start != b.start, "other start");
    add(a.start == b.start && a.beside != b.beside, "other wait");
    return kind;
  }

  static std::string describe(const PlannedLaunch &l) {
    return std::string(::braid::algorithms::name(l.spec.kind)) + " of " + cost::toString(l.spec.bytes) + " in " +
           std::to_string(l.spec.tensors) + (l.spec.tensors == 1 ? " tensor" : " tensors") +
           (l.algorithm.empty() ? ", not planned" : " by " + l.algorithm) +
           (l.behind.empty() ? ", at the beginning" : ", behind " + l.behind) + ", beside " + std::to_string(l.beside) +
           (l.beside == 1 ? " operation" : " operations");
  }

  cost::Seconds price(int on, int side, const std::vector<int> &set) const {
    cost::Seconds total;
    for (int l : set) {
      const PlannedLaunch &launch = sides[side]->text.launches[l];
      const auto &candidates = sides[on]->pricer->candidates(launch.spec);
      size_t chosen = 0;
      for (size_t c = 0; c < candidates.size(); ++c)
        if (launch.algorithm ==
            candidates[c].algorithm + (candidates[c].protocol.empty() ? "" : "/") + candidates[c].protocol) {
          chosen = c;
          break;
        }
      total += sides[on]->pricer->mean(launch.spec, chosen);
    }
    return total;
  }

  std::vector<std::tuple<std::string, std::string, std::string>> asked() const {
    std::vector<std::tuple<std::string, std::string, std::string>> list;
    for (const char *key : {"cluster", "cluster_hash", "objective", "quantile", "in_flight", "ranks"}) {
      std::string a = toText(sides[0]->certificate.get(key)), b = toText(sides[1]->certificate.get(key));
      if (a != b)
        list.emplace_back(key, a, b);
    }
    return list;
  }

  void printCertificates(llvm::raw_ostream &os) const {
    double a = number(sides[0]->certificate, "objective_s"), b = number(sides[1]->certificate, "objective_s");
    os << "step, each as its certificate says: A " << cost::toString(cost::Seconds{a}) << ", B "
       << cost::toString(cost::Seconds{b}) << llvm::format(" (%+.1f %%)\n", a > 0 ? (b / a - 1) * 100 : 0);
    auto list = asked();
    if (list.empty())
      os << "both were planned for the same cluster, objective and quantile: what differs is a limit, a profile of "
            "computation or "
            "the version\n";
    for (const auto &[key, inA, inB] : list)
      os << "asked for: " << key << ", " << inA << " in A, " << inB << " in B\n";
    if (!list.empty())
      os << "which key it is: braid-sim diff PROGRAM --cluster A.yaml --against B.yaml, with the program before "
            "planning\n";
  }

  const Side *sides[2];
};

} // namespace

int mlir::braid::sim::diffModules(const ModulesToDiff &asked) {
  Side a, b;
  if (failed(load(asked.a, asked.clusterA, asked.placement, a)) ||
      failed(load(asked.b, asked.clusterB, asked.placement, b)))
    return 1;
  if (a.text.program != b.text.program) {
    llvm::errs() << "error: expected plans of one program, got " << asked.a << " of program " << a.text.program
                 << " and " << asked.b << " of " << b.text.program << "\n";
    return 1;
  }
  ModuleDiffer differ(a, b);
  if (asked.json)
    llvm::outs() << llvm::formatv("{0:2}\n", json::Value(differ.toJson()));
  else
    differ.print(llvm::outs());
  return 0;
}
