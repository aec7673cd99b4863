// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include <cairn/activity/mechanism.hpp>
#include <cairn/base/random.hpp>

namespace cairn::support {

namespace detail {

/// Draws one of these mechanisms, or plain if there is one worker.
inline activity::options random_options(random64& random, int workers,
                                        std::vector<activity::mechanism> mechanisms) {
  if (workers == 1) mechanisms.push_back(activity::mechanism::plain);
  activity::options opt;
  opt.mechanism = mechanisms[random.below(mechanisms.size())];
  if (random.below(2) == 0) opt.grain = 1 + random.below(9);
  if (random.below(3) != 0) opt.emulate = activity::emulation_options{.seed = random()};
  return opt;
}

}  // namespace detail

/// Random options for single-cell operators. Every value of every option occurs within a few dozen
/// draws. Emulated transactions are small and abort often.
inline activity::options random_activity(random64& random, int workers) {
  using enum activity::mechanism;
  auto opt = detail::random_options(random, workers, {automatic, atomics, locks, one_lock, htm});
  opt.sent_filter = random.below(2) == 0;
  if (opt.emulate) opt.emulate->capacity = 6;
  return opt;
}

/// Random options for multi-cell operators. Merges and pushes write more cells than fit small
/// transactions, so emulated transactions have the usual size.
inline activity::options random_multi_cell_activity(random64& random, int workers) {
  using enum activity::mechanism;
  return detail::random_options(random, workers, {automatic, locks, one_lock, htm, stm});
}

inline std::string describe(const activity::options& opt) {
  return std::string(name(opt.mechanism)) + " grain " + std::to_string(opt.grain) +
         (opt.sent_filter ? ", filter" : "") + (opt.emulate ? ", emulated" : "");
}

}  // namespace cairn::support
