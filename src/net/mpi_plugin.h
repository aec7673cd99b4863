/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CAIRN_NET_MPI_PLUGIN_H
#define CAIRN_NET_MPI_PLUGIN_H

#include <stddef.h>

/*
 * The table that a plugin exports. The plugin is C, compiled once for each MPI, and is the only
 * code that includes mpi.h, because types and constants of MPIs differ. A port is a communicator
 * with its buffers.
 *
 * Functions that can fail return a negative number and write a sentence into `why`, a text of
 * CAIRN_MPI_TEXT bytes. Two threads must not call functions of the table concurrently.
 */
#define CAIRN_MPI_VERSION 2
#define CAIRN_MPI_SYMBOL "cairn_mpi"
#define CAIRN_MPI_TEXT 512

typedef struct cairn_mpi_port cairn_mpi_port;

typedef struct cairn_mpi_table {
  int version; /* CAIRN_MPI_VERSION */

  /* Starts MPI. Returns 1 if it did, 0 if MPI was already running. */
  int (*start)(char* why);
  /* Ends MPI. Only if start returned 1, and after all ports are closed. */
  int (*finish)(char* why);
  /* Ends all ranks of the job at once, with `status` if the launcher passes it on. */
  void (*abort)(int status);
  int (*size)(void);
  int (*rank)(void);

  /* Collective over all ranks; a rank without memory fails after the collective part. Packets of
   * this port have at most max_packet bytes. With max_packet 0 the port is for all_gather alone,
   * and posts no receives that other messages would match. */
  int (*open)(cairn_mpi_port** port, size_t max_packet, char* why);
  /* Abandons pending sends. */
  void (*close)(cairn_mpi_port* port);
  /* Stores rank r's `mine` at all[r * bytes ..]. Collective. */
  int (*all_gather)(cairn_mpi_port* port, const void* mine, void* all, int bytes, char* why);

  /* Returns 1 if it copied the packet out, 0 if there is no room now. */
  int (*send)(cairn_mpi_port* port, int to, const void* packet, size_t bytes, char* why);
  /* Returns 1 if a packet has arrived, which is valid until release(), else 0. */
  int (*receive)(cairn_mpi_port* port, int* from, const void** packet, size_t* bytes, char* why);
  int (*release)(cairn_mpi_port* port, char* why);
  /* Returns the number of pending sends. */
  int (*unsent)(cairn_mpi_port* port, char* why);
} cairn_mpi_table;

#endif
