// SPDX-License-Identifier: Apache-2.0
//
// Index gather: million values per second that ranks read from a table of 8-byte words, distributed
// to the ranks in blocks. Each rank draws its indices uniformly from the whole table and stores
// each answer at its question's position. Reads of own words take the same path. This is index
// gather of bale (ig), with 8-byte indices.
//
//   index_gather --ranks 2 --threads 1        mpiexec -n 2 index_gather --threads 1

#include <algorithm>
#include <cstdint>
#include <string>

#include <fmt/core.h>

#include <cairn/am/epoch.hpp>
#include <cairn/am/request.hpp>
#include <cairn/base/random.hpp>
#include <cairn/hw/pages.hpp>

#include <bench/program.hpp>

namespace cairn::bench {
namespace {

struct gather_options {
  std::uint64_t gets = std::uint64_t{1} << 22;  // per rank
  int table_bits = 22;
  std::size_t chunk = 4096;  // questions between polls
  std::uint32_t unanswered = am::request_options{}.max_unanswered;
};

class gathering {
 public:
  gathering(world& w, const gather_options& options, channel_kind kind)
      : world_(w),
        options_(options),
        kind_(kind),
        table_(std::size_t{1} << options.table_bits),
        indices_(options.gets),
        copies_(options.gets),
        get_(
            w, [table = table_.data()](worker_t, std::uint64_t i) { return table[i]; },
            [copies = copies_.data()](worker_t, std::uint64_t slot, std::uint64_t x) {
              copies[slot] = x;
            },
            {.kind = kind, .max_unanswered = options.unanswered}) {
    const auto rank = static_cast<std::uint64_t>(w.rank());
    for (std::uint64_t i = 0; i < table_.size(); ++i) {
      table_[i] = mix64(rank << options.table_bits | i);
    }
    const auto words = static_cast<uint128_t>(w.size()) << options.table_bits;
    for (std::uint64_t i = 0; i < options.gets; ++i) {
      indices_[i] = static_cast<std::uint64_t>(mix64(mix64(rank + 1) + i) * words >> 64);
    }
  }

  /// Returns   number of passes so far
  std::uint64_t pass() {
    if (kind_ == channel_kind::standing) {
      ask();
      get_.finish();
      world_.barrier();
    } else {
      am::epoch epoch(world_);
      ask();
      epoch.close();
    }
    return ++passes_;
  }

  /// Number of wrong copies on all ranks; clears them. Collective.
  [[nodiscard]] std::uint64_t num_wrong() {
    std::uint64_t wrong = 0;
    for (std::uint64_t i = 0; i < options_.gets; ++i) wrong += copies_[i] != mix64(indices_[i]);
    std::fill(copies_.begin(), copies_.end(), 0);
    return world_.sum(wrong);
  }

 private:
  void ask() {
    const auto bits = options_.table_bits;
    const auto local = (std::uint64_t{1} << bits) - 1;
    world_.parallel_for(
        options_.gets,
        [&](worker_t k, std::size_t begin, std::size_t end) {
          auto to = get_.from(k);
          for (auto i = begin; i < end; ++i) {
            to(static_cast<rank_t>(indices_[i] >> bits), indices_[i] & local, am::slot(i));
          }
        },
        options_.chunk);
  }

  world& world_;
  const gather_options& options_;
  const channel_kind kind_;
  hw::page_buffer<std::uint64_t> table_, indices_, copies_;
  am::request<std::uint64_t, std::uint64_t> get_;
  std::uint64_t passes_ = 0;
};

void measure(world& w, harness& h, const gather_options& options) {
  const auto subject_of = [&](gathering& g, const char* form) {
    kernel<gathering*, std::uint64_t> kern;
    kern.name = "index_gather";
    kern.settings = {{"ranks", w.size()},
                     {"workers", w.workers()},
                     {"form", form},
                     {"gets_per_rank", options.gets},
                     {"table_bits", options.table_bits},
                     {"chunk", options.chunk},
                     {"unanswered", options.unanswered},
                     {"buffer_bytes", w.messages().coalesce_bytes()}};
    kern.item = "million_gets";
    kern.num_items = static_cast<double>(options.gets) * w.size() * 1e-6;
    kern.make_input = [&g] { return &g; };
    kern.run = [](gathering* input) { return input->pass(); };
    kern.verify = [](gathering* input, std::uint64_t) -> std::string {
      const auto wrong = input->num_wrong();
      return wrong == 0 ? "" : fmt::format("{} values are wrong", wrong);
    };
    kern.counters = [&w] { return counters_of_all(w); };
    return subject(std::move(kern));
  };
  gathering in_epochs(w, options, channel_kind::epoch), always(w, options, channel_kind::standing);
  auto first = subject_of(in_epochs, "epoch"), second = subject_of(always, "standing");
  const auto both = h.compare(first, second);
  if (w.rank() != 0) return;
  fmt::print(stderr, "{:>5} {:>9} {:>16} {:>8} {:>5}\n", "ranks", "form", "million gets/s", "mad %",
             "runs");
  const auto say = [&](const subject& s, const summary& time) {
    fmt::print(stderr, "{:>5} {:>9} {:>16.1f} {:>8.1f} {:>5}\n", w.size(),
               s.settings["form"].get<std::string>(), s.num_items / time.median,
               100 * time.mad / time.median, time.runs);
  };
  say(first, both.first.time);
  say(second, both.second.time);
  fmt::print(stderr, "standing by epoch: {:.2f}\n", both.ratio.median);
}

}  // namespace
}  // namespace cairn::bench

int main(int argc, char** argv) {
  using namespace cairn;
  bench::gather_options options;
  return bench::run_program_on_ranks(
      argc, argv, "Random 8-byte reads over ranks.",
      [&](bench::argument_list& arguments) {
        arguments.number("--gets", options.gets, {1, std::uint64_t{1} << 40},
                         "of each rank in a pass");
        arguments.number("--table-bits", options.table_bits, {1, 32},
                         "log2 of the words of each rank");
        arguments.number("--chunk", options.chunk, {1, std::size_t{1} << 40},
                         "questions that a rank sends between two polls");
        arguments.number("--unanswered", options.unanswered, {1, std::uint32_t{1} << 30},
                         "questions of a worker to a rank");
      },
      [&](world& w, bench::harness& h) { bench::measure(w, h, options); });
}
