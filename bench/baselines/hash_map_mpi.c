// SPDX-License-Identifier: Apache-2.0
//
// Concurrent hash map access by plain MPI [GMT14, section V.D]: the baseline of `cairn hashmap`,
// with the same strings, tasks and steps.
//
//   mpiexec -n P hash_map_mpi [--tasks W] [--steps L] [--strings N] [--entries E] [--seed S]
//                             [--at-once T] [--block B] [--runs R] [--expect CHECKSUM]
//
// Each rank owns a part of the map and runs its share of the tasks, T of them at once. A string of
// another rank is sent to it and answered. With T = 1 and B = 1, as in the paper, each string is a
// message, and a rank cannot go on before its answer. Otherwise up to B strings to a rank travel
// together; those that are fewer leave when the rank has nothing else to do. Rank 0 prints one JSON
// line for each run; the status is 1 if the checksum of the entries is wrong and 2 if the command
// line is.

// lines: begin
#define _GNU_SOURCE
#include <mpi.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { max_characters = 20, posted_receives = 16, polls_before_yield = 64 };
enum tag { asks = 0, answers = 1 };

struct string {
  uint8_t length;
  char characters[max_characters];
};
struct ask {
  uint32_t slot;
  uint8_t store;  // else look up
  struct string string;
};
struct answer {
  uint32_t slot;
  uint32_t found;  // or stored
};
struct entry {
  uint64_t hash;
  struct string string;
  uint8_t used;      // 0: no
  uint8_t reversed;  // it is not of the pool, but the reverse of one that is
};

struct settings {
  uint64_t tasks, steps, strings, entries, seed, at_once, block, runs, expect;
  int expects;
};

struct slot {  // a task in progress
  uint64_t input, steps_left;
  struct string string;
  int stores;  // the question in flight is a store
};
struct buffer {
  MPI_Request request;
  size_t count;
  char* data;
};
struct lane {  // what is to be sent to one rank under one tag
  struct buffer* filling;
};

struct program {
  struct settings settings;
  int rank, size;
  struct entry* table;
  uint64_t capacity, used;
  struct slot* slots;
  uint64_t next_task, last_task, active, found, stored;
  struct lane* lanes;  // [2 * size]: by rank and tag
  struct buffer **sending, **idle;
  size_t num_sending, num_idle;
  size_t room;  // for buffers being sent; for idle ones as many and one for each lane
  size_t buffer_bytes;
  char* incoming[posted_receives];
  MPI_Request receiving[posted_receives];
  int oldest;
};

