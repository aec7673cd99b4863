// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <cairn/base/random.hpp>
#include <cairn/dtx/acquisition.hpp>
#include <cairn/dtx/marker.hpp>

#include <support/schedules.hpp>

namespace cairn::dtx::acquisition_test {
namespace {

using support::num_schedules;
using support::num_twin_schedules;
constexpr std::uint64_t some_schedules = num_twin_schedules / 25;  // for twins that do not end
constexpr int max_turns = 40'000;  // the longest of the schedules takes less than half

enum class fault {
  none,
  keeps_markers_on_refusal,
  releases_before_the_write_back,
  owner_grants_a_held_marker,
  forgets_a_marker_on_restart,
};

enum class ending { all_right, update_lost, marker_left, never };

/// Asks again for what was refused, and holds what it has meanwhile.
struct keeping : acquisition {
  std::vector<std::size_t> release_all() {
    refused_ = false;
    backing_off_ = true;
    ++num_restarts_;
    return {};
  }
};

/// A model of owners and spawners whose every step the seed decides: messages are delivered in
/// any order, answers as well, and time passes by turns. Each transaction takes one from an
/// element, gives it to another, and counts a change of both and of what it merely rewrites.
template <class Machine>
class schedule {
 public:
  schedule(std::uint64_t seed, fault f) : random_(seed), fault_(f) {
    elements_.resize(2 + below(3));
    wanted_.resize(elements_.size());
    const auto n = 2 + below(5);
    for (std::size_t t = 0; t < n; ++t) {
      spawner s;
      s.name = holder_name(static_cast<rank_t>(below(3)), t);
      const auto most = 2 + below(elements_.size() - 1);
      while (s.needs.size() < most) {
        const auto e = below(elements_.size());
        bool known = false;
        for (const auto k : s.needs) known = known || k == e;
        if (!known) s.needs.push_back(e);
      }
      s.named_beforehand = below(2) == 0;
      for (const auto e : s.needs) {
        ++wanted_[e].changes;
        if (s.named_beforehand) s.held.add_element({0, e});
      }
      --wanted_[s.needs[0]].amount;
      ++wanted_[s.needs[1]].amount;
      spawners_.push_back(std::move(s));
    }
  }

  ending play() {
    std::size_t left = spawners_.size();
    while (left > 0 || !in_flight_.empty()) {
      if (++turns_ > max_turns) return ending::never;
      const auto choices = spawners_.size() + 2 * in_flight_.size();
      const auto i = below(choices);
      if (i >= spawners_.size()) {
        deliver();
      } else if (act(spawners_[i])) {
        --left;
      }
    }
    for (const auto& e : elements_) {
      if (e.marker != free_marker) return ending::marker_left;
    }
    for (std::size_t e = 0; e < elements_.size(); ++e) {
      if (!(elements_[e].now == wanted_[e])) return ending::update_lost;
    }
    return ending::all_right;
  }

  [[nodiscard]] int turns() const noexcept { return turns_; }
  [[nodiscard]] int refusals() const noexcept { return refusals_; }

 private:
  struct value {
    std::int64_t amount = 0;
    std::uint64_t changes = 0;
    friend bool operator==(const value&, const value&) = default;
  };
  struct owned {
    value now;
    marker_word marker = free_marker;
  };
  struct spawner {
    Machine held;
    marker_word name = free_marker;
    std::vector<std::size_t> needs;
    std::vector<value> copies;
    bool named_beforehand = false, committed = false;
    std::uint64_t due = 0;
  };
  struct packet {
    enum class kind { claim, granted, refused, release, write_back, write_and_release } is;
    spawner* of;
    std::size_t number;  // of the element in the transaction
    value carried{};
  };

  std::size_t below(std::size_t n) { return static_cast<std::size_t>(random_.below(n)); }
  void send(packet p) { in_flight_.push_back(p); }

  /// True if it committed.
  bool act(spawner& s) {
    using step = acquisition::step;
    if (s.committed) return false;
    switch (s.held.next()) {
      case step::wait:
        return false;
      case step::back_off:
        if (static_cast<std::uint64_t>(turns_) >= s.due) s.held.end_back_off();
        return false;
      case step::claim:
        for (const auto i : s.held.claims()) send({packet::kind::claim, &s, i});
        return false;
      case step::release_all: {
        auto held = s.held.release_all();
        if (fault_ == fault::forgets_a_marker_on_restart && !held.empty()) held.pop_back();
        for (const auto i : held) send({packet::kind::release, &s, i});
        s.due = static_cast<std::uint64_t>(turns_) + s.held.back_off_ns({.first_ns = 30}, random_);
        return false;
      }
      case step::run:
        return run(s);
    }
    return false;
  }

