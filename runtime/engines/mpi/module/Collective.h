//===- Collective.h - a communicator of MPI, and a collective on it ------------------------------------------------------===//
#ifndef BRAID_RUNTIME_ENGINES_MPI_COLLECTIVE_H
#define BRAID_RUNTIME_ENGINES_MPI_COLLECTIVE_H

#include "engines/mpi/module/Process.h"
#include <deque>

namespace braid::runtime::mpi {

class Collective;

class MpiEngine : public Engine {
public:
  MpiEngine(Process &process, MPI_Comm comm);
  ~MpiEngine() override;
  const char *name() const override { return "mpi"; }
  Outcome plan(const Request &request, std::unique_ptr<EngineOperation> &operation) override;
  void abort() override;

private:
  friend class Collective;
  bool mayCall() const { return !aborted && process.mayCall(home); }
  /// Issues what has been launched, in that order.
  Outcome issue();

  Process &process;
  MPI_Comm comm;
  const std::thread::id home;
  bool aborted = false;
  std::deque<Collective *> launched; ///< by a thread that may not call MPI
  size_t most;                       ///< elements of one call
};

/// A collective as non-blocking calls of MPI, one for each tensor; several where it has more elements than one call takes (an int).
class Collective : public EngineOperation {
public:
  Collective(MpiEngine &engine, Request request) : engine(engine), request(std::move(request)) {}
  ~Collective() override;
  Outcome bind();
  Outcome rebind(const std::vector<Tensor> &tensors) override;
  Outcome launch() override;
  Outcome progress(bool &done) override;
  std::string waitsFor() const override;

private:
  friend class MpiEngine;
  /// Where MPI reads and writes a tensor.
  struct Buffers {
    const char *in = nullptr;
    char *out = nullptr;
    std::vector<char> operand, result; ///< copies: of what overlaps, of what is converted
  };

  Outcome issue();
  Outcome issueOne(const Tensor &tensor, const Buffers &at);
  Outcome reduceTo(const char *in, char *out, size_t count, int root);
  Outcome broadcast(char *data, size_t count, int root);
  Outcome send(const char *data, size_t count, int to, int tag);
  Outcome receive(char *data, size_t count, int from, int tag);
  Outcome exchange(const char *in, char *out, size_t count);
  Outcome exchangeRagged(const char *in, char *out);
  Outcome permute(const char *in, char *out, size_t count);
  template <typename Call> Outcome inPieces(size_t count, Call call);
  Outcome finish();
  MPI_Request *another();

  MpiEngine &engine;
  Request request;
  size_t size = 1; ///< bytes of an element on its way
  MPI_Datatype type = MPI_BYTE;
  MPI_Op operation = MPI_OP_NULL;
  std::vector<Buffers> buffers;
  std::vector<MPI_Request> requests;
  std::vector<MPI_Status> statuses;
  std::vector<int> counts, displacements; ///< of a ragged all_to_all: sent, then received
  bool issued = false;
};

} // namespace braid::runtime::mpi

#endif