static void* allocate(size_t bytes) {
  const size_t huge_page = (size_t)2 << 20;
  void* memory = NULL;
  if (posix_memalign(&memory, bytes >= huge_page ? huge_page : 64, bytes) != 0) {
    fprintf(stderr, "hash_map_mpi: no memory for %zu bytes\n", bytes);
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
  if (bytes >= huge_page) madvise(memory, bytes, MADV_HUGEPAGE);
  memset(memory, 0, bytes);
  return memory;
}

// Strings -----------------------------------------------------------------------------------------

static uint64_t mix(uint64_t x) {
  x += UINT64_C(0x9e3779b97f4a7c15);
  x = (x ^ (x >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
  x = (x ^ (x >> 27)) * UINT64_C(0x94d049bb133111eb);
  return x ^ (x >> 31);
}

static uint64_t share(uint64_t i, uint64_t all, uint64_t parts) {
  return (uint64_t)((unsigned __int128)i * all / parts);
}

static struct string string_of_pool(uint64_t seed, uint64_t i) {
  static const char alphabet[] = "abcdefghijklmnopqrstuvwxyz234567";
  const uint64_t state = mix(seed) ^ mix(mix(i) + UINT64_C(0x632be59bd9b4e019));
  const uint64_t first = mix(state), second = mix(state + UINT64_C(0x9e3779b97f4a7c15));
  struct string s = {.length = (uint8_t)(5 + (first >> 60))};
  for (unsigned k = 0; k < 10; ++k) {
    s.characters[k] = alphabet[first >> 5 * k & 31];
    s.characters[10 + k] = alphabet[second >> 5 * k & 31];
  }
  memset(s.characters + s.length, 0, max_characters - (size_t)s.length);
  return s;
}

static struct string reverse(const struct string* s) {
  struct string r = {.length = s->length};
  for (int i = 0; i < s->length; ++i) r.characters[i] = s->characters[s->length - 1 - i];
  return r;
}

static uint64_t hash_of(const struct string* s) {
  uint64_t words[3] = {0, 0, 0};
  memcpy(words, s, sizeof *s);
  return mix(mix(mix(sizeof *s ^ words[0]) ^ words[1]) ^ words[2]);
}

static int owner_of(const struct program* p, uint64_t hash) {
  return (int)((unsigned __int128)hash * (uint64_t)p->size >> 64);
}

// The own part of the map -------------------------------------------------------------------------

static struct entry* place_of(const struct program* p, uint64_t hash, const struct string* s) {
  const uint64_t mask = p->capacity - 1;
  uint64_t at = mix(hash) & mask;
  while (p->table[at].used != 0 &&
         (p->table[at].hash != hash || memcmp(&p->table[at].string, s, sizeof *s) != 0)) {
    at = (at + 1) & mask;
  }
  return &p->table[at];
}

static void make_table(struct program* p, uint64_t capacity) {
  p->capacity = capacity;
  p->table = allocate(capacity * sizeof *p->table);
}

static void grow(struct program* p) {
  struct entry* const before = p->table;
  const uint64_t entries = p->capacity;
  make_table(p, 2 * entries);
  for (uint64_t i = 0; i < entries; ++i) {
    if (before[i].used != 0) *place_of(p, before[i].hash, &before[i].string) = before[i];
  }
  free(before);
}

static int store(struct program* p, uint64_t hash, const struct string* s, uint8_t reversed) {
  if (4 * (p->used + 1) > 3 * p->capacity) grow(p);
  struct entry* const e = place_of(p, hash, s);
  if (e->used != 0) return 0;
  *e = (struct entry){.hash = hash, .string = *s, .used = 1, .reversed = reversed};
  ++p->used;
  return 1;
}

static void populate(struct program* p) {
  const struct settings* const s = &p->settings;
  uint64_t capacity = 1024;
  while (3 * capacity < 4 * (s->entries / (uint64_t)p->size + 1)) capacity *= 2;
  make_table(p, capacity);
  p->used = 0;
  for (uint64_t j = 0; j < s->entries; ++j) {
    const struct string string = string_of_pool(s->seed, share(j, s->strings, s->entries));
    const uint64_t hash = hash_of(&string);
    if (owner_of(p, hash) == p->rank) store(p, hash, &string, 0);
  }
}

static uint64_t checksum(const struct program* p) {
  uint64_t sum = 0, total = 0;
  for (uint64_t i = 0; i < p->capacity; ++i) {
    const struct entry* const e = &p->table[i];
    if (e->used != 0) sum += mix(hash_of(&e->string) + e->reversed);
  }
  MPI_Allreduce(&sum, &total, 1, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD);
  return total;
}

// Messages ----------------------------------------------------------------------------------------

static size_t item_bytes(enum tag tag) {
  return tag == asks ? sizeof(struct ask) : sizeof(struct answer);
}

static struct buffer* idle_buffer(struct program* p) {
  if (p->num_idle > 0) return p->idle[--p->num_idle];
  struct buffer* const b = allocate(sizeof *b);
  b->data = allocate(p->buffer_bytes);
  return b;
}

static void ship(struct program* p, int to, enum tag tag) {
  struct buffer** const filling = &p->lanes[2 * to + tag].filling;
  struct buffer* const b = *filling;
  if (b == NULL) return;
  *filling = NULL;
  MPI_Isend(b->data, (int)(b->count * item_bytes(tag)), MPI_BYTE, to, (int)tag, MPI_COMM_WORLD,
            &b->request);
  if (p->num_sending == p->room) {
    p->room = 2 * p->room + 64;
    p->sending = realloc(p->sending, p->room * sizeof *p->sending);
    p->idle = realloc(p->idle, (p->room + 2 * (size_t)p->size) * sizeof *p->idle);
    if (p->sending == NULL || p->idle == NULL) MPI_Abort(MPI_COMM_WORLD, 1);
  }
  p->sending[p->num_sending++] = b;
}

static void put(struct program* p, int to, enum tag tag, const void* item) {
  struct buffer** const filling = &p->lanes[2 * to + tag].filling;
  if (*filling == NULL) {
    *filling = idle_buffer(p);
    (*filling)->count = 0;
  }
  memcpy((*filling)->data + (*filling)->count * item_bytes(tag), item, item_bytes(tag));
  if (++(*filling)->count == p->settings.block) ship(p, to, tag);
}

static void ship_all(struct program* p) {
  for (int to = 0; to < p->size; ++to) {
    ship(p, to, asks);
    ship(p, to, answers);
  }
}

static void reap(struct program* p) {
  for (size_t i = 0; i < p->num_sending;) {
    int done = 0;
    MPI_Test(&p->sending[i]->request, &done, MPI_STATUS_IGNORE);
    if (done) {
      p->idle[p->num_idle++] = p->sending[i];
      p->sending[i] = p->sending[--p->num_sending];
    } else {
      ++i;
    }
  }
}

// Tasks -------------------------------------------------------------------------------------------

static int begin_task(struct program* p, struct slot* s) {
  if (p->next_task == p->last_task) return 0;
  s->input = share(p->next_task++, p->settings.strings, p->settings.tasks);
  s->steps_left = p->settings.steps;
  return 1;
}

// Looks up or stores here, or asks the owner. Returns whether the result is known.
static int access_entry(struct program* p, uint32_t number, int* result) {
  struct slot* const s = &p->slots[number];
  const uint64_t hash = hash_of(&s->string);
  const int owner = owner_of(p, hash);
  if (owner == p->rank) {
    *result = s->stores ? store(p, hash, &s->string, 1) : place_of(p, hash, &s->string)->used;
    return 1;
  }
  const struct ask a = {number, (uint8_t)s->stores, s->string};
  put(p, owner, asks, &a);
  return 0;
}

// Goes on with a task, whose last access had a result if `known`, until it must wait.
static void advance(struct program* p, uint32_t number, int known, int result) {
  struct slot* const s = &p->slots[number];
  for (;;) {
    if (known && !s->stores && result) {
      ++p->found;
      s->string = reverse(&s->string);
      s->stores = 1;
    } else {
      if (known && s->stores) p->stored += (uint64_t)result;
      if (s->steps_left == 0 && !begin_task(p, s)) {
        --p->active;
        return;
      }
      s->string = string_of_pool(p->settings.seed, s->input);
      s->stores = 0;
      s->input = s->input + 1 == p->settings.strings ? 0 : s->input + 1;
      --s->steps_left;
    }
    known = access_entry(p, number, &result);
    if (!known) return;
  }
}

static void handle(struct program* p, const char* data, size_t bytes, int from, enum tag tag) {
  for (size_t at = 0; at < bytes; at += item_bytes(tag)) {
    if (tag == answers) {
      struct answer a;
      memcpy(&a, data + at, sizeof a);
      advance(p, a.slot, 1, (int)a.found);
      continue;
    }
    struct ask q;
    memcpy(&q, data + at, sizeof q);
    const uint64_t hash = hash_of(&q.string);
    const int found = q.store ? store(p, hash, &q.string, 1) : place_of(p, hash, &q.string)->used;
    const struct answer a = {q.slot, (uint32_t)found};
    put(p, from, answers, &a);
  }
}

static void post(struct program* p, int slot) {
  MPI_Irecv(p->incoming[slot], (int)p->buffer_bytes, MPI_BYTE, MPI_ANY_SOURCE, MPI_ANY_TAG,
            MPI_COMM_WORLD, &p->receiving[slot]);
}

// Handles what has arrived; returns whether something has.
static int poll_messages(struct program* p) {
  int any = 0;
  for (;;) {
    int came = 0, bytes = 0;
    MPI_Status status;
    MPI_Test(&p->receiving[p->oldest], &came, &status);
    if (!came) break;
    MPI_Get_count(&status, MPI_BYTE, &bytes);
    handle(p, p->incoming[p->oldest], (size_t)bytes, status.MPI_SOURCE, (enum tag)status.MPI_TAG);
    post(p, p->oldest);
    p->oldest = (p->oldest + 1) % posted_receives;
    any = 1;
  }
  if (p->num_sending > 0) reap(p);
  return any;
}

// All steps of all tasks of this rank, and answers until all ranks have made theirs.
static void run_tasks(struct program* p) {
  const uint64_t tasks = p->settings.tasks, ranks = (uint64_t)p->size;
  p->next_task = share((uint64_t)p->rank, tasks, ranks);
  p->last_task = share((uint64_t)p->rank + 1, tasks, ranks);
  p->found = p->stored = 0;
  p->active = p->last_task - p->next_task;
  if (p->active > p->settings.at_once) p->active = p->settings.at_once;
  const uint32_t running = (uint32_t)p->active;
  for (uint32_t i = 0; i < running; ++i) {
    p->slots[i].steps_left = 0;
    advance(p, i, 0, 0);
  }
  MPI_Request end = MPI_REQUEST_NULL;
  unsigned idle = 0;
  for (int over = 0; !over;) {
    if (poll_messages(p)) {
      idle = 0;
      continue;
    }
    ship_all(p);
    if (++idle > polls_before_yield) sched_yield();
    if (p->active > 0) continue;
    if (end == MPI_REQUEST_NULL) MPI_Ibarrier(MPI_COMM_WORLD, &end);
    MPI_Test(&end, &over, MPI_STATUS_IGNORE);
  }
  while (p->num_sending > 0) reap(p);
}

// lines: end

// -------------------------------------------------------------------------------------------------

static int run(struct program* p) {
  populate(p);
  MPI_Barrier(MPI_COMM_WORLD);
  const double start = MPI_Wtime();
  run_tasks(p);
  double seconds = MPI_Wtime() - start, slowest = 0;
  MPI_Allreduce(&seconds, &slowest, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  uint64_t mine[3] = {p->found, p->stored, p->used}, all[3];
  MPI_Allreduce(mine, all, 3, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD);
  const uint64_t sum = checksum(p);
  free(p->table);
  const struct settings* const s = &p->settings;
  const int right = !s->expects || sum == s->expect;
  if (p->rank == 0) {
    printf(
        "{\"program\": \"hash_map_mpi\", \"ranks\": %d, \"tasks\": %llu, \"steps\": %llu, "
        "\"at_once\": %llu, \"block\": %llu, \"seconds\": %.6f, "
        "\"million_accesses_per_second\": %.3f, \"found\": %llu, \"stored\": %llu, "
        "\"entries\": %llu, \"checksum\": %llu, \"verified\": %s}\n",
        p->size, (unsigned long long)s->tasks, (unsigned long long)s->steps,
        (unsigned long long)s->at_once, (unsigned long long)s->block, slowest,
        (double)s->tasks * (double)s->steps / slowest * 1e-6, (unsigned long long)all[0],
        (unsigned long long)all[1], (unsigned long long)all[2], (unsigned long long)sum,
        !s->expects ? "null"
        : right     ? "true"
                    : "false");
  }
  return right;
}

static int set(struct settings* s, const char* name, const char* value) {
  const struct {
    const char* name;
    uint64_t *to, min, max;
  } all[] = {{"--tasks", &s->tasks, 1, UINT64_C(1) << 40},
             {"--steps", &s->steps, 1, UINT64_C(1) << 40},
             {"--strings", &s->strings, 1, UINT64_C(1) << 40},
             {"--entries", &s->entries, 1, UINT64_C(1) << 40},
             {"--seed", &s->seed, 0, UINT64_MAX},
             {"--at-once", &s->at_once, 1, UINT32_MAX},
             {"--block", &s->block, 1, 1 << 20},
             {"--runs", &s->runs, 1, 1 << 20},
             {"--expect", &s->expect, 0, UINT64_MAX}};
  for (size_t i = 0; i < sizeof all / sizeof *all; ++i) {
    if (strcmp(name, all[i].name) != 0) continue;
    char* end = NULL;
    const unsigned long long number = strtoull(value, &end, 10);
    if (end == value || *end != '\0' || *value == '-') return 0;
    if (number < all[i].min || number > all[i].max) return 0;
    *all[i].to = number;
    s->expects |= all[i].to == &s->expect;
    return 1;
  }
  return 0;
}

int main(int argc, char** argv) {
  struct program p = {.settings = {4096, 256, 1000000, 100000, 1, 16384, 512, 1, 0, 0}};
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &p.rank);
  MPI_Comm_size(MPI_COMM_WORLD, &p.size);
  int usable = argc % 2 == 1;
  for (int i = 1; usable && i < argc; i += 2) usable = set(&p.settings, argv[i], argv[i + 1]);
  usable = usable && p.settings.entries <= p.settings.strings;
  if (!usable) {
    if (p.rank == 0) {
      fprintf(stderr,
              "usage: hash_map_mpi [--tasks W] [--steps L] [--strings N] [--entries E] [--seed S] "
              "[--at-once T] [--block B] [--runs R] [--expect CHECKSUM]\n");
    }
    MPI_Finalize();
    return 2;
  }
  // lines: begin
  const uint64_t of_rank = p.settings.tasks / (uint64_t)p.size + 1;
  p.slots =
      allocate((of_rank < p.settings.at_once ? of_rank : p.settings.at_once) * sizeof *p.slots);
  p.lanes = allocate(2 * (size_t)p.size * sizeof *p.lanes);
  p.buffer_bytes = p.settings.block * sizeof(struct ask);
  for (int i = 0; i < posted_receives; ++i) {
    p.incoming[i] = allocate(p.buffer_bytes);
    post(&p, i);
  }
  // lines: end
  int right = 1;
  for (uint64_t i = 0; i < p.settings.runs; ++i) right = run(&p) && right;
  // lines: begin
  for (int i = 0; i < posted_receives; ++i) {
    MPI_Cancel(&p.receiving[i]);
    MPI_Wait(&p.receiving[i], MPI_STATUS_IGNORE);
    free(p.incoming[i]);
  }
  for (size_t i = 0; i < p.num_idle; ++i) {
    free(p.idle[i]->data);
    free(p.idle[i]);
  }
  free(p.idle);
  free(p.sending);
  free(p.lanes);
  free(p.slots);
  // lines: end
  MPI_Finalize();
  return right ? 0 : 1;
}
