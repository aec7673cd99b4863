// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

#include <cairn/activity/commit_atomics.hpp>
#include <cairn/activity/commit_htm.hpp>
#include <cairn/activity/commit_locks.hpp>
#include <cairn/activity/commit_one_lock.hpp>
#include <cairn/activity/commit_stm.hpp>
#include <cairn/activity/mechanism.hpp>
#include <cairn/activity/operator.hpp>

namespace cairn::activity {

/// Runs operators in groups, and selects the mechanism for each group: transactions, and the
/// mechanisms that are seldom used or are being timed. A group amortises the selection, so one lane
/// serves all of them; a lane for each would double the time to compile an operator.
///
/// Fixed    the only mechanism to compile, or automatic
template <mechanism Fixed>
class commit_grouped {
 public:
  static constexpr bool collects = true, prefilters = false;

  commit_grouped(domain& data, worker_t k, mechanism chosen) noexcept
      : data_(&data), worker_(k), mechanism_(chosen) {}

  [[nodiscard]] bool transactional() const noexcept {
    return mechanism_ == mechanism::htm || mechanism_ == mechanism::stm;
  }

  template <class Op>
  std::size_t group(const Op& op, const typename Op::message* messages, std::size_t n,
                    run_of<Op>* ran) const {
    if constexpr (may_run<Op, Fixed>(mechanism::htm)) {
      if (mechanism_ == mechanism::htm && data_->emulation())
        return commit_emulated_htm(*data_, worker_).group(op, messages, n, ran);
      if (mechanism_ == mechanism::htm)
        return commit_htm(*data_, worker_).group(op, messages, n, ran);
    }
    if constexpr (may_run<Op, Fixed>(mechanism::stm)) {
      if (mechanism_ == mechanism::stm)
        return commit_stm(*data_, worker_).group(op, messages, n, ran);
    }
    if constexpr (may_run<Op, Fixed>(mechanism::atomics)) {
      if (mechanism_ == mechanism::atomics)
        return one_by_one(commit_atomics_outside(*data_, worker_), op, messages, n, ran);
    }
    if constexpr (may_run<Op, Fixed>(mechanism::one_lock)) {
      if (mechanism_ == mechanism::one_lock)
        return one_by_one(commit_one_lock(*data_, worker_), op, messages, n, ran);
    }
    CAIRN_ASSERT(mechanism_ == mechanism::locks);
    return one_by_one(commit_locks(*data_, worker_), op, messages, n, ran);
  }

 private:
  template <class Commit, class Op>
  static std::size_t one_by_one(const Commit& by, const Op& op,
                                const typename Op::message* messages, std::size_t n,
                                run_of<Op>* ran) {
    for (std::size_t i = 0; i < n; ++i) ran[i] = by.one(op, messages[i]);
    return n;
  }

  domain* data_;
  worker_t worker_;
  mechanism mechanism_;
};

}  // namespace cairn::activity
