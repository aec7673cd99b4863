// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include <cairn/activity/parking.hpp>
#include <cairn/base/random.hpp>
#include <cairn/core/world.hpp>
#include <cairn/dtx/acquisition.hpp>
#include <cairn/dtx/map_access.hpp>
#include <cairn/dtx/transaction.hpp>
#include <cairn/task/per_worker.hpp>

namespace cairn::dtx {

struct transaction_options {
  std::size_t max_concurrent = 16;  ///< concurrent transactions per worker; others are queued
  back_off_limits back_off = {};    ///< first_ns is at least the time of one claim round
};

/// The body of one transaction, type-erased.
class transaction_body {
 public:
  virtual ~transaction_body() = default;
  /// Reads and writes copies; may run several times. An exception poisons the world.
  virtual void run(transaction& tx) = 0;
  /// Runs once, after the write-back on this rank; values for other ranks may still be in transit.
  virtual void committed(worker_t) {}
  /// Number of queued items that this transaction completes.
  [[nodiscard]] virtual std::uint64_t size() const noexcept { return 1; }
};

/// Queue of the transactions that have not begun.
class transaction_queue {
 public:
  virtual ~transaction_queue() = default;
  [[nodiscard]] virtual bool has_transactions(worker_t k) const noexcept = 0;
  /// The next transaction of worker k, and the elements that it names.
  [[nodiscard]] virtual std::unique_ptr<transaction_body> next_transaction(
      worker_t k, std::vector<element>& named) = 0;
};

/// Runs a rank's transactions over the elements of their maps. transactions.hpp and executor.hpp
/// are the typed interfaces.
///
/// A transaction occupies a record until it commits. The worker that started it receives its
/// answers and advances it. Transactions advance when a worker spawns more or is idle; the claims
/// and releases of all of them are sent together. A queued transaction holds the epoch until it has
/// committed. The transactions of a cancelled epoch never run again; the runner's destructor
/// destroys them.
class runner final : public claim_answer_handler {
 public:
  /// element_bytes   size of the largest element of all maps
  runner(world& w, const transaction_options& opt, std::size_t element_bytes,
         transaction_queue& source);

  /// Called before the first transaction, in the same order on every rank.
  /// access    null if no transaction will run, because there is one rank
  void add(const void* map, std::unique_ptr<map_access> access);

  /// An element of an added map.
  /// Throws    contract_violation if there is no such element or map
  template <class Map>
  [[nodiscard]] element element_of(const Map& map, std::uint64_t id) const {
    return dtx::element_of(maps_, map, id);
  }

  /// Must be called before worker k queues an item at the source.
  void queued(worker_t k);
  /// Advances worker k's transactions and starts queued ones. Returns whether any advanced. Called
  /// in a chunk, a body section or a handler, or by an idle worker.
  bool advance_ready(worker_t k);

  void handle_answer(worker_t k, const claim_request& request, bool granted,
                     std::span<const std::byte> value) override;

 private:
  struct record {
    explicit record(std::size_t bytes) : data(bytes) {}
    acquisition held;
    copies data;
    std::unique_ptr<transaction_body> body;
    marker_word name = free_marker;
    std::uint64_t claimed_ns = 0;         // time of the last claims
    std::uint64_t shortest_round_ns = 0;  // from claims to release; the shortest
  };
  struct delayed_record {
    std::uint64_t due_ns;
    record* of;
  };
  struct outbox {
    std::vector<claim_request> claims;
    std::vector<release_request> releases;
  };
  struct worker_state {
    std::vector<std::unique_ptr<record>> records;  // all records of this worker
    std::vector<record*> ready, driven, done, spare;
    std::vector<delayed_record> delayed;
    std::vector<outbox> out;  // by map
    random64 random{0};
    std::vector<element> named;  // elements of the transaction that begins
    std::uint64_t num_started = 0;
    bool advancing = false;
  };

  bool advance_rounds(worker_t k);
  void end_due_back_offs(worker_state& mine);
  void start_queued(worker_t k);
  [[nodiscard]] record* take_record(worker_state& mine);
  void advance(worker_t k, record& r);
  [[nodiscard]] bool run_body(record& r);
  void commit(worker_t k, record& r);
  void claim(worker_t k, record& r);
  void release_and_back_off(worker_t k, record& r);
  void send(worker_t k);

  world& world_;
  transaction_options options_;
  std::size_t element_bytes_;
  transaction_queue& source_;
  std::atomic<std::uint64_t> epoch_{0}, num_uncommitted_{0};
  std::vector<const void*> maps_;
  std::vector<std::unique_ptr<map_access>> map_accesses_;
  task::per_worker<worker_state> workers_;
  activity::parking parking_;
};

}  // namespace cairn::dtx
