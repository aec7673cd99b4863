// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <deque>
#include <iterator>
#include <list>
#include <span>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <cairn/base/random.hpp>
#include <cairn/core/communication_server.hpp>
#include <cairn/core/helper_room.hpp>

#include <support/schedules.hpp>

namespace cairn::helper_room_test {
namespace {

using packet = std::vector<std::byte>;

/// Links of few packets between all ranks; deque links[from][to].
using links = std::vector<std::vector<std::deque<packet>>>;

class narrow_transport final : public net::transport {
 public:
  narrow_transport(links& all, rank_t self, std::size_t room)
      : all_(all), self_(self), room_(room) {}
  [[nodiscard]] rank_t self() const noexcept override { return self_; }
  [[nodiscard]] rank_t size() const noexcept override { return static_cast<rank_t>(all_.size()); }
  [[nodiscard]] std::size_t max_packet() const noexcept override { return 512; }
  [[nodiscard]] std::size_t best_packet() const noexcept override { return 512; }
  [[nodiscard]] bool send(rank_t to, std::span<const std::byte> p) override {
    auto& link = all_[static_cast<std::size_t>(self_)][static_cast<std::size_t>(to)];
    if (link.size() == room_) return false;
    link.emplace_back(p.begin(), p.end());
    return true;
  }
  std::size_t poll(const sink& deliver) override {
    std::size_t packets = 0;
    for (rank_t from = 0; from < size(); ++from) {
      auto& link = all_[static_cast<std::size_t>(from)][static_cast<std::size_t>(self_)];
      for (; !link.empty(); ++packets) {
        deliver(from, link.front());
        link.pop_front();
      }
    }
    return packets;
  }

 private:
  links& all_;
  rank_t self_;
  std::size_t room_;
};

enum class fault { none, helper_always_answers, server_keeps_the_bound };
enum class ending { correct, above_a_bound, stuck };

constexpr worker_t asker{0}, helper{1}, server_thread{2};
constexpr int threads = 3;
constexpr std::size_t block_bytes = 48;

struct message {
  rank_t from;
  bool is_question;
};

/// What a schedule's ranks have in common.
struct plan {
  fault with;
  std::size_t link_packets, channel_blocks, bound_bytes, credits, answers;  // to each question
};

/// One rank: a worker that asks, a helper and a communication server. A step is a step of one
/// thread.
class rank_of_threads {
 public:
  rank_of_threads(const plan& p, links& all, rank_t self, std::size_t questions)
      : plan_(p),
        net_(all, self, p.link_packets),
        cutting_(net_.max_packet()),
        counters_(threads),
        trace_(threads, 0, nullptr),
        out_(net_, cutting_, counters_, trace_, server_thread),
        server_(threads, net_.size(), {.packet_bytes = 160, .channel_blocks = p.channel_blocks}),
        to_ask_(questions) {}

  bool step(random64& random) {
    switch (random.below(threads)) {
      case 0:
        return ask(random);
      case 1:
        return help();
      default:
        return serve();
    }
  }
  [[nodiscard]] bool ended() const { return to_ask_ == 0 && unanswered_ == 0; }
  [[nodiscard]] bool above_a_bound() const {
    return server_.waiting_blocks(helper) >= plan_.channel_blocks + plan_.answers;
  }

