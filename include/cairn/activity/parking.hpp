// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <exception>
#include <functional>
#include <span>
#include <utility>
#include <vector>

#include <cairn/activity/operator.hpp>
#include <cairn/base/contract.hpp>
#include <cairn/core/engine.hpp>
#include <cairn/core/world.hpp>

namespace cairn::activity {

/// Calls retry(worker) whenever that worker has nothing else to do: for work that waits for
/// something else than a message. Counts nothing: whoever parks work holds the epoch open by
/// count_sent, and count_handled once it is done.
///
/// retry      true if anything went on, so that who only waits yields; what it throws poisons the
///            world, as from a handler
/// Collective constructor and destructor, like those of a channel
class parking final : public receiver {
 public:
  using retry_function = std::function<bool(worker_t)>;

  parking(world& w, retry_function retry)
      : world_(w), retry_(std::move(retry)), id_(w.messages().attach(this)) {}
  ~parking() override { world_.messages().detach(id_); }
  parking(const parking&) = delete;
  parking& operator=(const parking&) = delete;

  bool flush(worker_t w, bool) override {
    if (world_.poisoned()) return false;
    try {
      return retry_(w);
    } catch (const std::exception& e) {
      world_.poison(e.what());
    } catch (...) {
      world_.poison("parked work threw something that is no std::exception");
    }
    return false;
  }
  void deliver(worker_t, rank_t, std::span<const std::byte>) override {
    CAIRN_ASSERT(false);  // nobody sends to it
  }

 private:
  world& world_;
  retry_function retry_;
  std::uint32_t id_;
};

namespace detail {

template <class Op>
struct parked_message {
  typename Op::message m;
  rank_t from;  // who spawned it
};

// Only several cells can meet a marker.
struct no_parking {
  no_parking() = default;
  no_parking(world&, auto&&) {}
};
template <class Op>
struct parking_for {
  using list = no_parking;
  using lot = no_parking;
};
template <multi_cell Op>
struct parking_for<Op> {
  using list = std::vector<parked_message<Op>>;
  using lot = parking;
};
template <class Op>
using parked_list = typename parking_for<Op>::list;
template <class Op>
using parking_of = typename parking_for<Op>::lot;

}  // namespace detail
}  // namespace cairn::activity
