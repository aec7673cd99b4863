// SPDX-License-Identifier: Apache-2.0
//
// PageRank over incoming edges in plain MPI, one process per core: each process owns a block of
// the vertices and the edges into it; a sweep gathers what all vertices give along each of their
// edges and sums it up by target. The rank of sinks is spread over all vertices.
//
//   mpiexec.mpich -n 2 pagerank_pull_mpich --graph G.el --sweeps 10 --runs 3 --expect RANKS.csv
//
// G.el has a line "source target" per directed edge; RANKS.csv a heading and then a line
// "vertex,rank" for each, to which the result is compared.

#include <math.h>
#include <string.h>

#include "block_graph.h"

static const double damping = 0.85;

// `gifts` has room for a block of each process.
static void pagerank(const struct graph* g, int size, unsigned long long sweeps, double* ranks,
                     double* mine, double* gifts) {
  const double n = (double)g->vertices;
  const int block = (int)block_of(g->vertices, size);
  for (uint64_t i = 0; i < g->owned; ++i) ranks[i] = 1 / n;
  for (unsigned long long sweep = 0; sweep < sweeps; ++sweep) {
    double lost = 0;
    for (uint64_t i = 0; i < g->owned; ++i) {
      if (g->degrees[i] == 0) lost += ranks[i];
      mine[i] = g->degrees[i] == 0 ? 0 : ranks[i] / (double)g->degrees[i];
    }
    MPI_Allreduce(MPI_IN_PLACE, &lost, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    MPI_Allgather(mine, block, MPI_DOUBLE, gifts, block, MPI_DOUBLE, MPI_COMM_WORLD);
    for (uint64_t i = 0; i < g->owned; ++i) {
      double sum = 0;
      for (uint64_t e = g->offsets[i]; e < g->offsets[i + 1]; ++e) sum += gifts[g->ends[e]];
      ranks[i] = (1 - damping) / n + damping * (sum + lost / n);
    }
  }
}

static int equal(const struct graph* g, const double* ranks, const char* path) {
  FILE* const file = fopen(path, "r");
  if (file == NULL || fscanf(file, "%*[^\n]") == EOF) fail("the expected ranks cannot be read");
  unsigned long long v = 0;
  uint64_t rows = 0;
  double expected = 0;
  int right = 1;
  while (fscanf(file, "%llu,%lf", &v, &expected) == 2) {
    ++rows;
    const uint64_t own = v - g->first;
    if (own < g->owned) right &= fabs(ranks[own] - expected) <= 1e-9;
  }
  fclose(file);
  return right && rows == g->vertices;
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank = 0, size = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  const char *path = NULL, *expect = NULL;
  unsigned long long sweeps = 10, runs = 3;
  for (int i = 1; i + 1 < argc; i += 2) {
    if (strcmp(argv[i], "--graph") == 0) path = argv[i + 1];
    if (strcmp(argv[i], "--expect") == 0) expect = argv[i + 1];
    if (strcmp(argv[i], "--sweeps") == 0) sweeps = strtoull(argv[i + 1], NULL, 10);
    if (strcmp(argv[i], "--runs") == 0) runs = strtoull(argv[i + 1], NULL, 10);
  }
  if (path == NULL || expect == NULL) {
    if (rank == 0) {
      fprintf(stderr,
              "usage: pagerank_pull_mpi --graph FILE --expect FILE [--sweeps N] [--runs N]\n");
    }
    MPI_Finalize();
    return 2;
  }

  struct graph g = read_graph(path, 0, rank, size);
  const uint64_t block = block_of(g.vertices, size);
  double *const ranks = allocate(block, sizeof *ranks), *const mine = allocate(block, sizeof *mine),
                *const gifts = allocate(block * (uint64_t)size, sizeof *gifts);
  int right = 1;
  for (unsigned long long run = 0; run < runs && right; ++run) {
    MPI_Barrier(MPI_COMM_WORLD);
    const double start = MPI_Wtime();
    pagerank(&g, size, sweeps, ranks, mine, gifts);
    double seconds = MPI_Wtime() - start;
    right = equal(&g, ranks, expect);
    MPI_Allreduce(MPI_IN_PLACE, &right, 1, MPI_INT, MPI_LAND, MPI_COMM_WORLD);
    MPI_Allreduce(MPI_IN_PLACE, &seconds, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    if (rank == 0) {
      printf(
          "{\"program\": \"pagerank_pull_mpi\", \"ranks\": %d, \"vertices\": %llu, "
          "\"sweeps\": %llu, \"seconds\": %.9f, \"verified\": %s}\n",
          size, (unsigned long long)g.vertices, sweeps, seconds, right ? "true" : "false");
    }
  }
  free(gifts);
  free(mine);
  free(ranks);
  free(g.degrees);
  free(g.ends);
  free(g.offsets);
  MPI_Finalize();
  return right ? 0 : 1;
}
