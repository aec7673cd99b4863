// SPDX-License-Identifier: Apache-2.0
//
// Random 8-byte updates by hand-aggregated MPI: the baseline for Cairn's channels.
//
//   mpiexec -n P random_updates_mpi [--buffer BYTES] [--updates N] [--table-bits B] [--own MODE]
//
// Each of P ranks owns 2^B words and increments N words drawn uniformly from all P * 2^B. An update
// is sent as the 8-byte index of its word, in a buffer per destination, with double buffering at
// the sender and a ring of posted receives. Updates of own words are buffered too and applied when
// the buffer is full; with --own mpi the rank sends that buffer to itself. A pass ends when all
// ranks have received the numbers of updates that the others have sent. One pass warms up; the
// next one is timed between barriers. The sum of the table is checked. Rank 0 prints one JSON
// line; the status is 1 if the sum is wrong and 2 if the command line is wrong.

#define _GNU_SOURCE
#include <mpi.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>

enum { posted_receives = 8, polls_before_yield = 256 };

struct settings {
  size_t buffer_bytes;
  uint64_t updates;
  int table_bits;
  int own_through_mpi;
};

struct lane {  // for one destination
  uint64_t* buffers[2];
  MPI_Request sending[2];
  int filling;
  size_t count;
};

struct program {
  struct settings settings;
  int rank, size;
  size_t capacity;  // updates in a buffer
  uint64_t* table;
  struct lane* lanes;
  uint64_t* sent;  // updates by destination, over all passes
  uint64_t received;
  uint64_t* incoming[posted_receives];
  MPI_Request receiving[posted_receives];
  int oldest;  // index of the oldest receive: messages match receives in posting order
  unsigned idle_polls;
};

