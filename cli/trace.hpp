// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include <cairn/core/world.hpp>

#include "cli/report.hpp"

namespace cairn::cli {

/// Adds --trace FILE.
void add_trace(CLI::App& command, common& c);

/// Rejects a trace that would record several runs, or replace a file of the command.
///
/// others    files that the command reads or writes beside those of costs; empty names are ignored
/// Throws    usage_error
void expect_trace(const common& c, const std::vector<std::string>& others);

/// Called on rank 0 before the run.
/// Throws    usage_error if the file cannot be written
void expect_trace_writable(const common& c);

/// The recording of one run for --trace; without --trace it does nothing. Each rank records in
/// memory. At the end rank 0 collects all records by messages and writes the file. Until then a
/// simulated cluster runs exactly as without a trace.
class recording {
 public:
  recording(world& w, const common& c) : w_(w), c_(c) {}

  /// Calls body. If it is cancelled, the file is written before `cancelled` is thrown, unless it is
  /// a pipe or a device. Collective.
  int run(const std::function<int()>& body);

  /// While a part exists, the workers are recorded, and its lifetime is a span of that name.
  /// Loading, verification and output are not recorded.
  class part {
   public:
    part(recording& r, std::string_view name, std::uint32_t number = obs::trace_record::no_number)
        : trace_(r.w_.trace()), on_(trace_), span_(trace_, main_worker, obs::trace_kind::phase) {
      if (span_) span_->set_text(name), span_->number = number;
    }

   private:
    struct recorded {
      explicit recorded(obs::trace& t) : trace(t) { trace.resume(); }
      ~recorded() { trace.pause(); }
      obs::trace& trace;
    };
    obs::trace& trace_;
    const recorded on_;
    obs::trace_span span_;
  };

  /// Writes the file, and adds the number of its events to the report, if one is given. Collective.
  void write(report* r);

 private:
  using bytes = std::vector<std::byte>;
  void compare_clocks();
  std::vector<std::vector<bytes>> collect();

  world& w_;
  const common& c_;
  std::vector<std::int64_t> offsets_ns_;  // by rank, to rank 0's clock; empty: not compared yet
  bool one_clock_ = true;
};

}  // namespace cairn::cli