  bool run(spawner& s) {
    std::vector<std::size_t> numbers;
    for (const auto e : s.needs) {
      const auto i = s.held.find({0, e});
      if (!i) {
        s.held.add_element({0, e});
        return false;
      }
      numbers.push_back(*i);
    }
    --s.copies[numbers[0]].amount;
    ++s.copies[numbers[1]].amount;
    for (const auto i : numbers) {
      ++s.copies[i].changes;
      if (fault_ == fault::releases_before_the_write_back) {
        send({packet::kind::release, &s, i});
        send({packet::kind::write_back, &s, i, s.copies[i]});
      } else {
        send({packet::kind::write_and_release, &s, i, s.copies[i]});
      }
    }
    return s.committed = true;
  }

  void deliver() {
    if (in_flight_.empty()) return;
    std::swap(in_flight_[below(in_flight_.size())], in_flight_.back());
    const auto p = in_flight_.back();
    in_flight_.pop_back();
    using kind = typename packet::kind;
    if (p.is == kind::granted || p.is == kind::refused) {
      if (p.of->copies.size() <= p.number) p.of->copies.resize(p.number + 1);
      p.of->copies[p.number] = p.carried;
      refusals_ += p.is == kind::refused ? 1 : 0;
      static_cast<void>(p.of->held.record_answer(p.number, p.is == kind::granted));
      return;
    }
    auto& e = elements_[p.of->held[p.number].id];
    if (p.is == kind::claim) {
      const bool granted = grants(e.marker) || fault_ == fault::owner_grants_a_held_marker;
      if (granted) e.marker = p.of->name;
      send({granted ? kind::granted : kind::refused, p.of, p.number, e.now});
      return;
    }
    if (p.is != kind::release) e.now = p.carried;
    if (p.is != kind::write_back) e.marker = free_marker;
  }

  random64 random_;
  fault fault_;
  int turns_ = 0, refusals_ = 0;
  std::vector<owned> elements_;
  std::vector<value> wanted_;
  std::deque<spawner> spawners_;
  std::vector<packet> in_flight_;
};

struct endings {
  std::array<std::uint64_t, 4> counts{};  // by ending
  int longest = 0;
  std::uint64_t refusals = 0;

