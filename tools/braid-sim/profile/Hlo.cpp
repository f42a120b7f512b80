//===- Hlo.cpp - what instructions of a compiled XLA module come from ----------------------------------------------===//
//
// A line of a module's text is an instruction:
//
//   ROOT %dot.1 = f32[128,512]{1,0} fusion(...), kind=kLoop, calls=%fused_computation, metadata={op_name="jit(f)/dot_general"
//                                                                                     source_file="f.py" source_line=8}
//
// Newer modules have stack_frame_id=13 instead of the last two, with tables at the top. A fusion's parts are the
// instructions that it calls. What XLA has made without metadata (a product brought into its library's form, between
// transposes that do have some) comes from where its nearest reader comes from, else its nearest operand.
//===------------------------------------------------------------------------------------------------------------===//
#include "Trace.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/MemoryBuffer.h"

using namespace mlir;
using namespace mlir::braid;
using namespace mlir::braid::sim;

/// What follows `key` up to the next blank, comma or brace, or between quotes; "" without the key.
static StringRef field(StringRef text, StringRef key) {
  size_t at = text.find(key);
  if (at == StringRef::npos)
    return "";
  StringRef rest = text.drop_front(at + key.size());
  if (rest.consume_front("\""))
    return rest.take_until([](char c) { return c == '"'; });
  return rest.take_until([](char c) { return c == ' ' || c == ',' || c == '}' || c == ')'; });
}

namespace {

class HloReader {
public:
  explicit HloReader(HloModule &hlo) : hlo(hlo) {}
  void line(StringRef text);
  void finish();

private:
  void table(StringRef text);
  void instruction(StringRef text);
  /// The parts of the nearest instruction that has some; `next`: readers, or operands.
  using Edges = std::map<std::string, std::vector<std::string>, std::less<>>;
  std::vector<std::vector<SourcePlace>> nearest(const std::string &name, const Edges &next) const;

