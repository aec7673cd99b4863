// SPDX-License-Identifier: Apache-2.0
#include <activity/all_settings.hpp>
#include <atomic>
#include <cstdint>
#include <vector>

#include <gtest/gtest.h>

#include <cairn/activity/executor.hpp>
#include <cairn/am/epoch.hpp>
#include <cairn/pgas/vertex_map.hpp>

#include <support/places.hpp>

namespace cairn::activity::marked_test {
namespace {

// The least that a map with markers is.
struct marked_map {
  using value_type = std::uint64_t;
  struct place {
    const marked_map* map;
    std::uint64_t id;
    [[nodiscard]] rank_t owner() const { return map->values.owner(id); }
    [[nodiscard]] std::uint64_t& element() const { return map->values.at(id).element(); }
  };
  pgas::vertex_map<std::uint64_t> values, markers;

  [[nodiscard]] bool owns(std::uint64_t id) const { return values.owns(id); }
  [[nodiscard]] place at(std::uint64_t id) const { return {this, id}; }
  [[nodiscard]] std::uint64_t& marker(std::uint64_t id) const { return markers.at(id).element(); }
};

// Adds to two elements and answers with what was found in the first.
struct add_to_two {
  struct message {
    std::uint64_t first, second, asker;
  };
  const marked_map& map;
  rank_t self;
  std::atomic<std::uint64_t>&answers, &strays;

  void elements(const message& m, auto&& each) const {
    each(map.at(m.first));
    each(map.at(m.second));
  }
  std::uint64_t attempt(auto& tx, const message& m) const {
    const auto found = tx.read(map, m.first);
    tx.write(map, m.first, found + 1);
    tx.write(map, m.second, tx.read(map, m.second) + 1);
    return found;
  }
  void answer(const message& m, const outcome<std::uint64_t>& a) {
    ++answers;
    if (static_cast<rank_t>(m.asker) != self || !a.done) ++strays;
  }
};

// Frees the markers of an element: by an operator that reaches it whatever its marker says.
struct free_element {
  using message = std::uint64_t;
  const marked_map& map;
  void elements(const message& m, auto&& each) const { each(map.values.at(m)); }
  void attempt(auto& tx, const message& m) const { tx.write(map.markers, m, std::uint64_t{0}); }
};

class Marked : public ::testing::TestWithParam<support::place> {};
INSTANTIATE_TEST_SUITE_P(Everywhere, Marked, ::testing::ValuesIn(support::all_places()),
                         support::place_name);

TEST_P(Marked, ActivitiesWaitAndAnswerTheSender) {
  GetParam().run([](world& w) {
    for (const auto how : {mechanism::automatic, mechanism::htm, mechanism::locks,
                           mechanism::one_lock, mechanism::stm}) {
      options opt{.mechanism = how, .grain = 3};
      if (how == mechanism::htm) opt.emulate = emulation_options{};
      const auto ranks = static_cast<std::uint64_t>(w.size());
      const auto self = static_cast<std::uint64_t>(w.rank());
      const pgas::partition two_each{2 * ranks, w.size()};
      marked_map map{{w, two_each, 0}, {w, two_each, 0}};
      map.markers.local()[1] = 77;  // every second element is held
      std::atomic<std::uint64_t> answers = 0, strays = 0;
      const auto requeued = w.counters().total(obs::counter::requeued);
      {
        domain data(w, opt);
        executor<add_to_two> adds(data, add_to_two{map, w.rank(), answers, strays});
        executor<free_element> frees(data, free_element{map});
        am::epoch e(w);
        adds.spawn(main_worker, [&](auto& send) {
          for (std::uint64_t i = 0; i < 10 * ranks; ++i) {
            const auto r = i % ranks;
            send({2 * r, 2 * r + 1, self});
          }
        });
        // Atomically: another worker that tries again may touch the element beside this read.
        EXPECT_EQ(std::atomic_ref(map.values.local()[0]).load(), 0u)
            << "an attempt beside a marker";
        w.barrier();
        frees.spawn(main_worker, [&](auto& send) { send(2 * ((self + 1) % ranks) + 1); });
        e.close();
      }
      EXPECT_EQ(answers, 10 * ranks);
      EXPECT_EQ(strays, 0u);
      EXPECT_EQ(map.values.local()[0], 10 * ranks);
      EXPECT_EQ(map.values.local()[1], 10 * ranks);
      EXPECT_GE(w.counters().total(obs::counter::requeued) - requeued, 10u);
    }
  });
}

}  // namespace
}  // namespace cairn::activity::marked_test
