/* SPDX-License-Identifier: Apache-2.0 */
#include "mpi_plugin.h"

#include <limits.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/*
 * Each send copies its packet to a slot, so that the caller may reuse its bytes at once. Receives
 * are posted in advance, from any source, and tested in the order of posting. MPI matches them in
 * that order, so testing only the oldest finds every packet, with one call per poll.
 */
enum { num_sends = 64, num_receives = 32, packet_tag = 1 };

struct cairn_mpi_port {
  MPI_Comm comm;
  size_t max_packet;
  char* send_bytes;
  char* receive_bytes;
  MPI_Request sends[num_sends];
  MPI_Request receives[num_receives];
  int free_sends[num_sends]; /* a stack of slots */
  int num_free;
  int oldest; /* index of a receive */
};

static int fail(char* why, const char* what, int code) {
  char text[MPI_MAX_ERROR_STRING] = "";
  int length = 0;
  if (code != MPI_SUCCESS) MPI_Error_string(code, text, &length);
  snprintf(why, CAIRN_MPI_TEXT, "%s%s%.400s", what, length > 0 ? ": " : "", text);
  return -1;
}

static int start(char* why) {
  int running = 0, ended = 0, level = MPI_THREAD_SINGLE;
  MPI_Initialized(&running);
  MPI_Finalized(&ended);
  if (ended) return fail(why, "MPI has already ended in this process", MPI_SUCCESS);
  if (running) {
    MPI_Query_thread(&level);
  } else {
    const int code = MPI_Init_thread(NULL, NULL, MPI_THREAD_SERIALIZED, &level);
    if (code != MPI_SUCCESS) return fail(why, "MPI_Init_thread failed", code);
  }
  if (level < MPI_THREAD_SERIALIZED) {
    return fail(why, "MPI does not support the thread level MPI_THREAD_SERIALIZED", MPI_SUCCESS);
  }
  return running ? 0 : 1;
}

/*
 * Before 4.2, MPICH over UCX ends in two steps: a rank disconnects from every other one, which by
 * TCP takes an answer of that rank, and then blocks in the launcher's barrier, where it answers
 * nobody. A rank that comes later than the time of a message waits for ever (pmodels/mpich, pull
 * request 6596). So the first step is left out: libmpich, which is loaded with this plugin, finds
 * this function before that of libucp. The connections end with the process. The barrier ensures
 * that every rank has received what it waits for.
 */
#if defined(MPICH_NUMVERSION) && MPICH_NUMVERSION < 40200000
__attribute__((visibility("default"))) void* ucp_disconnect_nb(void* endpoint);
void* ucp_disconnect_nb(void* endpoint) {
  (void)endpoint;
  return NULL; /* done */
}
static void wait_for_others(void) { MPI_Barrier(MPI_COMM_WORLD); }
#else
static void wait_for_others(void) {}
#endif

static int finish(char* why) {
  wait_for_others();
  const int code = MPI_Finalize();
  return code == MPI_SUCCESS ? 0 : fail(why, "MPI_Finalize failed", code);
}

static void abort_job(int status) { MPI_Abort(MPI_COMM_WORLD, status); }

static int job_size(void) {
  int size = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  return size;
}

static int job_rank(void) {
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  return rank;
}

static int post(cairn_mpi_port* port, int slot, char* why) {
  const int code =
      MPI_Irecv(port->receive_bytes + (size_t)slot * port->max_packet, (int)port->max_packet,
                MPI_BYTE, MPI_ANY_SOURCE, packet_tag, port->comm, &port->receives[slot]);
  return code == MPI_SUCCESS ? 0 : fail(why, "MPI cannot receive", code);
}

static void close_port(cairn_mpi_port* port) {
  if (port->comm != MPI_COMM_NULL) {
    for (int i = 0; i < num_receives; ++i) {
      if (port->receives[i] == MPI_REQUEST_NULL) continue;
      MPI_Cancel(&port->receives[i]);
      MPI_Wait(&port->receives[i], MPI_STATUS_IGNORE);
    }
    /* Not every MPI can cancel sends that were not received; MPI keeps their memory. */
    int all_sent = 0;
    MPI_Status statuses[num_sends];
    MPI_Testall(num_sends, port->sends, &all_sent, statuses);
    if (!all_sent) port->send_bytes = NULL;
    MPI_Comm_free(&port->comm);
  }
  free(port->send_bytes);
  free(port->receive_bytes);
  free(port);
}

