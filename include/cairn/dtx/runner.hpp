// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <vector>

#include <cairn/activity/parking.hpp>
#include <cairn/base/random.hpp>
#include <cairn/core/world.hpp>
#include <cairn/dtx/acquisition.hpp>
#include <cairn/dtx/gate.hpp>
#include <cairn/dtx/transaction.hpp>
#include <cairn/task/per_worker.hpp>
#include <cairn/task/spin_lock.hpp>

namespace cairn::dtx {

struct options {
  std::size_t at_once = 16;  ///< transactions of one worker that hold or claim; others wait
  back_off_limits back_off = {};
};

/// Runs a rank's transactions over the gates of their maps; transactions.hpp gives it types.
///
/// A transaction stays in its record until it commits, driven by one worker at a time: the one
/// that spawned it, or the one that took in the last answer that was due. From its start to
/// its commit it counts as a message on its way. What can go on does so when a worker spawns
/// more, or has nothing else to do; claims and releases of all of them leave together.
class runner final : public claim_sink {
 public:
  using body_function = std::function<void(transaction&)>;

  /// element_bytes   of the largest element of all maps
  runner(world& w, const options& opt, std::size_t element_bytes);

  /// Before the first transaction, in the same order on every rank.
  void add(const void* map, std::unique_ptr<gate> road);

  /// The number of a map that was added.
  [[nodiscard]] std::uint32_t number_of(const void* map) const;
  void start(worker_t w, body_function body, std::vector<element> named);

  void answered(worker_t w, const claim_request& asked, bool granted,
                std::span<const std::byte> value) override;

 private:
  struct record {
    explicit record(std::size_t bytes) : data(bytes) {}
    task::spin_lock guard;  // answers come on several workers
    acquisition held;
    copies data;
    body_function body;
    marker_word name = free_marker;
    worker_t home = 0;
  };
  struct waiting {
    body_function body;
    std::vector<element> named;
  };
  struct resting {
    std::uint64_t due_ns;
    record* of;
  };
  struct outbox {
    std::vector<claim_request> claims;
    std::vector<release_request> releases;
  };
  struct worker_state {
    std::deque<waiting> queue;
    std::vector<std::unique_ptr<record>> records;  // all that were started here
    std::vector<record*> ready, driven, done;
    std::vector<resting> rests;
    std::vector<outbox> out;  // by map
    random64 random{0};
    std::uint64_t named = 0;  // transactions so far
    bool pumping = false;
    task::spin_lock guard;
    std::vector<record*> spare;  // of records; any worker gives back
  };

  bool pump(worker_t w);
  void wake(worker_state& mine);
  void begin(worker_t w);
  record* take_record(worker_state& mine);
  void advance(worker_t w, record& r);
  [[nodiscard]] bool run_body(record& r);
  void commit(worker_t w, record& r);
  void claim(worker_t w, record& r);
  void drop(worker_t w, record& r);
  void send(worker_t w);

  world& world_;
  options options_;
  std::size_t element_bytes_;
  std::vector<const void*> maps_;
  std::vector<std::unique_ptr<gate>> gates_;
  task::per_worker<worker_state> workers_;
  activity::parking parking_;
};

}  // namespace cairn::dtx
