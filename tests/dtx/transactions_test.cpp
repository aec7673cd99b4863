// SPDX-License-Identifier: Apache-2.0
#include <atomic>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <cairn/activity/executor.hpp>
#include <cairn/am/epoch.hpp>
#include <cairn/base/contract.hpp>
#include <cairn/base/error.hpp>
#include <cairn/base/random.hpp>
#include <cairn/dtx/transactions.hpp>

#include <support/num_schedules.hpp>
#include <support/places.hpp>
#include <support/transfers.hpp>

namespace cairn::dtx::transactions_test {
namespace {

using activity::mechanism;
using obs::counter;
using support::account;

class Transactions : public ::testing::TestWithParam<support::place> {};

INSTANTIATE_TEST_SUITE_P(Everywhere, Transactions, ::testing::ValuesIn(support::all_places()),
                         support::place_name);

TEST_P(Transactions, ConserveMoneyBesideLocalTransfers) {
  const auto& place = GetParam();
  std::vector<mechanism> mechanisms{mechanism::automatic, mechanism::htm, mechanism::locks,
                                    mechanism::one_lock, mechanism::stm};
  place.run([&](world& w) {
    for (const auto m : mechanisms) {
      SCOPED_TRACE(activity::name(m));
      activity::options opt{.mechanism = m, .grain = 4};
      if (m == mechanism::htm) opt.emulate = activity::emulation_options{.seed = 3};
      EXPECT_EQ(support::transfer_everywhere(w, {.activity = opt, .transactions = 60}), "");
    }
  });
}

// Each element names the next, on another rank; the body learns which only by reading.
TEST_P(Transactions, DiscoverElementsWhileTheyRun) {
  GetParam().run([](world& w) {
    struct link {
      std::uint64_t next = 0, visits = 0;
    };
    constexpr std::uint64_t per_rank = 16, hops = 5, walks = 6;
    const auto n = per_rank * static_cast<std::uint64_t>(w.size());
    owned_vertex_map<link> links(w, {n, w.size()}, link{});
    for (std::uint64_t i = 0; i < per_rank; ++i) {
      links.local()[i].next = (links.first() + i + per_rank + 1) % n;
    }
    activity::domain data(w);
    transactions txs(data, {}, links);
    std::vector<std::atomic<std::uint64_t>> runs(walks);
    {
      am::epoch e(w);
      w.parallel_for(walks, [&](worker_t k, std::size_t begin, std::size_t end) {
        for (auto i = begin; i < end; ++i) {
          const auto start = (links.first() + i) % n;
          txs.run(k, [&links, &runs, start, i](auto& tx) {
            ++runs[i];
            for (std::uint64_t at = start, hop = 0; hop < hops; ++hop) {
              auto link = tx.read(links, at);
              ++link.visits;
              tx.write(links, at, link);
              at = link.next;
            }
          });
        }
      });
      e.close();
    }
    std::uint64_t visits = 0, held = 0;
    for (const auto& l : links.local()) visits += l.visits;
    for (const auto m : links.local_markers()) held += m != free_marker;
    const auto ranks = static_cast<std::uint64_t>(w.size());
    EXPECT_EQ(w.sum(visits), ranks * walks * hops);
    EXPECT_EQ(w.sum(held), 0u);
    EXPECT_EQ(w.counters().total(counter::dtx_commits), walks);
    // Once for each element that was missing, and once more; refusals only add restarts.
    for (const auto& r : runs) EXPECT_GE(r, 2u);
    const auto restarts = w.counters().total(counter::dtx_restarts);
    std::uint64_t ran = 0;
    for (const auto& r : runs) ran += r;
    EXPECT_GE(restarts, ran - walks);
    if (w.sum(w.counters().total(counter::dtx_refusals)) == 0) {
      EXPECT_EQ(restarts, ran - walks);
    }
  });
}

TEST_P(Transactions, ReachVerticesAndEdgesOfSeveralMaps) {
  GetParam().run([](world& w) {
    const auto ranks = static_cast<std::uint64_t>(w.size());
    const std::vector<std::uint64_t> rows{0, 2, 5};
    owned_vertex_map<std::uint64_t> vertices(w, {3 * ranks, w.size()}, 100);
    owned_edge_map<std::uint32_t> edges(w, rows, 0);
    activity::domain data(w);
    transactions txs(data, {.max_concurrent = 3}, vertices, edges);
    am::epoch e(w);
    for (std::uint64_t i = 0; i < 40; ++i) {
      auto draw = random64(static_cast<std::uint64_t>(w.rank())).stream(i);
      const auto v = draw.below(vertices.size()), edge = draw.below(edges.size());
      const auto move = [=, &vertices, &edges](auto& tx) {
        tx.write(vertices, v, tx.read(vertices, v) - 1);
        tx.write(edges, edge, tx.read(edges, edge) + 1);
      };
      if (i % 2 == 0) {
        txs.run(main_worker, move);
      } else {
        txs.run(main_worker, move, [&](auto&& each) {
          each(vertices.at(v));
          each(edges.at(edge));
        });
      }
    }
    e.close();
    std::uint64_t left = 0, moved = 0;
    for (const auto v : vertices.local()) left += v;
    for (const auto x : edges.local()) moved += x;
    EXPECT_EQ(w.sum(moved), 40 * ranks);
    EXPECT_EQ(w.sum(left), 300 * ranks - 40 * ranks);
  });
}

// The body goes on after its first access to an element that is not held.
TEST_P(Transactions, RunAgainIfTheBodyCatchesThatAnElementIsMissing) {
  GetParam().run([](world& w) {
    const auto n = 2 * static_cast<std::uint64_t>(w.size());
    owned_vertex_map<std::uint64_t> map(w, {n, w.size()}, 0);
    activity::domain data(w);
    transactions txs(data, {}, map);
    constexpr std::uint64_t runs = 20;
    am::epoch e(w);
    for (std::uint64_t i = 0; i < runs; ++i) {
      txs.run(main_worker, [&map, n](auto& tx) {
        try {
          for (const auto v : {std::uint64_t{0}, n - 1}) tx.write(map, v, tx.read(map, v) + 1);
        } catch (...) {
        }
      });
    }
    e.close();
    std::uint64_t sum = 0, held = 0;
    for (const auto x : map.local()) sum += x;
    for (const auto m : map.local_markers()) held += m != free_marker;
    EXPECT_EQ(w.sum(sum), 2 * runs * static_cast<std::uint64_t>(w.size()));
    EXPECT_EQ(w.sum(held), 0u);
  });
}

TEST(Transaction, OutsideAnEpochIsRefusedAndLeavesNothing) {
  world w;
  owned_vertex_map<std::uint64_t> map(w, {4, 1}, 0);
  activity::domain data(w);
  transactions txs(data, {}, map);
  const auto add = [&map](auto& tx) { tx.write(map, 0, tx.read(map, 0) + 1); };
  EXPECT_THROW(txs.run(main_worker, add), contract_violation);
  EXPECT_FALSE(w.poisoned());
  am::epoch e(w);
  txs.run(main_worker, add);
  e.close();
  EXPECT_EQ(map.local()[0], 1u);
}

TEST_P(Transactions, BodyThatThrowsFailsEveryRank) {
  std::atomic<int> failures = 0;
  const auto run = [&] {
    GetParam().run([&](world& w) {
      const auto n = 2 * static_cast<std::uint64_t>(w.size());
      try {  // a rank may hear of the failure before it has everything that it needs
        owned_vertex_map<std::uint64_t> map(w, {n, w.size()}, 0);
        activity::domain data(w);
        transactions txs(data, {}, map);
        am::epoch e(w);
        for (std::uint64_t v = 0; v < n; ++v) {
          const bool bad = w.rank() == 0 && v == n - 1;
          txs.run(main_worker, [=, &map](auto& tx) {
            tx.write(map, v, tx.read(map, v) + 1);
            if (bad) throw std::runtime_error("the body threw");
          });
        }
        e.close();
      } catch (const peer_failure& e) {
        EXPECT_NE(std::string(e.what()).find("the body threw"), std::string::npos);
        ++failures;
        throw;
      }
    });
  };
  EXPECT_THROW(run(), peer_failure);
  EXPECT_EQ(failures, GetParam().ranks);
}

// Runs maps of 10 vertices and 5 edges a rank; rank 0 spawns in its epoch. How many ranks threw.
template <class Spawn>
int num_ranks_failed_by(const support::place& place, Spawn spawn) {
  std::atomic<int> failed = 0;
  const auto run = [&] {
    place.run([&](world& w) {
      try {
        const std::vector<std::uint64_t> rows{0, 2, 5};
        owned_vertex_map<std::uint64_t> vertices(w, {10, w.size()}, 0);
        owned_edge_map<std::uint32_t> edges(w, rows, 0);
        activity::domain data(w);
        transactions txs(data, {}, vertices, edges);
        am::epoch e(w);
        if (w.rank() == 0) spawn(txs, vertices, edges);
        e.close();
      } catch (const std::exception& e) {
        EXPECT_NE(std::string(e.what()).find("less than the size of its map"), std::string::npos)
            << e.what();
        ++failed;
        throw;
      }
    });
  };
  EXPECT_ANY_THROW(run());
  return failed;
}

// An id beyond its map has no owner: a claim would be sent to nobody, and waited for for ever.
TEST_P(Transactions, ElementsBeyondTheirMapFailEveryRank) {
  const auto& place = GetParam();
  for (const std::uint64_t beyond :
       {std::uint64_t{0}, std::uint64_t{990}, ~std::uint64_t{0} - 100}) {
    const auto failed = [&](auto spawn) { return num_ranks_failed_by(place, spawn); };
    EXPECT_EQ(failed([=](auto& txs, auto& vertices, auto&) {
                txs.run(main_worker,
                        [=, &vertices](auto& tx) { tx.write(vertices, 10 + beyond, 1); });
              }),
              place.ranks);
    EXPECT_EQ(failed([=](auto& txs, auto& vertices, auto&) {
                txs.run(main_worker, [=, &vertices](auto& tx) {
                  tx.write(vertices, 9, tx.read(vertices, 10 + beyond));
                });
              }),
              place.ranks);
    EXPECT_EQ(failed([=](auto& txs, auto&, auto& edges) {
                txs.run(main_worker,
                        [=, &edges](auto& tx) { tx.write(edges, edges.size() + beyond, 1); });
              }),
              place.ranks);
    EXPECT_EQ(failed([=](auto& txs, auto&, auto& edges) {
                txs.run(
                    main_worker, [](auto&) { ADD_FAILURE() << "the body ran"; },
                    [=, &edges](auto&& each) { each(edges.at(edges.size() + beyond)); });
              }),
              place.ranks);
    EXPECT_EQ(failed([=](auto& txs, auto& vertices, auto&) {
                txs.run(
                    main_worker, [](auto&) { ADD_FAILURE() << "the body ran"; },
                    [=, &vertices](auto&& each) {
                      each(vertices.at(0));
                      each(vertices.at(10 + beyond));
                    });
              }),
              place.ranks);
  }
}

TEST(Transaction, NamesOnlyElementsOfItsMaps) {
  world w;
  owned_vertex_map<account> accounts(w, {2, 1}, account{}), others(w, {2, 1}, account{});
  activity::domain money(w);
  transactions txs(money, {}, accounts);
  am::epoch e(w);
  const auto run = [&](const auto& map, std::uint64_t id) {
    txs.run(
        main_worker, [](auto&) {}, [&](auto&& each) { each(map.at(id)); });
  };
  EXPECT_THROW(run(accounts, 2), contract_violation);
  EXPECT_THROW(run(others, 0), contract_violation);
  run(accounts, 1);  // what was refused has left nothing behind
  e.close();
  EXPECT_EQ(w.counters().total(counter::dtx_commits), 1u);
}

// With one transaction between two ranks, all that happens can be counted.
TEST(Transaction, MovesMoneyBetweenTwoRanks) {
  support::on_simulated_ranks(2, 1, 7, [](world& w) {
    owned_vertex_map<account> accounts(w, {2, 2}, account{});
    activity::domain money(w);
    transactions txs(money, {}, accounts);
    am::epoch e(w);
    if (w.rank() == 0) {
      txs.run(main_worker, [&](auto& tx) {
        auto from = tx.read(accounts, 0), to = tx.read(accounts, 1);
        from.balance -= 30;
        to.balance += 30;
        tx.write(accounts, 0, from);
        tx.write(accounts, 1, to);
        EXPECT_EQ(tx.read(accounts, 1).balance, 130) << "a body reads what it wrote";
      });
    }
    e.close();
    EXPECT_EQ(accounts.local()[0].balance, w.rank() == 0 ? 70 : 130);
    EXPECT_EQ(accounts.local_markers()[0], free_marker);
    EXPECT_EQ(w.counters().total(counter::dtx_commits), w.rank() == 0 ? 1u : 0u);
    EXPECT_EQ(w.counters().total(counter::dtx_restarts), w.rank() == 0 ? 2u : 0u);
    EXPECT_EQ(w.counters().total(counter::dtx_refusals), 0u);
  });
}

TEST(TransactionSeeds, ConserveMoneyOnSimulatedRanks) {
  std::uint64_t refusals = 0, requeued = 0;
  for (std::uint64_t seed = 0; seed < support::few_when_sanitized(60); ++seed) {
    const auto ranks = static_cast<rank_t>(1 + seed % 4);
    support::on_simulated_ranks(ranks, 1 + static_cast<int>(seed / 4 % 2), seed, [&](world& w) {
      EXPECT_EQ(support::transfer_everywhere(w, {.transactions = 40, .seed = seed}), "") << seed;
      refusals += w.counters().total(counter::dtx_refusals);
      requeued += w.counters().total(counter::requeued);
    });
  }
  EXPECT_GT(refusals, support::few_when_sanitized(100));
  EXPECT_GT(requeued, support::few_when_sanitized(100));
}

TEST(TransactionSeeds, ConserveMoneyOverChaoticNetworks) {
  for (std::uint64_t seed = 0; seed < support::few_when_sanitized(10); ++seed) {
    support::on_chaotic_ranks(3, 2, seed, [&](world& w) {
      EXPECT_EQ(support::transfer_everywhere(w, {.transactions = 60, .seed = seed}), "") << seed;
    });
  }
}

}  // namespace
}  // namespace cairn::dtx::transactions_test
