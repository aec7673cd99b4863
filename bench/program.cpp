// SPDX-License-Identifier: Apache-2.0
#include <exception>
#include <fstream>
#include <iostream>
#include <optional>
#include <string>
#include <vector>

#include <fmt/core.h>

#include <cairn/base/error.hpp>
#include <cairn/core/launch.hpp>
#include <cairn/core/settings.hpp>
#include <cairn/hw/clock.hpp>

#include <CLI/CLI.hpp>
#include <bench/program.hpp>
#include <bench/provenance.hpp>

namespace cairn::bench {
namespace {

class command_line {
 public:
  command_line(const char* description, const std::function<void(argument_list&)>& add_options)
      : app_{description} {
    argument_list arguments(app_);
    arguments.number("--runs", options.runs, {1, 1 << 20}, "timed runs of each kernel");
    arguments.number("--warm-ups", options.warm_ups, {0, 1 << 20},
                     "calls before a kernel is timed");
    arguments.number("--min-seconds", options.min_seconds, {0.0, 1e6}, "that a run takes");
    app_.add_option("--lines", file_, "adds a JSON line per run to this file; -: standard output");
    add_options(arguments);
  }

  /// Returns   the status to exit with, where there is nothing to run
  std::optional<int> parse(const std::vector<std::string>& arguments) {
    try {
      app_.parse(std::vector<std::string>(arguments.rbegin(), arguments.rend()));
    } catch (const CLI::ParseError& e) {
      return app_.exit(e) == 0 ? 0 : 2;
    }
    return std::nullopt;
  }

  /// Throws    usage_error if the file cannot be written
  std::ostream* open_lines() {
    if (file_ == "-") return &std::cout;
    if (file_.empty()) return nullptr;
    out_.open(file_, std::ios::app);
    if (!out_) throw usage_error(file_ + ": cannot be written");
    return &out_;
  }

  run_options options;

 private:
  CLI::App app_;
  std::string file_;
  std::ofstream out_;
};

}  // namespace

int run_program(int argc, char** argv, const char* description,
                const std::function<void(argument_list&)>& add_options,
                const std::function<void(harness&)>& body) {
  command_line given(description, add_options);
  if (const auto status = given.parse(std::vector<std::string>(argv + 1, argv + argc)))
    return *status;
  try {
    const hw::steady_clock clock;
    harness h(clock, given.open_lines(), provenance(argc, argv), given.options);
    body(h);
    return 0;
  } catch (const usage_error& e) {
    fmt::print(stderr, "{}\n", e.what());
    return 2;
  } catch (const std::exception& e) {
    fmt::print(stderr, "{}\n", e.what());
    return 1;
  }
}

int run_program_on_ranks(int argc, char** argv, const char* description,
                         const std::function<void(argument_list&)>& add_options,
                         const std::function<void(world&, harness&)>& body) {
  command_line given(description, add_options);
  settings from_user;
  try {
    from_user = settings::from_environment();
    const std::vector<std::string> all(argv + 1, argv + argc);
    if (const auto status = given.parse(from_user.take_options(all))) return *status;
  } catch (const usage_error& e) {
    fmt::print(stderr, "{}\n", e.what());
    return 2;
  }
  const auto on_rank = [&](world& w) {
    auto options = given.options;
    options.agree = [&](std::uint64_t mine) { return w.max(mine); };
    std::ostream* const lines = w.rank() == 0 ? given.open_lines() : nullptr;
    harness h(w.clock(), lines, lines ? provenance(argc, argv) : nlohmann::json(), options);
    body(w, h);
    return 0;
  };
  return run(from_user, on_rank, say_on_stderr);
}

counter_totals counters_of_all(world& w) {
  counter_totals sums{};
  for (const auto& of_rank : w.all_gather(w.counters().totals())) {
    for (std::size_t i = 0; i < sums.size(); ++i) sums[i] += of_rank[i];
  }
  return sums;
}

}  // namespace cairn::bench
