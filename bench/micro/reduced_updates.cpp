// SPDX-License-Identifier: Apache-2.0
//
// The stage reduce: increments of words of a distributed table with skewed or uniform keys, by a
// channel with a combining table at the sender and by a channel without it. Both send the same
// messages of 16 bytes, a word and an amount, and draw the same words; passes alternate. If the
// ratio is above 1, the table makes the updates faster.
//
// --skew-percent 100 draws word k with a probability proportional to 1/k; 0 draws uniformly. The
// words of frequent keys are distributed over all ranks.
//
//   reduced_updates --ranks 2 --threads 1

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <fmt/core.h>

#include <cairn/am/channel.hpp>
#include <cairn/am/combine_table.hpp>
#include <cairn/am/epoch.hpp>
#include <cairn/base/error.hpp>
#include <cairn/base/random.hpp>
#include <cairn/hw/pages.hpp>

#include <bench/program.hpp>

namespace cairn::bench {
namespace {

struct update_options {
  std::uint64_t updates = std::uint64_t{1} << 23;  // per rank
  int table_bits = 22;                             // log2 of the words of each rank
  std::vector<int> skew_percents{0, 100, 150, 200};
};

struct update {
  std::uint64_t word = 0, amount = 0;
};

constexpr std::size_t max_entries = std::size_t{1} << 16;  // a megabyte
constexpr std::size_t prefetched_words = 256;              // ahead, also behind the last update

/// The words that a rank updates. They are drawn in advance, because drawing takes longer than
/// sending, and lie on huge pages, because misses of the translation cache would take longer, too.
hw::page_buffer<std::uint64_t> words_to_update(const world& w, const update_options& options,
                                               int skew_percent) {
  const auto words = static_cast<std::uint64_t>(w.size()) << options.table_bits;
  const double skew = skew_percent / 100.0, n = static_cast<double>(words);
  auto random = random64(static_cast<std::uint64_t>(w.rank())).stream(17);
  hw::page_buffer<std::uint64_t> drawn(options.updates + prefetched_words);
  for (auto& word : drawn) {
    const double u = static_cast<double>(random() >> 11) * 0x1p-53;
    // The inverse of the distribution function of a continuous Zipf law.
    const double x = skew == 1 ? std::exp(u * std::log(n))
                               : std::pow(u * (std::pow(n, 1 - skew) - 1) + 1, 1 / (1 - skew));
    const auto rank = std::min(static_cast<std::uint64_t>(x) - 1, words - 1);
    word = static_cast<std::uint64_t>((static_cast<uint128_t>(mix64(rank)) * words) >> 64);
  }
  return drawn;
}

class update_table {
 public:
  /// entries   of the combining table; nothing: the channel has no such stage
  update_table(world& w, const update_options& options, std::span<const std::uint64_t> drawn,
               std::optional<std::size_t> entries)
      : world_(w),
        bits_(options.table_bits),
        drawn_(drawn),
        words_(std::size_t{1} << options.table_bits),
        reducer_{bits_, am::combine_table<update>(
                            {.entries = entries.value_or(0),
                             .keys = static_cast<std::uint64_t>(w.size()) << bits_})} {
    words_.prefault();
    const auto handler = [this](worker_t, std::span<const update> batch) { add(batch); };
    if (entries) {
      reduced_.emplace(w, reducer_, handler);
    } else {
      plain_.emplace(
          w, [this](const update& m) { return reducer_.owner(m); }, handler);
    }
  }

  std::uint64_t pass() {
    const auto offer = [](auto& send, const update& m) { send.offer(m); };
    const auto send_to_owner = [this](auto& send, const update& m) { send(reducer_.owner(m), m); };
    if (reduced_) {
      send_all(*reduced_, offer);
    } else {
      send_all(*plain_, send_to_owner);
    }
    return ++passes_;
  }

  /// Sum of all words. Collective.
  [[nodiscard]] std::uint64_t sum() {
    return world_.sum(std::accumulate(words_.begin(), words_.end(), std::uint64_t{0}));
  }

 private:
  template <class Channel, class Send>
  void send_all(Channel& updates, const Send& send_one) {
    am::epoch epoch(world_);
    world_.parallel_for(
        drawn_.size(),
        [&](worker_t k, std::size_t begin, std::size_t end) {
          // Copies, which the stores of messages cannot alias.
          const auto words = drawn_.subspan(begin, end - begin);
          updates.with_sender(k, [=](auto& send) {
            for (const auto& word : words) {
              // So that the time is that of sending, and not of reading words.
              __builtin_prefetch(&word + prefetched_words);
              send_one(send, update{word, 1});
            }
          });
        },
        4096);
    epoch.close();
  }

