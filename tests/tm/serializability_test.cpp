// SPDX-License-Identifier: Apache-2.0
#include <vector>

#include <gtest/gtest.h>

#include <support/serializability.hpp>

namespace cairn::tm::serializability_test {
namespace {

using cairn::support::first_value;
using cairn::support::history;
using cairn::support::recorded_thread;

/// Two threads and their attempts by hand.
struct two_threads {
  std::vector<recorded_thread> log{recorded_thread(0, 2), recorded_thread(1, 2)};

  recorded_thread& begin(std::size_t t) {
    log[t].begin();
    return log[t];
  }
  std::uint64_t put(std::size_t t, std::uint32_t cell, std::uint64_t found) {
    const auto value = log[t].fresh();
    log[t].add({cell, found, value});
    return value;
  }
  [[nodiscard]] std::string complaint() const { return history(log).complaint(); }
};

TEST(Serializability, AcceptsWhatHasAnOrder) {
  two_threads h;
  h.begin(0);
  const auto x = h.put(0, 0, first_value(0));
  h.log[0].committed();
  h.begin(1).add({0, x});
  h.put(1, 1, first_value(1));
  h.log[1].committed();
  h.begin(0).add({1, first_value(1)});  // before the other's commit
  h.log[0].committed();
  EXPECT_EQ(h.complaint(), "");
}

TEST(Serializability, FindsALostUpdate) {
  two_threads h;
  for (const std::size_t t : {0, 1}) {
    h.begin(t);
    h.put(t, 3, first_value(3));
    h.log[t].committed();
  }
  EXPECT_EQ(h.complaint(), "attempts 1 and 2 both replaced one value of cell 3");
}

TEST(Serializability, FindsAWriteSkew) {
  two_threads h;
  for (const std::uint32_t t : {0, 1}) {
    h.begin(t).add({1 - t, first_value(1 - t)});
    h.put(t, t, first_value(t));
    h.log[t].committed();
  }
  EXPECT_NE(h.complaint().find("no order"), std::string::npos) << h.complaint();
}

// Half of the other's two writes: seen by one that was left, which had better not.
TEST(Serializability, FindsATornReadOfAnAttemptThatWasLeft) {
  two_threads h;
  h.begin(0);
  const auto x = h.put(0, 0, first_value(0));
  h.put(0, 1, first_value(1));
  h.log[0].committed();
  h.begin(1).add({0, x});
  h.log[1].add({1, first_value(1)});
  EXPECT_NE(h.complaint().find("no order"), std::string::npos) << h.complaint();
}

TEST(Serializability, FindsAReadOfWhatWasNeverCommitted) {
  two_threads h;
  h.begin(0);
  const auto x = h.put(0, 0, first_value(0));
  h.begin(1).add({0, x});
  EXPECT_EQ(h.complaint(),
            "attempt 2 found in cell 0 a value that attempt 1 wrote and never committed");
}

TEST(Serializability, FindsAThreadThatForgetsItsOwnCommit) {
  two_threads h;
  h.begin(0);
  h.put(0, 0, first_value(0));
  h.log[0].committed();
  h.begin(0).add({0, first_value(0)});
  h.log[0].committed();
  EXPECT_NE(h.complaint().find("no order"), std::string::npos) << h.complaint();
}

}  // namespace
}  // namespace cairn::tm::serializability_test
