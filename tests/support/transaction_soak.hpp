// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <thread>
#include <vector>

#include <cairn/base/random.hpp>
#include <cairn/hw/pause.hpp>
#include <cairn/obs/counters.hpp>
#include <cairn/tm/section.hpp>
#include <cairn/tm/versioned_section.hpp>

#include <support/serializability.hpp>

namespace cairn::support {

struct soak_options {
  std::uint64_t transactions = 100'000;
  std::uint32_t threads = 3;
  std::uint32_t cells = 64;  ///< few, so that transactions conflict; at most 256
  std::uint64_t batch = 200'000;
  std::uint64_t seed = 1;
};

struct soak_result {
  std::uint64_t committed = 0, left = 0, alone = 0;
  std::string complaint;  ///< empty: every batch is serializable
};

/// Like task::pool::relax.
struct pause_or_yield {
  void operator()(unsigned rounds) const noexcept {
    if (rounds < 64) {
      hw::pause();
    } else {
      std::this_thread::yield();
    }
  }
};

/// Random software transactions on threads, recorded and verified batch by batch.
template <class Rules = tm::versioned_rules>
class transaction_soak {
 public:
  explicit transaction_soak(const soak_options& opt)
      : opt_(opt), table_(64), cells_(opt.cells * cell_distance), counters_(threads()) {
    for (std::uint32_t t = 0; t < opt.threads; ++t) log_.emplace_back(t, opt.threads);
  }

  /// Ends early if there is a complaint.
  soak_result run() {
    soak_result r;
    while (r.committed < opt_.transactions && r.complaint.empty()) {
      const auto each = std::min(opt_.batch, opt_.transactions - r.committed) / opt_.threads + 1;
      for (std::uint32_t c = 0; c < opt_.cells; ++c) cell(c) = first_value(c);
      std::vector<std::thread> threads;
      for (std::uint32_t t = 0; t < opt_.threads; ++t) {
        threads.emplace_back(
            [&, t] { work(t, each, random64(opt_.seed).stream(r.committed + t)); });
      }
      for (auto& t : threads) t.join();
      r.committed += each * opt_.threads;
      r.complaint = history(log_).complaint();
      if (table_.num_owned() != 0) r.complaint = "a word is still owned";
      for (auto& t : log_) t.clear();
    }
    r.left = counters_.total(obs::counter::aborts_conflict);
    r.alone = counters_.total(obs::counter::fallbacks);
    return r;
  }

 private:
  using section = tm::versioned_section<tm::version_table<>, pause_or_yield, Rules>;
  static constexpr std::size_t cell_distance = 2;  // words: two cells share a version word

  [[nodiscard]] int threads() const { return static_cast<int>(opt_.threads); }
  [[nodiscard]] std::uint64_t& cell(std::uint32_t c) { return cells_[c * cell_distance]; }

  void work(std::uint32_t t, std::uint64_t transactions, random64 random) {
    auto& log = log_[t];
    tm::section_runner runner(section(table_, t, {}), {.conflicts = 6}, t, counters_,
                              static_cast<worker_t>(t), pause_or_yield{});
    for (std::uint64_t i = 0; i < transactions; ++i) {
      const auto seed = random();
      const auto body = [&](auto access) { one(log, access, random64(seed)); };
      const auto end = runner.run(tm::unsubscribed{}, 1, body, [] {});
      if (end != tm::section_end::committed) {
        runner.hardware().outside([&] { body(runner.hardware().cell_access()); });
      }
      log.committed();
    }
  }

  void one(recorded_thread& log, auto access, random64 draw) {
    log.begin();
    const auto writes = draw();
    const auto first = static_cast<std::uint32_t>(draw.below(opt_.cells));
    const auto last = 1 + draw.below(5);
    const auto pause_at = draw.below(400);  // lets other threads run, also on one core
    for (std::uint32_t i = 0; i < last; ++i) {
      const auto c = (first + i * 5) % opt_.cells;
      const auto found = access.load(cell(c));
      if (i == pause_at) std::this_thread::yield();
      const bool put = (writes >> i & 1) != 0;
      const auto value = put ? log.fresh() : 0;
      log.add({c, found, value});
      if (put) access.store(cell(c), value);
    }
  }

  soak_options opt_;
  tm::version_table<> table_;
  std::vector<std::uint64_t> cells_;
  obs::counters counters_;
  std::vector<recorded_thread> log_;
};

}  // namespace cairn::support
