// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>
#include <span>

#include <cairn/activity/tuner.hpp>
#include <cairn/base/types.hpp>
#include <cairn/task/per_worker.hpp>

namespace cairn::activity {

/// Chooses the mechanism of an operator's epochs: a tuner whose spans are whole epochs, all of a
/// rank's workers together. What these measured of an epoch stands for all its operators; epochs
/// too short for that join the next one of which something was measured.
///
/// Thread-safety: worker k alone calls count(k, ...); the rest is called by one at a time, between
///                an epoch's last lane and the next one's first
class epoch_tuner {
 public:
  epoch_tuner(int workers, std::span<const candidate> ways);

  void count(worker_t k, std::uint64_t operators, const span_work& measured) noexcept;

  /// Takes in an epoch that ran by `ran`.
  void close(mechanism ran) noexcept;
  [[nodiscard]] mechanism next() const noexcept { return tuner_.next().way.how; }
  [[nodiscard]] const tuner& choices() const noexcept { return tuner_; }
  void move_to(std::size_t i) noexcept {
    tuner_.move_to(i);
    untimed_ = 0;
  }

 private:
  struct tally {
    std::atomic<std::uint64_t> operators{0}, measured{0}, ns{0}, aborts{0};
  };
  tuner tuner_;
  std::uint64_t untimed_ = 0;  // operators of epochs by next() that nobody measured
  task::per_worker<tally> tallies_;
};

}  // namespace cairn::activity
