// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <cairn/base/types.hpp>

namespace cairn::obs {

/// The kind of a trace record. trace_writer.cpp defines how each is displayed.
enum class trace_kind : std::uint8_t {
  // Spans of time. Those of one worker nest.
  phase,       ///< text; number: of the trial
  superstep,   ///< text: direction; amount: vertices of the frontier; number: of the superstep
  epoch,       ///< number
  loop,        ///< of worker 0; amount: elements
  job,         ///< a worker's part of a loop or job
  bucket,      ///< a worker's work in order; amount: of the bucket
  handler,     ///< amount: bytes; number: channel; peer: sender
  send,        ///< a buffer; amount: bytes; count: messages; number: channel; peer: receiver
  receive,     ///< a buffer; amount: bytes; number: channel; peer: sender
  collective,  ///< text; amount: bytes of this rank's value
  wait,        ///< text: what for
  idle,        ///< a worker without a job
  // Moments.
  forward,  ///< messages of a buffer that travel on; count: messages; number: channel
  wave,     ///< of termination detection; amount: messages sent on all ranks; count: in flight
  choice,   ///< text; amount: edges of the frontier, entries of a table, sweeps or runs that repay
            ///< a layout, or tasks; count: grain; number: trials made
  channel_choice  ///< text; amount: bytes of a block, or part-filled blocks; number: channel
};
inline constexpr std::size_t num_trace_kinds = 16;

/// One record. Plain bytes, which travel to rank 0 as they are.
struct trace_record {
  static constexpr std::uint32_t no_number = ~std::uint32_t{0};
  static constexpr std::size_t max_text = 24;  ///< characters; longer texts are cut

  std::uint64_t begin_ns, end_ns;  ///< equal for moments
  std::uint64_t amount;
  std::uint32_t count, number;
  rank_t peer;             ///< -1: none
  std::uint16_t sequence;  ///< of the buffer among those from its sender to its receiver, mod 2^16
  trace_kind kind;
  std::array<char, max_text + 1> text;  ///< ends with a zero

  void set_text(std::string_view from) noexcept;
  [[nodiscard]] std::string_view text_view() const noexcept { return text.data(); }
};
static_assert(sizeof(trace_record) == 64);

/// The numbers of a record; trace_kind says what they mean.
struct trace_numbers {
  std::uint64_t amount = 0;
  std::uint32_t count = 0, number = trace_record::no_number;
};

struct time_span {
  std::uint64_t begin_ns, end_ns;
};

/// The recorded activity of one rank's workers: one bounded buffer of records per worker. A full
/// buffer drops new records and counts them.
///
/// Cost           if off, or paused: a branch for each record; else two clock readings
/// Memory         `capacity` records of 64 bytes per worker, touched when used
/// Thread-safety  only worker k calls add(k, ..); what it has added may be read at any time.
///                resume(), pause() and name_channel() by worker 0 outside jobs
class trace {
 public:
  using time_source = std::function<std::uint64_t()>;

  /// capacity  records per worker; 0: nothing can be recorded
  /// now_ns    the time of the rank; called by all workers
  trace(int workers, std::size_t capacity, time_source now_ns);

  /// Records per worker such that viewers can open the trace of a job: a million records in all,
  /// but at least a thousand per worker.
  [[nodiscard]] static std::size_t share(rank_t ranks, int workers) noexcept;

  /// Whether records are added now.
  [[nodiscard]] bool on() const noexcept { return on_.load(std::memory_order_relaxed); }
  /// Whether it can be on: it has memory for records.
  [[nodiscard]] bool wanted() const noexcept { return !workers_.empty(); }
  void resume() noexcept { on_.store(wanted(), std::memory_order_relaxed); }
  void pause() noexcept { on_.store(false, std::memory_order_relaxed); }

  [[nodiscard]] std::uint64_t now_ns() const { return now_ns_(); }
  void add(worker_t k, const trace_record& r) noexcept;
  /// Adds a record of this moment, if on.
  void note(worker_t k, trace_kind kind, std::string_view text, const trace_numbers& n = {}) {
    if (on()) [[unlikely]]
      note_now(k, kind, text, n);
  }

  /// Adds a span that has ended, if its begin is known (not 0).
  void add_span(worker_t k, trace_kind kind, const time_span& when, std::uint64_t amount) noexcept;

  /// Names a channel for reports. The names of the first 4,096 channels are kept.
  void name_channel(std::uint32_t number, std::string_view name);
  struct channel_name {
    std::uint32_t number;
    std::string name;
  };
  [[nodiscard]] const std::vector<channel_name>& channels() const noexcept { return channels_; }

  [[nodiscard]] int workers() const noexcept { return static_cast<int>(workers_.size()); }
  [[nodiscard]] std::span<const trace_record> of_worker(worker_t k) const noexcept;
  [[nodiscard]] std::uint64_t dropped(worker_t k) const noexcept;

 private:
  struct alignas(cache_line) worker_records {
    std::unique_ptr<trace_record[]> records;
    std::atomic<std::size_t> size{0};
    std::atomic<std::uint64_t> dropped{0};
  };
  void note_now(worker_t k, trace_kind kind, std::string_view text, const trace_numbers& n);

  const std::size_t capacity_;
  const time_source now_ns_;
  std::atomic<bool> on_{false};
  std::vector<worker_records> workers_;
  std::vector<channel_name> channels_;
};

/// Records the time from its construction to its end, if the trace is on at its construction.
///
///   obs::trace_span span(w.trace(), k, trace_kind::handler);
///   if (span) span->amount = bytes;
class trace_span {
 public:
  trace_span(trace& t, worker_t k, trace_kind kind) : trace_(t.on() ? &t : nullptr), worker_(k) {
    if (trace_) [[unlikely]]
      begin(kind);
  }
  ~trace_span() { end(); }
  trace_span(const trace_span&) = delete;
  trace_span& operator=(const trace_span&) = delete;

  [[nodiscard]] explicit operator bool() const noexcept { return trace_ != nullptr; }
  /// The record, for the caller to fill in. Requires that the span records.
  [[nodiscard]] trace_record* operator->() noexcept { return &record_; }

  /// Ends the span before its destruction.
  void end() {
    if (trace_) [[unlikely]]
      finish();
  }
  /// Discards the span: nothing is recorded.
  void drop() noexcept { trace_ = nullptr; }

 private:
  void begin(trace_kind kind);
  void finish();

  trace* trace_;
  worker_t worker_;
  trace_record record_;  // undefined without a trace
};

/// Records how long a worker has found no work.
class idle_span {
 public:
  explicit idle_span(worker_t k) noexcept : worker_(k) {}
  idle_span(const idle_span&) = delete;
  idle_span& operator=(const idle_span&) = delete;

  /// Called before each poll that follows a poll without work.
  ///
  /// t  the trace if it is on; it exists until the next end
  void before_poll(trace* t) {
    if (t != nullptr || trace_ != nullptr) [[unlikely]]
      note_look(t);
  }
  /// Ends the span now, because there is work.
  void end() {
    if (trace_ != nullptr) [[unlikely]]
      finish(trace_->now_ns());
  }
  /// Ends the span at the time of the last poll, which found work and ran it.
  void end_at_look() {
    if (trace_ != nullptr) [[unlikely]]
      finish(looked_ns_);
  }

 private:
  void note_look(trace* t);
  void finish(std::uint64_t end_ns);

  trace* trace_ = nullptr;
  worker_t worker_;
  std::uint64_t begin_ns_ = 0, looked_ns_ = 0;
};

}  // namespace cairn::obs
