// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include <cairn/activity/cost_model.hpp>
#include <cairn/activity/mechanism.hpp>

namespace cairn::activity {

/// The fitted costs of this machine's mechanisms; unknown ones are empty.
class fitted_costs {
 public:
  /// `m` must not be automatic.
  [[nodiscard]] std::optional<cost_model>& of(mechanism m) noexcept {
    return models_[static_cast<std::size_t>(m)];
  }
  [[nodiscard]] const std::optional<cost_model>& of(mechanism m) const noexcept {
    return models_[static_cast<std::size_t>(m)];
  }

  /// Sets a number by its name in text(). Returns whether the name is known.
  bool set(std::string_view name, double value);
  /// The numbers as JSON: {"atomics_per_vertex_ns": 3.5, "atomics_fixed_ns": 0.7, ...}.
  [[nodiscard]] std::string text() const;

 private:
  std::array<std::optional<cost_model>, 1 + static_cast<std::size_t>(mechanism::stm)> models_;
};

/// What is wrong with costs from which choices are to start; empty if nothing. Each mechanism that
/// is compared needs both numbers, with A above 0. htm may be missing, because not every machine
/// has it.
[[nodiscard]] std::string fault_of(const fitted_costs& costs);

/// The start values by T = A N + B of each mechanism. M is the least power of two for which B is at
/// most a tenth of the time, where the curve is flat. A mechanism comes first if an operator costs
/// less by it at that M: one vertex per operator for htm against atomics, two for stm against
/// locks. Values for unknown costs keep their defaults.
///
/// Source    [AAM15] section 5.3
[[nodiscard]] start_values start_from(const fitted_costs& costs) noexcept;

}  // namespace cairn::activity
