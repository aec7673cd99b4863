// SPDX-License-Identifier: Apache-2.0
//
// [GMT14] figure 6: the bandwidth of blocking puts from one rank to all others, against the tasks
// of that rank, on local ranks and on a simulated cluster, whose times are predicted.

#include <bench/figures/puts.hpp>

int main(int argc, char** argv) {
  using namespace cairn::bench;
  put_sweep s;
  s.simulated = {128};
  figure f;
  f.name = "gmt14_6_puts";
  f.description = "[GMT14] figure 6: blocking puts from one rank to all others.";
  f.add_options = [&](argument_list& arguments) { s.add_to(arguments); };
  f.sweep = [&](harness&, const figure::record_function& record) {
    for (const int ranks : {2, 4}) measure_puts(s, ranks, true, record);
    predict_puts(s, 2, true, record);
    for (const int ranks : s.simulated) predict_puts(s, ranks, true, record);
  };
  return run_figure(argc, argv, f);
}
