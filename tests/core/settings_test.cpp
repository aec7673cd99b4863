// SPDX-License-Identifier: Apache-2.0
#include <cctype>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <cairn/base/error.hpp>
#include <cairn/core/settings.hpp>

namespace cairn::settings_test {
namespace {

settings from(const std::map<std::string, std::string>& environment) {
  return settings::from_environment([&](const char* name) -> const char* {
    const auto found = environment.find(name);
    return found == environment.end() ? nullptr : found->second.c_str();
  });
}

std::string refusal(const std::function<void()>& f) {
  try {
    f();
  } catch (const usage_error& e) {
    return e.what();
  }
  return "accepted";
}

TEST(Settings, FindTheCacheFolderWhereTheDesktopStandardPutsIt) {
  EXPECT_EQ(from({{"XDG_CACHE_HOME", "/c"}, {"HOME", "/h"}}).cache_folder, "/c/cairn");
  EXPECT_EQ(from({{"XDG_CACHE_HOME", "relative"}, {"HOME", "/h"}}).cache_folder, "/h/.cache/cairn");
  EXPECT_EQ(from({}).cache_folder, "");
}

TEST(Settings, EveryRowTakesWhatItShows) {
  for (const auto& row : setting::all()) {
    settings s;
    const auto text = s.text(row.name);
    EXPECT_FALSE(text.empty()) << row.name;
    s.set(row.name, text);
    EXPECT_EQ(s.text(row.name), text) << row.name;
  }
}

TEST(Settings, EveryRowTakesAnotherValueFromItsVariableAndShowsIt) {
  const std::map<std::string, std::string> other{
      {"threads", "3"},     {"ranks", "4"},          {"pin", "on"},         {"mechanism", "htm"},
      {"grain", "32"},      {"coalesce", "8192"},    {"coalesce-age", "7"}, {"pending", "1024"},
      {"filter", "0"},      {"transport", "mpi"},    {"mpi", "openmpi"},    {"plugins", "/a/b"},
      {"machines", "2"},    {"sim", "ranks=8"},      {"retry", "hle"},      {"costs", "costs.json"},
      {"timeout", "2.5"},   {"watchdog", "10"},      {"routing", "grid"},   {"progress", "thread"},
      {"deliver", "owner"}, {"frequency", "100"},    {"prefetching", "48"}, {"loop-tasks", "1024"},
      {"helpers", "15"},    {"command-block", "64"}, {"queue-age", "30"},   {"channel-blocks", "8"},
      {"lead", "2"},        {"share-gets", "on"}};
  std::map<std::string, std::string> environment;
  for (const auto& row : setting::all()) {
    ASSERT_TRUE(other.contains(std::string(row.name))) << row.name << " is not in this test";
    environment[std::string(row.variable)] = other.at(std::string(row.name));
  }
  const auto s = from(environment);
  for (const auto& row : setting::all()) {
    EXPECT_EQ(s.text(row.name), other.at(std::string(row.name)));
    EXPECT_NE(s.text(row.name), settings().text(row.name)) << row.name;
  }
}

TEST(Settings, LoopsHaveTheWorldsNumberOfTasksUnlessItIsSet) {
  EXPECT_EQ(settings().for_world().loop_tasks, world_options().loop_tasks);
  EXPECT_EQ(from({{"CAIRN_LOOP_TASKS", "8"}}).for_world().loop_tasks, 8u);
}

TEST(Settings, GetsShareRequestsIfTheVariableSaysSo) {
  EXPECT_FALSE(settings().for_world().share_gets);
  EXPECT_TRUE(from({{"CAIRN_SHARE_GETS", "on"}}).for_world().share_gets);
}

TEST(Settings, NamesAndVariablesAreDistinctAndSpeltAlike) {
  std::set<std::string> variables;
  for (const auto& row : setting::all()) {
    auto wanted = "CAIRN_" + std::string(row.name);
    for (auto& c : wanted) c = c == '-' ? '_' : static_cast<char>(std::toupper(c));
    EXPECT_EQ(row.variable, wanted);
    EXPECT_TRUE(variables.insert(wanted).second) << wanted;
    EXPECT_FALSE(row.help.empty());
  }
}

TEST(Settings, ABadVariableIsNamed) {
  EXPECT_EQ(refusal([] {
              from({{"CAIRN_THREADS", "many"}});
            }),
            "CAIRN_THREADS is 'many', expected auto|1..4096");
}

TEST(Settings, ValuesThatMakeNoSenseAreRefused) {
  for (const char* bad :
       {"threads=0",       "threads=-1",       "threads=",         "threads=1x",
        "threads= 1",      "threads=99999",    "ranks=0",          "ranks=99999999999",
        "pin=yes",         "mechanism=magic",  "grain=0",          "grain=513",
        "retry=often",     "coalesce=0",       "coalesce=K",       "coalesce=99999999999G",
        "coalesce-age=-1", "pending=1T",       "transport=tcp",    "mpi=lam",
        "plugins=",        "routing=ring",     "progress=threads", "machines=0",
        "prefetching=0",   "loop-tasks=0",     "share-gets=yes",   "helpers=0",
        "command-block=0", "queue-age=-1",     "channel-blocks=0", "sim=",
        "coalesce=1025M",  "command-block=2G", "nonsense=1",       "threads"}) {
    EXPECT_NE(refusal([&] { settings().set(bad); }), "accepted") << bad;
  }
}

TEST(Settings, AmountsMayBeGivenInPowersOf1024) {
  settings s;
  s.set("coalesce=1G");
  EXPECT_EQ(s.coalesce_bytes, 1u << 30);
  s.set("coalesce=4K");
  s.set("pending=2M");
  s.set("filter=1G");
  EXPECT_EQ(s.coalesce_bytes, 4096u);
  EXPECT_EQ(s.pending_bytes, 2u << 20);
  EXPECT_EQ(s.filter_entries, 1u << 30);
}

TEST(Settings, TakesItsOptionsOutAndLeavesTheOthersInOrder) {
  settings s;
  const std::vector<std::string> given{"bfs",         "--ranks", "3", "file.el",
                                       "--threads=2", "--seed",  "7", "--threadsx",
                                       "--",          "--ranks", "9"};
  const auto others = s.take_options(given);
  EXPECT_EQ(others, (std::vector<std::string>{"bfs", "file.el", "--seed", "7", "--threadsx", "--",
                                              "--ranks", "9"}));
  EXPECT_EQ(s.ranks, 3);
  EXPECT_EQ(s.threads, 2);
}

TEST(Settings, AnOptionWithoutItsValueIsRefused) {
  settings s;
  const std::vector<std::string> given{"--ranks"};
  EXPECT_EQ(refusal([&] { static_cast<void>(s.take_options(given)); }),
            "--ranks requires a value: auto|1..65536");
}

TEST(Settings, TheWorldGetsItsPartInItsUnits) {
  settings s;
  s.coalesce_age_us = 3;
  s.coalesce_bytes = 100;
  s.pending_bytes = 200;
  s.filter_entries = 300;
  s.routing = routing::machine;
  s.progress = progress_style::specialised;
  s.helpers = 3;
  s.command_block_bytes = 64;
  s.queue_age_us = 5;
  s.channel_blocks = 2;
  s.deliver = delivery::owner;
  s.frequency = 7;
  s.lead = 3;
  const auto w = s.for_world();
  EXPECT_EQ(w.coalesce_age_ns, 3000u);
  EXPECT_EQ(w.coalesce_bytes, 100u);
  EXPECT_EQ(w.pending_bytes, 200u);
  EXPECT_EQ(w.filter_entries, 300u);
  EXPECT_EQ(w.routing, routing::machine);
  EXPECT_EQ(w.progress, progress_style::specialised);
  EXPECT_EQ(w.specialised.helpers, 3);
  EXPECT_EQ(w.specialised.command_block_bytes, 64u);
  EXPECT_EQ(w.specialised.queue_age_ns, 5000u);
  EXPECT_EQ(w.specialised.channel_blocks, 2u);
  EXPECT_EQ(w.deliver, delivery::owner);
  EXPECT_EQ(w.frequency, 7u);
  EXPECT_EQ(w.lead, 3u);
}

}  // namespace
}  // namespace cairn::settings_test
