// SPDX-License-Identifier: Apache-2.0
//
// Common parts of the MPI baselines that work on a graph: command line, output line per run, and
// the rows of a block of vertices. The graph is read from an edge list with a line "source target"
// per directed edge. As in Cairn, vertices are the ids that occur there, numbered from 0 in
// ascending order.
#pragma once

#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "yielding.h"

struct job {
  const char *program, *number_name;  // number_name: without dashes
  const char *graph, *expect;
  unsigned long long number, runs;
  int rank, size;
};

// Starts MPI and reads --graph FILE --expect FILE [--<number_name> N] [--runs N] into `j`, which
// holds the defaults. Exits with status 2 if a file is missing.
static void start(struct job* j, int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &j->rank);
  MPI_Comm_size(MPI_COMM_WORLD, &j->size);
  count_processes();
  for (int i = 1; i + 1 < argc; i += 2) {
    if (strcmp(argv[i], "--graph") == 0) j->graph = argv[i + 1];
    if (strcmp(argv[i], "--expect") == 0) j->expect = argv[i + 1];
    if (strcmp(argv[i], "--runs") == 0) j->runs = strtoull(argv[i + 1], NULL, 10);
    if (strncmp(argv[i], "--", 2) == 0 && strcmp(argv[i] + 2, j->number_name) == 0)
      j->number = strtoull(argv[i + 1], NULL, 10);
  }
  if (j->graph != NULL && j->expect != NULL) return;
  if (j->rank == 0) {
    fprintf(stderr,
            "usage: %s --graph FILE --expect FILE [--%s N] [--runs N]\n"
            "the vertices are the ids that occur in the graph; what is expected is of these\n",
            j->program, j->number_name);
  }
  MPI_Finalize();
  exit(2);
}

// Exits with status 2. All processes have found the same error in the input.
static void refuse(const struct job* j, const char* why) {
  if (j->rank == 0) fprintf(stderr, "%s: %s\n", j->program, why);
  MPI_Finalize();
  exit(2);
}

// Prints a run; its time is that of the slowest process. Returns whether all results were right.
static int report(const struct job* j, uint64_t vertices, double seconds, int right) {
  reduce(&right, MPI_INT, MPI_LAND);
  reduce(&seconds, MPI_DOUBLE, MPI_MAX);
  if (j->rank == 0) {
    printf(
        "{\"program\": \"%s\", \"ranks\": %d, \"vertices\": %llu, \"%s\": %llu, "
        "\"seconds\": %.9f, \"verified\": %s}\n",
        j->program, j->size, (unsigned long long)vertices, j->number_name, j->number, seconds,
        right ? "true" : "false");
  }
  return right;
}

// lines: begin
struct graph {
  uint64_t ids, *numbers;           // 1 + the largest id; number of each id, or no_number
  uint64_t vertices, first, owned;  // on all processes; the block of this process
  uint64_t *offsets, *ends;         // rows of the own vertices: other endpoints of their edges
  uint64_t* degrees;                // out-degrees of the own vertices
};

static const uint64_t no_number = UINT64_MAX;

static uint64_t number_of(const struct graph* g, uint64_t id) {
  return id < g->ids ? g->numbers[id] : no_number;
}

static void fail(const char* what) {
  fprintf(stderr, "%s\n", what);
  MPI_Abort(MPI_COMM_WORLD, 1);
  exit(1);
}

static void* allocate(uint64_t count, size_t bytes) {
  void* memory = calloc(count ? count : 1, bytes);
  if (memory == NULL) fail("no memory");
  return memory;
}

static uint64_t block_of(uint64_t vertices, int size) {
  return (vertices + (uint64_t)size - 1) / (uint64_t)size;
}

// Numbers the ids that occur and replaces ids by numbers.
static void number_ids(struct graph* g, uint64_t* ids, uint64_t count) {
  g->numbers = allocate(g->ids, sizeof *g->numbers);
  memset(g->numbers, 0xff, g->ids * sizeof *g->numbers);
  for (uint64_t i = 0; i < count; ++i) g->numbers[ids[i]] = 0;
  for (uint64_t id = 0; id < g->ids; ++id) {
    if (g->numbers[id] != no_number) g->numbers[id] = g->vertices++;
  }
  for (uint64_t i = 0; i < count; ++i) ids[i] = g->numbers[ids[i]];
}

// Each process reads the whole file and keeps the edges into its block, or out of it.
static struct graph read_graph(const char* path, int out, int rank, int size) {
  FILE* const file = fopen(path, "r");
  if (file == NULL) fail("the graph cannot be opened");
  unsigned long long u = 0, v = 0;
  uint64_t edges = 0, capacity = 1u << 16, *all = allocate(2 * capacity, sizeof *all);
  struct graph g = {0};
  while (fscanf(file, "%llu %llu", &u, &v) == 2) {
    if (edges == capacity) {
      capacity *= 2;
      all = realloc(all, 2 * capacity * sizeof *all);
      if (all == NULL) fail("no memory");
    }
    all[2 * edges] = u;
    all[2 * edges + 1] = v;
    ++edges;
    if (u >= g.ids) g.ids = u + 1;
    if (v >= g.ids) g.ids = v + 1;
  }
  fclose(file);
  number_ids(&g, all, 2 * edges);

  const uint64_t block = block_of(g.vertices, size);
  g.first = (uint64_t)rank * block;
  if (g.first > g.vertices) g.first = g.vertices;
  g.owned = g.vertices - g.first < block ? g.vertices - g.first : block;
  g.offsets = allocate(g.owned + 2, sizeof *g.offsets);
  g.degrees = allocate(g.owned, sizeof *g.degrees);
  uint64_t kept = 0;
  for (uint64_t e = 0; e < edges; ++e) {
    const uint64_t from = all[2 * e] - g.first, to = all[2 * e + 1] - g.first;
    const uint64_t row = out ? from : to;
    if (from < g.owned) ++g.degrees[from];
    if (row >= g.owned) continue;
    ++g.offsets[row + 2];
    ++kept;
  }
  for (uint64_t i = 2; i < g.owned + 2; ++i) g.offsets[i] += g.offsets[i - 1];
  g.ends = allocate(kept, sizeof *g.ends);
  for (uint64_t e = 0; e < edges; ++e) {
    const uint64_t row = all[2 * e + (out ? 0 : 1)] - g.first;
    if (row < g.owned) g.ends[g.offsets[row + 1]++] = all[2 * e + (out ? 1 : 0)];
  }
  free(all);
  return g;
}

static void free_graph(struct graph* g) {
  free(g->degrees);
  free(g->ends);
  free(g->offsets);
  free(g->numbers);
}
// lines: end
