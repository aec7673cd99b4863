// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <type_traits>
#include <utility>

#include <cairn/activity/sieve.hpp>
#include <cairn/traverse/bucket_queue.hpp>

#include "algo/reached_vertices.hpp"
#include "algo/worker_distances.hpp"

namespace cairn::algo {

/// Lowers distances in the tables of one worker, as activity::lane runs an operator: what loops use
/// of a lane is here, too. Whether an edge is useful is unpredictable, so edges pass a sieve.
template <class Id, class Distance>
class own_lane {
 public:
  using message = traverse::reached_vertex<Id, Distance>;
  using tables = typename worker_distances<Distance>::tables;

  own_lane(worker_t k, const tables& t, const reached_vertices<message>& to)
      : worker_(k), tables_(t), reached_(to) {}

  class in_loop {
   public:
    using is_short = std::true_type;
    explicit in_loop(own_lane& l) : lane_(l), tables_(l.tables_), held_(l.held_) {}
    ~in_loop() { lane_.held_ = held_; }
    in_loop(const in_loop&) = delete;
    in_loop& operator=(const in_loop&) = delete;
    [[gnu::always_inline]] void operator()(const message& m) {
      held_ = lane_.sieve_.add(held_, m, tables_.improves(m.vertex, m.distance));
      if (held_ < lane_.sieve_.capacity) [[likely]]
        return;
      lane_.held_ = std::exchange(held_, 0);
      lane_.flush();
    }

   private:
    own_lane& lane_;
    const tables tables_;
    std::size_t held_;
  };

  [[nodiscard]] bool succeeds(const message& m) { return tables_.lower(m.vertex, m.distance); }

  [[gnu::noinline]] void flush() {
    for (const auto& m : sieve_.messages(std::exchange(held_, 0))) {
      if (tables_.lower(m.vertex, m.distance)) reached_.add(worker_, m);
    }
  }

 private:
  const worker_t worker_;
  const tables tables_;
  const reached_vertices<message> reached_;
  activity::sieve<message> sieve_;
  std::size_t held_ = 0;  // messages of the sieve
};

}  // namespace cairn::algo
