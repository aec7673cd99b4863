// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <span>
#include <type_traits>
#include <utility>

#include <cairn/am/coalesce.hpp>
#include <cairn/am/reduce.hpp>
#include <cairn/am/route.hpp>
#include <cairn/base/contract.hpp>
#include <cairn/base/type_name.hpp>
#include <cairn/core/world.hpp>

namespace cairn::am {

/// The reducer of a channel that sends every message.
struct no_reducer {};

/// Carries messages of one type from any rank to a handler at their destination.
///
/// Each worker fills a block per next hop; a block leaves as one buffer when it is full, when its
/// worker is idle, or when it is old. The handler gets a whole buffer as a span, so that it can
/// choose its own grain. A message to the own rank takes the same path, but through the inbox
/// instead of the network.
///
/// An epoch channel with an Owner or a Reducer sends along the world's route: an intermediate rank
/// hands the messages for itself to its handler and forwards the others. Such messages need no
/// destination field. All other channels send directly.
///
///   kind       send and handlers run              its messages are counted by
///   epoch      while an am::epoch is open         that epoch, which ends when all are handled
///   standing   from the constructor on, in and    no epoch; use answers to learn that they are
///              outside epochs                     handled
///
/// Message     trivially copyable, aligned to at most 16 bytes; sent as its bytes, without a
///             header of its own. May be larger than a buffer.
/// Owner       owner(message) -> rank_t, the destination: optional; pure, the same on each rank;
///             called on several workers at once
/// Handler     handler(worker, span) or, without Owner, handler(worker, from, span), where `from`
///             is the rank that sent all messages of the span. It never blocks, may send on any
///             channel, and runs on several workers at once. That of a standing channel also runs
///             on the threads beside the workers, whose numbers are w.workers() and above. There
///             it may send and ask, but spawns no operators.
/// Order       none is promised, not even between one pair of ranks.
/// Collective  constructor and destructor, in the same order on every rank. The destructor of a
///             standing channel returns when all its messages have been handled, or at once if an
///             exception is in flight. An epoch channel is destroyed while no epoch is open.
/// Memory      workers * next hops * the size of a buffer at most.
/// Throws      contract_violation from from() and send() for an epoch channel while none is open.
///             An exception of a handler poisons the world: blocking calls of all ranks throw
/// Source      [DC15] AM++ (coalescing); [GMT14] (blocks per worker); [AAM15] (spans).
///
/// Reducer     reduces the number of messages, at the sender and at hops (reduce.hpp). It outlives
///             the channel and has
///               owner(m)           as Owner
///               offer(k, m, out)   offers m to worker k's table, passes messages that go on to
///                                  out(m'), and returns what became of m
///               offers(k, sent)    optional: whether a sender of worker k, which has sent so many
///                                  messages, offers the next ones
///               count(k, n)        optional, does not throw: worker k has offered n more messages.
///                                  Called when one did not merge, and at the end of a sender
///               drain(k, out)      optional, if tables keep messages: passes them to out
///               forget(k)          needed with drain: empties the table
template <class Message, class Reducer = no_reducer>
class channel final : public coalescer {
  static_assert(std::is_trivially_copyable_v<Message>,
                "a message travels as its bytes: make it trivially copyable");
  static_assert(alignof(Message) <= 16, "payloads are aligned to 16 bytes");
  static constexpr bool reduces = !std::is_same_v<Reducer, no_reducer>;
  static constexpr bool may_refuse = requires(Reducer & r, worker_t k) {
    r.offers(k, std::uint64_t{});
  };
  static constexpr bool counts_offers = requires(Reducer & r, worker_t k) {
    r.count(k, std::uint64_t{});
  };
  // Which messages a sender offers to the reducer. `asked`: all or none, as the reducer says when
  // the sender is constructed.
  enum class offering { none, all, asked };
  static constexpr offering usual_offering() {
    return may_refuse ? offering::asked : reduces ? offering::all : offering::none;
  }

