//===- Model.cpp - Gecode's search for an order and buckets --------------------------------------------------------===//
//
// Variables: when each kernel and each bucket begins. A bucket is named by its first member (its leader), so that no partition
// comes twice; a collective that leads none has no bucket. Constraints:
//
//   stream     unary resource of the kernels, and of an activity of no duration for each bucket's begin, which thus lies in no kernel
//   channels   unary resource of the buckets of each fabric; a bucket's duration is looked up by its set of members
//   operands   before kernels and buckets
//
// all with edge finding (IPL_ADVANCED). Branching: leaders first, in the order of the program. Then times in their order (Godard,
// Laborie, Nuijten, Randomized large neighborhood search for cumulative scheduling, ICAPS 2005, "set times"): what can begin
// first begins, or is put off until something else has moved its earliest begin. That is complete, for a schedule in which
// something could begin earlier with all else as it is need not be looked at.
//===------------------------------------------------------------------------------------------------------------===//
#include "Model.h"
#include <gecode/int.hh>
#include <gecode/minimodel.hh>
#include <gecode/search.hh>

using namespace braid::oracle;
using namespace Gecode;

namespace {

class SetTimes : public Brancher {
  struct Pick : Choice {
    int place, time;
    Pick(const Brancher &brancher, int place, int time)
        : Choice(brancher, place < 0 ? 1 : 2), place(place), time(time) {}
    void archive(Archive &archive) const override {
      Choice::archive(archive);
      archive << place << time;
    }
  };

public:
  SetTimes(Home home, ViewArray<Int::IntView> begins) : Brancher(home), begins(begins) {
    putOff = static_cast<Space &>(home).alloc<int>(begins.size());
    std::fill_n(putOff, begins.size(), -1);
  }
  static void post(Home home, const IntVarArgs &variables) {
    (void)new (home) SetTimes(home, ViewArray<Int::IntView>(home, variables));
  }
  SetTimes(Space &home, SetTimes &other) : Brancher(home, other) {
    begins.update(home, other.begins);
    putOff = home.alloc<int>(begins.size());
    std::copy_n(other.putOff, begins.size(), putOff);
  }
  Actor *copy(Space &home) override { return new (home) SetTimes(home, *this); }
  size_t dispose(Space &) override { return sizeof(*this); }

  bool status(const Space &) const override {
    for (int i = 0; i < begins.size(); ++i)
      if (!begins[i].assigned())
        return true;
    return false;
  }
  const Choice *choice(Space &) override {
    int best = -1;
    for (int i = 0; i < begins.size(); ++i)
      if (!begins[i].assigned() && begins[i].min() > putOff[i] &&
          (best < 0 || std::pair(begins[i].min(), begins[i].max()) < std::pair(begins[best].min(), begins[best].max())))
        best = i;
    return new Pick(*this, best, best < 0 ? 0 : begins[best].min());
  }
  const Choice *choice(const Space &, Archive &archive) override {
    int place, time;
    archive >> place >> time;
    return new Pick(*this, place, time);
  }
  ExecStatus commit(Space &home, const Choice &choice, unsigned int alternative) override {
    auto &pick = static_cast<const Pick &>(choice);
    if (pick.place < 0)
      return ES_FAILED; // all that is left has been put off, and nothing moved it
    if (alternative == 0)
      return me_failed(begins[pick.place].eq(home, pick.time)) ? ES_FAILED : ES_OK;
    putOff[pick.place] = pick.time;
    return ES_OK;
  }
  void print(const Space &, const Choice &choice, unsigned int alternative, std::ostream &out) const override {
    auto &pick = static_cast<const Pick &>(choice);
    out << pick.place << (alternative ? " put off from " : " at ") << pick.time;
  }

private:
  ViewArray<Int::IntView> begins;
  int *putOff; // of each: the earliest begin at which it was put off
};

class Model : public Space {
public:
  Model(const Problem &problem, int limit) : begins(*this, int(problem.items.size()), 0, limit), problem(&problem) {
    int count = int(problem.items.size());
    IntVarArgs ends(count), durations(count), firsts(count), leaders;
    BoolVarArgs leads(count);
    for (int i = 0; i < count; ++i) {
      const Item &item = problem.items[i];
      firsts[i] = begins[i];
      if (item.group < 0) {
        durations[i] = IntVar(*this, item.duration, item.duration);
        leads[i] = BoolVar(*this, 1, 1);
      } else {
        durations[i] = IntVar(*this, 0, problem.groups[item.group].durations.back());
        leads[i] = BoolVar(*this, 0, 1);
      }
      ends[i] = expr(*this, begins[i] + durations[i]);
      rel(*this, ends[i] <= limit);
    }
    IntVarArgs lasts(ends);
    leader = IntVarArray(*this, 0);
    for (const Problem::Group &group : problem.groups)
      buckets(group, leads, durations, firsts, ends, lasts, leaders);
    leader = IntVarArray(*this, leaders);
    for (int i = 0; i < count; ++i)
      for (int operand : problem.items[i].operands)
        rel(*this, firsts[i] >= lasts[operand]);

    IntVarArgs stream, channel[2], channelDurations[2], channelEnds[2];
    IntArgs streamDurations;
    BoolVarArgs streamLeads, channelLeads[2];
    bool optional = false;
    for (int i = 0; i < count; ++i) {
      const Item &item = problem.items[i];
      if (!item.kernel && problem.beginsAnywhere)
        ; // wrong on purpose
      else {
        stream << begins[i];
        streamDurations << (item.kernel ? item.duration : 0);
        streamLeads << leads[i];
      }
      optional |= item.group >= 0;
      if (item.kernel)
        continue;
      channel[item.fabric] << begins[i];
      channelDurations[item.fabric] << durations[i];
      channelEnds[item.fabric] << ends[i];
      channelLeads[item.fabric] << leads[i];
    }
    if (optional)
      unary(*this, stream, streamDurations, streamLeads, IPL_ADVANCED);
    else
      unary(*this, stream, streamDurations, IPL_ADVANCED);
    for (int fabric : {0, 1}) {
      if (channel[fabric].size() == 0)
        continue;
      if (optional) {
        unary(*this, channel[fabric], channelDurations[fabric], channelEnds[fabric], channelLeads[fabric],
              IPL_ADVANCED);
        continue;
      }
      IntArgs fixed;
      for (const IntVar &duration : channelDurations[fabric])
        fixed << duration.val();
      unary(*this, channel[fabric], fixed, IPL_ADVANCED);
    }
    if (leaders.size())
      branch(*this, leaders, INT_VAR_NONE(), INT_VAL_MAX());
    SetTimes::post(*this, IntVarArgs(begins));
  }
  Model(Model &other) : Space(other), problem(other.problem) {
    begins.update(*this, other.begins);
    leader.update(*this, other.leader);
  }
  Space *copy() override { return new Model(*this); }

