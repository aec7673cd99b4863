// SPDX-License-Identifier: Apache-2.0
//
// Random walks in plain MPI that delegate a walk to the owner of its vertex ([GMT14] section V-C).
// A process walks until all its walks have ended or left; then it sends the walks that left, all
// for one process in one message, tells the master how many have ended, and waits for others. The
// master ends the program when all have ended.
//
//   mpiexec.mpich -n 2 walks_mpich --graph G.el --key 7 --expect VISITS.csv
//                                  [--walkers N] [--length 40] [--runs 3]
//
// G.el has a line "source target" per directed edge. VISITS.csv has a heading, then a line
// "vertex,visits" per vertex, as written by `cairn walk G.el --key 7 --output`: both take the same
// walks. Without --walkers there are half as many as vertices.

// lines: begin
#define _GNU_SOURCE
#include <string.h>

#include "block_graph.h"

enum { walks_tag, ended_tag, quit_tag };

struct walk {
  uint64_t draws, at;
  uint32_t steps, unused;
};

struct list {
  struct walk* all;
  uint64_t count, capacity;
};

// Buffers on their way.
struct sending {
  MPI_Request* requests;
  struct walk** buffers;
  int count, capacity;
};

struct program {
  struct job job;
  struct graph graph;
  uint64_t walkers, length, block;
  uint64_t* visits;
  struct list current;  // walks to continue
  struct list* leave;   // by process
  struct sending sending;
  uint64_t ended, ended_anywhere;  // since the last report; as the master knows
};