static void* allocate(size_t bytes) {
  const size_t huge_page = (size_t)2 << 20;
  void* memory = NULL;
  if (posix_memalign(&memory, bytes >= huge_page ? huge_page : 64, bytes) != 0) {
    fprintf(stderr, "random_updates_mpi: no memory for %zu bytes\n", bytes);
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
  if (bytes >= huge_page) madvise(memory, bytes, MADV_HUGEPAGE);
  memset(memory, 0, bytes);
  return memory;
}

static double processor_seconds(void) {
  struct rusage used;
  getrusage(RUSAGE_SELF, &used);
  return (double)(used.ru_utime.tv_sec + used.ru_stime.tv_sec) +
         1e-6 * (double)(used.ru_utime.tv_usec + used.ru_stime.tv_usec);
}

#define STRIDE UINT64_C(0x9e3779b97f4a7c15)

// As Cairn's mix64.
static uint64_t mix64(uint64_t x) {
  x += STRIDE;
  x = (x ^ (x >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
  x = (x ^ (x >> 27)) * UINT64_C(0x94d049bb133111eb);
  return x ^ (x >> 31);
}

static void apply(uint64_t* restrict table, const uint64_t* restrict indices, size_t count) {
  for (size_t i = 0; i < count; ++i) ++table[indices[i]];
}

static void post(struct program* p, int slot) {
  MPI_Irecv(p->incoming[slot], (int)(p->capacity * sizeof(uint64_t)), MPI_BYTE, MPI_ANY_SOURCE, 0,
            MPI_COMM_WORLD, &p->receiving[slot]);
}

// Applies received updates. A rank that is idle for long yields its core.
static void poll_receives(struct program* p) {
  for (;;) {
    int came = 0;
    MPI_Status status;
    MPI_Test(&p->receiving[p->oldest], &came, &status);
    if (!came) break;
    int bytes = 0;
    MPI_Get_count(&status, MPI_BYTE, &bytes);
    const size_t count = (size_t)bytes / sizeof(uint64_t);
    apply(p->table, p->incoming[p->oldest], count);
    p->received += count;
    post(p, p->oldest);
    p->oldest = (p->oldest + 1) % posted_receives;
    p->idle_polls = 0;
  }
  if (++p->idle_polls > polls_before_yield) sched_yield();
}

static void wait_for(struct program* p, MPI_Request* request) {
  for (int done = 0;;) {
    MPI_Test(request, &done, MPI_STATUS_IGNORE);
    if (done) return;
    poll_receives(p);
  }
}

static void ship(struct program* p, int to) {
  struct lane* l = &p->lanes[to];
  p->sent[to] += l->count;
  if (to == p->rank && !p->settings.own_through_mpi) {
    apply(p->table, l->buffers[0], l->count);
    p->received += l->count;
    l->count = 0;
    return;
  }
  MPI_Isend(l->buffers[l->filling], (int)(l->count * sizeof(uint64_t)), MPI_BYTE, to, 0,
            MPI_COMM_WORLD, &l->sending[l->filling]);
  l->filling ^= 1;
  l->count = 0;
  poll_receives(p);
  wait_for(p, &l->sending[l->filling]);
}

static void pass(struct program* p, uint64_t updates, uint64_t stream) {
  const uint64_t words = (uint64_t)p->size << p->settings.table_bits;
  const uint64_t local = ((uint64_t)1 << p->settings.table_bits) - 1;
  uint64_t state = mix64(stream * (uint64_t)p->size + (uint64_t)p->rank + 1);
  for (uint64_t i = 0; i < updates; ++i) {
    const uint64_t word = (uint64_t)(((unsigned __int128)mix64(state) * words) >> 64);
    state += STRIDE;
    const int to = (int)(word >> p->settings.table_bits);
    struct lane* l = &p->lanes[to];
    l->buffers[l->filling][l->count] = word & local;
    if (++l->count == p->capacity) ship(p, to);
  }
  for (int to = 0; to < p->size; ++to) {
    if (p->lanes[to].count > 0) ship(p, to);
  }

  uint64_t* others = allocate((size_t)p->size * sizeof *others);
  MPI_Request counting;
  MPI_Ialltoall(p->sent, 1, MPI_UINT64_T, others, 1, MPI_UINT64_T, MPI_COMM_WORLD, &counting);
  wait_for(p, &counting);
  uint64_t expected = 0;
  for (int from = 0; from < p->size; ++from) expected += others[from];
  while (p->received < expected) poll_receives(p);
  for (int to = 0; to < p->size; ++to) {
    wait_for(p, &p->lanes[to].sending[0]);
    wait_for(p, &p->lanes[to].sending[1]);
  }
  free(others);
  MPI_Barrier(MPI_COMM_WORLD);
}

static int set(struct settings* s, const char* name, const char* value) {
  if (strcmp(name, "--own") == 0) {
    s->own_through_mpi = strcmp(value, "mpi") == 0;
    return s->own_through_mpi || strcmp(value, "buffer") == 0;
  }
  char* end = NULL;
  const unsigned long long number = strtoull(value, &end, 10);
  if (end == value || *end != '\0' || *value == '-') return 0;
  if (strcmp(name, "--buffer") == 0) {
    s->buffer_bytes = (size_t)number;
    return number >= sizeof(uint64_t) && number <= (1u << 30) && number % sizeof(uint64_t) == 0;
  }
  if (strcmp(name, "--updates") == 0) {
    s->updates = number;
    return number >= 1;
  }
  s->table_bits = (int)number;
  return strcmp(name, "--table-bits") == 0 && number >= 1 && number <= 32;
}

int main(int argc, char** argv) {
  struct program p = {.settings = {4096, UINT64_C(1) << 25, 22, 0}};
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &p.rank);
  MPI_Comm_size(MPI_COMM_WORLD, &p.size);
  int usable = argc % 2 == 1;
  for (int i = 1; usable && i < argc; i += 2) usable = set(&p.settings, argv[i], argv[i + 1]);
  if (!usable) {
    if (p.rank == 0) {
      fprintf(stderr,
              "usage: random_updates_mpi [--buffer BYTES] [--updates N] [--table-bits B] "
              "[--own buffer|mpi]\n");
    }
    MPI_Finalize();
    return 2;
  }

  const size_t words = (size_t)1 << p.settings.table_bits;
  p.capacity = p.settings.buffer_bytes / sizeof(uint64_t);
  p.table = allocate(words * sizeof *p.table);
  p.lanes = allocate((size_t)p.size * sizeof *p.lanes);
  p.sent = allocate((size_t)p.size * sizeof *p.sent);
  for (int to = 0; to < p.size; ++to) {
    for (int i = 0; i < 2; ++i) {
      p.lanes[to].buffers[i] = allocate(p.settings.buffer_bytes);
      p.lanes[to].sending[i] = MPI_REQUEST_NULL;
    }
  }
  for (int slot = 0; slot < posted_receives; ++slot) {
    p.incoming[slot] = allocate(p.settings.buffer_bytes);
    post(&p, slot);
  }

  MPI_Barrier(MPI_COMM_WORLD);
  pass(&p, p.settings.updates, 0);  // warms up
  const double start = MPI_Wtime(), used_before = processor_seconds();
  pass(&p, p.settings.updates, 1);
  double seconds = MPI_Wtime() - start, used = processor_seconds() - used_before;

  uint64_t sum = 0, total = 0;
  for (size_t i = 0; i < words; ++i) sum += p.table[i];
  MPI_Reduce(&sum, &total, 1, MPI_UINT64_T, MPI_SUM, 0, MPI_COMM_WORLD);
  double slowest = 0, used_by_all = 0;
  MPI_Reduce(&used, &used_by_all, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
  MPI_Reduce(&seconds, &slowest, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
  int right = total == 2 * p.settings.updates * (uint64_t)p.size;
  MPI_Bcast(&right, 1, MPI_INT, 0, MPI_COMM_WORLD);
  if (p.rank == 0) {
    const double all = (double)p.settings.updates * p.size;
    printf(
        "{\"program\": \"random_updates_mpi\", \"ranks\": %d, \"buffer_bytes\": %zu, "
        "\"updates_per_rank\": %llu, \"table_bits\": %d, \"own\": \"%s\", \"seconds\": %.6f, "
        "\"processor_seconds\": %.6f, "
        "\"million_updates_per_second\": %.3f, \"verified\": %s}\n",
        p.size, p.settings.buffer_bytes, (unsigned long long)p.settings.updates,
        p.settings.table_bits, p.settings.own_through_mpi ? "mpi" : "buffer", slowest, used_by_all,
        all / slowest * 1e-6, right ? "true" : "false");
  }
  for (int slot = 0; slot < posted_receives; ++slot) {
    MPI_Cancel(&p.receiving[slot]);
    MPI_Wait(&p.receiving[slot], MPI_STATUS_IGNORE);
    free(p.incoming[slot]);
  }
  for (int to = 0; to < p.size; ++to) {
    free(p.lanes[to].buffers[0]);
    free(p.lanes[to].buffers[1]);
  }
  free(p.sent);
  free(p.lanes);
  free(p.table);
  MPI_Finalize();
  return right ? 0 : 1;
}
