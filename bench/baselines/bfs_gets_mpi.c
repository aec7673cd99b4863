// SPDX-License-Identifier: Apache-2.0
//
// Breadth-first search by one-sided gets of plain MPI, as [GMT14] section V-B describes the program
// in UPC. Each process has a copy of the map of visited vertices, so it passes on a vertex at most
// once. It aggregates the vertices that it passes on by owner. The owners fetch these parts by
// asynchronous gets, which are all in flight together.
//
//   mpiexec.mpich -n 2 bfs_gets_mpich --graph G.el --root 0 --runs 3 --expect DEPTHS.csv
//
// G.el has a line "source target" per directed edge. DEPTHS.csv has a heading, then a line
// "vertex,depth" per vertex, as written by `cairn bfs G.el --output`. The output for the generated
// graph from which G.el was made works too: ids without an edge have lines without a depth.

// lines: begin
#define _GNU_SOURCE
#include <string.h>

#include "block_graph.h"
#include "expected_depths.h"

struct program {
  struct graph graph;
  int rank, size;
  uint64_t block;
  uint64_t* seen;         // a bit per vertex of the whole graph: passed on, or reached
  uint64_t *fresh, *out;  // vertices to pass on, as found, and by owner
  uint64_t* bounds;       // of the owners' parts of `out`
  uint64_t* at;           // by owner: the next place in `out`
  MPI_Win out_window, bounds_window;
  uint64_t* others_bounds;  // by process: both bounds of the part for this one
  uint64_t* in;
  uint64_t in_capacity;
  uint64_t *level, in_level;  // the vertices of this level
  MPI_Request* gets;
  int64_t* depth;
};

static int see(struct program* p, uint64_t v) {
  const uint64_t bit = UINT64_C(1) << (v % 64);
  const int before = (p->seen[v / 64] & bit) != 0;
  p->seen[v / 64] |= bit;
  return before;
}

// Puts the neighbors that this process has not seen into the owners' parts of `out`.
static void pass_on(struct program* p) {
  const struct graph* const g = &p->graph;
  uint64_t found = 0;
  memset(p->bounds, 0, ((uint64_t)p->size + 1) * sizeof *p->bounds);
  for (uint64_t i = 0; i < p->in_level; ++i) {
    const uint64_t v = p->level[i] - g->first;
    for (uint64_t e = g->offsets[v]; e < g->offsets[v + 1]; ++e) {
      const uint64_t u = g->ends[e];
      if (see(p, u)) continue;
      p->fresh[found++] = u;
      ++p->bounds[u / p->block + 1];
    }
  }
  for (int to = 0; to < p->size; ++to) {
    p->at[to] = p->bounds[to];
    p->bounds[to + 1] += p->bounds[to];
  }
  for (uint64_t i = 0; i < found; ++i) p->out[p->at[p->fresh[i] / p->block]++] = p->fresh[i];
}

static void reach(struct program* p, const uint64_t* vertices, uint64_t count, int64_t depth) {
  for (uint64_t i = 0; i < count; ++i) {
    const uint64_t own = vertices[i] - p->graph.first;
    if (p->depth[own] >= 0) continue;
    p->depth[own] = depth;
    see(p, vertices[i]);
    p->level[p->in_level++] = vertices[i];
  }
}

// Gets the parts for this process from all others, and handles each as it arrives.
static void fetch(struct program* p, int64_t depth) {
  MPI_Win_sync(p->out_window);
  MPI_Win_sync(p->bounds_window);
  wait_for_all();
  for (int from = 0; from < p->size; ++from) {
    MPI_Rget(&p->others_bounds[2 * from], 2, MPI_UINT64_T, from, p->rank, 2, MPI_UINT64_T,
             p->bounds_window, &p->gets[from]);
  }
  wait_for(p->size, p->gets);
  uint64_t all = 0;
  for (int from = 0; from < p->size; ++from)
    all += p->others_bounds[2 * from + 1] - p->others_bounds[2 * from];
  if (all > p->in_capacity) {
    free(p->in);
    p->in = allocate(all, sizeof *p->in);
    p->in_capacity = all;
  }
  uint64_t put = 0;
  for (int from = 0; from < p->size; ++from) {
    const uint64_t begin = p->others_bounds[2 * from];
    const uint64_t count = p->others_bounds[2 * from + 1] - begin;
    if (count > INT32_MAX) fail("more vertices in a level than MPI counts");
    p->at[from] = put;
    MPI_Rget(p->in + put, (int)count, MPI_UINT64_T, from, (MPI_Aint)begin, (int)count, MPI_UINT64_T,
             p->out_window, &p->gets[from]);
    put += count;
  }
  p->in_level = 0;
  for (int left = p->size; left > 0;) {
    int from = 0, arrived = 0;
    MPI_Testany(p->size, p->gets, &from, &arrived, MPI_STATUS_IGNORE);
    if (!arrived) {
      idle();
      continue;
    }
    --left;
    const uint64_t count = p->others_bounds[2 * from + 1] - p->others_bounds[2 * from];
    reach(p, p->in + p->at[from], count, depth);
  }
}

