// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <concepts>
#include <cstdint>
#include <cstring>
#include <exception>
#include <functional>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include <cairn/am/finish.hpp>
#include <cairn/base/contract.hpp>
#include <cairn/core/progress.hpp>
#include <cairn/core/world.hpp>

namespace cairn::am {

struct channel_options {
  channel_kind kind = channel_kind::epoch;
  std::size_t coalesce_bytes = 0;  ///< of a buffer; 0: what the world has chosen
};

/// Carries messages of one type from any rank to a handler at their destination.
///
/// Each worker fills a block per destination; a block leaves as one buffer when it is full,
/// when its worker is idle, or when it is old. The handler gets a whole buffer as a span, so
/// that it can choose its own grain. A message to the own rank travels the same way, but
/// through the inbox instead of the network.
///
///   kind       send and handlers run              its messages are counted by
///   epoch      while an am::epoch is open         that epoch, which ends when all are handled
///   standing   from the constructor on, in and    no epoch: who needs to know asks for replies
///              outside epochs
///
/// Message     trivially copyable, aligned to at most 16 bytes; sent as its bytes, without a
///             header of its own. May be larger than a buffer.
/// Handler     handler(worker, span) or handler(worker, from, span), where `from` is the rank
///             that sent them all: never blocks, may send on any channel, runs on several
///             workers at once.
/// Order       none is promised, not even between one pair of ranks.
/// Collective  constructor and destructor, in the same order on every rank. The destructor of a
///             standing channel returns when all its messages have been handled, or at once if
///             an exception is on its way. An epoch channel is destroyed while no epoch is open.
/// Memory      workers * ranks * coalesce_bytes at most.
/// Throws      contract_violation from from() and send() for an epoch channel while none is open
/// Source      [DC15] AM++ (coalescing); [GMT14] (blocks per worker); [AAM15] (spans).
template <class Message>
class channel final : public receiver {
  static_assert(std::is_trivially_copyable_v<Message>,
                "a message travels as its bytes: make it trivially copyable");
  static_assert(alignof(Message) <= 16, "payloads are aligned to 16 bytes");

 public:
  template <class Handler>
  channel(world& w, Handler on_messages, const channel_options& opt = {})
      : world_(w),
        progress_(w.messages()),
        size_(w.size()),
        kind_(opt.kind),
        on_messages_(with_sender(std::move(on_messages))),
        capacity_(std::max<std::size_t>(
            1, (opt.coalesce_bytes ? opt.coalesce_bytes : progress_.coalesce_bytes()) /
                   sizeof(Message))),
        exceptions_(std::uncaught_exceptions()),
        lanes_(w.workers()) {
    for (auto& k : lanes_) k.value.blocks.resize(static_cast<std::size_t>(size_));
    number_ = progress_.attach(*this, kind_);
  }
  ~channel() {
    if (kind_ == channel_kind::standing && std::uncaught_exceptions() == exceptions_) {
      finish_standing(world_, *this);
    }
    progress_.detach(number_, kind_);
  }
  channel(const channel&) = delete;
  channel& operator=(const channel&) = delete;

  /// A worker's end of the channel: `to(rank, message)` appends. Cheap to make; lives inside
  /// one chunk, handler or body section and on that worker only. Several may live at once.
  class sender {
   public:
    sender(channel& c, worker_t w)
        : channel_(c), blocks_(c.lanes_[w].blocks.data()), count_(c.lanes_[w].count), worker_(w) {}
    sender(const sender&) = delete;
    sender& operator=(const sender&) = delete;

    void operator()(rank_t to, const Message& m) {
      CAIRN_ASSERT(to >= 0 && to < channel_.size_);
      auto& b = blocks_[to];
      if (b.at == b.end) [[unlikely]] {
        channel_.turn_over(worker_, to);
      }
      std::memcpy(b.at, &m, sizeof m);
      b.at += sizeof m;
      count_.add_sent(1);  // before its block can leave
    }

   private:
    channel& channel_;
    typename channel::block* blocks_;
    message_count& count_;
    worker_t worker_;
  };

  [[nodiscard]] sender from(worker_t w) {
    CAIRN_EXPECTS(kind_ == channel_kind::standing || progress_.epoch_open(),
                  "an epoch channel sends while an epoch is open");
    return sender(*this, w);
  }

  /// Sends one message; for loops, use from(w).
  void send(worker_t w, rank_t to, const Message& m) { from(w)(to, m); }

  bool flush(worker_t w, bool only_old) override {
    bool shipped = false;
    for (rank_t to = 0; to < size_; ++to) {
      auto& b = lanes_[w].blocks[static_cast<std::size_t>(to)];
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
  struct lane {
    std::vector<block> blocks;  // by destination
    message_count count;
  };

  static std::byte* begin_of(block& b) { return b.items.payload(); }

  [[gnu::noinline]] void turn_over(worker_t w, rank_t to) {
    auto& b = lanes_[w].blocks[static_cast<std::size_t>(to)];
    if (b.items) ship(w, to, b);
    b.items = progress_.take_buffer(w, capacity_ * sizeof(Message));
    b.at = begin_of(b);
    b.end = b.at + capacity_ * sizeof(Message);
    b.seen = false;
  }

  void ship(worker_t w, rank_t to, block& b) {
    auto items = std::move(b.items);
    const auto bytes = static_cast<std::size_t>(b.at - items.payload());
    items.set_size(bytes);
    b = block{};
    world_.counters().add(w, obs::counter::messages_sent, bytes / sizeof(Message));
    progress_.post(w, to, number_, kind_, std::move(items));
  }

  void deliver(worker_t w, rank_t from, std::span<const std::byte> payload) override {
    CAIRN_ASSERT(payload.size() % sizeof(Message) == 0);
    const auto n = payload.size() / sizeof(Message);
    on_messages_(w, from, {reinterpret_cast<const Message*>(payload.data()), n});
    lanes_[w].count.add_handled(n);
    world_.counters().add(w, obs::counter::messages_handled, n);
  }

  [[nodiscard]] const message_count& count(worker_t w) const noexcept override {
    return lanes_[w].count;
  }

  void abandon() noexcept override {
    for (worker_t w = 0; w < lanes_.workers(); ++w) {
      for (auto& b : lanes_[w].blocks) {
        if (b.items) progress_.charge(w, -static_cast<std::int64_t>(b.items.capacity()));
        b = block{};
      }
      lanes_[w].count.reset();
    }
  }

  world& world_;
  progress_engine& progress_;
  const rank_t size_;
  const channel_kind kind_;
  handler on_messages_;
  std::size_t capacity_;  // messages per buffer
  int exceptions_;        // in flight when it was constructed
  task::per_worker<lane> lanes_;
  std::uint32_t number_ = 0;
};

}  // namespace cairn::am
