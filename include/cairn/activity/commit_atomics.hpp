// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

#include <cairn/activity/commit.hpp>
#include <cairn/tm/cell.hpp>

namespace cairn::activity {

/// atomics: each verb is one instruction. Single-cell operators.
class commit_atomics {
 public:
  static constexpr bool collects = false, prefilters = true;

  commit_atomics(domain&, worker_t) noexcept {}

  template <single_cell Op>
  [[gnu::always_inline]] run_of<Op> one(const Op& op, const typename Op::message& m) const {
    return shape<Op>::run(op, tm::atomic_access{}, m);
  }
};

/// Atomics that wait until no emulated transaction of the domain runs, because emulated
/// transactions do not notice other writers as hardware transactions do.
class commit_atomics_outside {
 public:
  commit_atomics_outside(domain& data, worker_t k) noexcept : data_(&data), worker_(k) {}

  template <single_cell Op>
  run_of<Op> one(const Op& op, const typename Op::message& m) const {
    run_of<Op> ran;
    data_->emulated(worker_).hardware().outside(
        [&] { ran = shape<Op>::run(op, tm::atomic_access{}, m); });
    return ran;
  }

 private:
  domain* data_;
  worker_t worker_;
};

}  // namespace cairn::activity
