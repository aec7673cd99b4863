// SPDX-License-Identifier: Apache-2.0
//
// [GMT14] figure 5: the bandwidth of blocking puts between two ranks against the tasks of a rank,
// for elements of 8 to 128 bytes; compared with one message per put.

#include <bench/figures/puts.hpp>

int main(int argc, char** argv) {
  using namespace cairn::bench;
  put_sweep s;
  figure f;
  f.name = "gmt14_5_puts";
  f.description = "[GMT14] figure 5: blocking puts between two ranks against the number of tasks.";
  f.add_options = [&](argument_list& arguments) { s.add_to(arguments); };
  f.sweep = [&](harness&, const figure::record_function& record) {
    measure_puts(s, 2, false, record);
    for (const int ranks : s.simulated) predict_puts(s, ranks, false, record);
  };
  return run_figure(argc, argv, f);
}
