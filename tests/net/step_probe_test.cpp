// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstdint>
#include <functional>
#include <memory>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include <cairn/base/random.hpp>
#include <cairn/net/ring.hpp>
#include <cairn/net/step_probe.hpp>

namespace cairn::net::step_probe_test {
namespace {

using cost = std::function<std::uint64_t(std::size_t)>;

constexpr std::uint64_t second = 1'000'000'000;

std::uint64_t linear(std::size_t bytes) { return 1'000 + bytes / 4; }

/// Plays a probe on a clock on which a packet of so many bytes and its answer take cost(bytes).
std::vector<std::size_t> play(const cost& takes, std::uint64_t limit_ns = second) {
  step_probe probe(limit_ns);
  std::uint64_t now = 5;
  while (const auto bytes = probe.next(now)) {
    now += takes(*bytes);
    probe.answered(now);
  }
  return step_probe::largest_before(probe.found());
}

TEST(StepProbe, FindsARendezvous) {
  const auto eager_to_4096 = [](std::size_t bytes) {
    return linear(bytes) + (bytes > 4096 - 40 ? 2'000 : 0);
  };
  EXPECT_EQ(play(eager_to_4096), std::vector<std::size_t>{4096 - step_probe::below});
}

TEST(StepProbe, FindsPieces) {
  const auto pieces = [](std::size_t bytes) { return linear(bytes) + bytes / 8192 * 6'000; };
  EXPECT_EQ(play(pieces),
            (std::vector<std::size_t>{8192 - step_probe::below, 16'384 - step_probe::below,
                                      32'768 - step_probe::below}));
}

TEST(StepProbe, FindsNothingWhereTimeGrowsWithBytesAlone) {
  EXPECT_TRUE(play(linear).empty());
  EXPECT_TRUE(play([](std::size_t bytes) { return bytes; }).empty());
}

/// Other programs take the core now and then, and for a while the machine is slower.
cost disturbed(const cost& takes, std::uint64_t seed) {
  return [=, random = random64(seed), calls = 0](std::size_t bytes) mutable {
    const auto slow = ++calls > 40 && calls < 90 ? 3 : 1;
    const auto lost = random.below(6) == 0 ? random.below(400'000) : 0;
    return slow * takes(bytes) + random.below(200) + lost;
  };
}

TEST(StepProbe, DisturbancesAreNoSteps) {
  const auto eager_to_4096 = [](std::size_t bytes) {
    return linear(bytes) + (bytes > 4096 - 40 ? 4'000 : 0);
  };
  int wrong = 0, missed = 0;
  for (std::uint64_t seed = 1; seed <= 1'000; ++seed) {
    wrong += !play(disturbed(linear, seed)).empty();
    missed += play(disturbed(eager_to_4096, seed)).empty();
  }
  EXPECT_LT(wrong, 20);
  EXPECT_LT(missed, 100);
}

// A twin that times each size in one go, without turns: the slow phase looks like a step.
TEST(StepProbe, WithoutTurnsASlowPhaseIsAStep) {
  int wrong = 0;
  for (std::uint64_t seed = 1; seed <= 1'000; ++seed) {
    auto takes = disturbed(linear, seed);
    double last = 0;
    for (std::size_t power = 0; power < step_probe::num_sizes; ++power) {
      for (const auto bytes : {(step_probe::first_size << power) - step_probe::below,
                               (step_probe::first_size << power) + step_probe::above}) {
        std::vector<std::uint64_t> times;
        for (std::size_t i = 0; i < step_probe::max_rounds; ++i) times.push_back(takes(bytes));
        std::ranges::nth_element(times, times.begin() + 7);
        const auto median = static_cast<double>(times[7]);
        if (bytes % 1024 == step_probe::above) wrong += median > 1.2 * last;
        last = median;
      }
    }
  }
  EXPECT_GT(wrong, 500);
}

TEST(StepProbe, TooFewRoundsFindNothing) {
  const auto slow_link = [](std::size_t bytes) { return 2'000'000 + (bytes > 4096 ? second : 0); };
  EXPECT_TRUE(play(slow_link, 10'000'000).empty());
  int sent = 0;
  step_probe probe(10'000'000);
  std::uint64_t now = 0;
  while (probe.next(now)) {
    now += 2'000'000;
    probe.answered(now);
    ++sent;
  }
  EXPECT_EQ(sent, 5);
}

TEST(StepProbe, TwoRanksProbeAndTheOthersDoNot) {
  const auto fabric = std::make_shared<ring_fabric>(3);
  std::vector<std::uint32_t> found(3, 1u << 31);
  std::vector<std::thread> ranks;
  for (rank_t r = 0; r < 3; ++r) {
    ranks.emplace_back([&, r] {
      ring_transport net(fabric, r);
      found[static_cast<std::size_t>(r)] = probe_steps(net, 0, 2, 1'000'000);
      EXPECT_EQ(net.poll([](rank_t, auto) {}), 0u);
    });
  }
  for (auto& r : ranks) r.join();
  EXPECT_LT(found[0], 1u << step_probe::num_sizes);
  EXPECT_EQ(found[1], 0u);
  EXPECT_EQ(found[2], 0u);
}

}  // namespace
}  // namespace cairn::net::step_probe_test
