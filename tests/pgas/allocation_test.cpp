// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <tuple>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <cairn/base/contract.hpp>
#include <cairn/base/random.hpp>
#include <cairn/pgas/allocation.hpp>

#include <support/schedules.hpp>

namespace cairn::pgas::allocation_test {
namespace {

using support::num_twin_schedules;
using message = allocation::message;
using outcome = allocation::outcome;
using step = allocation::step;

enum class ending {
  correct,
  part_is_missing,
  part_is_left,
  part_overwritten,
  id_used_twice,
  freed_twice,
  forgotten,
  stuck
};

struct packet {
  rank_t from, to;
  message m;
};
auto key_of(const array_id& id) { return std::tuple(id.creator, id.slot, id.generation); }

/// The memory of some ranks, and what their operations were told.
struct simulated_memory {
  struct part {
    std::uint16_t generation = 0;  // 0: none
  };
  struct port {
    simulated_memory& all;
    rank_t me;
    void send(rank_t to, const message& m) { all.in_flight.push_back({me, to, m}); }
    bool make_part(const array_id& id, const array_shape&) {
      if (all.random.below(16) < all.refusals) return false;
      auto& p = all.at(me, id);
      if (p.generation != 0) all.fails(ending::part_overwritten);
      p.generation = id.generation;
      return true;
    }
    void drop_part(const array_id& id) {
      auto& p = all.at(me, id);
      if (p.generation == id.generation) p.generation = 0;
    }
    void finished(std::uint64_t by, const array_id& id, outcome result) {
      all.finished(by, id, result);
    }
  };
  struct operation {
    bool frees;
    array_id id;
  };

  explicit simulated_memory(random64& r, rank_t size) : random(r), ranks(size) {}

  part& at(rank_t r, const array_id& id) { return parts[{r, id.creator, id.slot}]; }
  rank_t num_parts(const array_id& id) {
    rank_t n = 0;
    for (rank_t r = 0; r < ranks; ++r) n += at(r, id).generation == id.generation;
    return n;
  }
  void fails(ending e) {
    if (end == ending::correct) end = e;
  }
  void finished(std::uint64_t by, const array_id& id, outcome o) {
    const auto found = pending.find(by);
    if (found == pending.end()) return fails(ending::stuck);
    const auto op = found->second;
    pending.erase(found);
    if (!op.frees && o == outcome::done) {
      if (num_parts(id) != ranks) fails(ending::part_is_missing);
      if (!given_out.insert(key_of(id)).second) fails(ending::id_used_twice);
      handles.push_back(id);
      ++live;
    } else if (o == outcome::unknown) {
      if (!asked_to_free.contains(key_of(op.id))) fails(ending::forgotten);
    } else if (!op.frees || o == outcome::done) {
      if (num_parts(op.frees ? op.id : id) != 0) fails(ending::part_is_left);
      if (op.frees && !freed.insert(key_of(op.id)).second) fails(ending::freed_twice);
      live -= op.frees;
    }
  }

