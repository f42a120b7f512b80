//===- MeasureOptions.cpp - what braid-bench measure is asked for -----------------------------------------------------===//
#include "MeasureOptions.h"
#include "braid/cost_models/Units.h"
#include "braid/runtime/algorithms/Nearest.h"
#include "braid/runtime/algorithms/StepProgram.h"
#include <cstdlib>
#include <cstring>
#include <sstream>

namespace braid::bench {

using namespace command;

const char *const measureUsage = R"(usage: braid-bench measure [options]

Plans each collective once, checks what it computes, then times it. One row for each collective, size and algorithm.

  --collective LIST   all_reduce, reduce_scatter, all_gather, all_to_all, broadcast, reduce, gather, scatter, permute
                      (to the next rank); default: the first five
  --sizes LIST        or --bytes: of the larger buffer of a rank, as nccl-tests counts them (of an all_gather the result;
                      braid-sim price takes the operand): 8,64KiB or a range of powers of two 8..64MiB (default)
  --type TYPE         f32 (default), f64, f16, bf16, i8, u8, i16, i32, i64; reductions are sums
  --algorithm LIST    by name, or all that serve the collective; default: the runtime's choice
  --channels N, --chunks N   of the algorithm; 0 (default): its own choice
  -n N                ranks to start on this host; absent: this is one rank of a launcher's job
  --transport NAME    shm, tcp, emulated+shm, ...; default: the runtime's choice
  --profile FILE, --seed N   emulated transport: the fabric's profile (braid-sim emit-profile; required there), and of all draws
                      (default 0)
  --buffers KIND      mapped (default): memory of braid_alloc; foreign: any other memory
  --bind              each rank on one processor of its own, as mpirun does; default: where the system puts it
  --seconds S         of each row, about (default 1)
  --samples N         for the median (default 25, at least 6; fewer where the time is up)
  --deadline S        how long a live rank may stay silent; default: the runtime's
  --csv FILE, --json FILE    the rows, written when all are there; default: none
  --runtime FILE      libbraid_rt.so; default: BRAID_RT_LIBRARY, else beside this program
)";

namespace {

uint64_t encodeInteger(unsigned value) { return value; }

uint64_t bitsOf(float value) {
  uint32_t bits;
  memcpy(&bits, &value, sizeof bits);
  return bits;
}

uint64_t encodeF32(unsigned value) { return bitsOf(float(value)); }
uint64_t encodeBf16(unsigned value) { return bitsOf(float(value)) >> 16; } // exact up to 256
uint64_t encodeF64(unsigned value) {
  double number = value;
  uint64_t bits;
  memcpy(&bits, &number, sizeof bits);
  return bits;
}
/// From float's exponent (bias 127, 23 bits of fraction) to half's (15, 10); exact up to 2048.
uint64_t encodeF16(unsigned value) { return value ? ((bitsOf(float(value)) >> 13) - ((127 - 15) << 10)) & 0xffff : 0; }

constexpr ElementType types[] = {
    {"f32", BRAID_F32, 4, encodeF32},     {"f64", BRAID_F64, 8, encodeF64},     {"f16", BRAID_F16, 2, encodeF16},
    {"bf16", BRAID_BF16, 2, encodeBf16},  {"i8", BRAID_I8, 1, encodeInteger},   {"u8", BRAID_U8, 1, encodeInteger},
    {"i16", BRAID_I16, 2, encodeInteger}, {"i32", BRAID_I32, 4, encodeInteger}, {"i64", BRAID_I64, 8, encodeInteger}};

std::vector<std::string> split(const std::string &text) {
  std::vector<std::string> parts;
  std::stringstream stream(text);
  for (std::string part; std::getline(stream, part, ',');)
    if (!part.empty())
      parts.push_back(part);
  return parts;
}

std::string listed(const std::vector<std::string> &words) {
  std::string text;
  for (const std::string &word : words)
    text += (text.empty() ? "" : ", ") + word;
  return text;
}

/// What is wrong with a word that is none of those known.
std::string unknown(const std::string &word, const std::vector<std::string> &known) {
  return "expected one of " + listed(known) + ", got '" + word + "'" + algorithms::didYouMean(word, known);
}

std::string readKinds(const std::string &text, std::vector<Kind> &kinds) {
  kinds.clear();
  std::vector<std::string> known(std::begin(kindNames), std::end(kindNames));
  for (const std::string &part : split(text)) {
    size_t before = kinds.size();
    for (size_t i = 0; i < sizeof(kindNames) / sizeof(*kindNames); ++i)
      if (part == kindNames[i])
        kinds.push_back(Kind(i));
    if (kinds.size() == before)
      return unknown(part, known);
  }
  return kinds.empty() ? "expected some of " + listed(known) + ", got none" : "";
}

std::string readSizes(const std::string &text, std::vector<size_t> &sizes) {
  sizes.clear();
  constexpr int64_t limit = int64_t(1) << 40;
  for (const std::string &part : split(text)) {
    size_t dots = part.find("..");
    cost::Result<cost::Bytes> low = cost::parseBytes(part.substr(0, dots), /*unitOptional=*/true);
    cost::Result<cost::Bytes> high = dots == std::string::npos ? low : cost::parseBytes(part.substr(dots + 2), true);
    if (!low || !high)
      return "expected sizes such as 8,64KiB, or ranges LOW..HIGH such as 8..64MiB, got '" + part + "'";
    if (low->value < 1 || *high < *low || high->value > limit)
      return "expected 0 < low <= high <= 1 TiB, got '" + part + "'";
    for (int64_t bytes = low->value; bytes < high->value; bytes *= 2)
      sizes.push_back(size_t(bytes));
    sizes.push_back(size_t(high->value));
  }
  return sizes.empty() ? "expected sizes such as 8,64KiB or 8..64MiB, got none" : "";
}

std::string readAlgorithms(const std::string &text, MeasureOptions &options) {
  options.algorithms = split(text);
  auto all = std::remove(options.algorithms.begin(), options.algorithms.end(), "all");
  options.allAlgorithms = all != options.algorithms.end();
  options.algorithms.erase(all, options.algorithms.end());
  std::vector<std::string> known = {"all"};
  for (const algorithms::Algorithm &algorithm : algorithms::registry())
    known.push_back(algorithm.name);
  for (const std::string &name : options.algorithms) {
    algorithms::StepOptions taken;
    std::string problem;
    if (!algorithms::parse(name, taken, problem))
      return problem.empty() ? unknown(name, known) : "algorithm '" + name + "': " + problem;
  }
  return options.allAlgorithms || !options.algorithms.empty() ? "" : "expected some of " + listed(known) + ", got none";
}

std::string readType(const std::string &text, const ElementType *&type) {
  std::vector<std::string> known;
  for (const ElementType &candidate : types)
    known.push_back(candidate.name);
  type = typeNamed(text);
  return type ? "" : unknown(text, known);
}

} // namespace

