// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <iterator>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include <cairn/am/coalesce.hpp>
#include <cairn/base/packing.hpp>
#include <cairn/core/world.hpp>
#include <cairn/task/per_worker.hpp>

namespace cairn::am {

/// The records of one buffer, each a std::span<const std::byte>, in the order in which they were
/// sent. They are unaligned; cairn::unpacked converts them to values.
class record_batch {
 public:
  /// Throws    contract_violation if the lengths do not add up
  explicit record_batch(std::span<const std::byte> bytes);

  class iterator {
   public:
    using value_type = std::span<const std::byte>;
    using difference_type = std::ptrdiff_t;

    iterator() = default;
    explicit iterator(const std::byte* at) : at_(at) {}
    [[nodiscard]] value_type operator*() const;
    iterator& operator++();
    iterator operator++(int) {
      auto before = *this;
      ++*this;
      return before;
    }
    friend bool operator==(const iterator&, const iterator&) = default;

   private:
    const std::byte* at_ = nullptr;
  };

  [[nodiscard]] iterator begin() const { return iterator(bytes_.data()); }
  [[nodiscard]] iterator end() const { return iterator(bytes_.data() + bytes_.size()); }
  [[nodiscard]] std::size_t size() const noexcept { return size_; }

 private:
  std::span<const std::byte> bytes_;
  std::size_t size_ = 0;
};

/// Carries records of any length, such as strings or packed values, from any rank to a handler at
/// their destination. It is a channel whose messages have no fixed size; channel.hpp describes what
/// both have in common.
///
/// Record      bytes. In a buffer its length precedes it, in 4 bytes (12 from 4 GiB on). A record
///             larger than a buffer travels in a buffer of its own.
/// Owner       owner(record) -> rank_t: optional, as for a channel; then the records are routed
/// Handler     handler(worker, record_batch) or, without Owner, handler(worker, from, record_batch)
/// Order       none is promised between buffers
/// Collective  constructor and destructor, in the same order on every rank, outside epochs
/// Memory      workers * ranks * coalesce_bytes; a block with a larger record has the record's size
/// Throws      contract_violation from send() for an epoch channel while no epoch is open. An
///             exception of the handler poisons the world
/// Source      as channel.hpp; records of any length are ours
class record_channel final : public coalescer {
 public:
  template <class Handler>
  record_channel(world& w, Handler on_records, const channel_options& opt = {})
      : record_channel(w, opt, {}, with_sender(std::move(on_records))) {}
  template <class Owner, class Handler>
  requires std::is_invocable_r_v<rank_t, Owner&, std::span<const std::byte>> record_channel(
      world& w, Owner owner, Handler on_records, const channel_options& opt = {})
      : record_channel(w, opt, std::move(owner), with_sender(std::move(on_records))) {}
  ~record_channel() { detach(); }

  /// Worker k sends a record. Use it within one chunk, handler or body section, on that worker
  /// only.
  void send(worker_t k, rank_t to, std::span<const std::byte> record);

  /// Worker k sends the values as one record; cairn::unpack reads them back one by one.
  template <packable... T>
  void send_packed(worker_t k, rank_t to, const T&... values) {
    auto& bytes = scratch_[k];
    bytes.clear();
    pack(bytes, values...);
    send(k, to, bytes);
  }

 private:
  using handler = std::function<void(worker_t, rank_t, record_batch)>;
  using owner_function = std::function<rank_t(std::span<const std::byte>)>;

  template <class Handler>
  static handler with_sender(Handler on_records) {
    if constexpr (std::invocable<Handler&, worker_t, rank_t, record_batch>) {
      return on_records;
    } else {
      return [on_records = std::move(on_records)](worker_t k, rank_t, record_batch batch) mutable {
        on_records(k, batch);
      };
    }
  }

  record_channel(world& w, const channel_options& opt, owner_function owner, handler on_records);
  void append(worker_t k, rank_t to, std::span<const std::byte> record);
  std::span<std::byte> forward_others(worker_t k, std::span<std::byte> received);
  void deliver(worker_t k, rank_t from, std::span<std::byte> payload) override;

  owner_function owner_;  // empty: records travel directly
  handler on_records_;
  task::per_worker<std::vector<std::byte>> scratch_;
};

}  // namespace cairn::am