  random64& random;
  rank_t ranks;
  std::uint64_t refusals = 0;  // of 16
  std::vector<packet> in_flight;
  std::map<std::tuple<rank_t, int, int>, part> parts;
  std::map<std::uint64_t, operation> pending;
  std::set<std::tuple<int, int, int>> given_out, freed, asked_to_free;
  std::vector<array_id> handles;  // given out, also those freed since
  std::size_t live = 0;
  ending end = ending::correct;
};

/// Ranks that allocate and free, also what others have allocated, twice or long ago.
///
/// correct if a finished allocation has a part on every rank, one that was freed or refused has
/// none, each id is given out and freed once, and every operation ends.
template <class Machine>
ending play(std::uint64_t seed, auto make) {
  random64 random(seed);
  const auto size = static_cast<rank_t>(1 + random.below(4));
  const auto generations = static_cast<std::uint16_t>(random.below(4) == 0 ? 2 : 0xffff);
  simulated_memory all(random, size);
  if (random.below(2) == 0) all.refusals = 1 + random.below(4);
  std::vector<Machine> machines;
  for (rank_t r = 0; r < size; ++r) machines.push_back(make(r, size, generations));
  std::uint64_t left = 3 + random.below(20), next = 1;
  const auto frees = 1 + random.below(6);                                      // of 8 operations
  std::vector<std::optional<array_id>> begun(static_cast<std::size_t>(size));  // by rank
  const auto start = [&](rank_t r) {
    simulated_memory::port port{all, r};
    auto& machine = machines[static_cast<std::size_t>(r)];
    if (const auto id = std::exchange(begun[static_cast<std::size_t>(r)], std::nullopt)) {
      machine.ask_others(*id, array_shape{}, port.make_part(*id, array_shape{}), port);
      return true;
    }
    if (left == 0) return false;
    --left;
    const auto by = next++;
    if (!all.handles.empty() && random.below(8) < frees) {
      const auto id = all.handles[random.below(all.handles.size())];
      all.pending[by] = {true, id};
      machine.free(id, by, port);
      all.asked_to_free.insert(key_of(id));
    } else {
      all.pending[by] = {false, {}};
      begun[static_cast<std::size_t>(r)] = machine.begin_alloc(by, port);
    }
    return true;
  };
  const bool ended = support::play_ranks(
      random, size, all.in_flight,
      [&] {
        return all.end != ending::correct ||
               (left == 0 && all.pending.empty() && all.in_flight.empty());
      },
      start,
      [&](const packet& p) {
        simulated_memory::port port{all, p.to};
        machines[static_cast<std::size_t>(p.to)].handle(p.from, p.m, port);
      });
  if (!ended) return ending::stuck;
  std::size_t live = 0;
  for (const auto& m : machines) live += m.live();
  return all.end == ending::correct && live != all.live ? ending::forgotten : all.end;
}

TEST(Allocation, EverySchedulePutsAPartOnEveryRankAndUsesEachIdOnce) {
  const auto make = [](rank_t r, rank_t size, std::uint16_t g) { return allocation(r, size, g); };
  support::expect_every_schedule(ending::correct,
                                 [&](std::uint64_t seed) { return play<allocation>(seed, make); });
}

enum class fault {
  none,
  finishes_at_the_first_answer,
  reuses_at_the_first_answer,
  without_generations,
  frees_what_is_not_there,
  keeps_what_others_refused
};

/// The machine, with a fault between it and its ranks.
class twin {
 public:
  twin(rank_t me, rank_t ranks, std::uint16_t generations, fault f)
      : machine_(me, ranks, generations), ranks_(ranks), fault_(f) {}

  template <class Port>
  std::optional<array_id> begin_alloc(std::uint64_t by, Port& port) {
    spoiled<Port> to{*this, port};
    const auto id = machine_.begin_alloc(by, to);
    return id ? std::optional(outer(*id)) : std::nullopt;
  }
  template <class Port>
  void ask_others(const array_id& id, const array_shape& shape, bool made, Port& port) {
    spoiled<Port> to{*this, port};
    machine_.ask_others(inner(id), shape, made, to);
  }
  template <class Port>
  void free(const array_id& id, std::uint64_t by, Port& port) {
    spoiled<Port> to{*this, port};
    machine_.free(inner(id), by, to);
  }
  template <class Port>
  void handle(rank_t from, message m, Port& port) {
    spoiled<Port> to{*this, port};
    m.id = inner(m.id);
    const bool makes = m.kind == step::made || m.kind == step::refuse;
    const bool hasty = (makes && fault_ == fault::finishes_at_the_first_answer) ||
                       (m.kind == step::dropped && fault_ == fault::reuses_at_the_first_answer);
    if (!hasty) return machine_.handle(from, m, to);
    if (!answered_.insert({key_of(m.id), makes}).second) return;
    for (rank_t r = 1; r < ranks_; ++r) machine_.handle(from, m, to);
  }
  [[nodiscard]] std::size_t live() const { return machine_.live(); }