 public:
  template <class Handler>
  channel(world& w, Handler on_messages, const channel_options& opt = {})
      : coalescer(w, opt), on_messages_(handling_all(std::move(on_messages))) {
    attach(sizeof(Message), type_name<Message>());
  }
  template <class Owner, class Handler>
  requires std::is_invocable_r_v<rank_t, Owner&, const Message&> channel(
      world& w, Owner owner, Handler on_messages, const channel_options& opt = {})
      : coalescer(w, opt, travel::routed),
        on_messages_(routed() ? handling_own(std::move(owner), std::move(on_messages))
                              : handling_all(std::move(on_messages))) {
    attach(sizeof(Message), type_name<Message>());
  }
  template <class Handler>
  requires(reduces)
      channel(world& w, Reducer& reducer, Handler on_messages, const channel_options& opt = {})
      : coalescer(w, opt, travel::routed),
        reducer_(&reducer),
        on_messages_(routed()
                         ? handling_own([&reducer](const Message& m) { return reducer.owner(m); },
                                        std::move(on_messages))
                         : handling_all(std::move(on_messages))) {
    attach(sizeof(Message), type_name<Message>());
  }
  ~channel() { detach(); }

  /// A worker's sending end of the channel: `to(rank, message)` appends. Cheap to construct. Use it
  /// within one chunk, handler or body section, on that worker only. Several may exist at once.
  ///
  /// Without `Routed`, routing costs nothing on direct channels: the block of a rank that is not a
  /// next hop stays empty, so an append to it takes the slow path of a full block, which looks up
  /// the next hop. With `Routed`, each append looks up the next hop, because the branch to the slow
  /// path is unpredictable if some messages take several hops.
  template <bool Routed, offering Offers = usual_offering()>
  class basic_sender {
   public:
    basic_sender(channel& c, worker_t k)
        : channel_(c),
          blocks_(c.state_of(k).blocks.data()),
          next_hops_(c.next_hops().data()),
          count_(c.state_of(k).count),
          worker_(k),
          offers_(offers_now(c, k)),
          reducer_(c.reducer_) {}
    [[gnu::always_inline]] ~basic_sender() { count_offered(); }
    basic_sender(const basic_sender&) = delete;
    basic_sender& operator=(const basic_sender&) = delete;

    void operator()(rank_t to, const Message& m) {
      append(to, m);
      count_.add_sent(1);  // before its block can leave
    }

    /// Whether offer() offers messages to the reducer. If not, it is as (to, m).
    [[nodiscard]] bool offers() const noexcept { return offers_; }
    /// Offers m to the reducer; what goes on is sent to its owner. Returns what became of m.
    offered offer(const Message& m) requires(reduces) {
      if (!offers_) {
        (*this)(reducer_->owner(m), m);
        return offered::passed;
      }
      ++offered_;
      const auto became = channel_.offer(worker_, m);
      if (became != offered::merged) {
        count_.add_sent(1);
        count_offered();
      }
      return became;
    }

   private:
    friend class channel;

    [[gnu::always_inline]] void append(rank_t to, const Message& m) {
      CAIRN_ASSERT(to >= 0 && to < channel_.ranks());
      if constexpr (Routed) to = next_hops_[to];
      auto* b = &blocks_[to];
      if (b->at == b->end) [[unlikely]] {
        b = &channel_.block_towards(worker_, to);
      }
      std::memcpy(b->at, &m, sizeof m);
      b->at += sizeof m;
    }

    static bool offers_now(channel& c, worker_t k) {
      if constexpr (Offers == offering::asked) {
        return c.offers(k);
      } else {
        return Offers == offering::all;
      }
    }
    [[gnu::always_inline]] void count_offered() {
      if constexpr (Offers != offering::none && counts_offers) {
        if (offered_ != 0) reducer_->count(worker_, std::exchange(offered_, 0));
      }
    }

    channel& channel_;
    typename channel::block* blocks_;
    const rank_t* next_hops_;
    message_counter& count_;
    worker_t worker_;
    bool offers_;
    Reducer* reducer_;
    std::uint64_t offered_ = 0;  // and not yet counted by the reducer
  };
  using sender = basic_sender<false>;

  [[nodiscard]] sender from(worker_t k) {
    expect_sending();
    return sender(*this, k);
  }

  /// Calls f(sender) with a sender of worker k, of the kind that is fastest under the world's
  /// routing and the reducer's choice. For long loops; f is compiled for all kinds.
  template <class F>
  void with_sender(worker_t k, F&& f) {
    expect_sending();
    if (appends_for_hops()) {
      basic_sender<true> to(*this, k);
      return static_cast<void>(f(to));
    }
    if constexpr (may_refuse) {
      if (offers(k)) {
        basic_sender<false, offering::all> to(*this, k);
        return static_cast<void>(f(to));
      }
      basic_sender<false, offering::none> to(*this, k);
      f(to);
    } else {
      sender to(*this, k);
      f(to);
    }
  }

  /// Sends one message; for loops, use from(k).
  void send(worker_t k, rank_t to, const Message& m) { from(k)(to, m); }

