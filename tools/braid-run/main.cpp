//===- main.cpp - braid-run: compiles a module and runs it on N ranks -------------------------------------------===//
//
//   braid-run program.mlir -n 4 --steps 20 --carry 0:0,1:1
//
// Without -n under a launcher (braid-launch, torchrun, mpirun, srun) this process is one rank of the launcher's job.
//
//===------------------------------------------------------------------------------------------------------------===//
#include "../command/ClusterInputs.h"
#include "Compile.h"
#include "Data.h"
#include "Measure.h"
#include "Ranks.h"
#include "Step.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FileUtilities.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Process.h"
#include "llvm/Support/Program.h"
#include "llvm/Support/raw_ostream.h"
#include <csignal>

using namespace braid::run;
namespace cl = llvm::cl;

namespace {

cl::OptionCategory category("braid-run options");
cl::opt<std::string> input(cl::Positional, cl::Required,
                           cl::desc("program.mlir, or a shared object that --emit-shared wrote"), cl::cat(category));
cl::opt<int> count("n", cl::desc("ranks to start on this host; absent: one rank of the launcher's job, or one"),
                   cl::init(0), cl::cat(category));
cl::opt<std::string> entry("entry", cl::desc("function to call"), cl::init("main"), cl::cat(category));
cl::opt<std::string> cluster("cluster", cl::desc("cluster file that plans must have been made for"), cl::cat(category));
cl::opt<int> steps("steps", cl::desc("how often the function is called"), cl::init(1), cl::cat(category));
cl::list<std::string>
    argumentData("arg",
                 cl::desc("what an argument holds, on top of braid.data in the program: I=zeros, "
                          "ones, iota, rank, const:V, seed:S[:A], rank-seed:S[:A], file:PATH (%r: rank)"),
                 cl::cat(category));
cl::list<std::string> carry("carry", cl::CommaSeparated, cl::desc("RESULT:ARGUMENT, passed on to the next step"),
                            cl::cat(category));
cl::list<std::string> output("out", cl::desc("RESULT=FILE (%r: rank), raw, after the last step"), cl::cat(category));
cl::opt<bool> allRanks("all-ranks", cl::desc("all ranks print results, not only rank 0"), cl::cat(category));
cl::opt<int64_t> elements("elements", cl::desc("how many of a result's elements are printed"), cl::init(8),
                          cl::cat(category));
cl::opt<bool> timeSteps("time", cl::desc("print the median time of a step"), cl::cat(category));
cl::opt<bool> showMemory("memory",
                         cl::desc("print how many bytes the last step copied, and how often it asked for memory"),
                         cl::cat(category));
cl::opt<double> grace("grace", cl::desc("seconds that other ranks have to end after one has failed"), cl::init(2),
                      cl::cat(category));
cl::opt<std::string> transport("transport",
                               cl::desc("of the runtime: shm, tcp, verbs, emulated+shm, ...; absent: its choice"),
                               cl::cat(category));
cl::opt<std::string> profile("profile", cl::desc("emulated transport: the cluster's fabric profile (JSON)"),
                             cl::cat(category));
cl::opt<uint64_t> seed("seed", cl::desc("emulated transport: of all draws"), cl::init(0), cl::cat(category));
enum class ClockKind { None, Wall, Virtual };
cl::opt<ClockKind> clockKind("clock", cl::desc("emulated transport: the clock"), cl::init(ClockKind::None),
                             cl::values(clEnumValN(ClockKind::Wall, "wall", "the machine's time, stretched"),
                                        clEnumValN(ClockKind::Virtual, "virtual", "exact and repeatable")),
                             cl::cat(category));
cl::opt<uint64_t> firstJob("job", cl::desc("emulated transport: number of the first job, whose draws apply"),
                           cl::init(0), cl::cat(category));
cl::opt<int> jobs("jobs", cl::desc("emulated transport: jobs, of --steps each, whose draws are fresh"), cl::init(1),
                  cl::cat(category));
cl::opt<int> leadIn("lead-in", cl::desc("executions before the first step, which no time counts"), cl::init(0),
                    cl::cat(category));
cl::opt<std::string> stepTimes("step-times", cl::desc("write the time of each step (JSON) to a file"),
                               cl::cat(category));
cl::opt<bool>
    fibers("fibers",
           cl::desc("ranks are fibers of one process, with --transport emulated+in-process, or emulated+sizes, which "
                    "moves no data, and --clock virtual"),
           cl::cat(category));
cl::opt<braid_module_kernel>
    computeBy("compute", cl::desc("what braid.compute is"), cl::init(BRAID_MODULE_SLEEP),
              cl::values(clEnumValN(BRAID_MODULE_SLEEP, "sleep", "a sleep, during which collectives go on"),
                         clEnumValN(BRAID_MODULE_BUSY, "busy", "arithmetic that keeps a processor busy")),
              cl::cat(category));
cl::opt<double> deadline("deadline", cl::desc("seconds that a live rank may stay silent; absent: the runtime's"),
                         cl::init(0), cl::cat(category));
cl::opt<std::string> runtimeLibrary("runtime", cl::desc("libbraid_rt.so; absent: beside this program"),
                                    cl::cat(category));
cl::opt<std::string> emitObject("emit-object", cl::desc("write the compiled object to a file and stop"),
                                cl::cat(category));
cl::opt<std::string> emitShared("emit-shared",
                                cl::desc("write a shared object (linked by the C compiler) to a file and stop"),
                                cl::cat(category));
cl::opt<std::string> timeline("timeline", cl::desc("write a Perfetto timeline of what the ranks did"),
                              cl::cat(category));
cl::opt<std::string>
    recordProfile("record-profile",
                  cl::desc("write the compute profile of this program, for the planner (compute-profile)"),
                  cl::cat(category));
cl::opt<int> warmUp("warm-up", cl::desc("steps at the start that neither of the two shows; absent: 2, or all but one"),
                    cl::init(-1), cl::cat(category));
cl::opt<bool> marks("marks", cl::desc("with --emit-*: compile marks in, so that --timeline and --record-profile work"),
                    cl::cat(category));
cl::opt<bool> emitLlvm("emit-llvm-dialect", cl::desc("print the lowered module and stop"), cl::cat(category));

int failure(const llvm::Twine &message, int status = 2) {
  llvm::errs() << "braid-run: error: " << message << '\n';
  return status;
}

/// The same for a rank, with its number first; -1: the launcher's, which the runtime has named if it knows it. What another rank
/// that this process has started has said already is not repeated.
int rankFailure(llvm::StringRef message, int rank, int status) {
  if (rank < 0)
    return failure(message, status);
  std::string prefix = ("rank " + llvm::Twine(rank) + ": ").str();
  message.consume_front(prefix); // the runtime's errors have it
  if (message.contains("is gone: the process that served it") && anySaid())
    return status; // that process has said why
  return firstToSay(message.str()) ? failure(prefix + message, status) : status;
}

/// bin/braid-run and lib/libbraid_rt.so, in the build and when installed.
std::string findRuntime(const char *argv0) {
  if (!runtimeLibrary.empty())
    return runtimeLibrary;
  if (const char *set = getenv("BRAID_RT_LIBRARY"); set && *set)
    return set;
  std::string self = llvm::sys::fs::getMainExecutable(argv0, reinterpret_cast<void *>(&findRuntime));
  llvm::SmallString<128> path(llvm::sys::path::parent_path(llvm::sys::path::parent_path(self)));
  llvm::sys::path::append(path, "lib", "libbraid_rt.so");
  return std::string(path);
}

/// "I=TEXT" or "I:TEXT" with I below `limit`.
bool readIndexed(llvm::StringRef text, char separator, size_t limit, unsigned &index, std::string &rest) {
  auto [left, right] = text.split(separator);
  rest = right.str();
  return !left.getAsInteger(10, index) && index < limit && !right.empty();
}

std::string readRunOptions(const Program &program, RunOptions &options) {
  options.steps = leadIn + jobs * steps;
  options.leadIn = leadIn;
  options.times = stepTimes;
  options.allRanks = allRanks;
  options.elements = elements;
  options.time = timeSteps;
  options.memory = showMemory;
  unsigned index;
  std::string rest;
  auto limit = [](size_t count, const char *what) {
    return count ? std::string(" with ") + what + " 0 to " + std::to_string(count - 1)
                 : std::string(": there is no ") + what;
  };
  for (const std::string &text : argumentData) {
    if (!readIndexed(text, '=', program.arguments.size(), index, rest))
      return "--arg: expected ARGUMENT=DATA" + limit(program.arguments.size(), "argument") + ", got " + text;
    options.data[index] = rest;
  }
  for (const std::string &text : output) {
    if (!readIndexed(text, '=', program.results.size(), index, rest))
      return "--out: expected RESULT=FILE" + limit(program.results.size(), "result") + ", got " + text;
    options.outputs[index] = rest;
  }
  for (const std::string &text : carry) {
    unsigned argument;
    if (!readIndexed(text, ':', program.results.size(), index, rest) ||
        llvm::StringRef(rest).getAsInteger(10, argument) || argument >= program.arguments.size() ||
        program.arguments[argument].type != program.results[index].type)
      return "--carry: expected RESULT:ARGUMENT of the same type, got " + text;
    options.carry[index] = argument;
  }
  return "";
}

bool emulated() { return llvm::StringRef(transport).starts_with("emulated"); }

/// What is wrong with the command line whatever the program is, before time goes into compiling it. An error or "".
std::string checkOptions() {
  if (count < 0 || (count == 0 && count.getNumOccurrences()))
    return "-n: expected a number of ranks from 1, got " + std::to_string(count);
  if (steps < 1 || jobs < 1 || leadIn < 0)
    return "--steps, --jobs, --lead-in: expected at least 1, 1 and 0, got " + std::to_string(steps) + ", " +
           std::to_string(jobs) + " and " + std::to_string(leadIn);
  if (elements < 0)
    return "--elements: expected 0 or more, got " + std::to_string(elements);
  for (const cl::opt<double> *option : {&grace, &deadline})
    if (!(*option >= 0 && *option <= 1e6))
      return "--" + option->ArgStr.str() + ": expected 0 to 1000000 seconds, got " +
             llvm::formatv("{0}", option->getValue()).str();
  if (computeBy == BRAID_MODULE_BUSY && clockKind == ClockKind::Virtual)
    return "--compute busy: expected a clock that goes on meanwhile, got the virtual one";
  // An option of the emulated fabric that is not there would be ignored: the times would be another thing than asked for.
  for (const cl::Option *option :
       std::initializer_list<const cl::Option *>{&profile, &seed, &clockKind, &firstJob, &jobs})
    if (option->getNumOccurrences() && !emulated())
      return "--" + option->ArgStr.str() + ": expected an emulated transport (--transport emulated+shm, ...), got " +
             (transport.empty() ? "none" : transport.getValue());
  if (fibers && (!timeline.empty() || !recordProfile.empty()))
    return "--fibers: expected neither --timeline nor --record-profile, which need a process for each rank";
  if (fibers && count < 1)
    return "--fibers: expected the number of ranks (-n), got none";
  if (fibers && transport != "emulated+in-process" && transport != "emulated+sizes")
    return "--fibers: expected --transport emulated+in-process or emulated+sizes, got " +
           (transport.empty() ? "none" : transport.getValue());
  const ::braid::command::Files inputs =
      ::braid::command::clusterInputs("--cluster", cluster, {{"the program", input}, {"--profile", profile}});
  for (const std::string &text : output) {
    std::string path = llvm::StringRef(text).split('=').second.str();
    for (int rank = 0; rank < std::max(1, count.getValue()); ++rank)
      if (std::string why =
              ::braid::command::checkOutputs({{"--out", expandPath(path, rank, std::max(1, +count))}}, inputs);
          !why.empty())
        return why;
  }
  return ::braid::command::checkOutputs({{"--emit-object", emitObject},
                                         {"--emit-shared", emitShared},
                                         {"--step-times", stepTimes},
                                         {"--timeline", timeline},
                                         {"--record-profile", recordProfile}},
                                        inputs);
}

/// A crash of the program that runs is its own: LLVM's handlers would ask for a bug report about the compiler.
void forgetHandlers() {
  for (int number : {SIGILL, SIGTRAP, SIGABRT, SIGFPE, SIGBUS, SIGSEGV, SIGSYS})
    signal(number, SIG_DFL);
}

int linkShared(const std::string &object, const std::string &shared, const std::string &runtime) {
  llvm::ErrorOr<std::string> linker = std::errc::no_such_file_or_directory;
  for (const char *compiler : {"cc", "clang", "gcc", "clang-22"}) // Debian's clang-22 alone brings no cc
    if (linker = llvm::sys::findProgramByName(compiler); linker)
      break;
  if (!linker)
    return failure("--emit-shared: expected a C compiler that links (cc, clang, gcc or clang-22), got none");
  std::string directory = llvm::sys::path::parent_path(runtime).str(), search = "-Wl,-rpath," + directory;
  // Beside its place, which it takes when it is whole. Text relocations would be an error of the linker.
  std::string part = shared + "." + std::to_string(llvm::sys::Process::getProcessId()) + ".part", error;
  llvm::FileRemover removeObject(object), removePart(part);
  std::vector<llvm::StringRef> command = {*linker, "-shared", "-Wl,-z,text", "-o", part, object, runtime, search};
  int status = llvm::sys::ExecuteAndWait(*linker, command, std::nullopt, {}, 0, 0, &error);
  if (status != 0)
    return failure("--emit-shared: linking failed " + error);
  if (std::error_code code = llvm::sys::fs::rename(part, shared))
    return failure("--emit-shared: cannot write " + shared + ": " + code.message());
  return 0;
}

} // namespace

