// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

#include <cairn/activity/shape.hpp>
#include <cairn/base/error.hpp>
#include <cairn/core/progress.hpp>
#include <cairn/core/world.hpp>
#include <cairn/task/pool.hpp>

namespace cairn::activity {

/// Calls retry(worker) whenever that worker is idle and an epoch is open, for work that waits for
/// something other than a message. The code that parks work holds the epoch (hold and release of
/// am::epoch).
///
/// retry      returns whether it made progress; an exception from it poisons the world
/// Collective constructor and destructor, like those of a channel
class parking final : public task::progress_source {
 public:
  using retry_function = std::function<bool(worker_t)>;

  parking(world& w, retry_function retry) : world_(w), retry_(std::move(retry)) {
    world_.pool().add_source(*this);
  }
  ~parking() { world_.pool().remove_source(*this); }
  parking(const parking&) = delete;
  parking& operator=(const parking&) = delete;

  bool poll(worker_t k) noexcept override {
    if (world_.poisoned() || !world_.messages().epoch_open()) return false;
    try {
      return retry_(k);
    } catch (...) {
      world_.poison(text_of_exception());
    }
    return false;
  }

 private:
  world& world_;
  retry_function retry_;
};

namespace detail {

template <class Op>
struct parked_message {
  typename Op::message m;
  [[no_unique_address]] origin<Op> from;
};

// Only multi-cell operators can meet a marker.
struct no_parking {
  no_parking() = default;
  no_parking(world&, auto&&) {}
};
template <class Op>
struct parking_for {
  using list = no_parking;
  using type = no_parking;
};
template <multi_cell Op>
struct parking_for<Op> {
  using list = std::vector<parked_message<Op>>;
  using type = parking;
};
template <class Op>
using parked_list = typename parking_for<Op>::list;
template <class Op>
using parking_of = typename parking_for<Op>::type;

}  // namespace detail
}  // namespace cairn::activity
