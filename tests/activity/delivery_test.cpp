// SPDX-License-Identifier: Apache-2.0
// Delivery to the worker that owns the element (--deliver owner).
#include <array>
#include <atomic>
#include <cstdint>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <cairn/activity/executor.hpp>
#include <cairn/am/epoch.hpp>
#include <cairn/base/error.hpp>
#include <cairn/base/random.hpp>
#include <cairn/pgas/vertex_map.hpp>

#include <support/places.hpp>

namespace cairn::activity::delivery_test {
namespace {

constexpr std::uint64_t elements = 500, orders = 300;

/// Adds to an element, and then to others: each order sends two more of one less `left`.
struct add_and_spread {
  struct message {
    std::uint32_t id, left;
  };
  const pgas::vertex_map<std::uint64_t>& sums;
  std::vector<std::atomic<int>>& writer;  // by element: 1 + the worker that ran it; -1: several did

  auto cell(const message& m) const { return sums.at(m.id); }
  void attempt(auto sum, const message& m) const { sum.add(m.left + 1); }
  void after(const message& m, auto& at) {
    int before = 0;
    const int me = 1 + at.worker();
    if (!writer[m.id].compare_exchange_strong(before, me) && before != me) writer[m.id] = -1;
    for (std::uint32_t child = 1; m.left > 0 && child <= 2; ++child) {
      at({static_cast<std::uint32_t>(mix64(2 * m.id + child) % elements), m.left - 1});
    }
  }
};

struct spread {
  std::vector<std::uint64_t> sums;  // of all elements
  std::uint64_t of_several = 0;     // elements of this rank that several workers wrote
  ran chosen;
};

spread run_orders(world& w, const options& opt = {}) {
  const pgas::vertex_map<std::uint64_t> sums(w, {elements, w.size()}, 0);
  std::vector<std::atomic<int>> writer(elements);
  executor<add_and_spread> adds(w, {sums, writer}, opt);
  for (int round = 0; round < 2; ++round) {
    am::epoch e(w);
    w.parallel_for(
        orders,
        [&](worker_t k, std::size_t begin, std::size_t end) {
          adds.spawn(k, [&](auto& send) {
            for (auto i = begin; i < end; ++i) {
              send({static_cast<std::uint32_t>(mix64(i) % elements), 4});
            }
          });
        },
        7);
    e.close();
  }
  spread found{w.all_gather_values<std::uint64_t>(sums.local()), 0, adds.ran()};
  for (const auto& of : writer) found.of_several += of == -1;
  return found;
}

class Delivery : public ::testing::TestWithParam<support::place> {};

INSTANTIATE_TEST_SUITE_P(Everywhere, Delivery, ::testing::ValuesIn(support::all_places()),
                         support::place_name);

TEST_P(Delivery, ToTheOwnerGivesEachElementOneWriterAndTheSameSums) {
  const auto& p = GetParam();
  std::vector<std::uint64_t> expected;
  p.run([&](world& w) {
    const auto found = run_orders(w);
    if (w.rank() == 0) expected = found.sums;
  });
  const auto owners = [&](world& w) {
    const auto found = run_orders(w);
    EXPECT_EQ(found.sums, expected);
    EXPECT_EQ(found.of_several, 0u);
    EXPECT_EQ(found.chosen.mechanism, mechanism::plain);
    if (w.workers() > 1) {
      EXPECT_EQ(found.chosen.why, "messages go to the worker that owns the element");
    }
  };
  for (const std::size_t bytes : {8, 64, 4096}) {
    p.run(owners, {.coalesce_bytes = bytes, .deliver = delivery::owner});
  }
}

TEST_P(Delivery, ToTheOwnerWorksAlongRoutes) {
  if (GetParam().ranks == 1) GTEST_SKIP() << "one rank has no routes";
  for (const auto scheme : {routing::grid, routing::hypercube}) {
    std::uint64_t sum = 0;
    for (int left = 4, many = 1; left >= 0; --left, many *= 2) {
      sum += static_cast<std::uint64_t>(many * (left + 1));
    }
    GetParam().run(
        [&](world& w) {
          const auto found = run_orders(w);
          std::uint64_t all = 0;
          for (const auto x : found.sums) all += x;
          EXPECT_EQ(all, 2 * orders * sum * static_cast<std::uint64_t>(w.size()));
          EXPECT_EQ(found.of_several, 0u);
        },
        {.coalesce_bytes = 64, .routing = scheme, .deliver = delivery::owner});
  }
}

// The twin: the same test notices that several workers write to an element.
TEST(DeliveryTwin, ToAnyWorkerGivesElementsSeveralWriters) {
  std::uint64_t of_several = 0;
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    support::on_simulated_ranks(2, 2, seed, [&](world& w) {
      const auto several = w.sum(run_orders(w).of_several);
      if (w.rank() == 0) of_several += several;
    });
  }
  EXPECT_GT(of_several, 0u);
}

TEST(Delivery, PlainNeedsOneWriter) {
  const auto refused = [](delivery to) {
    bool threw = false;
    support::on_simulated_ranks(
        2, 2, 1,
        [&](world& w) {
          try {
            static_cast<void>(run_orders(w, {.mechanism = mechanism::plain}));
          } catch (const usage_error& e) {
            threw = std::string(e.what()).find("--deliver owner") != std::string::npos;
          }
        },
        {.deliver = to});
    return threw;
  };
  EXPECT_TRUE(refused(delivery::any));
  EXPECT_FALSE(refused(delivery::owner));
}

TEST(Delivery, AnotherMechanismThatWasAskedForStays) {
  support::on_simulated_ranks(
      2, 2, 1,
      [&](world& w) {
        EXPECT_EQ(run_orders(w, {.mechanism = mechanism::atomics}).chosen.mechanism,
                  mechanism::atomics);
      },
      {.deliver = delivery::owner});
}

TEST(BlockOfWorkers, SpreadsBlocksEvenly) {
  for (const int workers : {1, 2, 3, 8, 64}) {
    std::vector<std::uint64_t> blocks(static_cast<std::size_t>(workers));
    for (std::uint64_t id = 0; id < 32 * 6400; id += 32) {
      const auto k = worker_of_block(id, workers);
      ASSERT_LT(k, workers);
      EXPECT_EQ(worker_of_block(id + 31, workers), k);
      ++blocks[static_cast<std::size_t>(k)];
    }
    for (const auto n : blocks) EXPECT_NEAR(static_cast<double>(n), 6400.0 / workers, 30);
  }
}

}  // namespace
}  // namespace cairn::activity::delivery_test
