// SPDX-License-Identifier: Apache-2.0
#include <cstdint>

#include <gtest/gtest.h>

#include <cairn/activity/executor.hpp>
#include <cairn/am/epoch.hpp>
#include <cairn/base/contract.hpp>
#include <cairn/base/error.hpp>
#include <cairn/pgas/vertex_map.hpp>

#include <support/on_ranks.hpp>

namespace cairn::activity::ownership_test {
namespace {

constexpr std::uint64_t n = 8;

struct add_to_two {
  struct message {
    std::uint64_t first, second;
  };
  const pgas::vertex_map<std::uint64_t>& map;
  void elements(const message& m, auto&& each) const {
    each(map.at(m.first));
    each(map.at(m.second));
  }
  void attempt(auto& tx, const message& m) const {
    for (const auto id : {m.first, m.second}) tx.write(map, id, tx.read(map, id) + 1);
  }
};

// The message goes to the owner of the first element, whatever runs there.
TEST(Ownership, OfAnotherRanksElementIsRefusedByEachMechanism) {
  for (const auto how :
       {mechanism::plain, mechanism::htm, mechanism::locks, mechanism::one_lock, mechanism::stm}) {
    SCOPED_TRACE(name(how));
    support::on_ranks(2, 1, [&](world& w) {
      pgas::vertex_map<std::uint64_t> map(w, {n, w.size()}, 0);
      domain data(w, {.mechanism = how, .emulate = emulation_options{.rates = {}}});
      executor<add_to_two> op(data, add_to_two{map});
      const auto own = map.first(), other = (own + n / 2) % n;
      am::epoch e(w);
      const auto spawn = [&](std::uint64_t first, std::uint64_t second) {
        op.spawn(main_worker, [&](auto& send) { send({first, second}); });
      };
      EXPECT_THROW(spawn(own, other), contract_violation);
      spawn(own, own + 1);
      e.close();
      std::uint64_t sum = 0;
      for (const auto x : map.local()) sum += x;
      EXPECT_EQ(sum, 2u);
    });
  }
}

TEST(Ownership, OfAnotherRanksElementIsRefusedWhereTheMessageArrives) {
  for (const auto how : {mechanism::plain, mechanism::one_lock, mechanism::stm}) {
    SCOPED_TRACE(name(how));
    EXPECT_THROW(support::on_ranks(2, 1,
                                   [&](world& w) {
                                     pgas::vertex_map<std::uint64_t> map(w, {n, w.size()}, 0);
                                     domain data(w, {.mechanism = how});
                                     executor<add_to_two> op(data, add_to_two{map});
                                     am::epoch e(w);
                                     if (w.rank() == 0) {
                                       op.spawn(main_worker, [](auto& send) { send({n - 1, 0}); });
                                     }
                                     e.close();
                                   }),
                 std::exception);
  }
}

}  // namespace
}  // namespace cairn::activity::ownership_test
