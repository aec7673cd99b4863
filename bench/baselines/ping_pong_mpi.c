// SPDX-License-Identifier: Apache-2.0
//
// The latency of a message of 8 bytes, one way: half a round trip by MPI_Isend and MPI_Irecv.
//
//   mpiexec -n P ping_pong_mpi [--trips N] [--samples S]
//
// Ranks 2k and 2k + 1 exchange messages, all pairs at a time; P is even. A sample is the mean over
// N round trips; a tenth of a sample warms up. A rank waits by MPI_Test and yields its core after
// some polls, so that ranks that share a core do not wait for each other's time slices. Rank 0
// prints one JSON line with the median over the samples and pairs and the median absolute
// deviation, in microseconds. The status is 1 if a wrong message arrived and 2 if the command line
// is wrong.

#include <mpi.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { polls_before_yield = 64 };

static void wait_for(MPI_Request* request) {
  for (int polls = 0, done = 0;; ++polls) {
    MPI_Test(request, &done, MPI_STATUS_IGNORE);
    if (done) return;
    if (polls >= polls_before_yield) sched_yield();
  }
}

static void send_to(int partner, uint64_t value) {
  MPI_Request request;
  MPI_Isend(&value, sizeof value, MPI_BYTE, partner, 0, MPI_COMM_WORLD, &request);
  wait_for(&request);
}

// Returns whether the expected value arrived.
static int receive_from(int partner, uint64_t expected) {
  uint64_t value = ~expected;
  MPI_Request request;
  MPI_Irecv(&value, sizeof value, MPI_BYTE, partner, 0, MPI_COMM_WORLD, &request);
  wait_for(&request);
  return value == expected;
}

static int round_trips(int rank, int partner, int trips) {
  int right = 1;
  for (int i = 0; i < trips; ++i) {
    if (rank < partner) {
      send_to(partner, (uint64_t)i);
      right &= receive_from(partner, (uint64_t)i + 1);
    } else {
      right &= receive_from(partner, (uint64_t)i);
      send_to(partner, (uint64_t)i + 1);
    }
  }
  return right;
}

static int by_value(const void* a, const void* b) {
  const double x = *(const double*)a, y = *(const double*)b;
  return (x > y) - (x < y);
}

static double median(double* values, int count) {
  qsort(values, (size_t)count, sizeof *values, by_value);
  return count % 2 ? values[count / 2] : (values[count / 2 - 1] + values[count / 2]) / 2;
}

static int parse(int argc, char** argv, int* trips, int* samples) {
  for (int i = 1; i < argc; i += 2) {
    int* const value = strcmp(argv[i], "--trips") == 0     ? trips
                       : strcmp(argv[i], "--samples") == 0 ? samples
                                                           : NULL;
    char* end = NULL;
    const long given = value && i + 1 < argc ? strtol(argv[i + 1], &end, 10) : 0;
    if (given < 1 || given > 1 << 24 || *end != 0) return 0;
    *value = (int)given;
  }
  return 1;
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank = 0, size = 0, trips = 200, samples = 11;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  if (!parse(argc, argv, &trips, &samples) || size % 2 != 0) {
    if (rank == 0) {
      fprintf(stderr, "usage: mpiexec -n EVEN ping_pong_mpi [--trips N] [--samples S]\n");
    }
    MPI_Finalize();
    return 2;
  }
  const int partner = rank ^ 1, all = samples * size;
  double* const mine = calloc((size_t)samples, sizeof *mine);
  double* const every = calloc((size_t)all, sizeof *every);
  if (!mine || !every) MPI_Abort(MPI_COMM_WORLD, 1);
  MPI_Barrier(MPI_COMM_WORLD);
  int right = round_trips(rank, partner, trips / 10 + 1);
  for (int s = 0; s < samples; ++s) {
    const double start = MPI_Wtime();
    right &= round_trips(rank, partner, trips);
    mine[s] = (MPI_Wtime() - start) / trips / 2 * 1e6;
  }
  int all_right = 0;
  MPI_Allreduce(&right, &all_right, 1, MPI_INT, MPI_LAND, MPI_COMM_WORLD);
  MPI_Gather(mine, samples, MPI_DOUBLE, every, samples, MPI_DOUBLE, 0, MPI_COMM_WORLD);
  if (rank == 0) {
    const double middle = median(every, all);
    for (int i = 0; i < all; ++i)
      every[i] = every[i] > middle ? every[i] - middle : middle - every[i];
    printf(
        "{\"program\": \"ping_pong_mpi\", \"ranks\": %d, \"trips\": %d, \"samples\": %d, "
        "\"one_way_us\": %.3f, \"mad_us\": %.3f, \"verified\": %s}\n",
        size, trips, samples, middle, median(every, all), all_right ? "true" : "false");
  }
  free(every);
  free(mine);
  MPI_Finalize();
  return all_right ? 0 : 1;
}
