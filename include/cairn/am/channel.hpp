// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <concepts>
#include <cstring>
#include <functional>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include <cairn/base/contract.hpp>
#include <cairn/core/engine.hpp>
#include <cairn/core/world.hpp>

namespace cairn::am {

/// Carries messages of one type from any rank to a handler at their destination.
///
/// Each worker fills a block per destination; a block leaves as one buffer when it is full,
/// when its worker is idle, or when it is old. The handler gets a whole buffer as a span, so
/// that it can choose its own grain. A message to the own rank travels the same way, but
/// through the inbox instead of the network.
///
///   state           send   handler may run   left by
///   no epoch open   no     no                opening an am::epoch
///   epoch open      yes    yes               am::epoch::close()
///
/// Message     trivially copyable, aligned to at most 16 bytes; sent as its bytes, without a
///             header of its own. May be larger than a buffer.
/// Handler     handler(worker, span) or handler(worker, from, span), where `from` is the rank
///             that sent them all: never blocks, may send on any channel, runs on several
///             workers at once.
/// Order       none is promised, not even between one pair of ranks.
/// Collective  constructor and destructor, in the same order on every rank, outside epochs.
/// Memory      workers * ranks * coalesce_bytes at most.
/// Source      [DC15] AM++ (coalescing); [GMT14] (blocks per worker); [AAM15] (spans).
template <class Message>
class channel final : public receiver {
  static_assert(std::is_trivially_copyable_v<Message>,
                "a message travels as its bytes: make it trivially copyable");
  static_assert(alignof(Message) <= 16, "payloads are aligned to 16 bytes");

 public:
  template <class Handler>
  channel(world& w, Handler on_messages, std::size_t coalesce_bytes = 0)
      : engine_(w.messages()),
        size_(w.size()),
        on_messages_(with_sender(std::move(on_messages))),
        capacity_(std::max<std::size_t>(
            1, (coalesce_bytes ? coalesce_bytes : engine_.coalesce_bytes()) / sizeof(Message))),
        lanes_(w.workers()),
        id_(engine_.attach(this)) {
    for (auto& lane : lanes_) lane.value.resize(static_cast<std::size_t>(size_));
  }
  ~channel() override { engine_.detach(id_); }
  channel(const channel&) = delete;
  channel& operator=(const channel&) = delete;

  /// A worker's end of the channel: `to(rank, message)` appends. Cheap to make; lives inside
  /// one chunk, handler or body section and on that worker only.
  class sender {
   public:
    sender(channel& c, worker_t w) : channel_(c), blocks_(c.lanes_[w].data()), worker_(w) {}
    ~sender() { publish(); }
    sender(const sender&) = delete;
    sender& operator=(const sender&) = delete;

    void operator()(rank_t to, const Message& m) {
      CAIRN_ASSERT(to >= 0 && to < channel_.size_);
      auto& b = blocks_[to];
      if (b.at == b.end) [[unlikely]] {
        turn_over(to);
      }
      std::memcpy(b.at, &m, sizeof m);
      b.at += sizeof m;
      ++appended_;
    }

   private:
    // A message must be counted before anybody can handle it: before its block is shipped.
    void publish() { channel_.engine_.count_sent(worker_, std::exchange(appended_, 0)); }
    [[gnu::noinline]] void turn_over(rank_t to) {
      publish();
      channel_.turn_over(worker_, to);
    }

    channel& channel_;
    typename channel::block* blocks_;
    worker_t worker_;
    std::uint64_t appended_ = 0;
  };

  [[nodiscard]] sender from(worker_t w) { return sender(*this, w); }

  /// Sends one message; for loops, use from(w).
  void send(worker_t w, rank_t to, const Message& m) { sender(*this, w)(to, m); }

  bool flush(worker_t w, bool only_old) override {
    auto& blocks = lanes_[w];
    bool shipped = false;
    for (rank_t to = 0; to < size_; ++to) {
      auto& b = blocks[static_cast<std::size_t>(to)];
      if (!b.items || b.at == begin_of(b)) continue;
      if (only_old && !std::exchange(b.seen, true)) continue;
      ship(w, to, b);
      shipped = true;
    }
    return shipped;
  }

 private:
  using handler = std::function<void(worker_t, rank_t, std::span<const Message>)>;

  template <class Handler>
  static handler with_sender(Handler on_messages) {
    if constexpr (std::invocable<Handler&, worker_t, rank_t, std::span<const Message>>) {
      return on_messages;
    } else {
      return [on_messages = std::move(on_messages)](worker_t w, rank_t,
                                                    std::span<const Message> batch) mutable {
        on_messages(w, batch);
      };
    }
  }

  struct block {
    std::byte* at = nullptr;
    std::byte* end = nullptr;
    bool seen = false;  // it was part-filled at the previous scan for old blocks
    buffer items;
  };

  static std::byte* begin_of(block& b) { return b.items.payload(); }

  void turn_over(worker_t w, rank_t to) {
    auto& b = lanes_[w][static_cast<std::size_t>(to)];
    if (b.items) ship(w, to, b);
    b.items = engine_.take_buffer(w, capacity_ * sizeof(Message));
    b.at = begin_of(b);
    b.end = b.at + capacity_ * sizeof(Message);
    b.seen = false;
  }

  void ship(worker_t w, rank_t to, block& b) {
    auto items = std::move(b.items);
    items.set_size(static_cast<std::size_t>(b.at - items.payload()));
    b = block{};
    engine_.post(w, to, id_, std::move(items));
  }

  void deliver(worker_t w, rank_t from, std::span<const std::byte> payload) override {
    CAIRN_ASSERT(payload.size() % sizeof(Message) == 0);
    const auto n = payload.size() / sizeof(Message);
    on_messages_(w, from, {reinterpret_cast<const Message*>(payload.data()), n});
    engine_.count_handled(w, n);
  }

  engine& engine_;
  const rank_t size_;
  handler on_messages_;
  std::size_t capacity_;  // messages per buffer
  task::per_worker<std::vector<block>> lanes_;
  std::uint32_t id_;
};

}  // namespace cairn::am
