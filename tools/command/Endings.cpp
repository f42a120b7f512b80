//===- Endings.cpp - how the ranks of a job ended: one exit status, one line ---------------------------------------===//
#include "Endings.h"
#include <algorithm>
#include <csignal>
#include <sys/wait.h>

namespace braid::command {

bool wasKilled(int waitStatus) { return WIFSIGNALED(waitStatus) && WTERMSIG(waitStatus) != SIGABRT; }

int shellStatusOf(int waitStatus) {
  return WIFSIGNALED(waitStatus) ? 128 + WTERMSIG(waitStatus) : WEXITSTATUS(waitStatus);
}

void Endings::add(int rank, int waitStatus, bool forced) {
  if (waitStatus == 0)
    return;
  for (Kind &kind : kinds)
    if (kind.waitStatus == waitStatus && kind.forced == forced) {
      kind.ranks.push_back(rank);
      return;
    }
  auto order = [](const Kind &kind) { return kind.forced ? 2 : wasKilled(kind.waitStatus) ? 0 : 1; };
  Kind made{waitStatus, forced, {rank}};
  auto place = std::find_if(kinds.begin(), kinds.end(), [&](const Kind &kind) { return order(kind) > order(made); });
  kinds.insert(place, std::move(made));
}

int Endings::status() const { return kinds.empty() ? 0 : shellStatusOf(kinds.front().waitStatus); }

bool Endings::anyKilled() const {
  return std::any_of(kinds.begin(), kinds.end(), [](const Kind &kind) { return WIFSIGNALED(kind.waitStatus); });
}

/// "rank 3", "ranks 0-2, 5".
static std::string named(std::vector<int> ranks) {
  std::sort(ranks.begin(), ranks.end());
  std::string text = ranks.size() == 1 ? "rank " : "ranks ";
  for (size_t first = 0, next; first < ranks.size(); first = next) {
    for (next = first + 1; next < ranks.size() && ranks[next] == ranks[next - 1] + 1; ++next)
      ;
    text += (first ? ", " : "") + std::to_string(ranks[first]);
    if (next - first > 1)
      text += (next - first > 2 ? "-" : ", ") + std::to_string(ranks[next - 1]);
  }
  return text;
}

std::string Endings::text() const {
  std::string text;
  for (const Kind &kind : kinds) {
    bool one = kind.ranks.size() == 1;
    text += (text.empty() ? "" : "; ") + named(kind.ranks) + " ";
    if (kind.forced)
      text += "did not end in time and " + std::string(one ? "was" : "were") + " ended";
    else if (WIFSIGNALED(kind.waitStatus))
      text += std::string(one ? "was" : "were") + " killed by signal " + std::to_string(WTERMSIG(kind.waitStatus));
    else
      text += "ended with status " + std::to_string(WEXITSTATUS(kind.waitStatus));
  }
  return text;
}

} // namespace braid::command
