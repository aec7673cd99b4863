// SPDX-License-Identifier: Apache-2.0
//
// The bandwidth of MPI alone against the size of a message: [GMT14] table II.
//
//   mpiexec -n 2P bandwidth_mpi [--threads T] [--window W] [--samples S] [--seconds X] --bytes B...
//
// Rank k sends to rank P + k by T threads, each of which sends W messages of B bytes and waits for
// an acknowledgement by its partner, again and again. A sample is a number of windows that takes
// about X seconds in all. A thread waits by MPI_Test and yields its core after some polls, so
// that threads that share a core do not wait for each other's time slices. Rank 0 prints for each
// B, which is at least 8, one JSON line with the rates of the samples, in MB/s over all pairs. The
// status is 1 if a wrong message arrived and 2 if the command line is wrong or this MPI has no
// threads.

#include <mpi.h>
#include <pthread.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { polls_before_yield = 64, max_sizes = 64, max_threads = 64, max_window = 64 };

struct plan {
  int rank, partner, sends, threads, window, samples, num_sizes;
  double seconds;
  long sizes[max_sizes];
};

struct thread_state {
  const struct plan* plan;
  int number, right;
  long bytes, windows;
  char* buffer;  // of `window` messages
};

static void wait_for(int count, MPI_Request* requests) {
  for (int i = 0, polls = 0; i < count; ++polls) {
    int done = 0;
    MPI_Test(&requests[i], &done, MPI_STATUS_IGNORE);
    i += done;
    if (polls >= polls_before_yield) sched_yield();
  }
}

// Each message begins with its number.
static void send_window(struct thread_state* t, uint64_t first) {
  const struct plan* const p = t->plan;
  MPI_Request requests[max_window];
  for (int i = 0; i < p->window; ++i) {
    char* const at = t->buffer + i * t->bytes;
    const uint64_t number = first + (uint64_t)i;
    memcpy(at, &number, sizeof number);
    MPI_Isend(at, (int)t->bytes, MPI_BYTE, p->partner, t->number, MPI_COMM_WORLD, &requests[i]);
  }
  wait_for(p->window, requests);
  char answer = 0;
  MPI_Irecv(&answer, 1, MPI_BYTE, p->partner, max_threads + t->number, MPI_COMM_WORLD, requests);
  wait_for(1, requests);
  t->right &= answer == 1;
}

static void receive_window(struct thread_state* t, uint64_t first) {
  const struct plan* const p = t->plan;
  MPI_Request requests[max_window];
  for (int i = 0; i < p->window; ++i) {
    MPI_Irecv(t->buffer + i * t->bytes, (int)t->bytes, MPI_BYTE, p->partner, t->number,
              MPI_COMM_WORLD, &requests[i]);
  }
  wait_for(p->window, requests);
  for (int i = 0; i < p->window; ++i) {
    uint64_t number = 0;
    memcpy(&number, t->buffer + i * t->bytes, sizeof number);
    t->right &= number == first + (uint64_t)i;
  }
  char answer = 1;
  MPI_Isend(&answer, 1, MPI_BYTE, p->partner, max_threads + t->number, MPI_COMM_WORLD, requests);
  wait_for(1, requests);
}

static void* transfer(void* state) {
  struct thread_state* const t = state;
  for (long i = 0; i < t->windows; ++i) {
    const uint64_t first = (uint64_t)i * (uint64_t)t->plan->window;
    if (t->plan->sends) {
      send_window(t, first);
    } else {
      receive_window(t, first);
    }
  }
  return NULL;
}

// Returns the seconds from one barrier to the next.
static double run_threads(struct thread_state* all, const struct plan* p) {
  pthread_t others[max_threads];
  MPI_Barrier(MPI_COMM_WORLD);
  const double start = MPI_Wtime();
  for (int i = 1; i < p->threads; ++i) {
    if (pthread_create(&others[i], NULL, transfer, &all[i]) != 0) MPI_Abort(MPI_COMM_WORLD, 1);
  }
  transfer(&all[0]);
  for (int i = 1; i < p->threads; ++i) pthread_join(others[i], NULL);
  MPI_Barrier(MPI_COMM_WORLD);
  return MPI_Wtime() - start;
}

static void set_windows(struct thread_state* all, const struct plan* p, long windows) {
  for (int i = 0; i < p->threads; ++i) all[i].windows = windows;
}

