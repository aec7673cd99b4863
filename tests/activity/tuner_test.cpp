// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <vector>

#include <gtest/gtest.h>

#include <cairn/activity/tuner.hpp>
#include <cairn/base/error.hpp>
#include <cairn/base/random.hpp>

namespace cairn::activity {
namespace {

constexpr std::uint64_t num_schedules = 100'000;
constexpr std::uint64_t num_twin_schedules = 10'000;  // the first of them
constexpr int spans_of_phase = 1500;

/// What operators cost for a while: an atomic instruction each, or a share of what a transaction
/// costs, and with longer ones more aborts.
struct phase {
  double atomics, each, section, abort;

  [[nodiscard]] double cost(const choice& by) const {
    if (by.how == mechanism::atomics) return atomics;
    const auto m = static_cast<double>(by.grain);
    return each + section / m + abort * m;
  }
  [[nodiscard]] double aborts(const choice& by) const {
    return by.how == mechanism::atomics ? 0 : abort * static_cast<double>(by.grain) / each;
  }
};

/// What came of one schedule.
struct ending {
  bool outside = false;  ///< it asked for a way that there is not
  double worst_share =
      -1;            ///< of the spans of a phase, whose way was not the start's: lost by that
  double apart = 0;  ///< most that the way at a phase's end costs above the best, as a share
  double lost = 0;   ///< what the tuner itself says
};

/// Some phases, each with its costs; spans of many lengths, whose times are disturbed, now and
/// then a lot. The seed decides all of it.
class schedule {
 public:
  schedule(std::uint64_t seed, const tuner_rules& rules) : dice_(seed), rules_(rules) {
    spread_ = 0.3 * dice_.uniform();
    least_ = 1 + dice_.below(64);
    most_ = least_ + dice_.below(2000);
    if (dice_.below(2) == 0) {
      candidates_ = {{{mechanism::atomics, 1}}, {{mechanism::htm, 64}, true}};
    } else {
      candidates_ = {{{mechanism::htm, 64}, true}};
      if (dice_.below(2) == 0) candidates_.push_back({{mechanism::atomics, 1}});
    }
  }

  ending play() {
    tuner t(candidates_, rules_);
    ending end;
    for (int phases = 0; phases < 2; ++phases) {
      const auto costs = draw_phase();
      const auto before = t.best();
      double spent = 0, stayed = 0;
      for (int i = 0; i < spans_of_phase; ++i) {
        const auto [by, measured] = t.next();
        if (by.grain < 1 || by.grain > max_grain || !known(by)) end.outside = true;
        const auto n = least_ + dice_.below(most_ - least_ + 1);
        const auto operators = static_cast<double>(n);
        spent += operators * costs.cost(by);
        stayed += operators * costs.cost(before);
        t.done({n, measured ? time_of(operators * costs.cost(by)) : 12345,
                static_cast<std::uint64_t>(operators * costs.aborts(by))});
      }
      end.apart = std::max(end.apart, costs.cost(t.best()) / best_of(costs) - 1);
      end.worst_share = std::max(end.worst_share, spent / stayed - 1);
    }
    end.lost = t.lost_share();
    return end;
  }

 private:
  double power(double least, double most) {
    return least * std::pow(most / least, dice_.uniform());
  }
  phase draw_phase() { return {power(3, 12), power(1.5, 6), power(10, 80), power(0.001, 1)}; }
  bool known(const choice& by) const {
    for (const auto& c : candidates_) {
      if (c.start.how == by.how && (c.grain_is_free || c.start.grain == by.grain)) return true;
    }
    return false;
  }
  double best_of(const phase& costs) const {
    double best = costs.cost(candidates_[0].start);
    for (const auto& c : candidates_) {
      for (std::size_t m = 1; m <= (c.grain_is_free ? max_grain : 1); m *= 2) {
        best = std::min(best, costs.cost({c.start.how, m}));
      }
    }
    return best;
  }
  std::uint64_t time_of(double ns) {
    const double noise = 1 + spread_ * (dice_.uniform() + dice_.uniform() - 1);
    const double pause = dice_.below(200) == 0 ? 20 : 1;
    return static_cast<std::uint64_t>(std::max(1.0, ns * noise * pause));
  }

  random64 dice_;
  tuner_rules rules_;
  double spread_;
  std::uint64_t least_, most_;
  std::vector<candidate> candidates_;
};

TEST(TunerSchedules, Look) {
  for (const tuner_rules rules : {tuner_rules{}, tuner_rules{.gain = 0, .pairs = 1, .wins = 1}}) {
    std::vector<double> a, s, l;
    int outside = 0;
    for (std::uint64_t seed = 0; seed < num_twin_schedules; ++seed) {
      const auto e = schedule(seed, rules).play();
      outside += e.outside;
      a.push_back(e.apart), s.push_back(e.worst_share), l.push_back(e.lost);
    }
    for (auto* v : {&a, &s, &l}) {
      std::sort(v->begin(), v->end());
      const auto at = [&](double q) {
        return (*v)[static_cast<std::size_t>(q * double(v->size() - 1))];
      };
      std::printf("%8.3f %8.3f %8.3f %8.3f %8.3f %8.3f %8.3f\n", at(0), at(.1), at(.5), at(.9),
                  at(.99), at(.999), at(1));
    }
    std::printf("outside %d\n", outside);
  }
}

}  // namespace
}  // namespace cairn::activity
