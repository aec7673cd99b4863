// SPDX-License-Identifier: Apache-2.0
//
// PageRank over in-edges in plain MPI, one process per core. Each process owns a block of vertices
// and the edges into it. A sweep gathers the contributions of all vertices and sums them by target.
// The rank of sinks is distributed over all vertices.
//
//   mpiexec.mpich -n 2 pagerank_pull_mpich --graph G.el --sweeps 10 --runs 3 --expect RANKS.csv
//
// G.el has a line "source target" per directed edge. RANKS.csv, with which the result is compared,
// has a heading, then a line "vertex,rank" per vertex, as written by `cairn pagerank G.el
// --output`. It must contain exactly the vertices of G.el: each id without an edge would lower all
// ranks.

#define _GNU_SOURCE
#include <math.h>

#include "block_graph.h"

static const double damping = 0.85;

// `contributions` has room for a block per process.
static void pagerank(const struct graph* g, int size, unsigned long long sweeps, double* ranks,
                     double* mine, double* contributions) {
  const double n = (double)g->vertices;
  const int block = (int)block_of(g->vertices, size);
  for (uint64_t i = 0; i < g->owned; ++i) ranks[i] = 1 / n;
  for (unsigned long long sweep = 0; sweep < sweeps; ++sweep) {
    double lost = 0;
    for (uint64_t i = 0; i < g->owned; ++i) {
      if (g->degrees[i] == 0) lost += ranks[i];
      mine[i] = g->degrees[i] == 0 ? 0 : ranks[i] / (double)g->degrees[i];
    }
    reduce(&lost, MPI_DOUBLE, MPI_SUM);
    if (crowded) {
      MPI_Request gathering;
      MPI_Iallgather(mine, block, MPI_DOUBLE, contributions, block, MPI_DOUBLE, MPI_COMM_WORLD,
                     &gathering);
      wait_for(1, &gathering);
    } else {
      MPI_Allgather(mine, block, MPI_DOUBLE, contributions, block, MPI_DOUBLE, MPI_COMM_WORLD);
    }
    for (uint64_t i = 0; i < g->owned; ++i) {
      double sum = 0;
      for (uint64_t e = g->offsets[i]; e < g->offsets[i + 1]; ++e) sum += contributions[g->ends[e]];
      ranks[i] = (1 - damping) / n + damping * (sum + lost / n);
    }
  }
}

// The expected ranks of the own vertices.
static double* read_expected(const struct job* j, const struct graph* g) {
  FILE* const file = fopen(j->expect, "r");
  if (file == NULL || fscanf(file, "%*[^\n]") == EOF) fail("the expected ranks cannot be read");
  double* const expected = allocate(g->owned, sizeof *expected);
  unsigned long long id = 0;
  uint64_t rows = 0;
  double rank = 0;
  while (fscanf(file, "%llu,%lf", &id, &rank) == 2) {
    const uint64_t number = number_of(g, id);
    if (number == no_number)
      refuse(j, "ranks are expected of vertices that have no edge in the graph");
    ++rows;
    const uint64_t own = number - g->first;
    if (own < g->owned) expected[own] = rank;
  }
  fclose(file);
  if (rows != g->vertices) refuse(j, "not every vertex of the graph has an expected rank");
  return expected;
}

static int equal(const struct graph* g, const double* ranks, const double* expected) {
  int right = 1;
  for (uint64_t i = 0; i < g->owned; ++i) right &= fabs(ranks[i] - expected[i]) <= 1e-9;
  return right;
}

int main(int argc, char** argv) {
  struct job j = {.program = "pagerank_pull_mpi", .number_name = "sweeps", .number = 10, .runs = 3};
  start(&j, argc, argv);
  struct graph g = read_graph(j.graph, 0, j.rank, j.size);
  double* const expected = read_expected(&j, &g);
  const uint64_t block = block_of(g.vertices, j.size);
  double *const ranks = allocate(block, sizeof *ranks), *const mine = allocate(block, sizeof *mine),
                *const contributions = allocate(block * (uint64_t)j.size, sizeof *contributions);
  int right = 1;
  for (unsigned long long run = 0; run < j.runs && right; ++run) {
    wait_for_all();
    const double begin = MPI_Wtime();
    pagerank(&g, j.size, j.number, ranks, mine, contributions);
    const double seconds = MPI_Wtime() - begin;
    right = report(&j, g.vertices, seconds, equal(&g, ranks, expected));
  }
  free(contributions);
  free(mine);
  free(ranks);
  free(expected);
  free_graph(&g);
  MPI_Finalize();
  return right ? 0 : 1;
}
