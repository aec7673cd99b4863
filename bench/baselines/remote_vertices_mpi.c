// SPDX-License-Identifier: Apache-2.0
//
// One-sided MPI atomics on another rank's vertices: all ranks except the last mark each of the last
// rank's vertices by MPI_Compare_and_swap, or increment it by MPI_Accumulate, once per pass. All
// operations of a pass are in flight together and are flushed at its end. The same by activities:
// bench/kernels/remote_vertices.cpp.
//
//   mpiexec.mpich -n 2 remote_vertices_mpich --work mark --vertices 8192 --passes 100 --runs 5

#define _GNU_SOURCE
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "yielding.h"

struct settings {
  int increments;
  unsigned long long vertices, passes, runs;
};

static int read_settings(struct settings* s, int argc, char** argv) {
  for (int i = 1; i + 1 < argc; i += 2) {
    if (strcmp(argv[i], "--work") == 0) {
      s->increments = strcmp(argv[i + 1], "increment") == 0;
      if (!s->increments && strcmp(argv[i + 1], "mark") != 0) return 0;
      continue;
    }
    char* end = NULL;
    const unsigned long long number = strtoull(argv[i + 1], &end, 10);
    if (*end != '\0' || number < 1 || number > (1u << 28)) return 0;
    if (strcmp(argv[i], "--vertices") == 0) {
      s->vertices = number;
    } else if (strcmp(argv[i], "--passes") == 0) {
      s->passes = number;
    } else if (strcmp(argv[i], "--runs") == 0) {
      s->runs = number;
    } else {
      return 0;
    }
  }
  return argc % 2 == 1;
}

static void pass(const struct settings* s, int target, int sends, uint64_t number, uint64_t* found,
                 MPI_Win window) {
  const uint64_t expected = number - 1, one = 1;
  if (sends) {
    for (unsigned long long v = 0; v < s->vertices; ++v) {
      if (s->increments) {
        MPI_Accumulate(&one, 1, MPI_UINT64_T, target, (MPI_Aint)v, 1, MPI_UINT64_T, MPI_SUM,
                       window);
      } else {
        MPI_Compare_and_swap(&number, &expected, &found[v], MPI_UINT64_T, target, (MPI_Aint)v,
                             window);
      }
    }
    MPI_Win_flush(target, window);
  }
  wait_for_all();
}

int main(int argc, char** argv) {
  struct settings s = {0, 8192, 100, 5};
  MPI_Init(&argc, &argv);
  int rank = 0, size = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  count_processes();
  if (!read_settings(&s, argc, argv) || size < 2) {
    if (rank == 0) {
      fprintf(stderr,
              "usage, on two ranks or more: remote_vertices_mpi [--work mark|increment] "
              "[--vertices N] [--passes N] [--runs N]\n");
    }
    MPI_Finalize();
    return 2;
  }

  const int target = size - 1, sends = rank != target;
  const size_t bytes = (size_t)s.vertices * sizeof(uint64_t);
  uint64_t* words = NULL;
  MPI_Win window;
  MPI_Win_allocate(sends ? 0 : (MPI_Aint)bytes, sizeof(uint64_t), MPI_INFO_NULL, MPI_COMM_WORLD,
                   &words, &window);
  uint64_t* found = malloc(bytes);
  if (found == NULL) MPI_Abort(MPI_COMM_WORLD, 1);
  MPI_Win_lock_all(MPI_MODE_NOCHECK, window);
  if (!sends) memset(words, 0, bytes);
  MPI_Win_sync(window);
  MPI_Barrier(MPI_COMM_WORLD);

  int right = 1;
  uint64_t passes = 0;
  pass(&s, target, sends, ++passes, found, window);
  for (unsigned long long run = 0; run < s.runs && right; ++run) {
    const double start = MPI_Wtime();
    for (unsigned long long i = 0; i < s.passes; ++i) {
      pass(&s, target, sends, ++passes, found, window);
    }
    double seconds = MPI_Wtime() - start, slowest = 0;
    MPI_Win_sync(window);
    const uint64_t due = s.increments ? passes * (uint64_t)(size - 1) : passes;
    for (unsigned long long v = 0; !sends && v < s.vertices; ++v) right &= words[v] == due;
    MPI_Bcast(&right, 1, MPI_INT, target, MPI_COMM_WORLD);
    MPI_Reduce(&seconds, &slowest, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
    if (rank == 0) {
      printf(
          "{\"program\": \"remote_vertices_mpi\", \"work\": \"%s\", \"ranks\": %d, "
          "\"vertices\": %llu, \"passes\": %llu, \"seconds\": %.9f, \"verified\": %s}\n",
          s.increments ? "increment" : "mark", size, s.vertices, s.passes,
          slowest / (double)s.passes, right ? "true" : "false");
    }
  }
  MPI_Win_unlock_all(window);
  MPI_Win_free(&window);
  free(found);
  MPI_Finalize();
  return right ? 0 : 1;
}
