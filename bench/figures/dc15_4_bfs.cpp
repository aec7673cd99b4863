// SPDX-License-Identifier: Apache-2.0
//
// [DC15] figure 4: breadth-first search by Distributed Control, which is shortest paths along edges
// of length 1, against the size of message buffers. For comparison also with lengths of 1 to 255,
// as in figure 3.

#include <bench/figures/coalescing.hpp>

int main(int argc, char** argv) {
  using namespace cairn::bench;
  coalescing_sweep s;
  s.longest = {1, 255};
  figure f;
  f.name = "dc15_4_bfs";
  f.description =
      "[DC15] figure 4: breadth-first search by Distributed Control against the size of buffers.";
  f.add_options = [&](argument_list& arguments) { s.add_to(arguments); };
  f.sweep = [&](harness& h, const figure::record_function& record) {
    measure_buffers(h, s, record);
  };
  return run_figure(argc, argv, f);
}
