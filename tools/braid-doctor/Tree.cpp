//===- Tree.cpp - what a host says of itself: files, commands, environment --------------------------------------------===//
#include "Tree.h"
#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <poll.h>
#include <spawn.h>
#include <sstream>
#include <sys/wait.h>
#include <unistd.h>

namespace fs = std::filesystem;

namespace braid::doctor {

static constexpr size_t largestFile = 1 << 20; // nothing that is read here is larger; /dev/zero is
static constexpr std::chrono::seconds longestCommand(10);

Tree::Tree(std::string rootFolder, std::string recordFolder)
    : root(std::move(rootFolder)), record(std::move(recordFolder)) {}

void Tree::keep(const std::string &path, const std::string &text) {
  if (record.empty() || !error.empty())
    return;
  fs::path file = record + path;
  std::error_code failed;
  fs::create_directories(file.parent_path(), failed);
  std::ofstream out(file, std::ios::binary | std::ios::trunc);
  out << text;
  out.close();
  if (!out)
    error = file.string() +
            ": expected a file that can be written, got: " + (failed ? failed.message() : std::strerror(errno));
}

static std::optional<std::string> wholeFile(const std::string &path) {
  std::error_code failed;
  if (!fs::is_regular_file(path, failed)) // also no pipe, which nobody may write to
    return std::nullopt;
  std::ifstream in(path, std::ios::binary);
  std::string text(largestFile, 0);
  if (!in || (in.read(text.data(), std::streamsize(text.size())), in.bad()))
    return std::nullopt;
  text.resize(size_t(in.gcount()));
  return text;
}

static std::string trimmed(std::string text) {
  while (!text.empty() && std::isspace(static_cast<unsigned char>(text.back())))
    text.pop_back();
  return text;
}

/// Names of interfaces and devices come from files: one that leads out of the tree is not followed, and not written to either.
static bool leadsOut(const fs::path &path) {
  return std::any_of(path.begin(), path.end(), [](const fs::path &name) { return name == ".."; });
}

std::optional<std::string> Tree::peek(const std::string &path) const {
  return leadsOut(path) ? std::nullopt : wholeFile(root + path);
}

std::optional<std::string> Tree::bytes(const std::string &path) {
  std::optional<std::string> text = peek(path);
  if (text)
    keep(path, *text);
  return text;
}

std::optional<std::string> Tree::read(const std::string &path) {
  std::optional<std::string> text = bytes(path);
  return text ? std::optional(trimmed(*text)) : std::nullopt;
}

std::vector<std::string> Tree::list(const std::string &path) {
  std::vector<std::string> names;
  std::error_code failed;
  if (leadsOut(path))
    return names;
  for (fs::directory_iterator at(root + path, failed), end; !failed && at != end; at.increment(failed))
    names.push_back(at->path().filename());
  std::sort(names.begin(), names.end());
  if (!record.empty() && !names.empty()) // also of what no check reads on
    for (const std::string &name : names)
      if (std::error_code unknown; fs::is_directory(root + path + "/" + name, unknown))
        fs::create_directories(record + path + "/" + name, unknown);
  return names;
}

/// Where a command is: on the path, or where administrators' commands are (dcb is in /sbin, which users seldom have on theirs).
static std::string placeOf(const std::string &command) {
  const char *path = std::getenv("PATH");
  std::istringstream folders(std::string(path ? path : "/usr/bin:/bin") + ":/usr/sbin:/sbin");
  for (std::string folder; std::getline(folders, folder, ':');)
    if (std::string place = folder + "/" + command; access(place.c_str(), X_OK) == 0)
      return place;
  return "";
}

/// Runs a command without a shell; its standard output if it succeeds in time. Never by fork, which would part this process from
/// pages that are registered with a device.
static std::optional<std::string> outputOf(const std::vector<std::string> &words) {
  int pipe[2];
  std::string place = placeOf(words[0]);
  if (place.empty() || pipe2(pipe, O_CLOEXEC) != 0)
    return std::nullopt;
  std::vector<char *> arguments;
  for (const std::string &word : words)
    arguments.push_back(const_cast<char *>(word.c_str()));
  arguments.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDWR, 0);
  posix_spawn_file_actions_adddup2(&actions, pipe[1], 1);
  posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_RDWR, 0);
  pid_t child = -1;
  if (posix_spawn(&child, place.c_str(), &actions, nullptr, arguments.data(), environ) != 0)
    child = -1;
  posix_spawn_file_actions_destroy(&actions);
  close(pipe[1]);
  std::string text;
  auto end = std::chrono::steady_clock::now() + longestCommand;
  bool inTime = child > 0;
  while (inTime) {
    auto left = std::chrono::duration_cast<std::chrono::milliseconds>(end - std::chrono::steady_clock::now()).count();
    pollfd ready = {pipe[0], POLLIN, 0};
    char block[4096];
    int polled = left > 0 ? poll(&ready, 1, int(left)) : 0;
    if (polled < 0 && errno == EINTR)
      continue;
    ssize_t got = polled > 0 ? ::read(pipe[0], block, sizeof block) : -1;
    if (got == 0)
      break;
    inTime = got > 0 && text.size() < largestFile;
    text.append(block, inTime ? size_t(got) : 0);
  }
  close(pipe[0]);
  int status = 1;
  if (child > 0) {
    if (!inTime)
      kill(child, SIGKILL);
    while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
  }
  return inTime && WIFEXITED(status) && WEXITSTATUS(status) == 0 ? std::optional(text) : std::nullopt;
}

std::optional<std::string> Tree::command(const std::string &name, const std::vector<std::string> &words) {
  std::string path = "/commands/" + name;
  if (leadsOut(path))
    return std::nullopt;
  std::optional<std::string> text = live() ? outputOf(words) : wholeFile(root + path);
  if (!text)
    return std::nullopt;
  keep(path, *text);
  return trimmed(*text);
}

std::optional<std::string> Tree::variable(const std::string &name) {
  std::optional<std::string> found;
  if (live()) {
    if (const char *value = std::getenv(name.c_str()))
      found = value;
  } else {
    std::istringstream lines(wholeFile(root + "/environment").value_or(""));
    for (std::string line; std::getline(lines, line);)
      if (line.rfind(name + "=", 0) == 0)
        found = trimmed(line.substr(name.size() + 1));
  }
  if (found && variables.find("\n" + name + "=") == std::string::npos)
    keep("/environment", (variables += "\n" + name + "=" + *found) + "\n");
  return found;
}

} // namespace braid::doctor
