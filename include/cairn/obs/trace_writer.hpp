// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <unordered_set>
#include <utility>
#include <vector>

#include <cairn/base/types.hpp>
#include <cairn/obs/trace.hpp>

namespace cairn::obs {

/// Writes a trace as Chrome's trace-event JSON, which Perfetto and chrome://tracing open: a process
/// per rank, a thread per worker, an arrow from where a buffer is sent to where it is received and
/// to where it is handled. A buffer whose send was not recorded has no arrow: its sender was
/// paused, or its sender's buffer of records was full.
///
/// Spans are complete events ("X"), so each has an end. The events of a thread ascend by time, and
/// a span stands before those inside it.
class trace_writer {
 public:
  using sink = std::function<void(std::string_view)>;

  /// channels  names by number
  trace_writer(sink out, rank_t ranks, const std::map<std::uint32_t, std::string>& channels);

  /// Notes which buffers a worker has sent. Called for every worker before the first worker().
  void note_sends(rank_t rank, std::span<const trace_record> records);
  /// Writes one worker's records, or those of the progress thread.
  ///
  /// offset_ns  is added to its times
  void worker(rank_t rank, worker_t k, std::span<const trace_record> records,
              std::int64_t offset_ns, std::string_view name = "");
  /// Writes the end of the file.
  ///
  /// facts  names and values for "otherData"
  void finish(const std::vector<std::pair<std::string, std::string>>& facts);

  [[nodiscard]] std::uint64_t events() const noexcept { return events_; }

 private:
  void begin_event(char type, std::string_view name, std::string_view category);
  void place(std::int64_t begin_ns);
  void end_event();
  void write_name(std::string_view kind, rank_t rank, int thread, const std::string& name);
  void write_record(const trace_record& r);
  void write_arguments(const trace_record& r);
  [[nodiscard]] std::uint64_t arrow_id(const trace_record& r, rank_t from, rank_t to) const;
  void write_arrow(char type, const trace_record& r, std::uint64_t id);
  void put(std::string_view text) { line_ += text; }
  void put_quoted(std::string_view text);
  void put_time(std::int64_t ns);

  sink out_;
  const rank_t ranks_;
  const std::map<std::uint32_t, std::string>& channels_;
  std::unordered_set<std::uint64_t> sent_;  // identifiers of arrows whose send was recorded
  std::string line_;
  std::uint64_t events_ = 0;
  rank_t rank_ = 0;
  worker_t worker_ = main_worker;
  std::int64_t offset_ns_ = 0;
};

}  // namespace cairn::obs
