//===- Compile.h - from a module in a file to code that can be called ---------------------------------*- C++ -*-===//
#ifndef BRAID_RUN_COMPILE_H
#define BRAID_RUN_COMPILE_H

#include "mlir/IR/BuiltinTypes.h"
#include <memory>
#include <string>
#include <vector>

namespace braid::run {

/// An argument or a result of the entry function.
struct Port {
  mlir::RankedTensorType type; ///< static shape; rank 0 for a number
  std::string data;            ///< an argument's `braid.data`, or empty
  bool isBuffer = false;       ///< a memref: the program may write it
};

/// A compiled module.
class Program {
public:
  virtual ~Program() = default;
  std::vector<Port> arguments, results;
  int64_t ranks = 0;   ///< that the module's collectives name; 1: it has none
  bool exactly = true; ///< else more ranks may take part: only pairs of permutes name them
  std::string paths;   ///< of the plans in the module's text: the connections that they ask for together
  std::string engines; ///< of the plans in the module's text, as BRAID_ENGINE names them; empty: Braid's own alone
  std::string marks;   ///< the table of marks as JSON; empty: compiled without

  /// Arguments, results and ranks as text, which a compiled object carries with it, and back. False: not such a text.
  std::string describe() const;
  bool readDescription(llvm::StringRef text, mlir::MLIRContext &context);

  /// `_mlir_ciface_<entry>`, to be called with pointers to pointers.
  virtual void (*entry())(void **) = 0;
  /// Writes the compiled object. Returns an error or "".
  virtual std::string writeObject(const std::string &path) = 0;
};

struct CompileOptions {
  std::string file, entry, cluster;
  std::string runtime;     ///< the shared library that calls go to
  bool marks = false;      ///< compile marks in
  bool dumpLlvm = false;   ///< print the LLVM dialect and stop
  bool keepObject = false; ///< writeObject will be called
};

/// What a compiled object exports: its description, and the entry as a function of packed arguments.
constexpr const char *kDescriptionSymbol = "braid_module_description";
constexpr const char *kMarksSymbol = "braid_module_marks";
constexpr const char *kEntrySymbol = "_mlir__mlir_ciface_braid_module_entry";

/// Bytes of one element; 0 if it has no size.
int64_t elementBytesOf(mlir::RankedTensorType type);

/// Parses, lowers and compiles. Errors are printed; then null.
std::unique_ptr<Program> compile(const CompileOptions &options);

/// Loads what `--emit-shared` has written. Errors are printed; then null.
std::unique_ptr<Program> load(const std::string &path);

} // namespace braid::run

#endif
