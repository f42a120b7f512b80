//===- Program.cpp - the description that a compiled object carries ---------------------------------------------===//
//
//   2;<ranks>;<function type>;<data of argument 0>;<data of argument 1>;...
//
// Data may be a path, with any character in it, and goes as hexadecimal digits.
//
//===------------------------------------------------------------------------------------------------------------===//
#include "Compile.h"

#include "mlir/AsmParser/AsmParser.h"
#include "mlir/IR/MLIRContext.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/raw_ostream.h"
#include <cstring>
#include <dlfcn.h>
#include <elf.h>
#include <fstream>

using namespace mlir;

namespace braid::run {

std::string Program::describe() const {
  std::string text;
  llvm::raw_string_ostream os(text);
  auto types = [&](const std::vector<Port> &ports) {
    os << '(';
    llvm::interleaveComma(ports, os, [&](const Port &port) {
      if (port.isBuffer)
        os << MemRefType::get(port.type.getShape(), port.type.getElementType());
      else
        os << port.type;
    });
    os << ')';
  };
  os << "2;" << ranks << (exactly ? ";" : "+;");
  types(arguments);
  os << " -> ";
  types(results);
  for (const Port &port : arguments)
    os << ';' << llvm::toHex(port.data);
  return text;
}

static RankedTensorType tensorOf(Type type) {
  auto buffer = dyn_cast<MemRefType>(type);
  return buffer ? RankedTensorType::get(buffer.getShape(), buffer.getElementType()) : dyn_cast<RankedTensorType>(type);
}

bool Program::readDescription(llvm::StringRef text, MLIRContext &context) {
  auto [version, rest] = text.split(';');
  auto [count, types] = rest.split(';');
  auto [signature, data] = types.split(';');
  auto function = dyn_cast_or_null<FunctionType>(parseType(signature, &context));
  exactly = !count.consume_back("+");
  if (version != "2" || count.getAsInteger(10, ranks) || !function)
    return false;
  for (Type type : function.getInputs()) {
    auto [mine, others] = data.split(';');
    std::string text;
    if (!llvm::tryGetFromHex(mine, text))
      return false;
    arguments.push_back({tensorOf(type), text, isa<MemRefType>(type)});
    data = others;
  }
  for (Type type : function.getResults())
    results.push_back({tensorOf(type), "", isa<MemRefType>(type)});
  return llvm::all_of(arguments, [](const Port &port) { return bool(port.type); }) &&
         llvm::all_of(results, [](const Port &port) { return bool(port.type); });
}

namespace {

class LoadedProgram : public Program {
public:
  LoadedProgram() : context(MLIRContext::Threading::DISABLED) {}
  void (*entry())(void **) override { return function; }
  std::string writeObject(const std::string &) override { return "it is compiled already"; }

  MLIRContext context; ///< of the types
  void (*function)(void **) = nullptr;
};

} // namespace

/// Whether the file ends before its table of sections, which linkers put last: a loader maps what is not there, and the process ends by
/// a signal when it looks.
static bool isCutOff(const std::string &path) {
  std::ifstream file(path, std::ios::binary);
  Elf64_Ehdr head = {};
  file.read(reinterpret_cast<char *>(&head), sizeof head);
  if (size_t(file.gcount()) != sizeof head || memcmp(head.e_ident, ELFMAG, SELFMAG) != 0)
    return false; // the loader says what it is
  file.seekg(0, std::ios::end);
  return uint64_t(file.tellg()) < head.e_shoff + uint64_t(head.e_shnum) * head.e_shentsize;
}

std::unique_ptr<Program> load(const std::string &path) {
  auto failed = [&](const llvm::Twine &why) {
    llvm::errs() << "braid-run: error: " << path << ": " << why << '\n';
    return nullptr;
  };
  if (isCutOff(path))
    return failed("expected a whole module, got one whose end is missing");
  // A path, even without a slash: the loader would search for a plain name.
  void *library = dlopen(path.find('/') == std::string::npos ? ("./" + path).c_str() : path.c_str(), RTLD_NOW);
  if (!library)
    return failed(dlerror());
  auto *description = static_cast<const char *>(dlsym(library, kDescriptionSymbol));
  auto program = std::make_unique<LoadedProgram>();
  program->function = reinterpret_cast<void (*)(void **)>(dlsym(library, kEntrySymbol));
  if (auto *marks = static_cast<const char *>(dlsym(library, kMarksSymbol)))
    program->marks = marks;
  if (!description || !program->function || !program->readDescription(description, program->context))
    return failed("expected a module that braid-run has compiled (--emit-shared), of this release");
  return program;
}

} // namespace braid::run
