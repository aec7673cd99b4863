// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include <cairn/am/block_growth.hpp>
#include <cairn/am/hop_choice.hpp>
#include <cairn/core/progress.hpp>
#include <cairn/core/world.hpp>
#include <cairn/task/per_worker.hpp>

namespace cairn::am {

struct channel_options {
  channel_kind kind = channel_kind::epoch;
  std::size_t coalesce_bytes = 0;  ///< size of a buffer; 0: the world's, which may be automatic
  std::string_view name = {};      ///< in reports and traces; empty: that of the message's type
  int worker = any_worker;         ///< of each rank that alone runs its handlers; epoch channels
  /// Its handler may send on any channel or hold the epoch. If none of an epoch's messages has such
  /// a handler, the epoch ends sooner; a handler that sends nevertheless fails the world. If false,
  /// an epoch channel is in_bulk.
  bool sends = true;
  /// Nobody waits for early messages: automatic blocks are of the best size at once.
  bool in_bulk = false;
};

/// The stage coalesce: each worker fills a block per next hop; a block leaves as one buffer when it
/// is full, when its worker is idle, or when it is old. Without a requested size, each block has
/// the size that block_growth.hpp chooses, up to the best one of the transport to the next hop.
/// Channels derive from this class and define how a message is written into a block and read from a
/// buffer.
///
/// A routed coalescer sends along the world's route (route.hpp), and deliver() may find messages
/// for other ranks in a buffer. It forwards them: it appends each to a block of this rank without
/// counting it as sent, and counts it as handled only if it ends here. If the routing is automatic,
/// full blocks go directly. Blocks that leave part-filled are joined into blocks for hops where
/// that is cheaper (hop_choice.hpp).
///
/// A derived class calls attach() last in its constructor and detach() first in its destructor,
/// because buffers may be delivered between the two. A derived class counts the messages that it
/// appends.
///
/// Memory    per worker: next hops * (the requested or the best size) at most; 72 bytes per rank
/// Cost      a flush looks at the blocks that were filled since the one before, however many ranks
///           there are
class coalescer : public receiver {
 public:
  coalescer(const coalescer&) = delete;
  coalescer& operator=(const coalescer&) = delete;

  bool flush(worker_t k, flush_scope scope) final;
  [[nodiscard]] const message_counter& count(worker_t k) const noexcept final {
    return workers_[k].count;
  }
  void abandon() noexcept final;
  [[nodiscard]] bool sends() const noexcept final { return sends_; }

 protected:
  struct block {
    std::byte* at = nullptr;  // where the next message goes
    std::byte* end = nullptr;
    bool seen = false;       // it was part-filled at the previous scan for old blocks
    bool listed = false;     // in worker_state::filling
    std::uint8_t noted = 0;  // binary digits of its size when a trace last got it
    block_growth growth;
    std::size_t records = 0;  // in it, if they have no fixed size
    buffer items;

    [[nodiscard]] bool empty() noexcept { return !items || at == items.payload(); }
    [[nodiscard]] std::size_t bytes() noexcept {
      return static_cast<std::size_t>(at - items.payload());
    }
    /// Its messages; what it learnt remains.
    buffer take() noexcept {
      at = end = nullptr;
      seen = false;
      records = 0;
      return std::move(items);
    }
  };
  struct worker_state {
    std::vector<block> blocks;    // by next hop
    std::vector<rank_t> filling;  // next hops whose block may hold messages, in no order
    message_counter count;
    std::size_t kept = 0;        // messages in a table of the stage reduce
    std::ptrdiff_t left = 0;     // messages that left the table during an offer
    std::size_t kept_scans = 0;  // scans for old blocks while the table keeps messages
    std::uint64_t reported = 0;  // part of count.sent() that the world's counters have
    hop_choice hops;
    bool joined = false;                    // by the last choice
    std::vector<std::size_t> joined_bytes;  // by hop, during a flush; else 0
  };

  enum class travel { directly, routed };

  /// Standing channels always send directly: an answer is needed soon, and the next message that
  /// could share its buffer may come much later.
  coalescer(world& w, const channel_options& opt, travel path = travel::directly);
  ~coalescer() = default;
  /// message_bytes  of each message; 0: blocks count their records
  void attach(std::size_t message_bytes, std::string_view type);
  /// Detaches the channel. A standing channel first waits until all its messages are handled,
  /// unless an exception is in flight.
  void detach() noexcept;

