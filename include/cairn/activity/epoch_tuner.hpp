// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>
#include <span>

#include <cairn/activity/tuner.hpp>
#include <cairn/base/types.hpp>
#include <cairn/task/per_worker.hpp>

namespace cairn::activity {

/// Chooses the mechanism of an operator's epochs. It is a tuner whose spans are whole epochs, over
/// all workers of a rank. The measured part of an epoch is scaled to all its operators. An epoch in
/// which nothing was measured is merged into the next one that has measurements.
///
/// Thread-safety: only worker k calls count(k, ...). The other calls come from one thread at a
/// time, after an epoch's last lane has ended and before the next epoch's first lane begins
class epoch_tuner {
 public:
  epoch_tuner(int workers, std::span<const candidate> candidates);

  void count(worker_t k, std::uint64_t operators, const span_work& measured) noexcept;

  /// Records an epoch that ran by mechanism `ran`.
  void close(mechanism ran) noexcept;
  [[nodiscard]] mechanism next() const noexcept { return tuner_.next().choice.mechanism; }
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
  std::uint64_t untimed_ = 0;  // operators of epochs by next() without measurements
  task::per_worker<tally> tallies_;
};

}  // namespace cairn::activity