// Doubles the windows until they take a tenth of a sample; all ranks agree.
static long windows_of_a_sample(struct thread_state* all, const struct plan* p) {
  const double min_seconds = p->seconds / p->samples / 10;
  for (long windows = 1;; windows *= 2) {
    set_windows(all, p, windows);
    double seconds = run_threads(all, p);
    MPI_Bcast(&seconds, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    if (seconds >= min_seconds || windows >= 1 << 24) {
      const long scaled = (long)((double)windows * 10 * min_seconds / seconds);
      return scaled > 0 ? scaled : 1;
    }
  }
}

static int measure(const struct plan* p, long bytes, int pairs) {
  struct thread_state all[max_threads];
  for (int i = 0; i < p->threads; ++i) {
    char* const buffer = calloc((size_t)p->window, (size_t)bytes);
    if (!buffer) MPI_Abort(MPI_COMM_WORLD, 1);
    all[i] = (struct thread_state){p, i, 1, bytes, 0, buffer};
  }
  const long windows = windows_of_a_sample(all, p);
  set_windows(all, p, windows);
  if (p->rank == 0) {
    printf(
        "{\"program\": \"bandwidth_mpi\", \"processes\": %d, \"threads\": %d, \"window\": %d, "
        "\"bytes\": %ld, \"mb_per_s\": [",
        pairs, p->threads, p->window, bytes);
  }
  const double megabytes = 1e-6 * (double)pairs * p->threads * (double)windows * p->window * bytes;
  for (int s = 0; s < p->samples; ++s) {
    const double seconds = run_threads(all, p);
    if (p->rank == 0) printf("%s%.4f", s > 0 ? ", " : "", megabytes / seconds);
  }
  int right = 1, all_right = 0;
  for (int i = 0; i < p->threads; ++i) {
    right &= all[i].right;
    free(all[i].buffer);
  }
  MPI_Allreduce(&right, &all_right, 1, MPI_INT, MPI_LAND, MPI_COMM_WORLD);
  if (p->rank == 0) printf("], \"verified\": %s}\n", all_right ? "true" : "false");
  return all_right;
}

static int parse(int argc, char** argv, struct plan* p) {
  for (int i = 1; i < argc; ++i) {
    const char* const name = argv[i];
    if (strcmp(name, "--bytes") == 0) {
      for (; i + 1 < argc && argv[i + 1][0] != '-'; ++i) {
        if (p->num_sizes == max_sizes) return 0;
        const long bytes = p->sizes[p->num_sizes++] = strtol(argv[i + 1], NULL, 10);
        if (bytes < 8 || bytes > 1 << 24) return 0;
      }
      continue;
    }
    const double value = i + 1 < argc ? strtod(argv[++i], NULL) : 0;
    if (strcmp(name, "--threads") == 0) {
      p->threads = (int)value;
    } else if (strcmp(name, "--window") == 0) {
      p->window = (int)value;
    } else if (strcmp(name, "--samples") == 0) {
      p->samples = (int)value;
    } else if (strcmp(name, "--seconds") == 0) {
      p->seconds = value;
    } else {
      return 0;
    }
  }
  return p->num_sizes > 0 && p->threads >= 1 && p->threads <= max_threads && p->window >= 1 &&
         p->window <= max_window && p->samples >= 1 && p->seconds > 0 && p->seconds <= 60;
}

int main(int argc, char** argv) {
  int size = 0, right = 1;
  struct plan p = {.threads = 1, .window = 4, .samples = 7, .seconds = 0.2};
  const int parsed = parse(argc, argv, &p);
  const int needed = p.threads > 1 ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE;
  int provided = needed;
  MPI_Init_thread(&argc, &argv, needed, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &p.rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  if (!parsed || size % 2 != 0 || provided < needed) {
    if (p.rank == 0) {
      fprintf(stderr,
              "usage: mpiexec -n EVEN bandwidth_mpi [--threads T] [--window W] "
              "[--samples S] [--seconds X] --bytes B...\n");
    }
    MPI_Finalize();
    return 2;
  }
  const int pairs = size / 2;
  p.sends = p.rank < pairs;
  p.partner = p.sends ? p.rank + pairs : p.rank - pairs;
  for (int i = 0; i < p.num_sizes; ++i) right &= measure(&p, p.sizes[i], pairs);
  MPI_Finalize();
  return right ? 0 : 1;
}
