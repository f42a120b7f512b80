//===- Predict.cpp - rows of measured tables as questions to a model ----------------------------------------------===//
#include "calibrate/Predict.h"
#include "pricing/CalibratedMessages.h"
#include "pricing/CalibratedNccl.h"
#include <algorithm>
#include <tuple>

namespace braid::cost {

std::optional<std::string> algorithmOf(const std::string &name, CalibratedModel model) {
  if (name.empty())
    return name;
  if (model == CalibratedModel::Nccl)
    return name == "ring" || name == "tree" ? std::optional<std::string>(name) : std::nullopt;
  static const std::vector<std::pair<std::string, std::string>> synonyms = {
      {"halving_doubling", "rabenseifner"},
      {"reduce_scatter_allgather", "rabenseifner"},
      {"redscat_allgather", "rabenseifner"},
      {"redscat_gather", "rabenseifner"},
      {"recursive_exchange", "recursive_doubling"},
      {"basic_linear", "linear"},
      {"master_worker", "linear"},
      {"binomial_tree", "nonoverlapping"},
      {"ring_segmented", "segmented_ring"}};
  auto begins = [&](const std::string &word) { // "ring" and "ring_ompi", not "ringlet"
    return name.compare(0, word.size(), word) == 0 && (name.size() == word.size() || name[word.size()] == '_');
  };
  for (const auto &[other, known] : synonyms)
    if (begins(other))
      return known;
  for (const std::string &known : messageAlgorithms())
    if (begins(known))
      return known;
  return std::nullopt;
}

GroupShape shapeOf(const MeasuredRow &row, const Cluster &cluster) {
  GroupShape shape;
  shape.ranks = row.ranks();
  shape.hosts = row.hosts;
  shape.perHost = row.perHost;
  shape.nics = row.hosts > 1 ? std::max(1, cluster.nicsPerHost) : 0;
  return shape;
}

/// The library's own choice is taken to be the cheapest of the algorithms that it commonly has.
static std::optional<Residual> predictMessages(const MeasuredRow &row, const std::string &algorithm,
                                               const Cluster &cluster, const FittedConstants &fitted, double rebase) {
  if (row.kind != CollectiveKind::AllReduce)
    return std::nullopt;
  MessageQuestion question{row.bytes, row.ranks(), messageRate(shapeOf(row, cluster), cluster), rebase};
  Residual residual{row, {}, "", false};
  if (!algorithm.empty()) {
    residual.predicted = calibratedMessages(algorithm, question, fitted).time();
    return residual;
  }
  for (const char *name : {"recursive_doubling", "ring", "rabenseifner"}) {
    Seconds time = calibratedMessages(name, question, fitted).time();
    if (residual.predicted.value == 0 || time < residual.predicted)
      residual.predicted = time;
  }
  return residual;
}

static std::optional<Residual> predictNccl(const MeasuredRow &row, const std::string &algorithm, const Cluster &cluster,
                                           const FittedConstants &fitted) {
  NcclQuestion question;
  question.kind = row.kind;
  question.bytes = row.kind == CollectiveKind::AllGather ? Bytes{row.bytes.value / row.ranks()} : row.bytes;
  question.shape = shapeOf(row, cluster);
  Residual residual{row, {}, "", false};
  if (row.kind == CollectiveKind::AllToAll || row.kind == CollectiveKind::Permute)
    return std::nullopt;
  for (nccl::Algorithm candidate : {nccl::Tree, nccl::Ring})
    for (nccl::Protocol protocol : {nccl::LL, nccl::LL128, nccl::Simple}) {
      if ((candidate == nccl::Tree && (row.kind != CollectiveKind::AllReduce || algorithm == "ring")) ||
          (candidate == nccl::Ring && algorithm == "tree") || (protocol == nccl::LL128 && !ncclHasNvlink(cluster)))
        continue;
      Seconds time = calibratedNccl(question, cluster, fitted, candidate, protocol).time();
      if (residual.predicted.value == 0 || time < residual.predicted) {
        residual.predicted = time;
        residual.protocol = nccl::protocolNames[protocol];
      }
    }
  if (residual.predicted.value == 0)
    return std::nullopt;
  return residual;
}

std::optional<Residual> predictRow(const MeasuredRow &row, const Cluster &cluster, CalibratedModel model,
                                   const FittedConstants &fitted, double rebase) {
  std::optional<std::string> algorithm = algorithmOf(row.algorithm, model);
  if (!algorithm)
    return std::nullopt;
  return model == CalibratedModel::Nccl ? predictNccl(row, *algorithm, cluster, fitted)
                                        : predictMessages(row, *algorithm, cluster, fitted, rebase);
}

std::vector<MeasuredRow> usableRows(const MeasuredTable &table, CalibratedModel model,
                                    std::vector<std::string> &notes) {
  bool named =
      std::any_of(table.rows.begin(), table.rows.end(), [](const MeasuredRow &r) { return !r.algorithm.empty(); });
  std::map<std::string, int> aside;
  std::vector<MeasuredRow> rows;
  for (const MeasuredRow &row : table.rows) {
    bool priced = model == CalibratedModel::Nccl
                      ? row.kind != CollectiveKind::AllToAll && row.kind != CollectiveKind::Permute &&
                            (row.algorithm != "tree" || row.kind == CollectiveKind::AllReduce)
                      : row.kind == CollectiveKind::AllReduce;
    if (row.ranks() < 2)
      ++aside["one rank alone"];
    else if (!priced)
      ++aside[std::string("the model has no ") + algorithms::name(row.kind)];
    else if (named && row.algorithm.empty())
      ++aside["the library chose the algorithm, and other rows name theirs"];
    else if (!algorithmOf(row.algorithm, model))
      ++aside["the model has no algorithm '" + row.algorithm + "'"];
    else
      rows.push_back(row);
  }
  for (const auto &[why, count] : aside)
    notes.push_back(std::to_string(count) + " rows set aside: " + why);
  return rows;
}

std::vector<Pick> picksOf(const std::vector<Residual> &residuals) {
  std::map<std::tuple<std::string, int, int, int64_t, CollectiveKind>, std::vector<const Residual *>> cells;
  for (const Residual &residual : residuals)
    if (!residual.row.algorithm.empty())
      cells[{residual.row.job, residual.row.hosts, residual.row.perHost, residual.row.bytes.value, residual.row.kind}]
          .push_back(&residual);
  std::vector<Pick> picks;
  for (const auto &[where, cell] : cells) {
    auto byPrice = [](auto *a, auto *b) { return a->predicted < b->predicted; };
    auto byTime = [](auto *a, auto *b) { return a->row.time < b->row.time; };
    const Residual &chosen = **std::min_element(cell.begin(), cell.end(), byPrice);
    const Residual &best = **std::min_element(cell.begin(), cell.end(), byTime);
    if (cell.size() < 2)
      continue;
    picks.push_back({chosen.row.job, chosen.row.hosts, chosen.row.bytes, chosen.row.algorithm, best.row.algorithm,
                     chosen.row.time / best.row.time, chosen.heldOut});
  }
  return picks;
}

} // namespace braid::cost
