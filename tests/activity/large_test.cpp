// SPDX-License-Identifier: Apache-2.0
//
// Messages, results and elements of 32 KiB: what waits to run together must not lie on a stack,
// least of all on that of a simulated rank's fiber.
#include <activity/all_settings.hpp>
#include <array>
#include <atomic>
#include <cstdint>
#include <numeric>
#include <vector>

#include <gtest/gtest.h>

#include <cairn/activity/executor.hpp>
#include <cairn/am/epoch.hpp>
#include <cairn/pgas/vertex_map.hpp>

#include <support/places.hpp>

namespace cairn::activity::large_test {
namespace {

using block = std::array<std::uint64_t, 4096>;
constexpr std::uint64_t n = 6, times = 20;

/// Adds one of a message's many words to a cell, and answers with all of them.
struct add_word {
  struct message {
    std::uint64_t id;
    block words;
  };
  const pgas::vertex_map<std::uint64_t>& map;
  std::atomic<std::uint64_t>& answered;

  auto cell(const message& m) const { return map.at(m.id); }
  outcome<block> attempt(auto x, const message& m) const {
    x.add(m.words[4095]);
    return {true, m.words};
  }
  void answer(const message&, const outcome<block>& a) { answered += a.value[4095]; }
};

/// Adds one to each word of an element.
struct add_to_block {
  struct message {
    std::uint64_t id;
  };
  const pgas::vertex_map<block>& map;

  void elements(const message& m, auto&& each) const { each(map.at(m.id)); }
  void attempt(auto& tx, const message& m) const {
    auto words = tx.read(map, m.id);
    for (auto& x : words) ++x;
    tx.write(map, m.id, words);
  }
};

class Large : public ::testing::TestWithParam<support::place> {};
using network = support::place::network;
INSTANTIATE_TEST_SUITE_P(Some, Large,
                         ::testing::Values(support::place{network::rings, 1, 1},
                                           support::place{network::rings, 2, 2},
                                           support::place{network::simulated, 1, 2},
                                           support::place{network::simulated, 3, 1}),
                         support::place_name);

TEST_P(Large, MessagesAndResultsRunByEachMechanism) {
  GetParam().run([](world& w) {
    const auto settings = all_settings(w.workers());
    for (std::size_t i = 0; i < settings.size(); i += i < 6 ? 1 : 5) {
      SCOPED_TRACE(settings[i].name);
      pgas::vertex_map<std::uint64_t> map(w, {n, w.size()}, 0);
      std::atomic<std::uint64_t> answered = 0;
      executor<add_word> op(w, add_word{map, answered}, settings[i].options);
      EXPECT_LE(op.grain(), 2u) << "a group has a bounded size in bytes";
      am::epoch e(w);
      op.spawn(main_worker, [&](auto& send) {
        add_word::message m{};
        m.words[4095] = 3;
        for (m.id = 0; m.id < n; ++m.id) {
          for (std::uint64_t t = 0; t < times; ++t) send(m);
        }
      });
      e.close();
      for (const auto x : map.local()) {
        EXPECT_EQ(x, 3 * times * static_cast<std::uint64_t>(w.size()));
      }
      EXPECT_EQ(answered, 3 * times * n);
    }
  });
}

TEST_P(Large, ElementsRunByEachMechanism) {
  GetParam().run([](world& w) {
    for (const auto how : {mechanism::automatic, mechanism::htm, mechanism::locks,
                           mechanism::one_lock, mechanism::stm}) {
      SCOPED_TRACE(name(how));
      options opt{.mechanism = how};
      if (how == mechanism::htm) opt.emulate = emulation_options{.capacity = 20};
      pgas::vertex_map<block> map(w, {n, w.size()}, block{});
      domain data(w, opt);
      executor<add_to_block> op(data, add_to_block{map});
      am::epoch e(w);
      op.spawn(main_worker, [](auto& send) {
        for (std::uint64_t id = 0; id < n; ++id) {
          for (std::uint64_t t = 0; t < times; ++t) send({id});
        }
      });
      e.close();
      for (const auto& words : map.local()) {
        const auto each = times * static_cast<std::uint64_t>(w.size());
        EXPECT_EQ(std::accumulate(words.begin(), words.end(), std::uint64_t{0}),
                  words.size() * each);
      }
    }
  });
}

}  // namespace
}  // namespace cairn::activity::large_test
