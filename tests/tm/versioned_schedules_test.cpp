// SPDX-License-Identifier: Apache-2.0
//
// Small transactions of the versioned-lock engine, changed between at every access to shared
// memory, in schedules drawn from seeds, over memory as weak as C++ allows.
#include <array>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <cairn/tm/section.hpp>
#include <cairn/tm/versioned_section.hpp>

#include <support/num_schedules.hpp>
#include <support/serializability.hpp>
#include <support/stepper.hpp>

namespace cairn::tm::versioned_schedules_test {
namespace {

using cairn::support::num_schedules;
using cairn::support::recorded_access;
using cairn::support::recorded_thread;
using cairn::support::stepped_atomics;
using cairn::support::stepper;

constexpr std::size_t num_threads = 3;
constexpr std::uint32_t num_cells = 4;

struct impatient : tm::versioned_rules {
  static constexpr unsigned wait_rounds = 8;
  static constexpr unsigned wait_rounds_out_of_order = 3;
};
struct stores_at_once : impatient {
  static constexpr bool in_place = true;
};

// The broken twins.
struct never_looks_again : impatient {
  static constexpr bool recheck_word_after_read = false;
};
struct extends_unchecked : impatient {
  static constexpr bool check_when_extending = false;
};
struct commits_unchecked : impatient {
  static constexpr bool check_at_commit = false;
};
struct restores_the_version : stores_at_once {
  static constexpr bool new_version_on_abort = false;
};

struct step_on {
  void operator()(unsigned) const { stepper::current()->step(); }
};
struct ordinary_error {};

/// Each on a stripe of its own.
struct alignas(tm::version_table<>::stripe_bytes) cell {
  std::uint64_t at;
};

template <class Atomics, class Rules>
class stage {
 public:
  using table = tm::version_table<Atomics>;
  using section = tm::versioned_section<table, step_on, Rules>;

  explicit stage(stepper& s) : stepper_(s) {}

  /// Plays one schedule of transactions that run body(access, draw, number of the thread).
  template <class Body>
  void play(std::uint64_t seed, const Body& body, std::uint64_t (*first)(std::uint32_t)) {
    std::vector<std::function<void()>> bodies;
    for (std::uint32_t t = 0; t < num_threads; ++t) {
      bodies.push_back([this, seed, t, &body] {
        auto draw = random64(seed).stream(t + 1);
        const auto transactions = 1 + draw.below(2);
        for (std::size_t i = 0; i < transactions; ++i) run(*sections_[t], draw, t, body);
      });
    }
    const auto prepare = [&] {
      for (std::uint32_t c = 0; c < num_cells; ++c) cells[c].at = stepper_.memory().add(first(c));
      const std::size_t words = 1 + mix64(seed) % num_cells;
      table_.emplace(words);
      for (std::uint32_t t = 0; t < num_threads; ++t) sections_[t].emplace(*table_, t, step_on{});
    };
    stepper_.play(seed, prepare, bodies);
  }

  [[nodiscard]] bool anything_owned() {
    for (auto& c : cells) {
      if (tm::version_state(table_->word_of(&c).newest()).owned()) return true;
    }
    return table_->clock().irrevocable_owner.newest() != 0;
  }

  std::array<cell, num_cells> cells;

 private:
  // Three attempts, then alone; now and then the body leaves or throws.
  template <class Body>
  void run(section& s, random64& draw, std::uint32_t t, const Body& body) {
    const auto same_again = draw;
    for (int attempt = 0; attempt < 3; ++attempt) {
      draw = same_again;
      const auto seed = draw();
      try {
        const auto outcome = tm::attempt_section(s, tm::unsubscribed{}, [&](auto access) {
          body(access, random64(seed), t);
          if (mix64(seed + static_cast<std::uint64_t>(attempt)) % 8 == 0) {
            s.template abort<tm::abort_code::left>();
          }
          if (mix64(seed) % 16 == 1) throw ordinary_error{};
        });
        if (!outcome.committed()) continue;
        committed(t);
      } catch (const ordinary_error&) {
      }
      return;
    }
    try {
      s.outside([&] {
        body(s.cell_access(), random64(draw()), t);
        if (mix64(draw()) % 16 == 1) throw ordinary_error{};
      });
      committed(t);
    } catch (const ordinary_error&) {
    }
  }

  static std::uint64_t mix64(std::uint64_t x) { return cairn::mix64(x); }

  stepper& stepper_;
  std::optional<table> table_;
  std::array<std::optional<section>, num_threads> sections_;

