// SPDX-License-Identifier: Apache-2.0
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#include <algorithm>
#include <core/launch_outcome.hpp>
#include <cstddef>
#include <new>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <cairn/base/error.hpp>
#include <cairn/core/launch.hpp>
#include <cairn/hw/topology.hpp>
#include <cairn/net/segment.hpp>

namespace cairn::launch_test {
namespace {

launch_outcome run_ranks(int ranks, const rank_body& body) {
  settings config;
  config.ranks = ranks;
  return run_job(config, body);
}

launch_outcome launch_with(std::vector<std::string> arguments, const program_body& body) {
  launch_outcome result;
  arguments.insert(arguments.begin(), "program");
  std::vector<char*> argv;
  for (auto& a : arguments) argv.push_back(a.data());
  argv.push_back(nullptr);
  result.status = launch(static_cast<int>(arguments.size()), argv.data(), body,
                         [&](const std::string& sentence) { result.said.push_back(sentence); });
  return result;
}

const std::vector<std::string> nothing;

class LaunchRanks : public testing::TestWithParam<int> {};
INSTANTIATE_TEST_SUITE_P(Launch, LaunchRanks, testing::Values(1, 2, 3, 8));

TEST_P(LaunchRanks, RunTheBodyTogetherAndEndWithZero) {
  const auto ranks = GetParam();
  const auto result = run_ranks(ranks, [&](world& w) {
    const auto sum = w.sum(static_cast<std::uint64_t>(w.rank()) + 1);
    const auto wanted = static_cast<std::uint64_t>(ranks) * (static_cast<unsigned>(ranks) + 1) / 2;
    return w.size() == ranks && sum == wanted ? 0 : 1;
  });
  EXPECT_EQ(result.status, 0);
  EXPECT_EQ(result.said, nothing);
}

TEST_P(LaunchRanks, EndWithTheStatusThatTheBodyReturns) {
  const auto result = run_ranks(GetParam(), [](world&) { return 7; });
  EXPECT_EQ(result.status, 7);
  EXPECT_EQ(result.said, nothing);
}

TEST_P(LaunchRanks, SayAnAgreedSentenceOnceAndEndWithTwo) {
  const auto result = run_ranks(GetParam(), [](world& w) {
    w.agree([] { throw input_error("graph.el:3: no number"); });
    return 0;
  });
  EXPECT_EQ(result.status, 2);
  EXPECT_EQ(result.said, std::vector<std::string>{"graph.el:3: no number"});
}

TEST_P(LaunchRanks, SayBadInputOfTheLastRankAloneOnceAndEndWithTwo) {
  const auto result = run_ranks(GetParam(), [](world& w) {
    if (w.rank() == w.size() - 1) throw usage_error("no such option");
    w.barrier();
    return 0;
  });
  EXPECT_EQ(result.status, 2);
  EXPECT_EQ(result.said, std::vector<std::string>{"no such option"});
}

TEST_P(LaunchRanks, UseTheAllowedCoresAmongThem) {
  const auto ranks = GetParam();
  const auto wanted = std::max(1, hw::allowed_cores() / ranks);
  const auto result = run_ranks(ranks, [&](world& w) { return w.workers() == wanted ? 0 : 1; });
  EXPECT_EQ(result.status, 0);
}

TEST(Launch, NamesTheRankWhoseBodyThrewAndEndsWithOne) {
  const auto result = run_ranks(3, [](world& w) {
    if (w.rank() == 1) throw std::runtime_error("boom");
    w.barrier();
    return 0;
  });
  EXPECT_EQ(result.status, 1);
  EXPECT_EQ(result.said, std::vector<std::string>{"rank 1 failed: boom"});
}

TEST(Launch, NamesTheRankWhoseAgreedFailureItIs) {
  const auto fails_on_the_last = [](world& w) {
    w.agree([&] {
      if (w.rank() == w.size() - 1) throw system_failure("no space left");
    });
    return 0;
  };
  for (int i = 0; i < 5; ++i) {  // whichever rank ends first
    const auto result = run_ranks(3, fails_on_the_last);
    EXPECT_EQ(result.status, 1);
    EXPECT_EQ(result.said, std::vector<std::string>{"rank 2 failed: no space left"});
  }
  EXPECT_EQ(run_ranks(1, fails_on_the_last).said, std::vector<std::string>{"no space left"});
}

TEST(Launch, OtherRanksLearnWhoFailedAndWhy) {
  const auto learnt = net::segment::shared(3);
  const auto result = run_ranks(3, [&](world& w) {
    if (w.rank() == 1) throw std::runtime_error("boom");
    try {
      w.barrier();
    } catch (const peer_failure& e) {
      const bool right = e.rank() == 1 && e.what() == std::string("rank 1 failed: boom");
      learnt->data()[w.rank()] = static_cast<std::byte>(right);
    }
    return 0;
  });
  EXPECT_EQ(result.status, 1);
  EXPECT_EQ(learnt->data()[0], std::byte{1});
  EXPECT_EQ(learnt->data()[2], std::byte{1});
}

TEST(Launch, OneRankThatThrowsIsNotNumbered) {
  const auto result = run_ranks(1, [](world&) -> int { throw std::runtime_error("boom"); });
  EXPECT_EQ(result.status, 1);
  EXPECT_EQ(result.said, std::vector<std::string>{"boom"});
}

TEST(Launch, TakesAnythingThatIsThrown) {
  EXPECT_EQ(run_ranks(1, [](world&) -> int { throw 5; }).status, 1);
  EXPECT_EQ(run_ranks(2, [](world&) -> int { throw 5; }).said.size(), 1u);
  const auto starved = run_ranks(1, [](world&) -> int { throw std::bad_alloc(); }).said;
  ASSERT_EQ(starved.size(), 1u);
  EXPECT_TRUE(starved[0].starts_with("out of memory: an allocation failed, with ")) << starved[0];
}

TEST(Launch, NamesARankThatWasKilled) {
  const auto result = run_ranks(3, [](world& w) {
    if (w.rank() == 2) kill(getpid(), SIGKILL);
    w.barrier();
    return 0;
  });
  EXPECT_EQ(result.status, 1);
  EXPECT_EQ(result.said, std::vector<std::string>{"rank 2 was killed by signal 9 (Killed)"});
}

TEST(Launch, NamesARankThatLeftWithoutTheOthers) {
  const auto result = run_ranks(3, [](world& w) {
    if (w.rank() == 0) _exit(0);
    w.barrier();
    return 0;
  });
  EXPECT_EQ(result.status, 1);
  EXPECT_EQ(result.said, std::vector<std::string>{"rank 0 ended on its own with exit status 0"});
}

TEST(Launch, TheFirstProcessRunsNoRank) {
  const auto self = getpid();
  const auto result = run_ranks(2, [&](world&) { return getpid() == self ? 1 : 0; });
  EXPECT_EQ(result.status, 0);
}

TEST(Launch, SettingsThatContradictAreUsageErrors) {
  settings config;
  std::vector<std::string> said;
  const auto status_of = [&] {
    return run(
        config, [](world&) { return 0; }, [&](const std::string& s) { said.push_back(s); });
  };
  config.transport = transport_kind::mpi;
  EXPECT_EQ(status_of(), 2);
  config = {};
  config.machines = 2;
  EXPECT_EQ(status_of(), 2);
  config = {};
  config.sim = "ranks=2";
  config.ranks = 2;
  EXPECT_EQ(status_of(), 2);
  EXPECT_EQ(said.size(), 3u);
}

TEST(Launch, SimulatesAClusterForEverySeed) {
  settings config;
  config.sim = "ranks=3,seed=1..4";
  config.threads = 2;
  int bodies = 0;
  const auto body = [&](world& w) {
    ++bodies;
    return w.size() == 3 && w.workers() == 2 && w.sum(std::uint64_t{1}) == 3 ? 0 : 1;
  };
  EXPECT_EQ(run(config, body, [](const std::string& s) { FAIL() << s; }), 0);
  EXPECT_EQ(bodies, 12);
}

TEST(Launch, NamesTheSeedOfASimulatedClusterThatFailed) {
  settings config;
  config.sim = "ranks=2,seed=5..6";
  std::vector<std::string> said;
  const auto body = [](world&) -> int { throw std::runtime_error("boom"); };
  EXPECT_EQ(run(config, body, [&](const std::string& s) { said.push_back(s); }), 1);
  EXPECT_EQ(said, std::vector<std::string>{"seed 5: boom"});
}

TEST(Launch, GivesTheBodyWhatIsNotASetting) {
  const std::vector<std::string> wanted{"file", "--depth", "3"};
  const auto result =
      launch_with({"file", "--ranks", "2", "--depth", "3"},
                  [&](world& w, std::span<const std::string> arguments) {
                    return w.size() == 2 && std::equal(arguments.begin(), arguments.end(),
                                                       wanted.begin(), wanted.end())
                               ? 0
                               : 1;
                  });
  EXPECT_EQ(result.status, 0);
}

TEST(Launch, OptionsWinOverTheEnvironment) {
  ASSERT_EQ(setenv("CAIRN_RANKS", "3", 1), 0);
  const auto size = [](world& w, std::span<const std::string>) { return w.size(); };
  const auto by_variable = launch_with({}, size);
  const auto by_option = launch_with({"--ranks", "2"}, size);
  ASSERT_EQ(setenv("CAIRN_RANKS", "none", 1), 0);
  const auto refused = launch_with({}, size);
  unsetenv("CAIRN_RANKS");
  EXPECT_EQ(by_variable.status, 3);
  EXPECT_EQ(by_option.status, 2);
  EXPECT_EQ(refused.said,
            std::vector<std::string>{"CAIRN_RANKS is 'none', expected auto|1..65536"});
}

TEST(Launch, RefusesRanksThatNoMemoryLiesBetween) {
  const auto refused =
      launch_with({"--ranks", "65536"}, [](world&, std::span<const std::string>) { return 0; });
  EXPECT_EQ(refused.status, 2);
  ASSERT_EQ(refused.said.size(), 1u);
  EXPECT_TRUE(refused.said[0].starts_with("65536 local ranks (--ranks or CAIRN_RANKS) need"))
      << refused.said[0];
}

// What a program without arguments of its own says of one; it must end with status 2.
std::string refusal_of(std::string argument) {
  char name[] = "program";
  char* argv[] = {name, argument.data(), nullptr};
  std::string said;
  EXPECT_EQ(launch(
                2, argv, [](world&) { return 0; }, [&](const std::string& s) { said = s; }),
            2);
  return said;
}

TEST(Launch, AProgramWithoutArgumentsRefusesThem) {
  EXPECT_EQ(refusal_of("extra"), "unexpected argument: extra");
}

TEST(Launch, RefusesTheSettingThatOnlyTheCommandReads) {
  EXPECT_EQ(refusal_of("--costs=file"),
            "--costs has no effect here: the command cairn reads the file");
}

TEST(Launch, GivesTheWorldTheSettingsOfOperators) {
  char name[] = "program", mechanism[] = "--mechanism=locks", grain[] = "--grain=8",
       retry[] = "--retry=bgq";
  char* argv[] = {name, mechanism, grain, retry, nullptr};
  EXPECT_EQ(launch(4, argv,
                   [](world& w) {
                     const auto& asked = w.options();
                     const bool as_given =
                         asked.mechanism == "locks" && asked.grain == 8 && asked.retry == "bgq";
                     return as_given ? 5 : 6;
                   }),
            5);
}

// Each variable alone would make N processes run the whole job if it were overlooked.
TEST(Launch, RefusesALauncherThatItHasNoPluginFor) {
  ASSERT_EQ(setenv("PMI_RANK", "0", 1), 0);
  ASSERT_EQ(setenv("PMI_SIZE", "2", 1), 0);
  settings config;
  config.plugins = "/nowhere";
  bool ran = false;
  std::string said;
  const auto status = run(
      config, [&](world&) { return ran = true, 0; }, [&](const std::string& s) { said = s; });
  unsetenv("PMI_RANK");
  unsetenv("PMI_SIZE");
  EXPECT_EQ(status, 2);
  EXPECT_FALSE(ran);
  EXPECT_NE(said.find("no plugin for MPICH"), std::string::npos) << said;
}

}  // namespace
}  // namespace cairn::launch_test
