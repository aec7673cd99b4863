// SPDX-License-Identifier: Apache-2.0
//
// What an operator throws leaves no lock held and no transaction open, by any mechanism: what
// comes next would wait for ever.
#include <stdexcept>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <cairn/activity/executor.hpp>
#include <cairn/am/epoch.hpp>
#include <cairn/pgas/vertex_map.hpp>

namespace cairn::activity::exceptions_test {
namespace {

constexpr std::uint64_t n = 8;

struct setting {
  std::string name;
  int workers;
  activity::options options;
};

const emulation_options aborting{};
const emulation_options falling_back{.rates = {.conflict = 1}};

std::vector<setting> settings_for_one_cell() {
  return {{"plain", 1, {.mechanism = mechanism::plain}},
          {"atomics", 2, {.mechanism = mechanism::atomics}},
          {"htm", 2, {.mechanism = mechanism::htm, .grain = 4}},
          {"emulated", 2, {.mechanism = mechanism::htm, .grain = 4, .emulate = aborting}},
          {"atomics under htm", 2, {.mechanism = mechanism::htm, .emulate = falling_back}},
          {"locks", 2, {.mechanism = mechanism::locks}},
          {"one-lock", 2, {.mechanism = mechanism::one_lock}}};
}

std::vector<setting> settings_for_several_cells() {
  auto settings = settings_for_one_cell();
  settings.erase(settings.begin() + 1);  // atomics
  settings.push_back({"stm", 2, {.mechanism = mechanism::stm, .grain = 4}});
  settings.push_back({"stm one by one", 2, {.mechanism = mechanism::stm, .grain = 1}});
  return settings;
}

struct order {
  std::uint64_t id;
  bool throws_after = false, throws_inside = false;
};

struct add_one {
  using message = order;
  pgas::vertex_map<std::uint64_t>& map;
  auto cell(const order& m) const { return map.at(m.id); }
  bool wanted(std::uint64_t, const order&) const { return true; }
  void attempt(auto x, const order&) const { x.add(1); }
  void after(const order& m) const {
    if (m.throws_after) throw std::runtime_error("after");
  }
};

struct add_to_two {
  using message = order;
  pgas::vertex_map<std::uint64_t>& map;
  domain& data;
  void elements(const order& m, auto&& each) const {
    each(map.at(m.id));
    each(map.at((m.id + 1) % n));
  }
  void attempt(auto& tx, const order& m) const {
    tx.write(map, m.id, tx.read(map, m.id) + 1);
    if (m.throws_inside) throw std::runtime_error("inside");
    const auto next = (m.id + 1) % n;
    tx.write(map, next, tx.read(map, next) + 1);
  }
  void after(const order& m) const {
    EXPECT_FALSE(data.fallback().taken());
    if (auto* const locks = data.locks()) {
      for (const auto& x : map.local()) EXPECT_FALSE(locks->taken(&x));
    }
    if (data.versions()) {
      EXPECT_EQ(data.versions()->num_owned(), 0u);
    }
    if (m.throws_after) throw std::runtime_error("after");
  }
};

// One operator throws among others; then each cell gets one more.
template <class Executor>
void throw_once_and_go_on(world& w, Executor& op, const order& thrower,
                          const std::string& message) {
  am::epoch e(w);
  const auto spawn_all = [&](bool with_thrower) {
    op.spawn(main_worker, [&](auto& send) {
      for (std::uint64_t id = 0; id < n; ++id) {
        send(with_thrower && id == thrower.id ? thrower : order{id});
      }
    });
  };
  try {
    spawn_all(true);
    ADD_FAILURE() << "nothing was thrown";
  } catch (const std::runtime_error& error) {
    EXPECT_EQ(error.what(), message);
  }
  spawn_all(false);
  e.close();
}

TEST(Exceptions, FromAfterLeaveNothingHeldForOneCell) {
  for (const auto& s : settings_for_one_cell()) {
    SCOPED_TRACE(s.name);
    world w(s.workers);
    pgas::vertex_map<std::uint64_t> map(w, {n, 1}, 0);
    executor<add_one> op(w, add_one{map}, s.options);
    throw_once_and_go_on(w, op, {.id = 5, .throws_after = true}, "after");
    for (const auto x : map.local()) EXPECT_GE(x, 1u);
  }
}

TEST(Exceptions, FromAfterLeaveNothingHeldForSeveralCells) {
  for (const auto& s : settings_for_several_cells()) {
    SCOPED_TRACE(s.name);
    world w(s.workers);
    pgas::vertex_map<std::uint64_t> map(w, {n, 1}, 0);
    domain data(w, s.options);
    executor<add_to_two> op(data, add_to_two{map, data});
    throw_once_and_go_on(w, op, {.id = 5, .throws_after = true}, "after");
    for (const auto x : map.local()) EXPECT_GE(x, 2u);
  }
}

// What can be left has no effect; what cannot keeps what it has written.
TEST(Exceptions, FromAttemptsReleaseEverythingAndGoOn) {
  for (const auto& s : settings_for_several_cells()) {
    SCOPED_TRACE(s.name);
    if (s.name == "htm") continue;  // nothing may throw inside a real transaction
    world w(s.workers);
    pgas::vertex_map<std::uint64_t> map(w, {n, 1}, 0);
    domain data(w, s.options);
    executor<add_to_two> op(data, add_to_two{map, data});
    throw_once_and_go_on(w, op, {.id = 0, .throws_inside = true}, "inside");
    EXPECT_FALSE(data.fallback().taken());
    if (s.options.mechanism == mechanism::stm) {
      EXPECT_EQ(data.versions()->num_owned(), 0u);
      for (const auto x : map.local()) EXPECT_EQ(x, 2u);
    }
  }
}

struct add_and_pass_on : add_one {
  void after(const order& m, auto& at) const {
    add_one::after(m);
    if (m.id == 0) at({.id = 1});
  }
};

// What `after` has sent to this rank waits until the end of the loop, which does not come.
TEST(Exceptions, LeaveNoMessageForTheNextEpoch) {
  for (const auto& s : settings_for_one_cell()) {
    SCOPED_TRACE(s.name);
    world w(s.workers);
    pgas::vertex_map<std::uint64_t> map(w, {n, 1}, 0);
    executor<add_and_pass_on> op(w, add_and_pass_on{{map}}, s.options);
    const auto spawn_in_an_epoch = [&](std::vector<order> all) {
      am::epoch e(w);
      op.spawn(main_worker, [&](auto& send) {
        for (const auto& m : all) send(m);
      });
      e.close();
    };
    EXPECT_THROW(spawn_in_an_epoch({{.id = 0}, {.id = 2, .throws_after = true}, {.id = 3}}),
                 std::runtime_error);
    spawn_in_an_epoch({{.id = 4}});
    EXPECT_EQ(map.local()[1], 0u);
    EXPECT_EQ(map.local()[4], 1u);
  }
}

}  // namespace
}  // namespace cairn::activity::exceptions_test
