// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include <cairn/activity/domain.hpp>
#include <cairn/activity/mechanism.hpp>
#include <cairn/activity/pace.hpp>
#include <cairn/activity/parking.hpp>
#include <cairn/activity/sections.hpp>
#include <cairn/activity/sent_filter.hpp>
#include <cairn/base/random.hpp>
#include <cairn/core/world.hpp>
#include <cairn/tm/lock_table.hpp>

namespace cairn::activity {

/// What one worker has of a coarse operator: its way to run sections, by each mechanism that may
/// come, and what waits.
template <class Op>
struct worker_state {
  sent_filter_of<Op> filter;
  std::vector<typename Op::message> waiting;  // spawned inside `after`: they join a later group
  std::optional<rtm_sections> rtm;
  std::optional<emulated_sections> emulated;
  std::optional<software_sections> software;
  std::optional<tm::lock_set> locks;
  mechanism turns = mechanism::automatic;  // of the lane by_turn that runs
  detail::parked_list<Op> parked;          // they met a marker
  worker_t worker = 0;
  activity::pace pace;

  /// Of real transactions, or of `shared` emulated ones.
  void prepare_hardware(world& w, worker_t k, const options& opt,
                        const std::optional<emulation_options>& emulate, tm::emulation* shared) {
    const auto seed = random64(static_cast<std::uint64_t>(w.rank()), k)();
    const relax_in relax{&w.pool()};
    if (emulate) {
      emulated.emplace(emulated_worker(*shared, *emulate, seed), opt.retry, seed, w.counters(), k,
                       relax);
    } else {
      rtm.emplace(tm::rtm_hardware{}, opt.retry, seed, w.counters(), k, relax);
    }
  }

  /// In its worker's first lane by stm.
  void prepare_software(world& w, worker_t k, domain& data) {
    if (software) return;
    const auto owner = static_cast<std::uint32_t>(k);
    const relax_in relax{&w.pool()};
    software.emplace(software_sections::hardware_type(*data.versions(), owner, relax),
                     data.chosen().retry, owner, w.counters(), k, relax);
  }
};

}  // namespace cairn::activity
