// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include <cairn/activity/mechanism.hpp>
#include <cairn/core/world.hpp>
#include <cairn/tm/abort_injection.hpp>
#include <cairn/tm/emulated_section.hpp>
#include <cairn/tm/section.hpp>
#include <cairn/tm/versioned_section.hpp>

namespace cairn::activity {

/// How tm code waits: through the pool, which yields.
struct relax_in {
  task::pool* pool;
  void operator()(unsigned rounds) const noexcept { pool->relax(rounds); }
};

using emulated_transactions = tm::injected<tm::emulated_hardware>;
using rtm_sections = tm::section_runner<tm::rtm_hardware, relax_in>;
using software_sections =
    tm::section_runner<tm::versioned_section<tm::version_table<>, relax_in>, relax_in>;
using emulated_sections = tm::section_runner<emulated_transactions, relax_in>;

/// How htm is emulated: as the caller requests, or in a simulated cluster as the world says.
[[nodiscard]] std::optional<emulation_options> emulation_for(const world& w, const options& opt);

[[nodiscard]] std::unique_ptr<tm::emulation> make_emulation(task::pool& pool,
                                                            const emulation_options& opt);
[[nodiscard]] emulated_transactions emulated_worker(tm::emulation& shared,
                                                    const emulation_options& opt,
                                                    std::uint64_t worker_seed);

}  // namespace cairn::activity
