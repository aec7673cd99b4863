// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include <cairn/base/random.hpp>

#include <bench/figures/lockstep.hpp>

namespace cairn::bench {
namespace {

using dtx::acquisition;

struct participant {
  acquisition held;
  std::uint64_t own = 0;
  int back_off_until = 0;
  bool committed = false;
};

using marks = std::vector<char>;  // per rank: whether its element is claimed

/// All claims of a turn; those of own elements come first.
void claim(std::vector<participant>& all, marks& claimed) {
  struct request {
    participant* by;
    std::size_t number;
  };
  std::vector<request> own, far;
  for (auto& p : all) {
    if (p.held.next() != acquisition::step::claim) continue;
    for (const auto i : p.held.claims()) (p.held[i].id == p.own ? own : far).push_back({&p, i});
  }
  own.insert(own.end(), far.begin(), far.end());
  for (const auto& r : own) {
    auto& mark = claimed[r.by->held[r.number].id];
    static_cast<void>(r.by->held.record_answer(r.number, mark == 0));
    mark = 1;
  }
}

void release(participant& p, marks& claimed) {
  for (std::size_t i = 0; i < p.held.size(); ++i) claimed[p.held[i].id] = 0;
}

}  // namespace

lockstep_result play_in_lockstep(int ranks, const dtx::back_off_limits& limits, int max_turns,
                                 std::uint64_t seed) {
  const auto n = static_cast<std::uint64_t>(ranks);
  random64 random(seed);
  marks claimed(n, 0);
  std::vector<participant> all(n);
  for (std::uint64_t p = 0; p < n; ++p) {
    all[p].own = p;
    all[p].held.add_element({0, p});
    all[p].held.add_element({0, (p + 1) % n});
  }
  const auto done = [&] {
    return std::all_of(all.begin(), all.end(), [](const participant& p) { return p.committed; });
  };
  int turn = 0;
  for (; turn < max_turns && !done(); ++turn) {
    for (auto& p : all) {
      if (p.held.next() == acquisition::step::back_off && turn >= p.back_off_until)
        p.held.end_back_off();
    }
    claim(all, claimed);
    for (auto& p : all) {
      if (p.committed) continue;
      if (p.held.next() == acquisition::step::run) {
        p.committed = true;
        release(p, claimed);
      } else if (p.held.next() == acquisition::step::release_all) {
        for (const auto i : p.held.release_all()) claimed[p.held[i].id] = 0;
        p.back_off_until = turn + static_cast<int>(p.held.back_off_ns(limits, random));
      }
    }
  }
  return {turn, done()};
}

}  // namespace cairn::bench
