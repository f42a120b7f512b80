//===- AtomicFile.h - a file is written whole or not at all -----------------------------------------------------===//
#ifndef BRAID_RUNTIME_TRACE_ATOMICFILE_H
#define BRAID_RUNTIME_TRACE_ATOMICFILE_H

#include <string>

namespace braid::trace {

/// Writes `content` to a temporary file beside `path`, then renames it over `path`: a reader sees the old file or the
/// new one, and a full disk leaves the old one. What is not a regular file (a pipe, /dev/stdout) is written in place.
/// Returns an empty string, or a sentence with the path and the system's reason.
std::string writeAtomically(const std::string &path, const std::string &content);

/// Whether writeAtomically can be expected to succeed, without leaving a trace: its sentence, or an empty string. For tools
/// that work for long before they write.
std::string checkWritable(const std::string &path);

} // namespace braid::trace

#endif