 private:
  // Handles a buffer from a rank; returns how many of its messages now count as handled.
  using buffer_handler = std::function<std::size_t(worker_t, rank_t, std::span<Message>)>;

  template <class Handler>
  static buffer_handler handling_all(Handler on_messages) {
    return [on_messages = std::move(on_messages)](worker_t k, rank_t from,
                                                  std::span<const Message> batch) mutable {
      if constexpr (std::invocable<Handler&, worker_t, rank_t, std::span<const Message>>) {
        on_messages(k, from, batch);
      } else {
        on_messages(k, batch);
      }
      return batch.size();
    };
  }

  template <class Owner, class Handler>
  buffer_handler handling_own(Owner owner, Handler on_messages) {
    return [this, owner = std::move(owner), on_messages = std::move(on_messages)](
               worker_t k, rank_t from, std::span<Message> received) mutable {
      const auto [own, ended] = from == rank()       ? sorted{received, 0}
                                : appends_for_hops() ? forward_others<true>(k, received, owner)
                                                     : forward_others<false>(k, received, owner);
      if (!own.empty()) on_messages(k, std::span<const Message>(own));
      return own.size() + ended;
    };
  }

  struct sorted {
    std::span<Message> own;  // for this rank
    std::size_t ended;       // messages for other ranks that were merged here
  };
  template <bool Routed, class Owner>
  sorted forward_others(worker_t k, std::span<Message> received, Owner& owner) {
    basic_sender<Routed, offering::none> out(*this, k);
    forwarding forward(*this, k);
    std::size_t ended = 0;
    const auto own = keep_own(rank(), received, owner, [&](rank_t to, const Message& m) {
      forward(to, [&] {
        if constexpr (reduces) {
          ended += offer(k, m) == offered::merged;
          if constexpr (counts_offers) reducer_->count(k, 1);
        } else {
          out.append(to, m);
        }
      });
    });
    forward.end(received.size() - own.size() - ended);
    return {own, ended};
  }

  [[nodiscard]] bool offers(worker_t k) requires(may_refuse) {
    return reducer_->offers(k, count(k).sent());
  }
  // Does not change the counts of the ledger.
  // A sender's address must not escape: its members would leave their registers.
  [[gnu::always_inline]] offered offer(worker_t k, const Message& m) requires(reduces) {
    const auto became = reducer_->offer(
        k, m, [this, k](const Message& n) { append_reduced(k, reducer_->owner(n), n); });
    if constexpr (keeps()) {
      if (became != offered::merged) {
        const auto left = std::exchange(state_of(k).left, 0);
        if (left != 1) count_kept(k, 1 - left, sizeof m);
      }
    }
    return became;
  }
  void append_reduced(worker_t k, rank_t to, const Message& m) {
    auto& mine = state_of(k);
    ++mine.left;
    auto* b = &mine.blocks[static_cast<std::size_t>(next_hop(to))];
    if (b->at == b->end) b = &block_towards(k, to);
    std::memcpy(b->at, &m, sizeof m);
    b->at += sizeof m;
  }

  void drain(worker_t k) override {
    if constexpr (keeps()) {
      basic_sender<false, offering::none> out(*this, k);
      count_kept(k, -static_cast<std::ptrdiff_t>(state_of(k).kept), sizeof(Message));
      reducer_->drain(k, [&](const Message& m) { out.append(reducer_->owner(m), m); });
    }
  }
  void forget(worker_t k) noexcept override {
    if constexpr (keeps()) {
      count_kept(k, -static_cast<std::ptrdiff_t>(state_of(k).kept), sizeof(Message));
      reducer_->forget(k);
    }
  }
  static constexpr bool keeps() {
    return requires(Reducer & r, worker_t k) { r.forget(k); };
  }

  // The block for the next hop towards rank `to`, with room for a message.
  [[gnu::noinline]] typename channel::block& block_towards(worker_t k, rank_t to) {
    const auto hop = next_hop(to);
    auto& b = state_of(k).blocks[static_cast<std::size_t>(hop)];
    if (b.at == b.end) turn_over(k, hop, sizeof(Message));
    return b;
  }

  void deliver(worker_t k, rank_t from, std::span<std::byte> payload) override {
    CAIRN_ASSERT(payload.size() % sizeof(Message) == 0);
    const auto n = payload.size() / sizeof(Message);
    count_handled(k, on_messages_(k, from, {reinterpret_cast<Message*>(payload.data()), n}));
  }

  Reducer* const reducer_ = nullptr;
  buffer_handler on_messages_;
};

}  // namespace cairn::am
