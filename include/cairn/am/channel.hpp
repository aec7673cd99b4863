// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <cstring>
#include <functional>
#include <span>
#include <type_traits>
#include <utility>

#include <cairn/am/coalesce.hpp>
#include <cairn/am/route.hpp>
#include <cairn/base/contract.hpp>
#include <cairn/core/world.hpp>

namespace cairn::am {

/// Carries messages of one type from any rank to a handler at their destination.
///
/// Each worker fills a block per next hop; a block leaves as one buffer when it is full,
/// when its worker is idle, or when it is old. The handler gets a whole buffer as a span, so
/// that it can choose its own grain. A message to the own rank travels the same way, but
/// through the inbox instead of the network.
///
/// If messages can compute their owner and the channel is of epochs, they travel as the world's
/// routing says: a rank on their way takes out its own, for the handler, and forwards the others.
/// Such messages need no destination field. All others travel directly.
///
///   kind       send and handlers run              its messages are counted by
///   epoch      while an am::epoch is open         that epoch, which ends when all are handled
///   standing   from the constructor on, in and    no epoch: who needs to know asks for replies
///              outside epochs
///
/// Message     trivially copyable, aligned to at most 16 bytes; sent as its bytes, without a
///             header of its own. May be larger than a buffer.
/// Owner       owner(message) -> rank_t, for which it is sent: optional; pure, the same at each
///             rank; called on several workers at once
/// Handler     handler(worker, span) or, without Owner, handler(worker, from, span), where `from`
///             is the rank that sent them all: never blocks, may send on any channel, runs on
///             several workers at once.
/// Order       none is promised, not even between one pair of ranks.
/// Collective  constructor and destructor, in the same order on every rank. The destructor of a
///             standing channel returns when all its messages have been handled, or at once if
///             an exception is on its way. An epoch channel is destroyed while no epoch is open.
/// Memory      workers * next hops * coalesce_bytes at most.
/// Throws      contract_violation from from() and send() for an epoch channel while none is open
/// Source      [DC15] AM++ (coalescing); [GMT14] (blocks per worker); [AAM15] (spans).
template <class Message>
class channel final : public coalescer {
  static_assert(std::is_trivially_copyable_v<Message>,
                "a message travels as its bytes: make it trivially copyable");
  static_assert(alignof(Message) <= 16, "payloads are aligned to 16 bytes");

 public:
  template <class Handler>
  channel(world& w, Handler on_messages, const channel_options& opt = {})
      : coalescer(w, opt), on_messages_(taking_all(std::move(on_messages))) {
    attach();
  }
  template <class Owner, class Handler>
  requires std::is_invocable_r_v<rank_t, Owner&, const Message&> channel(
      world& w, Owner owner, Handler on_messages, const channel_options& opt = {})
      : coalescer(w, opt, travel::routed),
        on_messages_(routed() ? taking_own(std::move(owner), std::move(on_messages))
                              : taking_all(std::move(on_messages))) {
    attach();
  }
  ~channel() { detach(); }

  /// A worker's end of the channel: `to(rank, message)` appends. Cheap to make; lives inside
  /// one chunk, handler or body section and on that worker only. Several may live at once.
  class sender {
   public:
    sender(channel& c, worker_t w)
        : channel_(c),
          blocks_(c.lane_of(w).blocks.data()),
          next_hops_(c.next_hops().data()),
          count_(c.lane_of(w).count),
          worker_(w) {}
    sender(const sender&) = delete;
    sender& operator=(const sender&) = delete;

    void operator()(rank_t to, const Message& m) {
      append(to, m);
      count_.add_sent(1);  // before its block can leave
    }

   private:
    friend class channel;

    [[gnu::always_inline]] void append(rank_t to, const Message& m) {
      CAIRN_ASSERT(to >= 0 && to < channel_.ranks());
      const auto hop = next_hops_[to];
      auto& b = blocks_[hop];
      if (b.at == b.end) [[unlikely]] {
        channel_.next_block(worker_, hop);
      }
      std::memcpy(b.at, &m, sizeof m);
      b.at += sizeof m;
    }

    channel& channel_;
    typename channel::block* blocks_;
    const rank_t* next_hops_;
    message_count& count_;
    worker_t worker_;
  };

  [[nodiscard]] sender from(worker_t w) {
    expect_sending();
    return sender(*this, w);
  }

  /// Sends one message; for loops, use from(w).
  void send(worker_t w, rank_t to, const Message& m) { from(w)(to, m); }

 private:
  // Takes a buffer from a rank; returns how many of its messages have been handled.
  using taker = std::function<std::size_t(worker_t, rank_t, std::span<Message>)>;

  template <class Handler>
  static taker taking_all(Handler on_messages) {
    return [on_messages = std::move(on_messages)](worker_t w, rank_t from,
                                                  std::span<const Message> batch) mutable {
      if constexpr (std::invocable<Handler&, worker_t, rank_t, std::span<const Message>>) {
        on_messages(w, from, batch);
      } else {
        on_messages(w, batch);
      }
      return batch.size();
    };
  }

  template <class Owner, class Handler>
  taker taking_own(Owner owner, Handler on_messages) {
    return [this, owner = std::move(owner), on_messages = std::move(on_messages)](
               worker_t w, rank_t from, std::span<Message> came) mutable {
      if (from != rank()) came = forward_others(w, came, owner);
      if (!came.empty()) on_messages(w, std::span<const Message>(came));
      return came.size();
    };
  }

  // Returns the messages for this rank.
  template <class Owner>
  std::span<Message> forward_others(worker_t w, std::span<Message> came, Owner& owner) {
    sender out(*this, w);
    const auto own =
        keep_own(rank(), came, owner, [&](rank_t to, const Message& m) { out.append(to, m); });
    count_forwarded(w, came.size() - own.size());
    return own;
  }

  [[gnu::noinline]] void next_block(worker_t w, rank_t hop) { turn_over(w, hop, block_bytes_); }

  void deliver(worker_t w, rank_t from, std::span<std::byte> payload) override {
    CAIRN_ASSERT(payload.size() % sizeof(Message) == 0);
    const auto n = payload.size() / sizeof(Message);
    count_handled(w, on_messages_(w, from, {reinterpret_cast<Message*>(payload.data()), n}));
  }

  taker on_messages_;
  const std::size_t block_bytes_ =
      sizeof(Message) * std::max<std::size_t>(1, buffer_bytes() / sizeof(Message));
};

}  // namespace cairn::am
