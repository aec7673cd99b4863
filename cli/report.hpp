// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

#include <cairn/core/world.hpp>
#include <cairn/hw/machine.hpp>
#include <cairn/obs/counters.hpp>
#include <cairn/obs/traffic.hpp>

#include "cli/cli.hpp"

namespace cairn::cli {

using json = nlohmann::ordered_json;

/// The report of one command: the JSON object of the contract, and the lines of the human-readable
/// report. Every rank fills one in; rank 0 prints.
class report {
 public:
  report(const std::string& command, const common& c, world& w);

  [[nodiscard]] json& operator[](const std::string& key) { return object_[key]; }

  /// Adds a line "  label   value" to the human-readable report.
  void line(const std::string& label, const std::string& value);

  /// Sums the counters of all ranks into the report, and adds the traffic between them. Collective.
  void count(world& w);
  /// Adds what each rank has sent, if there are several.
  ///
  /// sent   by this rank: by receiver, or one sum. Collective.
  void add_traffic(world& w, const std::vector<obs::sent_amount>& sent);

  /// Prints on standard output on rank 0: the JSON object (an array element if several seeds are
  /// simulated), or the lines, and the counters if requested.
  void print(const world& w) const;

 private:
  const common& common_;
  std::string command_;
  json object_;
  std::vector<std::pair<std::string, std::string>> lines_;
};

/// Sums counters per phase: the trials, and separately loading and verifying. Traffic between ranks
/// is that of the trials. `load_and_verify` is loading before the first run, then verifying.
class phase_counts {
 public:
  enum phase { load, run, verify, load_and_verify };

  explicit phase_counts(world& w) : w_(w) {}

  /// Attributes the counts since the last call, or since the world began, to this phase.
  void end(phase p);
  /// Adds the counts of all ranks. Collective.
  void report_to(report& r);

 private:
  using totals = std::array<std::uint64_t, obs::num_counters>;
  world& w_;
  totals last_{};
  std::array<totals, 3> counted_{};  // load, run, verify
  bool has_run_ = false;
  std::vector<obs::sent_amount> sent_before_, sent_;  // by receiver, or one sum
};
/// Whether reports are elements of one JSON array: a simulation of several seeds.
[[nodiscard]] bool is_series(const common& c);
/// Closes the array, if it was begun; called after the last run.
void end_series(const common& c);

/// Writes to standard output. main() reports a failure once, at the end.
void put(std::string_view text);

[[nodiscard]] json to_json(const hw::machine& m);

/// The JSON on one line. Bytes that are not UTF-8, such as those of a file's name, become U+FFFD.
[[nodiscard]] std::string to_text(const json& object);

/// "1.23 s", "45.6 ms", "7.89 us".
[[nodiscard]] std::string format_seconds(double seconds);
/// "12.34 million"; below a thousand "567.8".
[[nodiscard]] std::string format_rate(double per_second);
/// "1,234,567".
[[nodiscard]] std::string format_count(std::uint64_t n);

[[nodiscard]] double median(std::vector<double> values);

}  // namespace cairn::cli
