// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include <cairn/core/world.hpp>

namespace cairn::traverse {

struct superstep_record {
  std::uint64_t frontier;  ///< expanded vertices on all ranks
  bool pull;               ///< else a push, or nothing if no vertex waited for a message
  double seconds;          ///< since the end of the previous superstep, by the world's clock
  std::uint64_t messages;  ///< sent by this rank
};

/// Records supersteps if `wanted`.
class superstep_trace {
 public:
  superstep_trace(world& w, bool wanted) : w_(w), wanted_(wanted) {
    if (!wanted) return;
    ns_ = w.clock().now_ns();
    messages_ = w.counters().total(obs::counter::messages_sent);
  }

  void record(std::uint64_t frontier, bool pull) {
    if (!wanted_) return;
    const auto now = w_.clock().now_ns();
    const auto sent = w_.counters().total(obs::counter::messages_sent);
    const auto ns = now - std::exchange(ns_, now);
    records_.push_back(
        {frontier, pull, static_cast<double>(ns) * 1e-9, sent - std::exchange(messages_, sent)});
  }

  [[nodiscard]] std::vector<superstep_record> take() { return std::move(records_); }

 private:
  world& w_;
  const bool wanted_;
  std::uint64_t ns_ = 0, messages_ = 0;
  std::vector<superstep_record> records_;
};

}  // namespace cairn::traverse
