// SPDX-License-Identifier: Apache-2.0
#include <atomic>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <cairn/am/channel.hpp>
#include <cairn/am/epoch.hpp>
#include <cairn/am/record_channel.hpp>
#include <cairn/base/contract.hpp>
#include <cairn/base/random.hpp>
#include <cairn/task/spin_lock.hpp>

#include <support/places.hpp>

namespace cairn::am::record_channel_test {
namespace {

class RecordChannel : public ::testing::TestWithParam<support::place> {};

INSTANTIATE_TEST_SUITE_P(Everywhere, RecordChannel, ::testing::ValuesIn(support::all_places()),
                         support::place_name);

// Record i of a rank: none to some letters; every 40th is larger than a buffer, every 150th than
// any packet of these transports.
std::string text(rank_t from, std::uint64_t i) {
  auto random = random64(i).stream(static_cast<std::uint64_t>(from));
  const auto length = i % 150 == 149 ? 70'000 : i % 40 == 39 ? 9000 : random.below(30);
  return std::string(length, static_cast<char>('a' + random.below(26)));
}

void send_everywhere(world& w, std::size_t coalesce_bytes, bool with_owner = false) {
  constexpr std::uint64_t each = 300;
  task::spin_lock guard;
  std::map<std::pair<rank_t, std::uint64_t>, std::string> received;
  const auto ranks = static_cast<std::uint64_t>(w.size());
  const auto destination = [ranks](rank_t from, std::uint64_t i) {
    return static_cast<rank_t>((static_cast<std::uint64_t>(from) + i) % ranks);
  };
  const auto take = [&](record_batch batch) {
    std::set<rank_t> senders;
    for (auto record : batch) {
      const auto from = unpack<rank_t>(record);
      const auto i = unpack<std::uint64_t>(record);
      const auto s = unpacked<std::string>(record);
      senders.insert(from);
      const std::lock_guard held(guard);
      EXPECT_TRUE(received.try_emplace({from, i}, s).second) << "twice: " << from << " " << i;
    }
    return senders;
  };
  const channel_options options{.coalesce_bytes = coalesce_bytes};
  std::optional<record_channel> messages;
  if (with_owner) {
    const auto owner = [destination](std::span<const std::byte> record) {
      const auto from = unpack<rank_t>(record);
      return destination(from, unpack<std::uint64_t>(record));
    };
    messages.emplace(
        w, owner, [&](worker_t, record_batch batch) { take(batch); }, options);
  } else {
    const auto check = [&](worker_t, rank_t from, record_batch batch) {
      EXPECT_EQ(take(batch), std::set<rank_t>{from});
    };
    messages.emplace(w, check, options);
  }
  epoch e(w);
  w.parallel_for(
      each,
      [&](worker_t k, std::size_t begin, std::size_t end) {
        for (auto i = begin; i < end; ++i) {
          messages->send_packed(k, destination(w.rank(), i), w.rank(), std::uint64_t{i},
                                text(w.rank(), i));
        }
      },
      7);
  e.close();
  std::size_t due = 0;
  for (rank_t from = 0; from < w.size(); ++from) {
    for (std::uint64_t i = 0; i < each; ++i) {
      if (destination(from, i) != w.rank()) continue;
      ++due;
      const auto found = received.find({from, i});
      ASSERT_NE(found, received.end()) << from << " sent " << i;
      EXPECT_EQ(found->second, text(from, i));
    }
  }
  EXPECT_EQ(received.size(), due);
}

TEST_P(RecordChannel, DeliversEachRecordOnceWhateverItsLength) {
  GetParam().run([](world& w) { send_everywhere(w, 0); });
}

TEST_P(RecordChannel, CarriesRecordsLargerThanTinyBuffers) {
  GetParam().run([](world& w) { send_everywhere(w, 16); },
                 {.coalesce_age_ns = 0, .pending_bytes = 100});
}

TEST_P(RecordChannel, RoutesRecordsThatNameTheirOwner) {
  for (const auto scheme : {routing::direct, routing::grid, routing::hypercube}) {
    GetParam().run([](world& w) { send_everywhere(w, 300, true); }, {.routing = scheme});
  }
}

TEST(RecordChannel, JoinsRecordsForHopsAmongManyRanks) {
  const auto body = [](world& w) {
    std::uint64_t received = 0, strays = 0;
    const auto owner = [](std::span<const std::byte> record) {
      return static_cast<rank_t>(record[0]);
    };
    record_channel records(w, owner, [&](worker_t, const record_batch& batch) {
      for (const auto record : batch) ++received, strays += owner(record) != w.rank();
    });
    epoch e(w);
    for (rank_t to = 0; to < w.size(); ++to) {
      const std::vector<std::byte> record(1 + static_cast<std::size_t>(to) % 5, std::byte(to));
      records.send(main_worker, to, record);
    }
    e.close();
    EXPECT_EQ(received, static_cast<std::uint64_t>(w.size()));
    EXPECT_EQ(strays, 0u);
    EXPECT_GT(w.sum(w.counters().total(obs::counter::buffers_joined)), 0u);
  };
  for (const std::size_t bytes : {0, 64}) {
    support::place{support::place::network::simulated, 40, 1}.run(body, {.coalesce_bytes = bytes});
  }
}

TEST_P(RecordChannel, CoalescesRecords) {
  GetParam().run([](world& w) {
    record_channel messages(w, [](worker_t, record_batch) {}, {.coalesce_bytes = 4096});
    const auto before = w.counters().total(obs::counter::buffers_sent);
    epoch e(w);
    const std::vector<std::byte> record(60);
    for (int i = 0; i < 4096; ++i) messages.send(main_worker, (w.rank() + 1) % w.size(), record);
    const auto buffers = w.counters().total(obs::counter::buffers_sent) - before;
    // 64 records of 60 + 4 bytes fill a buffer, which leaves when the next record comes.
    EXPECT_EQ(buffers, w.size() == 1 ? 0u : 63u);
    e.close();
  });
}

// A handler passes records on, also while its worker's own blocks are part-filled.
TEST_P(RecordChannel, CloseWaitsForHandlersThatSend) {
  GetParam().run([](world& w) {
    std::atomic<std::uint64_t> ended = 0;
    record_channel* messages = nullptr;
    record_channel ring(w, [&](worker_t k, record_batch batch) {
      for (auto record : batch) {
        const auto left = unpack<std::uint32_t>(record);
        const auto name = unpacked<std::string>(record);
        if (left == 0) {
          ended += name.size();
        } else {
          messages->send_packed(k, (w.rank() + 1) % w.size(), left - 1, name + "x");
        }
      }
    });
    messages = &ring;
    w.barrier();
    {
      epoch e(w);
      for (int i = 0; i < 5; ++i)
        ring.send_packed(main_worker, w.rank(), std::uint32_t{20}, std::string("n"));
      e.close();
      EXPECT_EQ(ended, 5 * 21u);
    }
    w.barrier();
  });
}

TEST_P(RecordChannel, LivesBesideChannelsOfMessages) {
  GetParam().run([](world& w) {
    std::atomic<std::uint64_t> records = 0, words = 0;
    record_channel some(w, [&](worker_t, record_batch batch) { records += batch.size(); });
    channel<std::uint64_t> others(
        w, [&](worker_t, std::span<const std::uint64_t> batch) { words += batch.size(); });
    epoch e(w);
    for (rank_t to = 0; to < w.size(); ++to) {
      for (std::uint64_t i = 0; i < 50; ++i) {
        some.send_packed(main_worker, to, std::string(i, 'r'));
        others.send(main_worker, to, i);
      }
    }
    e.close();
    EXPECT_EQ(records, 50 * static_cast<std::uint64_t>(w.size()));
    EXPECT_EQ(words, 50 * static_cast<std::uint64_t>(w.size()));
  });
}

TEST(RecordBatch, RefusesLengthsThatDoNotAddUp) {
  std::vector<std::byte> bytes(4 + 3 + 4);
  bytes[0] = std::byte{3};  // a record of 3 bytes, then an empty one
  EXPECT_EQ(record_batch(bytes).size(), 2u);
  for (std::size_t n = 1; n < bytes.size(); ++n) {
    if (n == 7) continue;
    EXPECT_THROW(record_batch(std::span(bytes).first(n)), contract_violation) << n;
  }
  for (const auto at : {0, 1, 2, 3, 7, 8, 9, 10}) {
    auto damaged = bytes;
    damaged[static_cast<std::size_t>(at)] ^= std::byte{0x40};
    EXPECT_THROW(record_batch{damaged}, contract_violation) << at;
  }
  std::vector<std::byte> huge(12, std::byte{0xff});  // 2^64 - 1 bytes
  EXPECT_THROW(record_batch{huge}, contract_violation);
  EXPECT_EQ(record_batch({}).size(), 0u);
}

}  // namespace
}  // namespace cairn::am::record_channel_test
