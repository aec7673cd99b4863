// SPDX-License-Identifier: Apache-2.0
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <cairn/obs/trace.hpp>
#include <cairn/obs/trace_writer.hpp>
#include <cairn/obs/traffic.hpp>

namespace cairn::obs::trace_test {
namespace {

/// A trace with a clock that a test moves.
struct traced {
  explicit traced(std::size_t capacity, int workers = 1)
      : of(workers, capacity, [this] { return now_ns; }) {
    of.resume();
  }
  std::uint64_t now_ns = 1000;
  trace of;
};

/// What rank 1 of three writes with the trace t.
nlohmann::json written(const trace& t, const std::map<std::uint32_t, std::string>& channels = {},
                       std::int64_t offset_ns = 0,
                       std::span<const trace_record> sent_by_rank_0 = {}) {
  std::string text;
  obs::trace_writer writer([&](std::string_view s) { text += s; }, 3, channels);
  writer.note_sends(0, sent_by_rank_0);
  for (worker_t k{0}; k < t.workers(); ++k) writer.note_sends(1, t.of_worker(k));
  for (worker_t k{0}; k < t.workers(); ++k) writer.worker(1, k, t.of_worker(k), offset_ns);
  writer.finish({{"clock", "a \"test's\"\n"}});
  return nlohmann::json::parse(text);
}

TEST(Trace, ABufferKeepsTheOldestRecordsAndCountsTheOthers) {
  traced t(3);
  for (int i = 0; i < 10; ++i) {
    ++t.now_ns;
    t.of.note(main_worker, trace_kind::choice, "x", {.amount = static_cast<std::uint64_t>(i)});
  }
  const auto kept = t.of.of_worker(main_worker);
  ASSERT_EQ(kept.size(), 3u);
  for (std::size_t i = 0; i < 3; ++i) EXPECT_EQ(kept[i].amount, i);
  EXPECT_EQ(t.of.dropped(main_worker), 7u);
}

TEST(Trace, RecordsNothingWhilePausedOrWithoutRoom) {
  traced t(4);
  t.of.pause();
  t.of.note(main_worker, trace_kind::choice, "x");
  { const trace_span span(t.of, main_worker, trace_kind::job); }
  EXPECT_TRUE(t.of.of_worker(main_worker).empty());
  EXPECT_EQ(t.of.dropped(main_worker), 0u);
  traced off(0);
  EXPECT_FALSE(off.of.on());
  EXPECT_FALSE(off.of.wanted());
  { const trace_span span(off.of, worker_t{7}, trace_kind::job); }
}

TEST(Trace, ASpanThatBeganIsRecordedThoughTheTraceIsPausedMeanwhile) {
  traced t(4);
  {
    trace_span span(t.of, main_worker, trace_kind::loop);
    t.of.pause();
    t.now_ns += 5;
  }
  ASSERT_EQ(t.of.of_worker(main_worker).size(), 1u);
  EXPECT_EQ(t.of.of_worker(main_worker)[0].end_ns - 5, t.of.of_worker(main_worker)[0].begin_ns);
}

TEST(Trace, ADroppedSpanAndASpanEndedTwiceLeaveOneRecordTogether) {
  traced t(4);
  {
    trace_span dropped(t.of, main_worker, trace_kind::loop);
    dropped.drop();
    trace_span ended(t.of, main_worker, trace_kind::loop);
    ended.end();
    ended.end();
  }
  EXPECT_EQ(t.of.of_worker(main_worker).size(), 1u);
}

TEST(Trace, LongTextsAreCut) {
  traced t(1);
  t.of.note(main_worker, trace_kind::choice, std::string(40, 'y'));
  EXPECT_EQ(t.of.of_worker(main_worker)[0].text_view(), std::string(trace_record::max_text, 'y'));
}

TEST(Trace, IdleTimeEndsWhereWorkBegins) {
  traced t(4);
  obs::idle_span idle(main_worker);
  idle.end();  // no poll without work yet
  idle.before_poll(&t.of);
  t.now_ns += 10;
  idle.before_poll(&t.of);
  t.now_ns += 10;  // the poll found work, which took so long
  idle.end_at_look();
  idle.end();
  const auto records = t.of.of_worker(main_worker);
  ASSERT_EQ(records.size(), 1u);
  EXPECT_EQ(records[0].begin_ns, 1000u);
  EXPECT_EQ(records[0].end_ns, 1010u);
}

TEST(Trace, WorkersRecordAtTheSameTime) {
  trace t(4, 1000, [] { return std::uint64_t{1}; });
  t.resume();
  std::vector<std::thread> threads;
  for (worker_t k{0}; k < 4; ++k) {
    threads.emplace_back([&t, k] {
      for (int i = 0; i < 1500; ++i)
        t.note(k, trace_kind::choice, "x", {.amount = static_cast<unsigned>(i)});
    });
  }
  for (auto& thread : threads) thread.join();
  for (worker_t k{0}; k < 4; ++k) {
    EXPECT_EQ(t.of_worker(k).size(), 1000u);
    EXPECT_EQ(t.of_worker(k)[999].amount, 999u);
    EXPECT_EQ(t.dropped(k), 500u);
  }
}

TEST(Trace, AJobSharesAMillionRecords) {
  EXPECT_EQ(trace::share(1, 1), std::size_t{1} << 17);
  EXPECT_EQ(trace::share(8, 4), std::size_t{1} << 15);
  EXPECT_EQ(trace::share(4096, 1), std::size_t{1} << 10);
}

TEST(Trace, ChannelsAreNamedWithoutNamespaces) {
  traced t(1);
  t.of.name_channel(4, "cairn::algo::{anonymous}::visit<unsigned int>::message");
  t.of.name_channel(5, "request<algo::color::message>::ticketed_question");
  EXPECT_EQ(t.of.channels()[0].name, "visit<unsigned int>");
  EXPECT_EQ(t.of.channels()[1].number, 5u);
  EXPECT_EQ(t.of.channels()[1].name, "request<color>::ticketed_question");
}

TEST(TraceWriter, OuterSpansComeFirstAndTimesAscend) {
  traced t(16);
  {
    trace_span outer(t.of, main_worker, trace_kind::epoch);
    outer->number = 7;
    const trace_span inner(t.of, main_worker, trace_kind::job);  // begins and ends with it
    t.now_ns += 1500;
    t.of.note(main_worker, trace_kind::wave, {}, {.amount = 20, .count = 3});
  }
  const auto events = written(t.of, {}, -1000)["traceEvents"];
  ASSERT_EQ(events.size(), 5u);  // two names
  EXPECT_EQ(events[0]["ph"], "M");
  EXPECT_EQ(events[0]["args"]["name"], "rank 1");
  EXPECT_EQ(events[1]["args"]["name"], "worker 0");
  EXPECT_EQ(events[2]["name"], "epoch");
  EXPECT_EQ(events[2]["args"]["epoch"], 7);
  EXPECT_EQ(events[2]["ts"], 0.0);
  EXPECT_EQ(events[2]["dur"], 1.5);
  EXPECT_EQ(events[3]["name"], "job");
  EXPECT_EQ(events[4]["ph"], "i");
  EXPECT_EQ(events[4]["args"]["in_flight"], 3);
}

TEST(TraceWriter, ABufferIsOneArrowFromItsSendToItsHandler) {
  traced t(16);
  const auto record = [&](trace_kind kind, cairn::rank_t peer) {
    trace_span span(t.of, main_worker, kind);
    span->peer = peer;
    span->number = 2;
    span->amount = 64;
    span->sequence = 9;
    ++t.now_ns;
  };
  record(trace_kind::send, 2);
  record(trace_kind::receive, 0);
  record(trace_kind::handler, 0);
  record(trace_kind::handler, 1);  // of this rank's own: no arrow
  trace_record sent{};
  sent.kind = trace_kind::send;
  sent.peer = 1;
  sent.sequence = 9;
  const auto events = written(t.of, {{2, "a \\ \"name\"\n"}}, 0, {&sent, 1})["traceEvents"];
  std::string types;
  std::vector<std::uint64_t> ids;
  for (const auto& e : events) {
    types += e["ph"].get<std::string>();
    if (e.contains("id")) ids.push_back(e["id"]);
    if (e["ph"] == "X") {
      EXPECT_EQ(e["args"]["channel_name"], "a \\ \"name\"\n");
    }
  }
  EXPECT_EQ(types, "MMXsXtXfX");
  ASSERT_EQ(ids.size(), 3u);
  EXPECT_NE(ids[0], ids[1]);  // 1 to 2, not 0 to 1
  EXPECT_EQ(ids[1], ids[2]);
}

// A sender that is paused, or whose records are full, leaves a buffer without a recorded send.
TEST(TraceWriter, ABufferWithoutItsSendHasNoArrow) {
  traced t(16);
  for (const auto kind : {trace_kind::receive, trace_kind::handler}) {
    for (const auto sequence : {std::uint16_t{3}, std::uint16_t{4}}) {
      trace_span span(t.of, main_worker, kind);
      span->peer = 0;
      span->sequence = sequence;
      ++t.now_ns;
    }
  }
  trace_record sent{};
  sent.kind = trace_kind::send;
  sent.peer = 1;
  sent.sequence = 4;
  std::string types;
  const auto whole = written(t.of, {}, 0, {&sent, 1});
  for (const auto& e : whole["traceEvents"]) types += e["ph"].get<std::string>();
  EXPECT_EQ(types, "MMXXtXXf");
}

TEST(TraceWriter, AnEmptyTraceIsAFile) {
  const auto whole = written(trace(2, 4, nullptr));
  EXPECT_EQ(whole["traceEvents"].size(), 3u);
  EXPECT_EQ(whole["otherData"]["clock"], "a \"test's\"\n");
}

TEST(Traffic, IsARowOfReceiversOrWithManyRanksASum) {
  for (const cairn::rank_t ranks : {3, 64, 65}) {
    obs::traffic_row row(ranks);
    row.add(1, {.messages = 10, .bytes = 100, .buffers = 1});
    row.add(2, {.messages = 0, .bytes = 16, .buffers = 1});
    row.add(1, {.messages = 1, .bytes = 20, .buffers = 1});
    if (ranks == 65) {
      ASSERT_EQ(row.amounts().size(), 1u);
      EXPECT_EQ(row.amounts()[0].bytes, 136u);
    } else {
      ASSERT_EQ(row.amounts().size(), static_cast<std::size_t>(ranks));
      EXPECT_EQ(row.amounts()[1].messages, 11u);
      EXPECT_EQ(row.amounts()[1].buffers, 2u);
      EXPECT_EQ(row.amounts()[0].bytes, 0u);
    }
  }
}

}  // namespace
}  // namespace cairn::obs::trace_test
