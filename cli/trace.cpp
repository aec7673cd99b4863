// SPDX-License-Identifier: Apache-2.0
#include "cli/trace.hpp"

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <limits>
#include <map>

#include <fmt/format.h>

#include <cairn/am/epoch.hpp>
#include <cairn/am/record_channel.hpp>
#include <cairn/core/simulation.hpp>
#include <cairn/graph/io/compressed.hpp>
#include <cairn/obs/trace_writer.hpp>

#include "cli/costs.hpp"
#include "cli/output.hpp"

namespace cairn::cli {
namespace {

std::vector<obs::trace_record> records_in(std::span<const std::byte> bytes) {
  std::vector<obs::trace_record> records(bytes.size() / sizeof(obs::trace_record));
  if (!records.empty()) std::memcpy(records.data(), bytes.data(), bytes.size());
  return records;
}

// The name of a thread beside the workers.
const char* name_beside(progress_style style, bool last) {
  if (style != progress_style::specialised) return "progress thread";
  return last ? "communication server" : "helper";
}

// The files that the settings name, and that of the saved costs. Some are empty.
std::vector<std::string> files_of_settings(const common& c) {
  const auto& sim = c.settings.sim;
  return {c.settings.costs, saved_costs_file(c), sim.empty() ? "" : clock_file_of(sim)};
}

bool is_pipe_or_device(const std::string& path) {
  std::error_code unknown;
  return std::filesystem::exists(path, unknown) && !std::filesystem::is_regular_file(path, unknown);
}

}  // namespace

void add_trace(CLI::App& command, common& c) {
  const auto apply = [&c](const std::string& file) {
    c.trace = file;
    c.settings.trace = true;
  };
  command
      .add_option_function<std::string>(
          "--trace", apply,
          "Record what each worker does in a .json file, also .gz .zst .xz, which Perfetto opens")
      ->type_name("FILE");
}

void expect_trace(const common& c, const std::vector<std::string>& others) {
  if (!c.settings.trace) return;
  if (!graph::io::without_compression(c.trace).ends_with(".json")) {
    throw usage_error("--trace is '" + c.trace +
                      "', expected a name that ends in .json, also .gz .zst .xz");
  }
  expect_one_seed(c, "trace");
  auto all = files_of_settings(c);
  all.insert(all.end(), others.begin(), others.end());
  for (const auto& file : all) {
    if (file.empty() || !is_same_file(c.trace, file)) continue;
    throw usage_error(c.trace + ": is another file of this command, which --trace would replace");
  }
}

void expect_trace_writable(const common& c) {
  if (!c.trace.empty()) check_writable(c.trace);
}

int recording::run(const std::function<int()>& body) {
  if (c_.trace.empty()) return body();
  // The file is not written in a catch block, because writing waits for other ranks.
  try {
    compare_clocks();
    return body();
  } catch (const cancelled&) {
  }
  // Another rank may have been cancelled after this rank's body; then all ranks write again.
  for (bool written = false; !written;) {
    try {
      write(nullptr);
      written = true;
    } catch (const cancelled&) {
    }
  }
  throw cancelled();
}

// Ranks of a machine share a clock. Those of other machines leave a barrier at about the same time.
void recording::compare_clocks() {
  if (!c_.settings.sim.empty()) return;
  w_.barrier();
  const auto now = w_.all_gather(w_.clock().now_ns());
  std::map<int, std::int64_t> of_machine;
  for (rank_t r = 0; r < w_.size(); ++r) {
    const auto behind = static_cast<std::int64_t>(now[0] - now[static_cast<std::size_t>(r)]);
    offsets_ns_.push_back(of_machine.try_emplace(w_.machines().of(r), behind).first->second);
  }
  one_clock_ = of_machine.size() == 1;
  if (one_clock_) offsets_ns_.assign(offsets_ns_.size(), 0);
}

// The records by rank and worker, on rank 0.
std::vector<std::vector<recording::bytes>> recording::collect() {
  const auto& trace = w_.trace();
  std::vector<std::vector<bytes>> parts;
  for (const auto workers : w_.all_gather(std::uint64_t(w_.handling_threads())))
    parts.emplace_back(workers);
  am::record_channel to_rank_0(w_, [&](worker_t, rank_t from, am::record_batch batch) {
    for (auto record : batch) {
      std::uint32_t worker = 0;
      std::memcpy(&worker, record.data(), sizeof worker);
      record = record.subspan(sizeof worker);
      parts[static_cast<std::size_t>(from)].at(worker).assign(record.begin(), record.end());
    }
  });
  am::epoch epoch(w_);
  for (worker_t k{0}; k < w_.handling_threads(); ++k) {
    const auto mine = std::as_bytes(trace.of_worker(k));
    if (w_.rank() == 0) {
      parts[0][static_cast<std::size_t>(k)].assign(mine.begin(), mine.end());
      continue;
    }
    bytes record(sizeof(std::uint32_t));
    const auto worker = static_cast<std::uint32_t>(k);
    std::memcpy(record.data(), &worker, sizeof worker);
    record.insert(record.end(), mine.begin(), mine.end());
    to_rank_0.send(main_worker, 0, record);
    w_.progress();
  }
  epoch.close();
  return parts;
}

void recording::write(report* r) {
  if (c_.trace.empty()) return;
  const auto parts = collect();
  std::uint64_t dropped_here = 0, events = 0;
  for (worker_t k{0}; k < w_.handling_threads(); ++k) dropped_here += w_.trace().dropped(k);
  const auto dropped_of = w_.all_gather(dropped_here);
  std::uint64_t dropped = 0;
  for (const auto n : dropped_of) dropped += n;
  w_.agree([&] {
    if (w_.rank() != 0) return;
    // After the run has been cancelled nothing ends the wait for a pipe's reader.
    if (r == nullptr && is_pipe_or_device(c_.trace)) return;
    const auto file = graph::io::create_file(c_.trace, check_of(w_));
    std::map<std::uint32_t, std::string> channels;
    for (const auto& [number, name] : w_.trace().channels()) channels[number] = name;
    obs::trace_writer writer([&](std::string_view s) { file->write(s); }, w_.size(), channels);
    const auto offset_of = [&](rank_t rank) {
      return offsets_ns_.empty() ? 0 : offsets_ns_[static_cast<std::size_t>(rank)];
    };
    auto origin = std::numeric_limits<std::int64_t>::max();
    for (rank_t rank = 0; rank < w_.size(); ++rank) {
      for (const auto& of_worker : parts[static_cast<std::size_t>(rank)]) {
        writer.note_sends(rank, records_in(of_worker));
        for (const auto& x : records_in(of_worker)) {
          origin = std::min(origin, static_cast<std::int64_t>(x.begin_ns) + offset_of(rank));
        }
      }
    }
    for (rank_t rank = 0; rank < w_.size(); ++rank) {
      const auto& of_rank = parts[static_cast<std::size_t>(rank)];
      for (std::size_t k = 0; k < of_rank.size(); ++k) {
        const auto name = k < static_cast<std::size_t>(w_.workers())
                              ? ""
                              : name_beside(w_.options().progress, k + 1 == of_rank.size());
        writer.worker(rank, worker_t{static_cast<std::int32_t>(k)}, records_in(of_rank[k]),
                      offset_of(rank) - origin, name);
      }
    }
    std::vector<std::pair<std::string, std::string>> facts{
        {"cairn", CAIRN_VERSION},
        {"clock", !c_.settings.sim.empty() ? "simulated"
                  : one_clock_             ? "of one machine"
                                           : "of several machines, aligned at a barrier: arrows "
                                             "between machines are off by up to a message's time"},
        {"dropped", std::to_string(dropped)}};
    for (std::size_t i = 0; i < dropped_of.size(); ++i) {
      if (dropped_of[i] == 0) continue;
      facts.emplace_back(fmt::format("dropped by rank {}, the newest", i),
                         std::to_string(dropped_of[i]));
    }
    writer.finish(facts);
    file->finish();
    events = writer.events();
  });
  if (r == nullptr) return;
  (*r)["trace"] = {{"file", c_.trace}, {"events", events}, {"dropped", dropped}};
  r->line("trace", fmt::format("{}, {} events{}", c_.trace, format_count(events),
                               dropped == 0 ? std::string()
                                            : fmt::format(", the newest {} were dropped",
                                                          format_count(dropped))));
}

}  // namespace cairn::cli
