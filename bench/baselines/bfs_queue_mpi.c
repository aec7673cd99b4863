// SPDX-License-Identifier: Apache-2.0
//
// Breadth-first search by a distributed queue in plain MPI ([AAM15] listing 1): a vertex that is
// removed from the queue for the first time appends its neighbors, each at its owner. The queue is
// processed level by level; one MPI_Alltoallv sends the appended vertices.
//
//   mpiexec.mpich -n 2 bfs_queue_mpich --graph G.el --root 0 --runs 3 --expect DEPTHS.csv
//
// G.el has a line "source target" per directed edge. DEPTHS.csv has a heading, then a line
// "vertex,depth" per vertex, as written by `cairn bfs G.el --output`. The output for the generated
// graph from which G.el was made works too: ids without an edge have lines without a depth.

#define _GNU_SOURCE
#include <string.h>

#include "block_graph.h"
#include "expected_depths.h"

struct queue {
  int size;
  int *counts, *starts, *from_counts, *from_starts;  // by process
  uint64_t *out, *in;
  uint64_t in_capacity;
};

// Receives the vertices of the level and appends those of the next one; returns the number
// received.
static uint64_t expand(const struct graph* g, struct queue* q, int64_t* depth, int64_t level,
                       const uint64_t* found, uint64_t num_found) {
  const uint64_t block = block_of(g->vertices, q->size);
  uint64_t put = 0;
  memset(q->counts, 0, (size_t)q->size * sizeof *q->counts);
  for (uint64_t i = 0; i < num_found; ++i) {
    const uint64_t v = found[i] - g->first;
    for (uint64_t e = g->offsets[v]; e < g->offsets[v + 1]; ++e) ++q->counts[g->ends[e] / block];
  }
  for (int p = 0; p < q->size; ++p) {
    q->starts[p] = (int)put;
    put += (uint64_t)q->counts[p];
  }
  if (put > INT32_MAX) fail("more messages in a level than MPI counts");
  int* const at = allocate((uint64_t)q->size, sizeof *at);
  memcpy(at, q->starts, (size_t)q->size * sizeof *at);
  for (uint64_t i = 0; i < num_found; ++i) {
    const uint64_t v = found[i] - g->first;
    for (uint64_t e = g->offsets[v]; e < g->offsets[v + 1]; ++e)
      q->out[at[g->ends[e] / block]++] = g->ends[e];
  }
  free(at);
  MPI_Alltoall(q->counts, 1, MPI_INT, q->from_counts, 1, MPI_INT, MPI_COMM_WORLD);
  uint64_t came = 0;
  for (int p = 0; p < q->size; ++p) {
    q->from_starts[p] = (int)came;
    came += (uint64_t)q->from_counts[p];
  }
  if (came > q->in_capacity) {
    free(q->in);
    q->in_capacity = came;
    q->in = allocate(came, sizeof *q->in);
  }
  MPI_Alltoallv(q->out, q->counts, q->starts, MPI_UINT64_T, q->in, q->from_counts, q->from_starts,
                MPI_UINT64_T, MPI_COMM_WORLD);
  uint64_t next = 0;
  for (uint64_t i = 0; i < came; ++i) {
    const uint64_t v = q->in[i] - g->first;
    if (depth[v] >= 0) continue;
    depth[v] = level + 1;
    q->in[next++] = q->in[i];  // next <= i
  }
  return next;
}

static void search(const struct graph* g, struct queue* q, int64_t* depth, uint64_t root,
                   uint64_t* found) {
  for (uint64_t v = 0; v < g->owned; ++v) depth[v] = -1;
  uint64_t num_found = 0;
  if (root - g->first < g->owned) {
    depth[root - g->first] = 0;
    found[num_found++] = root;
  }
  for (int64_t level = 0;; ++level) {
    uint64_t anywhere = 0;
    MPI_Allreduce(&num_found, &anywhere, 1, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD);
    if (anywhere == 0) return;
    num_found = expand(g, q, depth, level, found, num_found);
    if (num_found > 0) memcpy(found, q->in, (size_t)num_found * sizeof *found);
  }
}

int main(int argc, char** argv) {
  struct job j = {.program = "bfs_queue_mpi", .number_name = "root", .number = 0, .runs = 3};
  start(&j, argc, argv);
  struct graph g = read_graph(j.graph, 1, j.rank, j.size);
  const uint64_t root = number_of(&g, j.number);
  if (root == no_number) refuse(&j, "the root has no edge in the graph");
  const uint64_t out = g.offsets[g.owned];
  struct queue q = {.size = j.size, .out = allocate(out, sizeof *q.out)};
  q.counts = allocate(4 * (uint64_t)j.size, sizeof *q.counts);
  q.starts = q.counts + j.size;
  q.from_counts = q.starts + j.size;
  q.from_starts = q.from_counts + j.size;
  int64_t* const depth = allocate(g.owned, sizeof *depth);
  uint64_t* const found = allocate(g.owned, sizeof *found);
  int right = 1;
  for (unsigned long long run = 0; run < j.runs && right; ++run) {
    MPI_Barrier(MPI_COMM_WORLD);
    const double begin = MPI_Wtime();
    search(&g, &q, depth, root, found);
    const double seconds = MPI_Wtime() - begin;
    right = report(&j, g.vertices, seconds, depths_equal(&g, depth, j.expect));
  }
  free(found);
  free(depth);
  free(q.counts);
  free(q.in);
  free(q.out);
  free_graph(&g);
  MPI_Finalize();
  return right ? 0 : 1;
}