 private:
  void post(worker_t k, rank_t to, bool question) {
    buffer b(block_bytes);
    b.header() = {};
    b.set_size(block_bytes);
    const message m{net_.self(), question};
    std::memset(b.payload(), 0, block_bytes);
    std::memcpy(b.payload(), &m, sizeof m);
    static_cast<void>(server_.hand_over(k, to, 1, std::move(b)));
  }
  bool ask(random64& random) {
    if (to_ask_ == 0 || server_.full(asker) || unanswered_ >= plan_.credits * plan_.answers) {
      return false;
    }
    const auto others = static_cast<std::uint64_t>(net_.size() - 1);
    const auto away = 1 + static_cast<rank_t>(random.below(others));
    post(asker, (net_.self() + away) % net_.size(), true);
    unanswered_ += plan_.answers;
    --to_ask_;
    return true;
  }
  [[nodiscard]] bool runs_any_handler() const {
    return plan_.with == fault::helper_always_answers ||
           helper_room::runs_any_handler(server_.full(helper));
  }
  bool help() {
    if (!answers_.empty()) {
      answers_.pop_front();
      --unanswered_;
      return true;
    }
    if (questions_.empty() || !runs_any_handler()) return false;
    const auto q = questions_.front();
    questions_.pop_front();
    for (std::size_t i = 0; i < plan_.answers; ++i) post(helper, q.from, false);
    return true;
  }
  [[nodiscard]] bool receives() const {
    const auto queued = questions_.size() + answers_.size();
    const auto held = queued * block_bytes + server_.waiting_bytes() + out_.waiting_bytes();
    if (queued == 0 || held <= plan_.bound_bytes) return true;
    return plan_.with != fault::server_keeps_the_bound &&
           helper_room::receives_above_bound(!runs_any_handler());
  }
  bool serve() {
    const bool receiving = receives();
    const auto pending = out_.waiting_bytes();
    out_.drain(server_thread);
    const bool drained = out_.waiting_bytes() != pending;
    std::size_t packets = 0;
    if (receiving) packets = net_.poll([&](rank_t, auto p) { arrived(p); });
    return server_.send(server_thread, out_, counters_, 0) || packets != 0 || drained;
  }
  void arrived(std::span<const std::byte> p) {
    packet_header header;
    std::memcpy(&header, p.data(), sizeof header);
    const auto accept = [&](const packet_header&, std::span<const std::byte> block) {
      message m{};
      std::memcpy(&m, block.data(), sizeof m);
      (m.is_question ? questions_ : answers_).push_back(m);
    };
    const auto payload = p.subspan(sizeof header);
    if (header.kind == packet_kind::bundle)
      return communication_server::take_apart(payload, accept);
    accept(header, payload);
  }

  const plan& plan_;
  narrow_transport net_;
  fragments cutting_;
  obs::counters counters_;
  obs::trace trace_;
  outbox out_;
  communication_server server_;
  std::size_t to_ask_, unanswered_ = 0;
  std::deque<message> questions_, answers_;
};

/// Plays one schedule: the seed decides all bounds and which thread of which rank takes a step.
///
/// correct if all questions were answered, and the channel of a helper never held more than its
/// bound and the answers to one question.
ending play(std::uint64_t seed, fault with) {
  random64 random(seed);
  const auto size = static_cast<rank_t>(2 + random.below(2));
  const plan p{.with = with,
               .link_packets = 1 + random.below(2),
               .channel_blocks = 1 + random.below(3),
               .bound_bytes = random.below(8) * block_bytes,
               .credits = 1 + random.below(12),
               .answers = 1 + random.below(3)};
  links all(static_cast<std::size_t>(size));
  for (auto& row : all) row.resize(all.size());
  std::list<rank_of_threads> ranks;
  for (rank_t r = 0; r < size; ++r) ranks.emplace_back(p, all, r, 4 + random.below(12));
  bool above = false;
  struct no_packet {
    rank_t to;
  };
  std::vector<no_packet> none;  // the links hold them
  const bool moved = support::play_ranks(
      random, size, none,
      [&] { return above || std::ranges::all_of(ranks, &rank_of_threads::ended); },
      [&](rank_t r) {
        auto& rank = *std::next(ranks.begin(), r);
        const bool did = rank.step(random);
        above |= rank.above_a_bound();
        return did;
      },
      [](no_packet) {});
  return above ? ending::above_a_bound : moved ? ending::correct : ending::stuck;
}

std::uint64_t caught(fault f) {
  return support::num_caught(ending::correct, [f](std::uint64_t seed) { return play(seed, f); });
}
constexpr auto many = support::num_twin_schedules / 100;

TEST(HelperRoom, EverySchedule) {
  support::expect_every_schedule(ending::correct,
                                 [](std::uint64_t seed) { return play(seed, fault::none); });
}

TEST(HelperRoomTwin, WhoseHelperAlwaysAnswersIsCaught) {
  EXPECT_GT(caught(fault::helper_always_answers), many);
}
TEST(HelperRoomTwin, WhoseServerKeepsTheBoundIsCaught) {
  EXPECT_GT(caught(fault::server_keeps_the_bound), many);
}

}  // namespace
}  // namespace cairn::helper_room_test