  [[nodiscard]] std::uint64_t& operator[](ending e) { return counts[static_cast<std::size_t>(e)]; }
};

template <class Machine = acquisition>
endings play(std::uint64_t schedules, fault f) {
  endings seen;
  for (std::uint64_t seed = 0; seed < schedules; ++seed) {
    schedule<Machine> s(seed, f);
    ++seen[s.play()];
    seen.longest = std::max(seen.longest, s.turns());
    seen.refusals += static_cast<std::uint64_t>(s.refusals());
  }
  return seen;
}

TEST(Acquisition, LosesNothingAndLeavesNoMarkerInAnySchedule) {
  auto seen = play(num_schedules, fault::none);
  EXPECT_EQ(seen[ending::all_right], num_schedules);
  EXPECT_GT(seen.refusals, num_schedules) << "the schedules hardly contend";
  EXPECT_LT(seen.longest, max_turns / 2);
}

TEST(Acquisition, TwinThatKeepsItsMarkersOnRefusalDeadlocks) {
  EXPECT_GT(play<keeping>(some_schedules, fault::keeps_markers_on_refusal)[ending::never],
            some_schedules / 10);
}
TEST(Acquisition, TwinThatReleasesBeforeTheWriteBackLosesUpdates) {
  EXPECT_GT(play(num_twin_schedules, fault::releases_before_the_write_back)[ending::update_lost],
            num_twin_schedules / 100);
}
TEST(Acquisition, TwinWhoseOwnerGrantsAHeldMarkerLosesUpdates) {
  EXPECT_GT(play(num_twin_schedules, fault::owner_grants_a_held_marker)[ending::update_lost],
            num_twin_schedules / 100);
}
TEST(Acquisition, TwinThatForgetsAMarkerOnRestartNeverEndsOrLeavesIt) {
  auto seen = play(some_schedules, fault::forgets_a_marker_on_restart);
  EXPECT_GT(seen[ending::never] + seen[ending::marker_left], some_schedules / 10);
}

// Two transactions that both need elements 0 and 1, on a network that serves each the nearer
// one first. Returns the turns until both have committed, or `most`.
int turns_in_lockstep(const back_off_limits& limits, int most) {
  struct participant {
    acquisition held;
    std::uint64_t nearer;
    int back_off_until = 0;
    bool done = false;
  };
  random64 random(5);
  bool marked[2] = {false, false};
  participant both[2];
  for (const std::uint64_t p : {0, 1}) {
    both[p].nearer = p;
    both[p].held.add_element({0, p});
    both[p].held.add_element({0, 1 - p});
  }
  const auto ask = [&](participant& p, std::size_t i) {
    auto& marker = marked[p.held[i].id];
    static_cast<void>(p.held.record_answer(i, !std::exchange(marker, true)));
  };
  int turn = 0;
  for (; turn < most && !(both[0].done && both[1].done); ++turn) {
    std::vector<std::pair<participant*, std::size_t>> near, far;
    for (auto& p : both) {
      if (p.held.next() == acquisition::step::back_off && turn >= p.back_off_until)
        p.held.end_back_off();
      if (p.held.next() != acquisition::step::claim) continue;
      for (const auto i : p.held.claims()) {
        (p.held[i].id == p.nearer ? near : far).emplace_back(&p, i);
      }
    }
    for (const auto& [p, i] : near) ask(*p, i);
    for (const auto& [p, i] : far) ask(*p, i);
    for (auto& p : both) {
      if (p.done) continue;
      if (p.held.next() == acquisition::step::run) {
        p.done = true;
        marked[0] = marked[1] = false;
      } else if (p.held.next() == acquisition::step::release_all) {
        for (const auto i : p.held.release_all()) marked[p.held[i].id] = false;
        p.back_off_until = turn + static_cast<int>(p.held.back_off_ns(limits, random));
      }
    }
  }
  return turn;
}

TEST(Acquisition, WithoutBackOffTwoRefuseEachOtherForEver) {
  EXPECT_EQ(turns_in_lockstep({.first_ns = 0}, 10'000), 10'000);
  EXPECT_LT(turns_in_lockstep({.first_ns = 8}, 10'000), 1'000);
}

TEST(Acquisition, RestsLongerAfterEachRefusalUpToABound) {
  random64 random(1);
  acquisition one;
  one.add_element({0, 3});
  const back_off_limits limits{.first_ns = 100, .max_doublings = 3};
  std::uint64_t longest = 0;
  for (int drops = 1; drops < 12; ++drops) {
    ASSERT_EQ(one.claims().size(), 1u);
    ASSERT_TRUE(one.record_answer(0, false));
    ASSERT_TRUE(one.release_all().empty());
    for (int i = 0; i < 200; ++i) {
      const auto rest = one.back_off_ns(limits, random);
      ASSERT_GE(rest, 1u);
      ASSERT_LE(rest, 100u << std::min(drops - 1, 3));
      longest = std::max(longest, rest);
    }
    one.end_back_off();
  }
  EXPECT_GT(longest, 400u);
}

TEST(Acquisition, FindsWhatItHoldsAmongManyElements) {
  acquisition a;
  for (int transaction = 0; transaction < 2; ++transaction) {
    a.reset();
    for (std::uint64_t id = 0; id < 100; ++id) {
      EXPECT_EQ(a.size(), id);
      for (const std::uint32_t map : {0u, 1u}) EXPECT_FALSE(a.find({map, id}));
      a.add_element({1, id});
      a.add_element({1, id / 2});
      ASSERT_EQ(a.claims(), std::vector<std::size_t>{id});
      ASSERT_TRUE(a.record_answer(id, true));
      for (std::uint64_t held = 0; held <= id; ++held) ASSERT_EQ(a.find({1, held}), held);
    }
    EXPECT_FALSE(a.find({0, 3}));
  }
  a.reset();
  EXPECT_FALSE(a.find({1, 3}));
}

TEST(Acquisition, ClaimsOnceWhatIsNamedTwice) {
  acquisition a;
  a.add_element({0, 3});
  a.add_element({1, 3});
  a.add_element({0, 3});
  EXPECT_EQ(a.claims().size(), 2u);
  EXPECT_FALSE(a.record_answer(1, true));
  EXPECT_TRUE(a.record_answer(0, true));
  EXPECT_EQ(a.next(), acquisition::step::run);
}

}  // namespace
}  // namespace cairn::dtx::acquisition_test
