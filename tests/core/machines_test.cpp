// SPDX-License-Identifier: Apache-2.0
#include <sys/resource.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <cairn/base/error.hpp>
#include <cairn/core/launch.hpp>
#include <cairn/core/machines.hpp>
#include <cairn/core/simulation.hpp>
#include <cairn/core/world.hpp>

#include <support/places.hpp>
#include <support/shared_words.hpp>

namespace cairn::machines_test {
namespace {

using support::share_and_look;

class Machines : public ::testing::TestWithParam<support::place> {};

INSTANTIATE_TEST_SUITE_P(Everywhere, Machines, ::testing::ValuesIn(support::all_places()),
                         support::place_name);

TEST_P(Machines, ShareMemoryAmongTheirRanksOnly) {
  GetParam().run([](world& w) {
    EXPECT_EQ(w.machines().count(), GetParam().simulated() ? w.size() : 1);
    EXPECT_EQ(share_and_look(w), "");
  });
}

/// The same place with ranks dealt to two machines.
void on_two_machines(const support::place& p, const std::function<void(world&)>& body) {
  if (p.simulated()) {
    run_simulated({.ranks = p.ranks, .workers = p.workers, .machines = 2}, {}, body);
  } else {
    p.run(body, {.machines = machine_layout::dealt(p.ranks, 2)});
  }
}

TEST_P(Machines, AreSeparateIfRanksAreDealtToTwo) {
  on_two_machines(GetParam(), [](world& w) {
    EXPECT_EQ(w.machines().count(), std::min<int>(2, w.size()));
    for (rank_t r = 0; r < w.size(); ++r) EXPECT_EQ(w.machines().of(r), r % 2);
    EXPECT_EQ(share_and_look(w), "");
  });
}

std::string refusal(world& w, std::size_t bytes) {
  try {
    static_cast<void>(w.machines().share(bytes));
  } catch (const system_failure& e) {
    return e.what();
  }
  return {};
}

TEST_P(Machines, LearnOfAFailureTogether) {
  on_two_machines(GetParam(), [](world& w) {
    // Machine 0 wants more than there is; of machine 1 the last rank wants another size.
    const bool on_0 = w.machines().of(w.rank()) == 0;
    const auto& mine = w.machines().neighbors();
    const bool odd_one = !on_0 && mine.size() > 1 && w.rank() == mine.back();
    const auto said = w.all_gather(refusal(w, on_0 ? std::size_t{1} << 60 : odd_one ? 2 : 1));
    for (rank_t r = 0; r < w.size(); ++r) {
      const auto& text = said[static_cast<std::size_t>(r)];
      EXPECT_EQ(text, said[static_cast<std::size_t>(r % 2)]);
      const bool fails = r % 2 == 0 || w.size() > 3;
      EXPECT_EQ(text.empty(), !fails) << text;
    }
    EXPECT_EQ(share_and_look(w), "") << "a failure is no obstacle to the next";
  });
}

using shared_word = std::atomic_ref<std::uint64_t>;
shared_word first_word(const machines::lent_memory& of) {
  return shared_word(of.values<std::uint64_t>(1).front());
}

// What the first rank of a machine writes, all of them read.
void expect_common(world& w, const machines::lent_memory& memory, std::uint64_t value) {
  if (w.machines().place() == 0) first_word(memory).store(value);
  w.barrier();
  EXPECT_EQ(first_word(memory).load(), value);
  w.barrier();
}

TEST_P(Machines, LendMemoryAgainOnceItsUseHasEnded) {
  on_two_machines(GetParam(), [](world& w) {
    auto& here = w.machines();
    const std::byte* used = nullptr;
    for (std::uint64_t round = 1; round <= 3; ++round) {
      const auto one = here.lend(100 / round), other = here.lend(8);
      const auto bytes = one.values<std::byte>(100 / round);
      EXPECT_EQ(bytes.size(), 100 / round);
      EXPECT_NE(bytes.data(), other.values<std::byte>(8).data());
      EXPECT_TRUE(used == nullptr || used == bytes.data());
      used = bytes.data();
      expect_common(w, one, round);
      expect_common(w, other, 10 * round);
      EXPECT_EQ(first_word(one).load(), round);
      w.barrier();
    }
    const auto larger = here.lend(101);
    EXPECT_EQ(larger.values<std::byte>(101).size(), 101u);
    EXPECT_TRUE(machines::lent_memory().values<int>(1).empty());
  });
}

// Beside a large piece that is idle a small request takes a small one.
TEST_P(Machines, LendTheSmallestMemoryThatFits) {
  on_two_machines(GetParam(), [](world& w) {
    auto& here = w.machines();
    const std::byte* large = nullptr;
    {
      const auto one = here.lend(1000), other = here.lend(8);
      large = one.values<std::byte>(8).data();
    }
    const auto small = here.lend(8);
    EXPECT_NE(small.values<std::byte>(8).data(), large);
    EXPECT_EQ(here.lend(1000).values<std::byte>(8).data(), large);
  });
}

TEST_P(Machines, LendNothingWhereMemoryCannotBeShared) {
  on_two_machines(GetParam(), [](world& w) {
    auto& here = w.machines();
    const bool on_0 = here.of(w.rank()) == 0;
    for (int round = 0; round < 3; ++round) {
      const auto one = here.lend(std::size_t{1} << (on_0 ? 60 : 20)), other = here.lend(8);
      EXPECT_EQ(one.values<int>(2).empty(), on_0);
      EXPECT_FALSE(other.values<int>(2).empty());
    }
    EXPECT_EQ(w.sum(std::uint64_t{1}), static_cast<std::uint64_t>(w.size()));
  });
}

// What a cancelled rank still writes is older than what follows the next lend().
TEST_P(Machines, LendMemoryThatNobodyUsesAnyMore) {
  on_two_machines(GetParam(), [](world& w) {
    auto& here = w.machines();
    for (std::uint64_t round = 1; round <= 5; ++round) {
      const auto used = [&] {
        const auto memory = here.lend(8);
        w.parallel_for(10'000, [&](worker_t, std::size_t begin, std::size_t) {
          if (w.rank() == 0 && begin > 500) w.cancel();
          first_word(memory).store(0);
        });
        w.barrier();
      };
      EXPECT_THROW(used(), cancelled);
      expect_common(w, here.lend(8), round);
    }
  });
}

// A rank is cancelled before a call in which others are already.
TEST_P(Machines, LendTheSameMemoryAfterACancelledCall) {
  on_two_machines(GetParam(), [](world& w) {
    auto& here = w.machines();
    for (std::uint64_t round = 1; round <= 5; ++round) {
      const auto last = static_cast<rank_t>(round % static_cast<std::uint64_t>(w.size()));
      const auto cancelled_call = [&] {
        if (w.rank() == last) {
          w.cancel();
          w.throw_if_interrupted();
        }
        static_cast<void>(here.lend(1000 * round));
      };
      EXPECT_THROW(cancelled_call(), cancelled);
      expect_common(w, here.lend(8), round);
    }
  });
}

TEST(MachinesAlone, AWorldWithoutPeersIsOneMachine) {
  world w(2);
  EXPECT_EQ(w.machines().count(), 1);
  EXPECT_EQ(share_and_look(w), "");
  EXPECT_EQ(w.machines().share(0)->size(), 0u);
}

TEST(MachinesAlone, MemoryOfAHeapEndsWithItsLastHolder) {
  shared_heap heap;
  auto one = heap.piece(0, 7, 8);
  auto other = heap.piece(0, 7, 8);
  EXPECT_EQ(one, other);
  EXPECT_NE(one, heap.piece(1, 7, 8));
  EXPECT_NE(one, heap.piece(0, 8, 8));
  const std::weak_ptr<net::segment> watched = one;
  one.reset();
  EXPECT_FALSE(watched.expired());
  other.reset();
  EXPECT_TRUE(watched.expired());
}

TEST(MachinesOfProcesses, ShareMemoryAmongForkedRanks) {
  for (const int ranks : {1, 2, 3, 8}) {
    settings config;
    config.ranks = ranks;
    std::string said;
    const int status = run(
        config,
        [&](world& w) {
          const auto wrong = share_and_look(w);
          if (!wrong.empty()) throw system_failure(wrong);
          return w.machines().count() == 1 ? 0 : 3;
        },
        [&](const std::string& sentence) { said += sentence; });
    EXPECT_EQ(status, 0) << said;
  }
}

TEST(MachinesOfProcesses, LearnThatOneCannotOpenTheMemory) {
#ifdef __SANITIZE_ADDRESS__
  GTEST_SKIP() << "the sanitizer opens a pipe to look at an object, which this test forbids";
#endif
  settings config;
  config.ranks = 3;
  std::string said;
  const auto body = [](world& w) {
    rlimit before{};
    getrlimit(RLIMIT_NOFILE, &before);
    const rlimit no_files{0, before.rlim_max};
    if (w.rank() == 1) setrlimit(RLIMIT_NOFILE, &no_files);
    const auto refused = refusal(w, 8);
    setrlimit(RLIMIT_NOFILE, &before);
    if (refused.find("rank 1: cannot open") == std::string::npos) throw system_failure(refused);
    const auto wrong = share_and_look(w);
    if (!wrong.empty()) throw system_failure(wrong);
    return 0;
  };
  EXPECT_EQ(run(config, body, [&](const std::string& sentence) { said += sentence; }), 0) << said;
}

}  // namespace
}  // namespace cairn::machines_test
