/* Calls collectives, COLLECTIVE BYTES ... on the command line; bytes are those of the whole message, as Open MPI's rules count them. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int main(int argc, char **argv) {
  MPI_Comm all = MPI_COMM_WORLD;
  MPI_Datatype byte = MPI_UINT8_T;
  int rank, ranks;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(all, &rank);
  MPI_Comm_size(all, &ranks);
  for (int i = 1; i + 1 < argc; i += 2) {
    const char *what = argv[i];
    int bytes = atoi(argv[i + 1]), share = bytes / ranks;
    char *in = calloc(1, (size_t)bytes + 1), *out = calloc(1, (size_t)bytes + 1);
    int *shares = malloc((size_t)ranks * sizeof(int));
    for (int r = 0; r < ranks; ++r)
      shares[r] = share;
    if (rank == 0)
      fprintf(stderr, "CALL %s %d\n", what, bytes);
    if (!strcmp(what, "allreduce"))
      MPI_Allreduce(in, out, bytes, byte, MPI_SUM, all);
    else if (!strcmp(what, "allgather"))
      MPI_Allgather(in, share, byte, out, share, byte, all);
    else if (!strcmp(what, "alltoall"))
      MPI_Alltoall(in, share, byte, out, share, byte, all);
    else if (!strcmp(what, "bcast"))
      MPI_Bcast(in, bytes, byte, 0, all);
    else if (!strcmp(what, "reduce"))
      MPI_Reduce(in, out, bytes, byte, MPI_SUM, 0, all);
    else if (!strcmp(what, "reduce_scatter"))
      MPI_Reduce_scatter(in, out, shares, byte, MPI_SUM, all);
    else if (!strcmp(what, "reduce_scatter_block"))
      MPI_Reduce_scatter_block(in, out, share, byte, MPI_SUM, all);
    else if (!strcmp(what, "gather"))
      MPI_Gather(in, share, byte, out, share, byte, 0, all);
    else if (!strcmp(what, "scatter"))
      MPI_Scatter(in, share, byte, out, share, byte, 0, all);
    else
      MPI_Abort(all, 2);
    free(in);
    free(out);
    free(shares);
  }
  MPI_Finalize();
  return 0;
}