  HloModule &hlo;
  std::string section, computation;
  std::map<std::string, std::string, std::less<>> files, locations, frames;
  std::map<std::string, std::vector<std::vector<SourcePlace>>, std::less<>> bodies; ///< of computations
  std::map<std::string, std::string> calls;                                         ///< of fusions
  Edges readers, operands;
};

void HloReader::table(StringRef text) {
  auto [id, rest] = text.split(' ');
  if (section == "FileNames")
    files[id.str()] = rest.trim('"').str();
  else if (section == "FileLocations")
    locations[id.str()] = files[field(rest, "file_name_id=").str()] + ":" + field(rest, "line=").str();
  else if (section == "StackFrames")
    frames[id.str()] = locations[field(rest, "file_location_id=").str()];
}

void HloReader::instruction(StringRef text) {
  text.consume_front("ROOT ");
  auto [name, rest] = text.split(" = ");
  name.consume_front("%");
  HloModule::Instruction &one = hlo.instructions[name.str()];
  // The type, which may be a tuple in parentheses; then "opcode(".
  size_t opcode = 0;
  for (int depth = 0; opcode < rest.size(); ++opcode) {
    depth += rest[opcode] == '(' || rest[opcode] == '[' || rest[opcode] == '{';
    depth -= rest[opcode] == ')' || rest[opcode] == ']' || rest[opcode] == '}';
    if (depth == 0 && rest[opcode] == ' ')
      break;
  }
  one.opcode = rest.drop_front(opcode).trim().take_until([](char c) { return c == '('; }).str();
  if (size_t at = rest.find("metadata={"); at != StringRef::npos) {
    StringRef metadata = rest.drop_front(at);
    SourcePlace place{field(metadata, "op_name=").str(), ""};
    if (StringRef frame = field(metadata, "stack_frame_id="); !frame.empty())
      place.line = frames[frame.str()];
    else if (StringRef file = field(metadata, "source_file="); !file.empty())
      place.line = (file + ":" + field(metadata, "source_line=")).str();
    if (!place.name.empty() || !place.line.empty())
      one.parts.push_back({place});
  }
  if (one.opcode == "fusion" || one.opcode == "call")
    if (StringRef body = field(rest, one.opcode == "fusion" ? "calls=%" : "to_apply=%"); !body.empty())
      calls[name.str()] = body.str();
  StringRef arguments = rest.drop_front(opcode).split('(').second.take_until([](char c) { return c == ')'; });
  for (auto [head, tail] = arguments.split('%'); !tail.empty(); std::tie(head, tail) = tail.split('%')) {
    std::string operand = tail.take_until([](char c) { return c == ',' || c == ' ' || c == ')'; }).str();
    operands[name.str()].push_back(operand);
    readers[operand].push_back(name.str());
  }
  bool free = one.opcode == "parameter" || one.opcode == "constant" || one.opcode == "broadcast";
  if (!free)
    llvm::append_range(bodies[computation], one.parts);
}

void HloReader::line(StringRef text) {
  StringRef trimmed = text.trim();
  if (trimmed.consume_front("HloModule "))
    hlo.name = trimmed.take_until([](char c) { return c == ',' || c == ' '; }).str();
  else if (trimmed == "FileNames" || trimmed == "FunctionNames" || trimmed == "FileLocations" ||
           trimmed == "StackFrames")
    section = trimmed.str();
  else if (trimmed.ends_with("{") && !trimmed.contains(" = ")) { // a computation begins
    section = "computation";
    trimmed.consume_front("ENTRY ");
    trimmed.consume_front("%");
    computation = trimmed.take_until([](char c) { return c == ' ' || c == '('; }).str();
  } else if (trimmed.contains(" = "))
    instruction(trimmed);
  else if (section != "computation" && !trimmed.empty() && llvm::isDigit(trimmed.front()))
    table(trimmed);
}

std::vector<std::vector<SourcePlace>> HloReader::nearest(const std::string &name, const Edges &next) const {
  std::vector<std::string> front{name};
  for (int distance = 0; distance < 4 && !front.empty(); ++distance) {
    std::vector<std::string> further;
    for (const std::string &at : front)
      if (auto edges = next.find(at); edges != next.end())
        for (const std::string &neighbour : edges->second) {
          auto found = hlo.instructions.find(neighbour);
          if (found != hlo.instructions.end() && found->second.opcode != "parameter" && !found->second.parts.empty())
            return found->second.parts;
          further.push_back(neighbour);
        }
    front = std::move(further);
  }
  return {};
}

void HloReader::finish() {
  for (auto &[name, body] : calls)
    if (auto found = bodies.find(body); found != bodies.end() && !found->second.empty())
      hlo.instructions[name].parts = found->second;
  std::map<std::string, std::vector<std::vector<SourcePlace>>> guessed;
  for (auto &[name, one] : hlo.instructions)
    if (one.parts.empty())
      if (guessed[name] = nearest(name, readers); guessed[name].empty())
        guessed[name] = nearest(name, operands);
  for (auto &[name, parts] : guessed)
    hlo.instructions[name].parts = std::move(parts);
}

} // namespace

std::string mlir::braid::sim::readHlo(const std::string &path, HloModule &hlo) {
  auto buffer = llvm::MemoryBuffer::getFile(path, /*IsText=*/true);
  if (!buffer)
    return path + ": cannot read, " + buffer.getError().message();
  HloReader reader(hlo);
  for (StringRef rest = (*buffer)->getBuffer(); !rest.empty();) {
    auto [text, after] = rest.split('\n');
    reader.line(text);
    rest = after;
  }
  reader.finish();
  if (hlo.name.empty() || hlo.instructions.empty())
    return path +
           ": expected a compiled XLA module as text (\"HloModule ...\"), as jitted.lower(...).compile().as_text() "
           "gives it";
  return "";
}