  struct reducer {
    int bits;
    am::combine_table<update> table;

    [[nodiscard]] rank_t owner(const update& m) const {
      return static_cast<rank_t>(m.word >> bits);
    }
    [[nodiscard]] static std::uint64_t key(const update& m) { return m.word; }
    static void combine(update& kept, const update& m) { kept.amount += m.amount; }
    template <class Out>
    am::offered offer(worker_t, const update& m, Out&& out) {
      return table.offer_uncounted(*this, m, out);
    }
    void count(worker_t, std::uint64_t n) { table.count(n); }
    [[nodiscard]] bool offers(worker_t, std::uint64_t sent) { return table.offers(sent); }
    template <class Out>
    void drain(worker_t, Out&& out) {
      table.drain(out);
    }
    void forget(worker_t) noexcept {
      table.drain([](const update&) {});
    }
  };

  void add(std::span<const update> batch) {
    auto* const table = words_.data();  // plain writes: the rank has one worker
    const auto mask = (std::uint64_t{1} << bits_) - 1;
    for (const auto& m : batch) table[m.word & mask] += m.amount;
  }

  world& world_;
  const int bits_;
  const std::span<const std::uint64_t> drawn_;
  hw::page_buffer<std::uint64_t> words_;
  reducer reducer_;
  std::optional<am::channel<update, reducer>> reduced_;
  std::optional<am::channel<update>> plain_;
  std::uint64_t passes_ = 0;
};

subject subject_of(world& w, const update_options& options, int skew_percent, update_table& table,
                   const std::string& name) {
  const auto all = options.updates * static_cast<std::uint64_t>(w.size());
  kernel<update_table*, std::uint64_t> kern;
  kern.name = name;
  kern.settings = {{"ranks", w.size()},
                   {"updates_per_rank", options.updates},
                   {"table_bits", options.table_bits},
                   {"skew_percent", skew_percent},
                   {"filter", w.options().filter_entries}};
  kern.item = "million_updates";
  kern.num_items = static_cast<double>(all) * 1e-6;
  kern.make_input = [&] { return &table; };
  kern.counters = [&] { return counters_of_all(w); };
  kern.run = [](update_table* t) { return t->pass(); };
  kern.verify = [=](update_table* t, std::uint64_t passes) -> std::string {
    const auto sum = t->sum(), expected = passes * all;
    return sum == expected ? "" : fmt::format("{} increments, {} expected", sum, expected);
  };
  return subject(std::move(kern));
}

void compare(world& w, harness& h, const update_options& options, int skew_percent) {
  const auto buffer = words_to_update(w, options, skew_percent);
  const auto drawn = buffer.span().first(options.updates);
  update_table plain(w, options, drawn, std::nullopt);
  update_table reduced(w, options, drawn, std::min(w.options().filter_entries, max_entries));
  auto first = subject_of(w, options, skew_percent, plain, "updates");
  auto second = subject_of(w, options, skew_percent, reduced, "reduced_updates");
  const auto c = h.compare(first, second);
  if (w.rank() != 0) return;
  const auto rate = [&](const auto& side) { return first.num_items / side.time.median; };
  fmt::print(stderr, "{:>5} {:>5.2f} {:>16.1f} {:>18.1f} {:>7.3f} {:>6.3f} {:>5}\n", w.size(),
             skew_percent / 100.0, rate(c.first), rate(c.second), c.ratio.median, c.ratio.mad,
             c.ratio.runs);
}

}  // namespace
}  // namespace cairn::bench

int main(int argc, char** argv) {
  using namespace cairn;
  bench::update_options options;
  return bench::run_program_on_ranks(
      argc, argv, "Updates with skewed keys, combined at the sender or not.",
      [&](bench::argument_list& arguments) {
        arguments.number("--updates", options.updates, {1, std::uint64_t{1} << 32},
                         "of each rank in a pass");
        arguments.number("--table-bits", options.table_bits, {1, 32},
                         "log2 of the words of each rank");
        arguments.number(
            "--skew-percent", options.skew_percents, {0, 400},
            "one or more exponents of the distribution of keys, times 100; 0: uniform");
      },
      [&](world& w, bench::harness& h) {
        if (w.workers() != 1) throw usage_error("the handler's writes are plain: give --threads 1");
        if (w.rank() == 0) {
          fmt::print(stderr, "{:>5} {:>5} {:>16} {:>18} {:>7} {:>6} {:>5}\n", "ranks", "skew",
                     "million/s plain", "million/s reduced", "ratio", "mad", "runs");
        }
        for (const auto skew_percent : options.skew_percents) {
          bench::compare(w, h, options, skew_percent);
        }
      });
}