static void search(struct program* p, uint64_t root) {
  for (uint64_t v = 0; v < p->graph.owned; ++v) p->depth[v] = -1;
  memset(p->seen, 0, (p->graph.vertices / 64 + 1) * sizeof *p->seen);
  p->in_level = 0;
  see(p, root);
  if (root - p->graph.first < p->graph.owned) reach(p, &root, 1, 0);
  for (int64_t depth = 1;; ++depth) {
    // Also the end of all gets of the level before, after which `out` may change.
    uint64_t anywhere = p->in_level;
    reduce(&anywhere, MPI_UINT64_T, MPI_SUM);
    if (anywhere == 0) return;
    pass_on(p);
    fetch(p, depth);
  }
}

// Whole pages: MPICH 4.0 addresses windows of odd numbers of words wrongly. MPI_Win_create would
// not need them, but Open MPI 4.1 refuses it with one process.
static uint64_t* window_of(uint64_t count, MPI_Win* window) {
  const uint64_t page = 512;  // words
  uint64_t* memory = NULL;
  count = (count + page - 1) / page * page;
  MPI_Win_allocate((MPI_Aint)(count * sizeof *memory), sizeof *memory, MPI_INFO_NULL,
                   MPI_COMM_WORLD, &memory, window);
  MPI_Win_lock_all(MPI_MODE_NOCHECK, *window);
  return memory;
}

static void free_window(MPI_Win* window) {
  MPI_Win_unlock_all(*window);
  MPI_Win_free(window);
}

// lines: end

int main(int argc, char** argv) {
  struct job j = {.program = "bfs_gets_mpi", .number_name = "root", .number = 0, .runs = 3};
  start(&j, argc, argv);
  struct program p = {.graph = read_graph(j.graph, 1, j.rank, j.size), .rank = j.rank};
  const struct graph* const g = &p.graph;
  const uint64_t root = number_of(g, j.number), edges = g->offsets[g->owned];
  if (root == no_number) refuse(&j, "the root has no edge in the graph");
  // lines: begin
  p.size = j.size;
  p.block = block_of(g->vertices, j.size);
  p.seen = allocate(g->vertices / 64 + 1, sizeof *p.seen);
  p.fresh = allocate(edges, sizeof *p.fresh);
  p.out = window_of(edges + 1, &p.out_window);
  p.bounds = window_of((uint64_t)j.size + 1, &p.bounds_window);
  p.at = allocate((uint64_t)j.size, sizeof *p.at);
  p.others_bounds = allocate(2 * (uint64_t)j.size, sizeof *p.others_bounds);
  p.gets = allocate((uint64_t)j.size, sizeof *p.gets);
  p.level = allocate(g->owned, sizeof *p.level);
  p.depth = allocate(g->owned, sizeof *p.depth);
  // lines: end
  int right = 1;
  for (unsigned long long run = 0; run < j.runs && right; ++run) {
    wait_for_all();
    const double begin = MPI_Wtime();
    search(&p, root);
    const double seconds = MPI_Wtime() - begin;
    right = report(&j, g->vertices, seconds, depths_equal(g, p.depth, j.expect));
  }
  // lines: begin
  free_window(&p.out_window);
  free_window(&p.bounds_window);
  free(p.in);
  free(p.depth);
  free(p.level);
  free(p.gets);
  free(p.others_bounds);
  free(p.at);
  free(p.fresh);
  free(p.seen);
  free_graph(&p.graph);
  // lines: end
  MPI_Finalize();
  return right ? 0 : 1;
}
