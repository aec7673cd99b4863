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
#include <cairn/base/contract.hpp>
#include <cairn/core/world.hpp>

namespace cairn::am {

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
class channel final : public coalescer {
  static_assert(std::is_trivially_copyable_v<Message>,
                "a message travels as its bytes: make it trivially copyable");
  static_assert(alignof(Message) <= 16, "payloads are aligned to 16 bytes");

 public:
  template <class Handler>
  channel(world& w, Handler on_messages, const channel_options& opt = {})
      : coalescer(w, opt),
        on_messages_(with_sender(std::move(on_messages))),
        block_bytes_(sizeof(Message) * std::max<std::size_t>(1, buffer_bytes() / sizeof(Message))) {
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
          count_(c.lane_of(w).count),
          worker_(w) {}
    sender(const sender&) = delete;
    sender& operator=(const sender&) = delete;

    void operator()(rank_t to, const Message& m) {
      CAIRN_ASSERT(to >= 0 && to < channel_.ranks());
      auto& b = blocks_[to];
      if (b.at == b.end) [[unlikely]] {
        channel_.next_block(worker_, to);
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
    expect_sending();
    return sender(*this, w);
  }

  /// Sends one message; for loops, use from(w).
  void send(worker_t w, rank_t to, const Message& m) { from(w)(to, m); }

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

  [[gnu::noinline]] void next_block(worker_t w, rank_t to) { turn_over(w, to, block_bytes_); }

  void deliver(worker_t w, rank_t from, std::span<const std::byte> payload) override {
    CAIRN_ASSERT(payload.size() % sizeof(Message) == 0);
    const auto n = payload.size() / sizeof(Message);
    on_messages_(w, from, {reinterpret_cast<const Message*>(payload.data()), n});
    count_handled(w, n);
  }

  handler on_messages_;
  std::size_t block_bytes_;
};

}  // namespace cairn::am
