// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

#include <cairn/activity/commit_atomics.hpp>
#include <cairn/activity/commit_locks.hpp>
#include <cairn/activity/commit_one_lock.hpp>

namespace cairn::activity {

/// Looks the mechanism up for each group, where a lane compiled for the mechanism would not pay.
/// Runs one_lock, and the mechanisms that run operators one by one while their time is measured.
class commit_chosen {
 public:
  static constexpr bool collects = true, transactional = false, for_speed = false;

  commit_chosen(domain& data, worker_t k, mechanism how) noexcept
      : data_(&data), worker_(k), how_(how) {}

  template <class Op>
  std::size_t group(const Op& op, const typename Op::message* messages, std::size_t n,
                    run_of<Op>* ran) const {
    if (how_ == mechanism::one_lock) {
      return one_by_one(commit_one_lock(*data_, worker_), op, messages, n, ran);
    }
    if constexpr (single_cell<Op>) {
      if (how_ == mechanism::atomics) {
        return one_by_one(commit_atomics_outside(*data_, worker_), op, messages, n, ran);
      }
    }
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
  mechanism how_;
};

}  // namespace cairn::activity
