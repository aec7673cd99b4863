// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

#include <cairn/activity/commit.hpp>
#include <cairn/tm/cell.hpp>

namespace cairn::activity {

/// atomics: each verb is one instruction. Single-cell operators.
class commit_atomics {
 public:
  static constexpr bool collects = false, transactional = false, for_speed = true;

  commit_atomics(domain&, worker_t) noexcept {}

  template <single_cell Op>
  [[gnu::always_inline]] run_of<Op> one(const Op& op, const typename Op::message& m) const {
    return shape<Op>::run(op, tm::atomic_access{}, m);
  }
};

/// The same for a group whose cells are fetched first: a locked instruction waits for its cell, and
/// nothing after it begins meanwhile. Where the domain emulates transactions it runs outside of
/// them: they do not notice other writers, as hardware does.
class commit_atomics_in_groups {
 public:
  commit_atomics_in_groups(domain& data, worker_t k) noexcept : data_(&data), worker_(k) {}

  template <single_cell Op>
  std::size_t group(const Op& op, const typename Op::message* messages, std::size_t n,
                    run_of<Op>* ran) const {
    if (n > 1) {
      for (std::size_t i = 0; i < n; ++i) __builtin_prefetch(&op.cell(messages[i]).here(), 1);
    }
    const auto run = [&] {
      for (std::size_t i = 0; i < n; ++i) {
        ran[i] = shape<Op>::run(op, tm::atomic_access{}, messages[i]);
      }
    };
    if (data_->emulation()) {
      data_->emulated(worker_).hardware().outside(run);
    } else {
      run();
    }
    return n;
  }

 private:
  domain* data_;
  worker_t worker_;
};

}  // namespace cairn::activity