  Solution solution() const {
    Solution found;
    int count = int(problem->items.size());
    found.begin.resize(count);
    found.leader.resize(count);
    int at = 0;
    for (int i = 0; i < count; ++i)
      found.leader[i] = i;
    for (const Problem::Group &group : problem->groups)
      for (int member : group.members)
        found.leader[member] = group.members[leader[at++].val()];
    for (int i = 0; i < count; ++i) {
      found.begin[i] = begins[found.leader[i]].val();
      int duration =
          problem->items[i].kernel ? problem->items[i].duration : durationOf(*problem, found, found.leader[i]);
      found.end = std::max(found.end, found.begin[i] + duration);
    }
    return found;
  }

private:
  void buckets(const Problem::Group &group, BoolVarArgs &leads, IntVarArgs &durations, IntVarArgs &firsts,
               IntVarArgs &ends, IntVarArgs &lasts, IntVarArgs &leaders) {
    int size = int(group.members.size());
    IntVarArgs own, begin, end;
    for (int m = 0; m < size; ++m) {
      own << IntVar(*this, 0, m);
      begin << begins[group.members[m]];
      end << ends[group.members[m]];
    }
    std::vector<BoolVarArgs> in(size); // in[m][b]: member m is in the bucket that b leads
    for (int m = 0; m < size; ++m)
      for (int b = 0; b < size; ++b)
        in[m] << expr(*this, own[m] == b);
    IntArgs table(int(group.durations.size()));
    for (int set = 0; set < table.size(); ++set)
      table[set] = group.durations[set];
    for (int b = 0; b < size; ++b) {
      int task = group.members[b];
      rel(*this, leads[task] == in[b][b]);
      IntArgs bits;
      BoolVarArgs chosen;
      for (int m = b; m < size; ++m) {
        bits << (1 << m);
        chosen << in[m][b];
        rel(*this, in[m][b] <= in[b][b]);
      }
      IntVar set(*this, 0, table.size() - 1);
      linear(*this, bits, chosen, IRT_EQ, set);
      element(*this, table, set, durations[task]);
      rel(*this, !leads[task] >> (begins[task] == 0));
    }
    for (int m = 0; m < size; ++m) {
      int task = group.members[m];
      IntVar first(*this, 0, Int::Limits::max), last(*this, 0, Int::Limits::max);
      element(*this, begin, own[m], first);
      element(*this, end, own[m], last);
      rel(*this, last >= first + group.durations[size_t(1) << m]); // a bucket is no faster than one of its members
      firsts[task] = first;
      lasts[task] = last;
      leaders << own[m];
    }
    // Every bucket costs a start-up and its bytes: the whole load of the group is at least the cheapest partition's.
  }

  IntVarArray begins; ///< of kernels and buckets
  IntVarArray leader; ///< of members of groups: place of the leader in the group
  const Problem *problem;
};

} // namespace

SearchResult braid::oracle::solve(const Problem &problem, int limit, uint64_t mostFailures) {
  SearchResult result;
  Search::FailStop stop(mostFailures);
  Search::Options options;
  options.stop = &stop;
  options.threads = 1;
  Model root(problem, limit);
  DFS<Model> search(&root, options);
  if (Model *found = search.next()) {
    result.solution = found->solution();
    delete found;
  }
  result.failures = search.statistics().fail;
  result.complete = !search.stopped();
  return result;
}

int braid::oracle::rootBound(const Problem &problem, int low, int high) {
  while (low < high) {
    int middle = low + (high - low) / 2;
    Model model(problem, middle);
    if (model.status() == SS_FAILED)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}