static int runMain(int argc, char **argv) {
  cl::HideUnrelatedOptions(category);
  cl::ParseCommandLineOptions(argc, argv, "compiles a module once and runs it on N ranks\n");
  if (std::string error = checkOptions(); !error.empty())
    return failure(error);

  CompileOptions compileOptions;
  compileOptions.file = input;
  compileOptions.entry = entry;
  compileOptions.cluster = cluster;
  compileOptions.dumpLlvm = emitLlvm;
  MeasureOptions measure;
  measure.timeline = timeline;
  measure.profile = recordProfile;
  measure.fabric = profile;
  measure.steps = steps;
  measure.warmUp = warmUp.getNumOccurrences() ? warmUp : std::min(2, steps - 1);
  if (measure.wanted() && (measure.warmUp < 0 || measure.warmUp >= steps))
    return failure("--warm-up: expected fewer than the " + llvm::Twine(steps) + " steps, got " +
                   llvm::Twine(measure.warmUp));
  compileOptions.marks = marks || measure.wanted();
  compileOptions.keepObject = !emitObject.empty() || !emitShared.empty();
  Runtime runtime;
  if (!emitLlvm) {
    compileOptions.runtime = findRuntime(argv[0]);
    if (std::string error = runtime.load(compileOptions.runtime); !error.empty())
      return failure("runtime: " + error);
  }
  bool compiled = llvm::StringRef(input).ends_with(".so");
  if (compiled && (emitLlvm || compileOptions.keepObject))
    return failure("expected a program in MLIR to compile, got " + input);
  std::unique_ptr<Program> program = compiled ? load(input) : compile(compileOptions);
  if (!program)
    return 1;
  if (emitLlvm)
    return 0;
  if (!emitObject.empty()) {
    std::string error = program->writeObject(emitObject);
    return error.empty() ? 0 : failure(error);
  }
  if (!emitShared.empty()) {
    llvm::SmallString<128> object;
    if (std::error_code code = llvm::sys::fs::createTemporaryFile("braid-run", "o", object))
      return failure("--emit-shared: expected to write a temporary file, got: " + code.message());
    std::string error = program->writeObject(std::string(object));
    return error.empty() ? linkShared(std::string(object), emitShared, compileOptions.runtime) : failure(error);
  }
  if (measure.wanted() && program->marks.empty())
    return failure("--timeline, --record-profile: expected a program compiled with --marks, got " + input);
  RunOptions options;
  if (std::string error = readRunOptions(*program, options); !error.empty())
    return failure(error);
  // Of ranks that this process starts, or that it finds itself among.
  auto misfit = [&](int ranks) -> std::string {
    if (program->ranks <= 1 || (program->exactly ? ranks == program->ranks : ranks >= program->ranks))
      return "";
    return ("-n: expected " + llvm::Twine(program->exactly ? "" : "at least ") + llvm::Twine(program->ranks) +
            ", the ranks that the program's collectives name, got " + llvm::Twine(ranks))
        .str();
  };
  if (std::string error = count > 0 ? misfit(count) : ""; !error.empty())
    return failure(error);

  runtime.computeBy(computeBy);
  braid_comm_options commOptions = {};
  commOptions.size = sizeof(commOptions);
  commOptions.transport = transport.empty() ? nullptr : transport.c_str();
  commOptions.profile = profile.empty() ? nullptr : profile.c_str();
  commOptions.seed = seed;
  commOptions.deadline_s = deadline;
  commOptions.clock = clockKind == ClockKind::None ? nullptr : clockKind == ClockKind::Wall ? "wall" : "virtual";
  // Ranks that share a host and its address have no use for source ports.
  std::string paths = program->paths.empty() || count == 0 ? program->paths : "off";
  if (!paths.empty() && !getenv("BRAID_PATHS"))
    commOptions.paths = paths.c_str();
  if (!program->engines.empty() && !getenv("BRAID_ENGINE"))
    commOptions.engine = program->engines.c_str();
  std::function<int(braid_comm *, ::braid::doctor::RunCounters &)> run = [&](braid_comm *comm,
                                                                             ::braid::doctor::RunCounters &counters) {
    int32_t rank = 0, ranks = 1;
    if (runtime.rank(comm, &rank, &ranks) != BRAID_OK)
      return failure(runtime.lastError(), 70);
    if (std::string error = misfit(ranks); !error.empty()) // of a launcher's job, or of this process alone
      return rank == 0 ? failure(error + (ranks > 1 ? " from the launcher" : "")) : 2;
    runtime.use(comm);
    RunOptions mine = options;
    mine.allocate = runtime.allocate;
    mine.release = runtime.release;
    mine.copied = runtime.copied;
    mine.allocated = runtime.allocated;
    bool lost = false; // the runtime, not this rank's own data, is what failed
    if (emulated())
      mine.beginStep = [&](int step, double &begin) -> std::string {
        int measured = std::max(0, step - leadIn);
        bool fine =
            runtime.step(comm, firstJob + uint64_t(measured / steps), uint64_t(measured % steps), &begin) == BRAID_OK;
        lost = !fine;
        return fine ? "" : runtime.lastError();
      };
    Measurement measurement(runtime, comm, *program, measure, counters);
    if (measure.wanted()) {
      measurement.begin();
      mine.afterCall = [&] { measurement.stepEnded(); };
    }
    std::string error = runSteps(*program, mine, rank, ranks);
    if (error.empty() && measure.wanted())
      error = measurement.finish();
    if (!error.empty()) {
      int status = rankFailure(error, rank, lost ? 70 : 1);
      runtime.abort(comm, error.c_str()); // the others hear why, not only that a connection has ended
      return status;
    }
    runtime.reset();
    return 0;
  };
  if (fibers) {
    braid_rank_body call = [](braid_comm *comm, void *context) {
      ::braid::doctor::RunCounters none("emulated");
      return (*static_cast<decltype(run) *>(context))(comm, none);
    };
    forgetHandlers();
    return runtime.runFibers(count, &commOptions, call, &run) == BRAID_OK ? 0 : failure(runtime.lastError(), 70);
  }
  auto body = [&](int rank) {
    forgetHandlers();
    braid_comm *comm = nullptr;
    ::braid::doctor::RunCounters counters(transport);
    if (runtime.create(&commOptions, &comm) != BRAID_OK)
      return rankFailure(runtime.lastError(), rank, 70);
    int status = run(comm, counters);
    counters.tell("braid-run"); // after a failure too
    if (status == 0)
      runtime.destroy(comm);
    return status;
  };
  return count > 0 ? runRanks(count, grace, body) : body(-1);
}

int main(int argc, char **argv) {
  ::braid::command::Tool tool("braid-run");
  llvm::InitLLVM init(argc, argv);
  return tool.finish(runMain(argc, argv));
}