 public:
  std::function<void(std::uint32_t)> committed = [](std::uint32_t) {};
};

/// Reads and writes of one to all cells in any order, some read twice. The first complaint.
template <class Atomics, class Rules>
std::string first_complaint(std::uint64_t count) {
  stepper steps(num_threads);
  stage<Atomics, Rules> on(steps);
  std::vector<recorded_thread> log;
  for (std::uint32_t t = 0; t < num_threads; ++t) log.emplace_back(t, num_threads);
  on.committed = [&](std::uint32_t t) { log[t].committed(); };
  const auto body = [&](auto access, random64 draw, std::uint32_t t) {
    log[t].begin();
    const auto writes = draw();
    auto c = static_cast<std::uint32_t>(draw.below(num_cells));
    const auto stride = 1 + 2 * static_cast<std::uint32_t>(draw.below(2));
    const auto last = 1 + draw.below(num_cells);
    std::optional<std::uint32_t> again;
    for (std::uint64_t i = 0; i < last; ++i, c = (c + stride) % num_cells) {
      const auto found = access.load(on.cells[c].at);
      if ((writes >> i & 1) == 0) {
        log[t].add({c, found});
        again = c;
        continue;
      }
      const auto put = log[t].fresh();
      log[t].add({c, found, put});
      access.store(on.cells[c].at, put);
      EXPECT_EQ(access.load(on.cells[c].at), put);
    }
    if (again) log[t].add({*again, access.load(on.cells[*again].at)});
  };
  for (std::uint64_t seed = 0; seed < count; ++seed) {
    for (auto& t : log) t.clear();
    on.play(seed, body, [](std::uint32_t c) { return cairn::support::first_value(c); });
    if (on.anything_owned()) return "seed " + std::to_string(seed) + ": a word is still owned";
    const auto complaint = cairn::support::history(log).complaint();
    if (!complaint.empty()) return "seed " + std::to_string(seed) + ": " + complaint;
  }
  return {};
}

TEST(VersionedSchedules, AreSerializableAndOpaque) {
  EXPECT_EQ((first_complaint<stepped_atomics, impatient>(num_schedules)), "");
}

TEST(VersionedSchedules, AreSerializableAndOpaqueInPlace) {
  EXPECT_EQ((first_complaint<stepped_atomics, stores_at_once>(num_schedules)), "");
}

template <class Atomics, class Rules>
void expect_caught() {
  const auto complaint = first_complaint<Atomics, Rules>(num_schedules);
  EXPECT_NE(complaint, "");
  std::cout << "caught at " << complaint << '\n';
}

TEST(VersionedSchedules, ATwinThatDoesNotLookAgainIsCaught) {
  expect_caught<stepped_atomics, never_looks_again>();
}
TEST(VersionedSchedules, ATwinThatExtendsUncheckedIsCaught) {
  expect_caught<stepped_atomics, extends_unchecked>();
}
TEST(VersionedSchedules, ATwinThatCommitsUncheckedIsCaught) {
  expect_caught<stepped_atomics, commits_unchecked>();
}
TEST(VersionedSchedules, ATwinThatRestoresTheVersionOnAbortIsCaught) {
  expect_caught<stepped_atomics, restores_the_version>();
}
TEST(VersionedSchedules, ATwinWhoseStoresDoNotReleaseIsCaught) {
  expect_caught<cairn::support::relaxed_stores, impatient>();
}
TEST(VersionedSchedules, ATwinWhoseLoadsDoNotAcquireIsCaught) {
  expect_caught<cairn::support::relaxed_loads, impatient>();
}

// Transfers between cells whose sum never changes: every body, also one that will be left, sees
// the whole sum.
TEST(VersionedSchedules, BodiesNeverSeeABrokenSum) {
  stepper steps(num_threads);
  stage<stepped_atomics, impatient> on(steps);
  std::uint64_t broken = 0, bodies = 0;
  const auto body = [&](auto access, random64 draw, std::uint32_t) {
    const auto from = draw.below(num_cells), to = draw.below(num_cells);
    access.store(on.cells[from].at, access.load(on.cells[from].at) - 1);
    access.store(on.cells[to].at, access.load(on.cells[to].at) + 1);
    std::uint64_t sum = 0;
    for (auto& c : on.cells) sum += access.load(c.at);
    broken += sum == num_cells * 100 ? 0 : 1;
    ++bodies;
  };
  for (std::uint64_t seed = 0; seed < num_schedules / 5; ++seed) {
    on.play(seed, body, [](std::uint32_t) { return std::uint64_t{100}; });
    std::uint64_t sum = 0;
    for (const auto& c : on.cells) {
      sum += steps.memory().newest(static_cast<cairn::support::weak_memory::location>(c.at));
    }
    ASSERT_EQ(sum, num_cells * 100) << "seed " << seed;
    ASSERT_EQ(broken, 0u) << "seed " << seed;
  }
  EXPECT_GT(bodies, num_schedules / 2);
}

}  // namespace
}  // namespace cairn::tm::versioned_schedules_test