static uint64_t mix(uint64_t x) {
  x += UINT64_C(0x9e3779b97f4a7c15);
  x = (x ^ (x >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
  x = (x ^ (x >> 27)) * UINT64_C(0x94d049bb133111eb);
  return x ^ (x >> 31);
}

static uint64_t draw(struct walk* w, uint64_t below) {
  const uint64_t drawn = mix(w->draws);
  w->draws += UINT64_C(0x9e3779b97f4a7c15);
  return (uint64_t)(((unsigned __int128)drawn * below) >> 64);
}

static void make_room(struct list* l, uint64_t more) {
  if (l->count + more <= l->capacity) return;
  while (l->capacity < l->count + more) l->capacity = l->capacity ? 2 * l->capacity : 1024;
  l->all = realloc(l->all, l->capacity * sizeof *l->all);
  if (l->all == NULL) fail("no memory");
}

static void append(struct list* l, struct walk w) {
  make_room(l, 1);
  l->all[l->count++] = w;
}

// Follows a walk until it ends or leaves.
static void follow(struct program* p, struct walk w) {
  const struct graph* const g = &p->graph;
  for (;;) {
    const uint64_t v = w.at - g->first;
    if (v >= g->owned) {
      append(&p->leave[w.at / p->block], w);
      return;
    }
    ++p->visits[v];
    const uint64_t degree = g->offsets[v + 1] - g->offsets[v];
    if (w.steps == p->length || degree == 0) break;
    w.at = g->ends[g->offsets[v] + draw(&w, degree)];
    ++w.steps;
  }
  ++p->ended;
}

static void follow_all(struct program* p) {
  for (uint64_t i = 0; i < p->current.count; ++i) follow(p, p->current.all[i]);
  p->current.count = 0;
}

// Frees the buffers that have been sent; all of them if told to wait.
static void free_sent(struct sending* s, int wait) {
  int kept = 0;
  for (int i = 0; i < s->count; ++i) {
    int done = 0;
    if (wait) {
      wait_for(1, &s->requests[i]);
      done = 1;
    } else {
      MPI_Test(&s->requests[i], &done, MPI_STATUS_IGNORE);
    }
    if (done) {
      free(s->buffers[i]);
    } else {
      s->requests[kept] = s->requests[i];
      s->buffers[kept++] = s->buffers[i];
    }
  }
  s->count = kept;
}

// Sends the walks that have left; the requests then own their buffers.
static void send_walks(struct program* p) {
  struct sending* const s = &p->sending;
  free_sent(s, 0);
  for (int to = 0; to < p->job.size; ++to) {
    struct list* const l = &p->leave[to];
    if (l->count == 0) continue;
    if (l->count > INT32_MAX / sizeof(struct walk)) fail("more walks than a message holds");
    if (s->count == s->capacity) {
      s->capacity = 2 * s->capacity + 16;
      s->requests = realloc(s->requests, (size_t)s->capacity * sizeof *s->requests);
      s->buffers = realloc(s->buffers, (size_t)s->capacity * sizeof *s->buffers);
      if (s->requests == NULL || s->buffers == NULL) fail("no memory");
    }
    MPI_Isend(l->all, (int)(l->count * sizeof(struct walk)), MPI_BYTE, to, walks_tag,
              MPI_COMM_WORLD, &s->requests[s->count]);
    s->buffers[s->count++] = l->all;
    *l = (struct list){0};
  }
}

static void report_ended(struct program* p) {
  if (p->job.rank == 0) {
    p->ended_anywhere += p->ended;
  } else if (p->ended > 0) {
    MPI_Send(&p->ended, 1, MPI_UINT64_T, 0, ended_tag, MPI_COMM_WORLD);
  }
  p->ended = 0;
}

// Receives the message that was probed. Returns 0 if it says that all walks have ended.
static int receive(struct program* p, const MPI_Status* probed) {
  int bytes = 0;
  MPI_Get_count(probed, MPI_BYTE, &bytes);
  if (probed->MPI_TAG == walks_tag) {
    const uint64_t count = (uint64_t)bytes / sizeof(struct walk);
    make_room(&p->current, count);
    MPI_Recv(p->current.all + p->current.count, bytes, MPI_BYTE, probed->MPI_SOURCE, walks_tag,
             MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    p->current.count += count;
    return 1;
  }
  uint64_t count = 0;
  MPI_Recv(&count, 1, MPI_UINT64_T, probed->MPI_SOURCE, probed->MPI_TAG, MPI_COMM_WORLD,
           MPI_STATUS_IGNORE);
  p->ended_anywhere += count;
  return probed->MPI_TAG != quit_tag;
}

static void start_walks(struct program* p) {
  const uint64_t share = block_of(p->walkers, p->job.size);
  const uint64_t first = (uint64_t)p->job.rank * share;
  for (uint64_t i = first; i < first + share && i < p->walkers; ++i) {
    struct walk w = {mix(p->job.number) ^ mix(mix(i) + UINT64_C(0x632be59bd9b4e019)), 0, 0, 0};
    w.at = draw(&w, p->graph.vertices);
    append(&p->current, w);
  }
}

static void walk(struct program* p) {
  memset(p->visits, 0, p->graph.owned * sizeof *p->visits);
  p->ended_anywhere = 0;
  start_walks(p);
  for (int more = 1; more;) {
    follow_all(p);
    send_walks(p);
    report_ended(p);
    if (p->job.rank == 0 && p->ended_anywhere == p->walkers) {
      const uint64_t nothing = 0;
      for (int to = 1; to < p->job.size; ++to)
        MPI_Send(&nothing, 1, MPI_UINT64_T, to, quit_tag, MPI_COMM_WORLD);
      break;
    }
    MPI_Status status;
    probe(&status);
    for (int arrived = 1; more && arrived;) {
      more = receive(p, &status);
      MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &arrived, &status);
    }
  }
  free_sent(&p->sending, 1);
}

// lines: end

static int equal(const struct program* p) {
  FILE* const file = fopen(p->job.expect, "r");
  char line[128], *comma = NULL;
  if (file == NULL || fgets(line, sizeof line, file) == NULL)
    fail("the expected visits cannot be read");
  uint64_t rows = 0;  // number of vertices
  int right = 1;
  while (fgets(line, sizeof line, file) != NULL) {
    const uint64_t number = number_of(&p->graph, strtoull(line, &comma, 10));
    if (number == no_number || *comma != ',') continue;
    ++rows;
    const uint64_t own = number - p->graph.first;
    if (own < p->graph.owned) right &= p->visits[own] == strtoull(comma + 1, NULL, 10);
  }
  fclose(file);
  return right && rows == p->graph.vertices;
}

static int by_number(const void* a, const void* b) {
  const uint64_t x = *(const uint64_t*)a, y = *(const uint64_t*)b;
  return (x > y) - (x < y);
}

int main(int argc, char** argv) {
  struct program p = {.job = {.program = "walks_mpi", .number_name = "key", .runs = 3}};
  start(&p.job, argc, argv);
  p.graph = read_graph(p.job.graph, 1, p.job.rank, p.job.size);
  p.walkers = p.graph.vertices / 2;
  p.length = 40;
  for (int i = 1; i + 1 < argc; i += 2) {
    if (strcmp(argv[i], "--walkers") == 0) p.walkers = strtoull(argv[i + 1], NULL, 10);
    if (strcmp(argv[i], "--length") == 0) p.length = strtoull(argv[i + 1], NULL, 10);
  }
  if (p.graph.vertices == 0 || p.length > UINT32_MAX) refuse(&p.job, "no vertices, or too long");
  struct graph* const g = &p.graph;
  for (uint64_t v = 0; v < g->owned; ++v)
    qsort(g->ends + g->offsets[v], g->offsets[v + 1] - g->offsets[v], sizeof *g->ends, by_number);
  // lines: begin
  p.block = block_of(g->vertices, p.job.size);
  p.visits = allocate(g->owned, sizeof *p.visits);
  p.leave = allocate((uint64_t)p.job.size, sizeof *p.leave);
  // lines: end
  int right = 1;
  for (unsigned long long run = 0; run < p.job.runs && right; ++run) {
    wait_for_all();
    const double begin = MPI_Wtime();
    walk(&p);
    const double seconds = MPI_Wtime() - begin;
    right = report(&p.job, g->vertices, seconds, equal(&p));
  }
  // lines: begin
  free(p.sending.requests);
  free(p.sending.buffers);
  free(p.leave);
  free(p.current.all);
  free(p.visits);
  free_graph(g);
  // lines: end
  MPI_Finalize();
  return right ? 0 : 1;
}
