// SPDX-License-Identifier: Apache-2.0
//
// Waiting in the MPI baselines. With more processes than cores a blocking call of MPI may keep its
// core for a time slice while others have work; there a process polls and yields.
#pragma once

#include <mpi.h>
#include <sched.h>

static int crowded;  // whether this machine has more processes than cores allowed to them

static inline void count_processes(void) {
  MPI_Comm machine;
  int here = 0;
  MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &machine);
  MPI_Comm_size(machine, &here);
  cpu_set_t mine, all;  // Open MPI binds processes, each to cores of its own
  CPU_ZERO(&mine);
  const int known = sched_getaffinity(0, sizeof mine, &mine) == 0;
  MPI_Allreduce(&mine, &all, sizeof mine, MPI_BYTE, MPI_BOR, machine);
  MPI_Comm_free(&machine);
  crowded = known && here > CPU_COUNT(&all);
}

static inline void idle(void) {
  if (crowded) sched_yield();
}

static inline void wait_for(int count, MPI_Request* requests) {
  for (int i = 0; i < count;) {
    int done = 0;
    MPI_Test(&requests[i], &done, MPI_STATUS_IGNORE);
    i += done;
    if (!done) idle();
  }
}

static inline void wait_for_all(void) {
  MPI_Request all;
  if (!crowded) {
    MPI_Barrier(MPI_COMM_WORLD);
    return;
  }
  MPI_Ibarrier(MPI_COMM_WORLD, &all);
  wait_for(1, &all);
}

// In place, over all processes.
static inline void reduce(void* value, MPI_Datatype type, MPI_Op op) {
  MPI_Request reducing;
  if (!crowded) {
    MPI_Allreduce(MPI_IN_PLACE, value, 1, type, op, MPI_COMM_WORLD);
    return;
  }
  MPI_Iallreduce(MPI_IN_PLACE, value, 1, type, op, MPI_COMM_WORLD, &reducing);
  wait_for(1, &reducing);
}

// Waits for a message.
static inline void probe(MPI_Status* status) {
  if (!crowded) {
    MPI_Probe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, status);
    return;
  }
  for (int arrived = 0; !arrived;) {
    MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &arrived, status);
    if (!arrived) idle();
  }
}
