//===- Files.h - where the ranks of the stand-in meet ---------------------------------------------------------------===//
//
// Everything that ranks tell each other is a file in a folder that all see, whole or not there: it is written beside its name, and
// renamed. So ranks may be threads, processes, or processes in namespaces of their own.
//===------------------------------------------------------------------------------------------------------------===//
#ifndef BRAID_TEST_NCCL_FILES_H
#define BRAID_TEST_NCCL_FILES_H

#include <atomic>
#include <cstdio>
#include <fstream>
#include <sstream>
#include <string>
#include <sys/stat.h>
#include <unistd.h>

namespace braid::test::files {

inline bool exists(const std::string &path) { return access(path.c_str(), F_OK) == 0; }

inline bool make(const std::string &folder) { return mkdir(folder.c_str(), 0777) == 0 || exists(folder); }

/// False: it was there already, or could not be written.
inline bool write(const std::string &path, const std::string &text) {
  static std::atomic<int> number{0};
  std::string beside = path + "." + std::to_string(getpid()) + "." + std::to_string(number++);
  std::ofstream(beside, std::ios::binary) << text;
  bool fresh = link(beside.c_str(), path.c_str()) == 0; // a rename would replace what is there
  unlink(beside.c_str());
  return fresh;
}

inline std::string read(const std::string &path) {
  std::ostringstream text;
  text << std::ifstream(path, std::ios::binary).rdbuf();
  return text.str();
}

inline void append(const std::string &path, const std::string &line) {
  if (FILE *file = std::fopen(path.c_str(), "a")) {
    std::fputs(line.c_str(), file);
    std::fclose(file);
  }
}

} // namespace braid::test::files

#endif
