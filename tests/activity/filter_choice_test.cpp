// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstdint>
#include <functional>

#include <gtest/gtest.h>

#include <cairn/activity/executor.hpp>
#include <cairn/activity/filter_choice.hpp>
#include <cairn/am/epoch.hpp>
#include <cairn/base/random.hpp>
#include <cairn/pgas/vertex_map.hpp>

#include <support/on_ranks.hpp>

namespace cairn::activity::filter_choice_test {
namespace {

/// Made-up costs: a look-up costs 1 and a sent message 32. Plays spans of random lengths, where
/// share(message) is the share of messages that the filter would drop.
template <class Choice>
double cost_of(Choice choice, std::uint64_t messages, std::uint64_t seed,
               const std::function<double(std::uint64_t)>& share) {
  random64 random(seed);
  double cost = 0;
  for (std::uint64_t sent = 0; sent < messages;) {
    const auto n = 1 + random.below(1000);
    std::uint64_t dropped = 0;
    if (choice.uses_filter()) {
      for (std::uint64_t i = 0; i < n; ++i) {
        dropped += static_cast<double>(random.below(1'000'000)) < 1e6 * share(sent);
      }
      cost += static_cast<double>(n);
    }
    cost += 32 * static_cast<double>(n - dropped);
    choice.done({.offered = n, .dropped = dropped});
    sent += n;
  }
  return cost;
}

struct always {
  [[nodiscard]] bool uses_filter() const { return true; }
  void done(const filter_choice::batch&) {}
};
struct never {
  [[nodiscard]] bool uses_filter() const { return false; }
  void done(const filter_choice::batch&) {}
};
/// The broken twin: it never tries again.
struct once {
  filter_choice first;
  bool left = false;
  [[nodiscard]] bool uses_filter() const { return !left; }
  void done(const filter_choice::batch& b) { left = left || first.done(b); }
};

constexpr std::uint64_t many = 4'000'000;

template <class Choice>
double worst_loss() {
  const std::function<double(std::uint64_t)> shares[] = {
      [](std::uint64_t) { return 0.0; },
      [](std::uint64_t) { return 0.01; },
      [](std::uint64_t) { return 0.1; },
      [](std::uint64_t) { return 0.9; },
      [](std::uint64_t sent) { return sent < many / 8 ? 0.0 : 0.8; },
      [](std::uint64_t sent) { return sent < many / 2 ? 0.8 : 0.0; },
  };
  double worst = 0;
  for (const auto& share : shares) {
    for (std::uint64_t seed = 1; seed <= 5; ++seed) {
      const auto best =
          std::min(cost_of(always{}, many, seed, share), cost_of(never{}, many, seed, share));
      worst = std::max(worst, cost_of(Choice{}, many, seed, share) / best);
    }
  }
  return worst;
}

TEST(FilterChoice, CostsLittleMoreThanTheBetterOfAlwaysAndNever) {
  EXPECT_LT(worst_loss<filter_choice>(), 1.05);
}

TEST(FilterChoiceTwin, WithoutAnotherTryCostsMore) { EXPECT_GT(worst_loss<once>(), 1.5); }

TEST(FilterChoice, SavesTheLookUpsThatDropNothing) {
  const auto useless = [](std::uint64_t) { return 0.0; };
  const auto looked_up = [&](auto choice) {
    return cost_of(choice, many, 1, useless) - cost_of(never{}, many, 1, useless);
  };
  EXPECT_LT(looked_up(filter_choice{}), 0.1 * looked_up(always{}));
}

struct lower_to {
  struct message {
    std::uint32_t id, value;
  };
  static constexpr bool permanent = true;
  const pgas::vertex_map<std::uint32_t>& map;
  auto cell(const message& m) const { return map.at(m.id); }
  bool wanted(std::uint32_t x, const message& m) const { return m.value < x; }
  bool attempt(auto x, const message& m) const { return x.lower(m.value) > m.value; }
};

/// Lowers each element 30 times: three times to a smaller value, then to the same. Returns how many
/// messages the filters dropped, over all ranks.
std::uint64_t dropped_of_all(bool chosen) {
  constexpr std::uint32_t n = 1 << 12, times = 30;
  std::uint64_t dropped = 0;
  support::on_simulated_ranks(
      2, 1, 1,
      [&](world& w) {
        const pgas::vertex_map<std::uint32_t> map(w, {n, w.size()}, 1000);
        executor<lower_to> op(w, lower_to{map});
        am::epoch e(w);
        for (std::uint32_t round = 0; round < times; ++round) {
          w.parallel_for(n, [&](worker_t k, std::size_t begin, std::size_t end) {
            op.spawn(k, [&](auto& send) {
              for (auto v = begin; v < end; ++v) {
                send({static_cast<std::uint32_t>(v), 900 - std::min(round, 2u)});
              }
            });
          });
        }
        e.close();
        for (const auto x : map.local()) EXPECT_EQ(x, 898u);
        dropped = w.sum(w.counters().total(obs::counter::messages_filtered));
      },
      {.filter_is_chosen = chosen});
  return dropped;
}

// Two of three windows' messages are useful, so the filter is left out, and tried again later.
TEST(FilterChoice, OfAnExecutorLeavesOutAFilterThatDropsNothingForAWhile) {
  const auto always = dropped_of_all(false), chosen = dropped_of_all(true);
  EXPECT_EQ(always, 27u << 12);
  EXPECT_GT(chosen, 0u);
  EXPECT_LT(chosen, always);
}

}  // namespace
}  // namespace cairn::activity::filter_choice_test
