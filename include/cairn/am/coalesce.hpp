// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include <cairn/core/progress.hpp>
#include <cairn/core/world.hpp>
#include <cairn/task/per_worker.hpp>

namespace cairn::am {

struct channel_options {
  channel_kind kind = channel_kind::epoch;
  std::size_t coalesce_bytes = 0;  ///< of a buffer; 0: what the world has chosen
};

/// The stage coalesce: each worker fills a block per destination; a block leaves as one buffer when
/// it is full, when its worker is idle, or when it is old. Channels are derived from it: they say
/// how a message is written into a block and read from a buffer.
///
/// A derived class calls attach() last in its constructor and detach() first in its destructor,
/// because buffers may be delivered between the two. What it appends it counts.
///
/// Memory    workers * ranks * buffer_bytes() at most
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
    std::vector<block> blocks;  // by destination
    message_count count;
    std::uint64_t reported = 0;  // of count.sent(), in the world's counters
  };

  coalescer(world& w, const channel_options& opt);
  ~coalescer() = default;
  void attach();
  /// Handles what is on its way, if the channel is standing and no exception is.
  void detach() noexcept;

  [[nodiscard]] rank_t ranks() const noexcept { return world_.size(); }
  [[nodiscard]] std::size_t buffer_bytes() const noexcept { return buffer_bytes_; }
  [[nodiscard]] lane& lane_of(worker_t w) noexcept { return lanes_[w]; }

  /// Throws    contract_violation if messages of this kind cannot be sent now
  void expect_sending() const;
  /// Gives worker w an empty block for `to`, of at least so many bytes; ships the full one.
  void turn_over(worker_t w, rank_t to, std::size_t bytes);
  /// Worker w has handled n messages, and sent what their handler sent.
  void count_handled(worker_t w, std::uint64_t n) noexcept;

 private:
  void ship(worker_t w, rank_t to, block& b);

  world& world_;
  progress_engine& progress_;
  const channel_kind kind_;
  const std::size_t buffer_bytes_;
  const int exceptions_;  // on their way when it was constructed
  std::uint32_t number_ = 0;
  task::per_worker<lane> lanes_;
};

}  // namespace cairn::am
