// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include <cairn/core/progress.hpp>
#include <cairn/core/world.hpp>
#include <cairn/task/per_worker.hpp>

namespace cairn::am {

struct channel_options {
  channel_kind kind = channel_kind::epoch;
  std::size_t coalesce_bytes = 0;  ///< of a buffer; 0: what the world has chosen
};

/// The stage coalesce: each worker fills a block per next hop; a block leaves as one buffer when it
/// is full, when its worker is idle, or when it is old. Channels are derived from it: they say how
/// a message is written into a block and read from a buffer.
///
/// Messages of a routed coalescer travel as the world's routing says (route.hpp), and deliver() may
/// find messages of other ranks in a buffer. It forwards them: it appends each to a block of this
/// rank without counting it as sent, and counts it as handled only if it ends here.
///
/// A derived class calls attach() last in its constructor and detach() first in its destructor,
/// because buffers may be delivered between the two. What it appends it counts.
///
/// Memory    workers * next hops * buffer_bytes() at most; 4 bytes per rank
class coalescer : public receiver {
 public:
  coalescer(const coalescer&) = delete;
  coalescer& operator=(const coalescer&) = delete;

  bool flush(worker_t w, bool only_old) final;
  [[nodiscard]] const message_count& count(worker_t w) const noexcept final {
    return lanes_[w].count;
  }
  void abandon() noexcept final;

 protected:
  struct block {
    std::byte* at = nullptr;  // where the next message goes
    std::byte* end = nullptr;
    bool seen = false;  // it was part-filled at the previous scan for old blocks
    buffer items;
  };
  struct lane {
    std::vector<block> blocks;  // by next hop
    message_count count;
    std::size_t kept = 0;        // messages in a table of the stage reduce
    bool kept_seen = false;      // at the previous scan, too
    std::uint64_t reported = 0;  // of count.sent(), in the world's counters
  };

  enum class travel { directly, routed };

  /// Standing channels travel directly: one reply is due soon, and the next may be far.
  coalescer(world& w, const channel_options& opt, travel how = travel::directly);
  ~coalescer() = default;
  void attach();
  /// Handles what is on its way, if the channel is standing and no exception is.
  void detach() noexcept;

  [[nodiscard]] rank_t rank() const noexcept { return world_.rank(); }
  [[nodiscard]] rank_t ranks() const noexcept { return world_.size(); }
  [[nodiscard]] std::size_t buffer_bytes() const noexcept { return buffer_bytes_; }
  [[nodiscard]] lane& lane_of(worker_t w) noexcept { return lanes_[w]; }
  /// Whether buffers may hold messages of other ranks.
  [[nodiscard]] bool routed() const noexcept { return routed_; }
  /// By destination, if the channel is routed; else empty.
  [[nodiscard]] std::span<const rank_t> next_hops() const noexcept { return next_hops_; }
  [[nodiscard]] rank_t next_hop(rank_t to) const noexcept {
    return routed_ ? next_hops_[static_cast<std::size_t>(to)] : to;
  }

  /// Throws    contract_violation if messages of this kind cannot be sent now
  void expect_sending() const;
  /// Gives worker w an empty block for the next hop `to`, of at least so many bytes; ships the full
  /// one.
  void turn_over(worker_t w, rank_t to, std::size_t bytes);
  /// Appends what worker w's table keeps to blocks, and empties it; or only empties it.
  virtual void drain(worker_t) {}
  virtual void forget(worker_t) noexcept {}
  /// Worker w's table keeps n messages more, or less, of so many bytes each.
  void count_kept(worker_t w, std::ptrdiff_t n, std::size_t bytes) noexcept;
  /// Worker w has handled n messages, and sent what their handler sent.
  void count_handled(worker_t w, std::uint64_t n) noexcept;
  /// Worker w has forwarded n messages of one buffer.
  void count_forwarded(worker_t w, std::uint64_t n) noexcept;

 private:
  void ship(worker_t w, rank_t to, block& b);

  world& world_;
  progress_engine& progress_;
  const channel_kind kind_;
  const std::size_t buffer_bytes_;
  const int exceptions_;  // on their way when it was constructed
  std::uint32_t number_ = 0;
  task::per_worker<lane> lanes_;
  const bool routed_;
  const std::vector<rank_t> next_hops_;
};

}  // namespace cairn::am
