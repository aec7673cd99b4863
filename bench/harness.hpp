// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <ostream>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include <cairn/hw/clock.hpp>
#include <cairn/obs/counters.hpp>

namespace cairn::bench {

using counter_totals = std::array<std::uint64_t, obs::num_counters>;

/// A benchmark: an input, a timed function of it, and a verification of the function's result.
template <class Input, class Output>
struct kernel {
  std::string name;
  nlohmann::json settings = nlohmann::json::object();
  std::string item{};    ///< what a run processes, in the plural; settings should include their
                         ///< number
  double num_items = 0;  ///< per call of run; 0: no rate is reported
  std::function<Input()> make_input;
  /// may be called any number of times
  std::function<Output(Input&)> run;
  /// returns the error; empty if none
  std::function<std::string(const Input&, const Output&)> verify;
  std::function<double(const Output&)> seconds{};  ///< for a run that times itself (a process)
  std::function<counter_totals()> counters{};      ///< lines report their increase
};

/// A kernel without its types. The input is made at the first use and kept.
class subject {
 public:
  template <class Input, class Output>
  explicit subject(kernel<Input, Output> k)
      : name(k.name),
        settings(k.settings),
        item(k.item),
        num_items(k.num_items),
        times_itself(static_cast<bool>(k.seconds)),
        counters(k.counters) {
    struct state {
      kernel<Input, Output> k;
      std::optional<Input> input;
      std::optional<Output> output;
    };
    const auto s = std::make_shared<state>(state{std::move(k), {}, {}});
    prepare = [s] {
      if (!s->input) s->input.emplace(s->k.make_input());
      s->output.reset();
    };
    run = [s] {
      s->output.emplace(s->k.run(*s->input));
      return s->k.seconds ? s->k.seconds(*s->output) : 0.0;
    };
    verify = [s] { return s->k.verify(*s->input, *s->output); };
  }

  std::string name;
  nlohmann::json settings;
  std::string item;
  double num_items;
  bool times_itself;
  std::function<counter_totals()> counters;
  std::function<void()> prepare;
  std::function<double()> run;
  std::function<std::string()> verify;
};

/// Median and spread of a sample.
struct summary {
  double median = 0;
  double mad = 0;  ///< median absolute deviation from the median, not scaled
  std::size_t runs = 0;
};
[[nodiscard]] summary summarise(std::span<const double> samples);
[[nodiscard]] nlohmann::json json_of(const summary& s);

struct run_options {
  int warm_ups = 1;          ///< calls before timing
  int runs = 5;              ///< timed runs, each of `iterations` calls
  double min_seconds = 0.1;  ///< minimum time of a run; determines the iterations
  std::uint64_t max_iterations = 1u << 30;
  /// Maximum over all ranks, for a collective kernel: all ranks must make the same number of calls.
  std::function<std::uint64_t(std::uint64_t)> agree{};
};

struct measurement {
  std::uint64_t iterations = 0;  ///< calls per run
  std::vector<double> seconds;   ///< per call, by run
  summary time;                  ///< of seconds
};

/// By pairs of runs: seconds of the first / seconds of the second.
[[nodiscard]] summary ratio_of(const measurement& first, const measurement& second);

struct comparison {
  measurement first, second;
  summary ratio;  ///< ratio_of(first, second): above 1 if the second is faster
};

/// The verification of a run failed; what() names the kernel and the error. Its line is written.
class wrong_result : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Runs kernels and writes the measurements: one JSON object per line and run, and one more per
/// comparison, each with the provenance.
///
/// A kernel is warmed up, then called in increasing numbers until a run takes min_seconds; that
/// number is used from then on. The last call of each run is verified, outside the timed section. A
/// run that times itself is called once.
///
/// clock       outlives the harness
/// lines       output of the lines; nullptr: none (all ranks but one)
/// provenance  added to each line: commit, machine, command
class harness {
 public:
  harness(const hw::clock& clock, std::ostream* lines, nlohmann::json provenance,
          run_options options = {});

  /// Throws    wrong_result
  measurement measure(subject& s);

  /// Alternates A B C A B C ..., so that a disturbance longer than a run affects all.
  /// Throws    wrong_result
  std::vector<measurement> measure_alternating(std::span<subject* const> all);

  /// Alternates, so that the ratios of pairs are more reliable than the ratio of medians.
  /// Throws    wrong_result
  comparison compare(subject& first, subject& second);

  /// Writes a line of the program's own, with the provenance.
  void write(nlohmann::json line);

 private:
  std::uint64_t fix_iterations(subject& s);
  double seconds_of(subject& s, std::uint64_t iterations);
  void one_run(subject& s, measurement& m);

  const hw::clock& clock_;
  std::ostream* lines_;
  nlohmann::json provenance_;
  run_options options_;
};

}  // namespace cairn::bench
