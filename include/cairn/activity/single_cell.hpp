// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include <cairn/activity/mechanism.hpp>
#include <cairn/activity/tuner.hpp>
#include <cairn/core/world.hpp>

namespace cairn::activity {

/// Chooses among the mechanisms that keep a single-cell operator's promise: what was asked for,
/// or, where the machine has no hardware transactions, atomics in the place of htm.
///
/// Throws    usage_error if plain is asked for and the rank has several workers
[[nodiscard]] mechanism resolve_single_cell(world& w, const options& asked);

/// Why resolve_single_cell chooses what it does.
[[nodiscard]] std::string why_single_cell(world& w, const options& asked);

/// The ways that a worker's tuner chooses among for a single-cell operator that runs by `resolved`.
/// Empty: there is but one. Transactions and atomics notice each other, so each worker may
/// change between them at any time; nothing else may run beside anything else.
[[nodiscard]] std::vector<candidate> ways_of_single_cell(const options& asked, mechanism resolved);

}  // namespace cairn::activity
