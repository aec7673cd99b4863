// SPDX-License-Identifier: Apache-2.0
//
// Compares the depths of a search with the file that Cairn wrote.
#pragma once

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "block_graph.h"

// Whether the file that `cairn bfs --output` wrote has these depths of the own vertices. A vertex
// without a numeric depth was not reached.
static int depths_equal(const struct graph* g, const int64_t* depth, const char* path) {
  FILE* const file = fopen(path, "r");
  char line[128], *comma = NULL;
  if (file == NULL || fgets(line, sizeof line, file) == NULL)
    fail("the expected depths cannot be read");
  uint64_t rows = 0;  // number of vertices
  int right = 1;
  while (fgets(line, sizeof line, file) != NULL) {
    char* end = NULL;
    const uint64_t number = number_of(g, strtoull(line, &comma, 10));
    const int64_t given = *comma == ',' ? strtoll(comma + 1, &end, 10) : -1;
    const int64_t expected = end == comma + 1 ? -1 : given;
    if (number == no_number) {
      right &= expected == -1;
      continue;
    }
    ++rows;
    const uint64_t own = number - g->first;
    if (own < g->owned) right &= depth[own] == expected;
  }
  fclose(file);
  return right && rows == g->vertices;
}
