// SPDX-License-Identifier: Apache-2.0
#include <exception>
#include <fstream>
#include <iostream>
#include <string>

#include <fmt/core.h>

#include <cairn/hw/clock.hpp>

#include <bench/program.hpp>
#include <bench/provenance.hpp>

namespace cairn::bench {

int run_program(int argc, char** argv, const char* description,
                const std::function<void(CLI::App&)>& add_options,
                const std::function<void(harness&)>& body) {
  CLI::App app{description};
  run_options options;
  std::string file;
  app.add_option("--runs", options.runs, "timed runs of each kernel")
      ->check(CLI::Range(1, 1 << 20))
      ->capture_default_str();
  app.add_option("--warm-ups", options.warm_ups, "calls before a kernel is timed")
      ->check(CLI::Range(0, 1 << 20))
      ->capture_default_str();
  app.add_option("--least-seconds", options.least_seconds, "that a run takes")
      ->check(CLI::Range(0.0, 1e6))
      ->capture_default_str();
  app.add_option("--lines", file, "adds a JSON line per run to this file; -: standard output");
  add_options(app);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& e) {
    return app.exit(e) == 0 ? 0 : 2;
  }

  try {
    std::ofstream out;
    if (!file.empty() && file != "-") {
      out.open(file, std::ios::app);
      if (!out) {
        fmt::print(stderr, "{}: cannot be written\n", file);
        return 2;
      }
    }
    std::ostream* const lines = file == "-" ? &std::cout : file.empty() ? nullptr : &out;
    const hw::steady_clock clock;
    harness h(clock, lines, provenance(argc, argv), options);
    body(h);
    return 0;
  } catch (const std::exception& e) {
    fmt::print(stderr, "{}\n", e.what());
    return 1;
  }
}

}  // namespace cairn::bench
