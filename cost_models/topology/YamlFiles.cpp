//===- YamlFiles.cpp - a cluster file and those that it is based on ---------------------------------------------===//
#include "topology/YamlFiles.h"
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <sstream>
#include <sys/stat.h>

namespace braid::cost {

static std::string readFile(const std::string &path) {
  struct stat status{};
  if (::stat(path.c_str(), &status) != 0)
    throw ReadError{Error{std::string("cluster file: expected a readable file, got: ") + std::strerror(errno), path}};
  if (S_ISDIR(status.st_mode))
    throw ReadError{Error{"cluster file: expected a file, got a directory", path}};
  if (S_ISCHR(status.st_mode) || S_ISBLK(status.st_mode)) // /dev/zero has no end
    throw ReadError{Error{"cluster file: expected a file, got a device", path}};
  errno = 0;
  std::ifstream file(path, std::ios::binary);
  std::ostringstream content;
  if (!file || !(content << file.rdbuf())) {
    if (file && file.peek() == EOF && !file.bad()) // nothing to read is reported as a failure of the stream
      return {};
    throw ReadError{Error{std::string("cluster file: expected a readable file, got: ") +
                              (errno ? std::strerror(errno) : "an error while reading"),
                          path}};
  }
  if (content.tellp() > 1 << 20)
    throw ReadError{Error{"cluster file: expected less than 1 MiB of text, got more", path}};
  return content.str();
}

/// What YAML takes for something else than it looks like, or complains of in another line.
static void checkLines(const std::string &path, const std::string &text) {
  auto fail = [&](int line, const std::string &message) {
    throw ReadError{Error{"cluster file: " + message, path + ":" + std::to_string(line)}};
  };
  std::istringstream lines(text);
  std::string line;
  bool content = false; // of the first document
  for (int number = 1; std::getline(lines, line); ++number) {
    size_t begin = line.find_first_not_of(" \t\r");
    if (begin == std::string::npos || line[begin] == '#')
      continue;
    if (line.find('\t') < begin)
      fail(number, "expected spaces as indentation, got a tab");
    bool begins = line.compare(0, 3, "---") == 0 && (line.size() == 3 || std::strchr(" \t\r", line[3]));
    if (begins && content)
      fail(number, "expected one document, got another one; keep one cluster in a file, and take out this \"---\"");
    content |= begins || line[0] != '%';
  }
}

static YAML::Node parseFile(const std::string &path) {
  std::string text = readFile(path);
  checkLines(path, text);
  try {
    std::vector<YAML::Node> documents = YAML::LoadAll(text);
    if (documents.empty() || documents[0].IsNull())
      throw ReadError{Error{"cluster file: expected a mapping of keys, got an empty file", path}};
    if (documents.size() > 1)
      throw ReadError{Error{"cluster file: expected one document, got " + std::to_string(documents.size()), path}};
    return documents[0];
  } catch (const YAML::Exception &exception) {
    std::string place = exception.mark.is_null() ? path : path + ":" + std::to_string(exception.mark.line + 1);
    throw ReadError{Error{"cluster file: expected YAML, got: " + exception.msg, place}};
  }
}

/// Keys that the caller sets, as a file above the others.
static PlacedNode overridesAsFile(const std::vector<ClusterOverride> &overrides, const std::string &path) {
  YAML::Node root(YAML::NodeType::Map);
  root["source"] = "set by the caller";
  for (const auto &[key, value] : overrides) {
    YAML::Node section;
    section.reset(root);
    size_t begin = 0, dot;
    while ((dot = key.find('.', begin)) != std::string::npos) {
      section.reset(section[key.substr(begin, dot - begin)]);
      begin = dot + 1;
    }
    section[key.substr(begin)] = value;
  }
  return {overridePrefix + overrides.front().first + " on top of " + path, YAML::Load(YAML::Dump(root))};
}

std::string besideFile(const std::string &file, const std::string &path) {
  size_t slash = file.rfind('/');
  return path[0] == '/' || slash == std::string::npos ? path : file.substr(0, slash + 1) + path;
}

/// The file that this one is based on, or an empty text; `place`: of the key.
static std::string baseOf(const PlacedNode &file, std::string &place) {
  if (!file.node.IsMap())
    return {};
  std::string base;
  for (const auto &entry : file.node)
    if (entry.first.IsScalar() && entry.first.Scalar() == "base") {
      place = PlacedNode{file.file, entry.second, entry.first}.line();
      auto fail = [&](const std::string &message) { throw ReadError{Error{"base: expected " + message, place}}; };
      if (!base.empty())
        fail("once, got it twice; let the first base have the second one as its own");
      if (entry.second.IsSequence())
        fail("the path of one file, got a list; a file has one base, which may have one itself");
      if (entry.second.IsMap())
        fail("the path of a file, got a mapping");
      base = entry.second.IsScalar() ? entry.second.Scalar() : "";
      if (base.find_first_not_of(" \t\r\n") == std::string::npos)
        fail("the path of a file, got nothing; leave the key out where there is none");
    }
  return base.empty() ? base : besideFile(file.file, base);
}

std::vector<PlacedNode> readLayers(const std::string &path, const std::vector<ClusterOverride> &overrides) {
  std::vector<PlacedNode> layers;
  if (!overrides.empty())
    layers.push_back(overridesAsFile(overrides, path));
  std::string next = path, place;
  while (!next.empty()) {
    if (layers.size() == 8 + !overrides.empty())
      throw ReadError{Error{"base: expected at most 7 files below each other, got more (a circle?)", place}};
    YAML::Node root;
    try {
      root.reset(parseFile(next));
    } catch (ReadError &error) {
      if (!place.empty())
        error.error.message += " (base of " + place + ")";
      throw;
    }
    layers.push_back({next, root});
    next = baseOf(layers.back(), place);
  }
  return layers;
}

std::vector<std::string> clusterFiles(const std::string &path) {
  std::vector<std::string> files;
  try {
    for (const PlacedNode &layer : readLayers(path, {})) {
      files.push_back(layer.file);
      if (!layer.node.IsMap())
        continue;
      for (const auto &section : layer.node)
        if (section.first.IsScalar() && section.first.Scalar() == "topology" && section.second.IsMap())
          for (const auto &entry : section.second)
            if (entry.first.IsScalar() && entry.first.Scalar() == "path_table" && entry.second.IsScalar() &&
                !entry.second.Scalar().empty())
              files.push_back(besideFile(layer.file, entry.second.Scalar()));
    }
  } catch (const std::exception &) { // readCluster says what is wrong
  } catch (const ReadError &) {
  }
  if (files.empty())
    files.push_back(path);
  return files;
}

} // namespace braid::cost
