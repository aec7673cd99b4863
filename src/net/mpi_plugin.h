/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CAIRN_NET_MPI_PLUGIN_H
#define CAIRN_NET_MPI_PLUGIN_H

#include <stddef.h>

/*
 * What a plugin exports: one table. The plugin is C, compiled once for each MPI, and is the only
 * code that includes mpi.h, because types and constants of MPIs differ. A port is a communicator
 * of our own with its buffers.
 *
 * Functions that can fail return a negative number and write a sentence into `why`, a text of
 * CAIRN_MPI_TEXT bytes. None may be called by two threads at the same time.
 */
#define CAIRN_MPI_VERSION 2
#define CAIRN_MPI_SYMBOL "cairn_mpi"
#define CAIRN_MPI_TEXT 512

typedef struct cairn_mpi_port cairn_mpi_port;

typedef struct cairn_mpi_table {
  int version; /* CAIRN_MPI_VERSION */

  /* Starts MPI unless the process has; 1 if it did, 0 if MPI ran already. */
  int (*start)(char* why);
  /* Ends MPI. Only for whoever got 1 from start, after all ports are closed. */
  int (*finish)(char* why);
  /* Ends all ranks of the job at once, with that exit status if the launcher passes it on. */
  void (*abort)(int status);
  int (*size)(void);
  int (*rank)(void);

  /* Collective over all ranks; one without memory fails after it has met the others. Packets of
   * this port are at most max_packet bytes; a port for all_gather alone has 0, and posts no
   * receives that others' messages would be matched to. */
  int (*open)(cairn_mpi_port** port, size_t max_packet, char* why);
  /* Gives up what is still being sent. */
  void (*close)(cairn_mpi_port* port);
  /* all[r * bytes ..] becomes rank r's `mine`. Collective. */
  int (*all_gather)(cairn_mpi_port* port, const void* mine, void* all, int bytes, char* why);

  /* 1: copied out; 0: no room now. */
  int (*send)(cairn_mpi_port* port, int to, const void* packet, size_t bytes, char* why);
  /* 1: a packet came; it stays valid until release(). 0: none. */
  int (*receive)(cairn_mpi_port* port, int* from, const void** packet, size_t* bytes, char* why);
  int (*release)(cairn_mpi_port* port, char* why);
  /* How many sends are under way. */
  int (*unsent)(cairn_mpi_port* port, char* why);
} cairn_mpi_table;

#endif