const ElementType *typeNamed(const std::string &name) {
  for (const ElementType &type : types)
    if (name == type.name)
      return &type;
  return nullptr;
}

std::vector<Option> rankOptions(MeasureOptions &options) {
  return {numberOption("n", options.ranks, 1, 85), // 85: sums are exact in bf16
          textOption("transport", options.transport),
          textOption("profile", options.profile),
          numberOption("seed", options.seed, 0, 9007199254740992.0),
          flagOption("bind", options.bind),
          numberOption("deadline", options.deadline, 0, 86400),
          textOption("runtime", options.runtime)};
}

std::string parseMeasureOptions(int argc, char **argv, MeasureOptions &options, bool &help) {
  std::string buffers = "mapped";
  std::vector<Option> all = rankOptions(options);
  all.insert(all.end(), {{"collective", [&](const std::string &value) { return readKinds(value, options.kinds); }},
                         {"sizes", [&](const std::string &value) { return readSizes(value, options.sizes); }},
                         {"bytes", [&](const std::string &value) { return readSizes(value, options.sizes); }},
                         {"type", [&](const std::string &value) { return readType(value, options.type); }},
                         {"algorithm", [&](const std::string &value) { return readAlgorithms(value, options); }},
                         numberOption("channels", options.channels, 0, 64),
                         numberOption("chunks", options.chunks, 0, 1 << 20),
                         wordOption("buffers", buffers, {"mapped", "foreign"}),
                         numberOption("seconds", options.seconds, 1e-3, 86400),
                         numberOption("samples", options.samples, 6, 1000),
                         textOption("csv", options.csv),
                         textOption("json", options.json)});
  Arguments arguments = readArguments(argc, argv, all);
  help = arguments.help;
  if (help || !arguments.error.empty())
    return arguments.error;
  if (!arguments.words.empty())
    return "expected an option of braid-bench measure (--help), got '" + arguments.words[0] + "'";
  options.mapped = buffers == "mapped";
  if (options.kinds.empty())
    readKinds("all_reduce,reduce_scatter,all_gather,all_to_all,broadcast", options.kinds);
  if (options.sizes.empty())
    readSizes("8..64MiB", options.sizes);
  if (!options.type)
    options.type = types;
  if (options.algorithms.empty() && !options.allAlgorithms)
    options.algorithms = {""};
  return "";
}

} // namespace braid::bench
