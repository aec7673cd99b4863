// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

#include <cairn/activity/commit.hpp>
#include <cairn/tm/cell.hpp>
#include <cairn/tm/lock_table.hpp>

namespace cairn::activity {

/// locks: an operator holds the lock stripes of its elements, acquired in ascending order.
class commit_locks {
 public:
  static constexpr bool collects = false, prefilters = false;

  commit_locks(domain& data, worker_t k) : data_(&data), set_(&data.lock_set(k)), worker_(k) {}

  template <class Op>
  [[gnu::always_inline]] run_of<Op> one(const Op& op, const typename Op::message& m) const {
    if constexpr (single_cell<Op>) {
      const tm::lock_table::guard held(*data_->locks(), &op.cell(m).element(), data_->relax());
      data_->count_waits(worker_, held.waited());
      return shape<Op>::run(op, tm::section_access{}, m);
    } else {
      const unlock_at_end held{set_};  // also clears the set if elements() throws
      shape<Op>::each_cell(op, m, [&](const void* cell, std::size_t) { set_->add(cell); });
      data_->count_waits(worker_, set_->lock(data_->relax()));
      data_->count_stripes(worker_, set_->size());
      return shape<Op>::run(op, tm::section_access{}, m);
    }
  }

 private:
  struct unlock_at_end {
    tm::lock_set* set;
    ~unlock_at_end() { set->unlock(); }
  };

  domain* data_;
  tm::lock_set* set_;
  worker_t worker_;
};

}  // namespace cairn::activity
