// SPDX-License-Identifier: Apache-2.0
//
// [DC15] figure 3: shortest paths by Distributed Control on local ranks, against the size of
// message buffers; and with the size that the runtime chooses.

#include <bench/figures/coalescing.hpp>

int main(int argc, char** argv) {
  using namespace cairn::bench;
  coalescing_sweep s;
  s.longest = {255};
  figure f;
  f.name = "dc15_3_coalescing";
  f.description =
      "[DC15] figure 3: shortest paths by Distributed Control against the size of buffers.";
  f.add_options = [&](argument_list& arguments) { s.add_to(arguments); };
  f.sweep = [&](harness& h, const figure::record_function& record) {
    measure_buffers(h, s, record);
  };
  return run_figure(argc, argv, f);
}