  [[nodiscard]] rank_t rank() const noexcept { return world_.rank(); }
  [[nodiscard]] rank_t ranks() const noexcept { return world_.size(); }
  [[nodiscard]] worker_state& state_of(worker_t k) noexcept { return workers_[k]; }
  /// Whether buffers may hold messages of other ranks.
  [[nodiscard]] bool routed() const noexcept { return routed_; }
  /// Whether messages are appended for the next hop, and not for their destination.
  [[nodiscard]] bool appends_for_hops() const noexcept { return routed_ && !chooses_; }
  /// The next hop by destination if appends_for_hops(), else empty or not to be used.
  [[nodiscard]] std::span<const rank_t> next_hops() const noexcept { return next_hops_; }
  [[nodiscard]] rank_t next_hop(rank_t to) const noexcept {
    return appends_for_hops() ? next_hops_[static_cast<std::size_t>(to)] : to;
  }
  /// Whether messages of worker k for the next hop towards `to` wait in a block.
  [[nodiscard]] bool holds_for(worker_t k, rank_t to) noexcept {
    return !workers_[k].blocks[static_cast<std::size_t>(next_hop(to))].empty();
  }

  /// Throws    contract_violation if messages of this kind cannot be sent now
  void expect_sending() const {
    if (kind_ != channel_kind::standing) expect_open_epoch();
  }
  /// Gives worker k an empty block for the next hop `to`, for `min_bytes` bytes or more, and
  /// messages of fixed size fill it; ships the previous block, if there is one.
  /// Throws    what an allocation throws, and poisons the world
  void turn_over(worker_t k, rank_t to, std::size_t min_bytes);
  /// drain() appends the messages in worker k's table to blocks and empties the table; forget()
  /// only empties it.
  virtual void drain(worker_t) {}
  virtual void forget(worker_t) noexcept {}
  /// Records that worker k's table keeps n more messages of `bytes` bytes each; fewer if n < 0.
  void count_kept(worker_t k, std::ptrdiff_t n, std::size_t bytes) noexcept;
  /// Worker k has handled n messages, after everything that their handler sent was counted.
  void count_handled(worker_t k, std::uint64_t n) noexcept;
  /// Counts the messages of one buffer that worker k forwards: each calls to(rank, append).
  class forwarding {
   public:
    forwarding(coalescer& c, worker_t k) noexcept : coalescer_(c), worker_(k) {}
    template <class Append>
    void operator()(rank_t to, Append&& append) {
      const bool other = to != last_;
      const bool none_waits = other && !coalescer_.holds_for(worker_, to);
      append();
      if (!other) return;
      last_ = to;
      ++destinations_;
      opened_ += none_waits && coalescer_.holds_for(worker_, to);
    }
    /// n of them go on.
    void end(std::uint64_t n) noexcept;

   private:
    coalescer& coalescer_;
    worker_t worker_;
    rank_t last_ = -1;
    std::size_t destinations_ = 0, opened_ = 0;
  };

 private:
  void expect_open_epoch() const;
  [[nodiscard]] static bool leaves_part_filled(block& b, flush_scope scope) noexcept;
  void join_for_hops(worker_t k, flush_scope scope);
  void note_choice(worker_t k, std::string_view text, std::size_t amount) const;
  void move_to_hop(worker_t k, block& from, rank_t hop, std::size_t max_bytes);
  [[nodiscard]] std::size_t block_bytes(rank_t to, const block& b) const noexcept;
  void begin_block(worker_t k, rank_t to, std::size_t min_bytes);
  void ship(worker_t k, rank_t to, block& b);

  world& world_;
  progress_engine& progress_;
  const channel_kind kind_;
  const std::size_t requested_bytes_;  // 0: automatic
  const std::string_view name_;
  const int worker_;
  const bool sends_, in_bulk_;
  std::size_t message_bytes_ = 0;
  const int exceptions_;  // in flight at construction
  std::uint32_t number_ = 0;
  task::per_worker<worker_state> workers_;
  const bool routed_, chooses_;
  const std::vector<rank_t> next_hops_;
};

}  // namespace cairn::am