static int open_port(cairn_mpi_port** opened, size_t max_packet, char* why) {
  if (max_packet > INT_MAX) return fail(why, "packets are too large for MPI", MPI_SUCCESS);
  /* Before any step that may fail on this rank alone, because the others wait in this one. */
  MPI_Comm comm = MPI_COMM_NULL;
  const int code = MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  if (code != MPI_SUCCESS) return fail(why, "MPI_Comm_dup failed", code);
  cairn_mpi_port* const port = calloc(1, sizeof *port);
  if (port == NULL) {
    MPI_Comm_free(&comm);
    return fail(why, "out of memory", MPI_SUCCESS);
  }
  port->comm = comm;
  port->max_packet = max_packet;
  for (int i = 0; i < num_receives; ++i) port->receives[i] = MPI_REQUEST_NULL;
  for (int i = 0; i < num_sends; ++i) {
    port->sends[i] = MPI_REQUEST_NULL;
    port->free_sends[port->num_free++] = num_sends - 1 - i;
  }
  int failed = 0;
  if (max_packet > 0) {
    port->send_bytes = malloc(num_sends * max_packet);
    port->receive_bytes = malloc(num_receives * max_packet);
    if (port->send_bytes == NULL || port->receive_bytes == NULL) {
      failed = fail(why, "out of memory", MPI_SUCCESS);
    }
  }
  if (!failed) MPI_Comm_set_errhandler(port->comm, MPI_ERRORS_RETURN);
  for (int i = 0; i < num_receives && max_packet > 0 && !failed; ++i) failed = post(port, i, why);
  if (failed) {
    close_port(port);
    return failed;
  }
  *opened = port;
  return 0;
}

static int all_gather(cairn_mpi_port* port, const void* mine, void* all, int bytes, char* why) {
  const int code = MPI_Allgather(mine, bytes, MPI_BYTE, all, bytes, MPI_BYTE, port->comm);
  return code == MPI_SUCCESS ? 0 : fail(why, "MPI_Allgather failed", code);
}

static int collect_sent(cairn_mpi_port* port, char* why) {
  int num_done = 0, done[num_sends];
  MPI_Status statuses[num_sends];
  const int code = MPI_Testsome(num_sends, port->sends, &num_done, done, statuses);
  if (code != MPI_SUCCESS) return fail(why, "MPI cannot send", code);
  if (num_done == MPI_UNDEFINED) return 0; /* none in progress */
  for (int i = 0; i < num_done; ++i) port->free_sends[port->num_free++] = done[i];
  return 0;
}

static int send_packet(cairn_mpi_port* port, int to, const void* packet, size_t bytes, char* why) {
  if (port->num_free == 0) {
    if (collect_sent(port, why) < 0) return -1;
    if (port->num_free == 0) return 0;
  }
  const int slot = port->free_sends[port->num_free - 1];
  char* const copy = port->send_bytes + (size_t)slot * port->max_packet;
  memcpy(copy, packet, bytes);
  const int code =
      MPI_Isend(copy, (int)bytes, MPI_BYTE, to, packet_tag, port->comm, &port->sends[slot]);
  if (code != MPI_SUCCESS) return fail(why, "MPI cannot send", code);
  --port->num_free;
  return 1;
}

static int receive_packet(cairn_mpi_port* port, int* from, const void** packet, size_t* bytes,
                          char* why) {
  int came = 0, count = 0;
  MPI_Status status;
  const int code = MPI_Test(&port->receives[port->oldest], &came, &status);
  if (code != MPI_SUCCESS) return fail(why, "MPI cannot receive", code);
  if (!came) return 0;
  MPI_Get_count(&status, MPI_BYTE, &count);
  *from = status.MPI_SOURCE;
  *packet = port->receive_bytes + (size_t)port->oldest * port->max_packet;
  *bytes = (size_t)count;
  return 1;
}

static int release_packet(cairn_mpi_port* port, char* why) {
  const int slot = port->oldest;
  port->oldest = (slot + 1) % num_receives;
  return post(port, slot, why);
}

static int unsent(cairn_mpi_port* port, char* why) {
  if (port->num_free < num_sends && collect_sent(port, why) < 0) return -1;
  return num_sends - port->num_free;
}

__attribute__((visibility("default"))) extern const cairn_mpi_table cairn_mpi;
const cairn_mpi_table cairn_mpi = {
    .version = CAIRN_MPI_VERSION,
    .start = start,
    .finish = finish,
    .abort = abort_job,
    .size = job_size,
    .rank = job_rank,
    .open = open_port,
    .close = close_port,
    .all_gather = all_gather,
    .send = send_packet,
    .receive = receive_packet,
    .release = release_packet,
    .unsent = unsent,
};