 private:
  template <class Port>
  struct spoiled {
    twin& t;
    Port& port;
    void send(rank_t to, message m) {
      m.id = t.outer(m.id);
      port.send(to, m);
    }
    bool make_part(const array_id& id, const array_shape& s) {
      return port.make_part(t.outer(id), s);
    }
    void drop_part(const array_id& id) {
      if (t.fault_ != fault::keeps_what_others_refused) port.drop_part(t.outer(id));
    }
    void finished(std::uint64_t by, const array_id& id, outcome o) {
      if (t.fault_ == fault::frees_what_is_not_there && o == outcome::unknown) o = outcome::done;
      port.finished(by, t.outer(id), o);
    }
  };

  array_id outer(array_id id) {
    if (fault_ == fault::without_generations) {
      latest_[{id.creator, id.slot}] = id.generation;
      id.generation = 1;
    }
    return id;
  }
  array_id inner(array_id id) {
    if (fault_ != fault::without_generations) return id;
    const auto found = latest_.find({id.creator, id.slot});
    if (found != latest_.end()) id.generation = found->second;
    return id;
  }

  allocation machine_;
  rank_t ranks_;
  fault fault_;
  std::set<std::pair<std::tuple<std::uint16_t, std::uint16_t, std::uint16_t>, bool>> answered_;
  std::map<std::pair<int, int>, std::uint16_t> latest_;
};

std::uint64_t caught(fault f) {
  const auto make = [f](rank_t r, rank_t size, std::uint16_t g) { return twin(r, size, g, f); };
  return support::num_caught(ending::correct,
                             [&](std::uint64_t seed) { return play<twin>(seed, make); });
}

TEST(AllocationTwin, WithoutAFaultPassesTheSameSchedules) { EXPECT_EQ(caught(fault::none), 0u); }
TEST(AllocationTwin, ThatFinishesAtTheFirstAnswerIsCaught) {
  EXPECT_GT(caught(fault::finishes_at_the_first_answer), num_twin_schedules / 100);
}
TEST(AllocationTwin, ThatReusesASlotAtTheFirstAnswerIsCaught) {
  EXPECT_GT(caught(fault::reuses_at_the_first_answer), num_twin_schedules / 100);
}
TEST(AllocationTwin, WithoutGenerationsIsCaught) {
  EXPECT_GT(caught(fault::without_generations), num_twin_schedules / 100);
}
TEST(AllocationTwin, ThatFreesTwiceIsCaught) {
  EXPECT_GT(caught(fault::frees_what_is_not_there), num_twin_schedules / 100);
}
TEST(AllocationTwin, ThatKeepsWhatOthersRefusedIsCaught) {
  EXPECT_GT(caught(fault::keeps_what_others_refused), num_twin_schedules / 100);
}

struct recording_port {
  std::vector<std::pair<array_id, outcome>> ends;
  std::vector<message> sent;
  void send(rank_t, const message& m) { sent.push_back(m); }
  bool make_part(const array_id&, const array_shape&) { return true; }
  void drop_part(const array_id&) {}
  void finished(std::uint64_t, const array_id& id, outcome o) { ends.emplace_back(id, o); }
};

TEST(Allocation, ASlotIsRetiredAfterItsLastGeneration) {
  allocation machine(0, 1, 3);
  recording_port port;
  std::set<std::uint16_t> slots;
  for (int i = 0; i < 9; ++i) {
    const auto id = machine.begin_alloc(1, port);
    ASSERT_TRUE(id);
    machine.ask_others(*id, {}, true, port);
    slots.insert(port.ends.back().first.slot);
    machine.free(port.ends.back().first, 2, port);
    for (const auto& own : std::exchange(port.sent, {})) machine.handle(0, own, port);
    EXPECT_EQ(port.ends.back().second, outcome::done);
  }
  EXPECT_EQ(slots.size(), 3u);
  EXPECT_EQ(machine.live(), 0u);
}

TEST(Allocation, TheDefaultIdNamesNoArray) {
  allocation machine(0, 2);
  recording_port port;
  machine.free({}, 1, port);
  machine.free({5, 0, 1}, 2, port);  // of a rank that does not exist
  machine.free({0, 7, 1}, 3, port);
  ASSERT_EQ(port.ends.size(), 3u);
  for (const auto& [id, how] : port.ends) EXPECT_EQ(how, outcome::unknown);
}

}  // namespace
}  // namespace cairn::pgas::allocation_test
