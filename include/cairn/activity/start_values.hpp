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

/// The fitted costs of this machine's mechanisms, as far as they are known.
class fitted_costs {
 public:
  /// Not automatic.
  [[nodiscard]] std::optional<cost_model>& of(mechanism how) noexcept {
    return models_[static_cast<std::size_t>(how)];
  }
  [[nodiscard]] const std::optional<cost_model>& of(mechanism how) const noexcept {
    return models_[static_cast<std::size_t>(how)];
  }

  /// Sets a number by its name in text(), if it has one. Returns whether it has.
  bool set(std::string_view name, double value);
  /// {"atomics_per_vertex_ns": 3.5, "atomics_fixed_ns": 0.7, ...}.
  [[nodiscard]] std::string text() const;

 private:
  std::array<std::optional<cost_model>, 1 + static_cast<std::size_t>(mechanism::stm)> models_;
};

/// What is wrong with costs that choices are to begin with: of each mechanism that is compared both
/// numbers, with A above 0 (htm's may be missing, for not every machine has it). Empty: nothing.
[[nodiscard]] std::string fault_of(const fitted_costs& costs);

/// The start values by T = A N + B of each mechanism. M is the least power of two from which on B
/// is at most a tenth of the time: the flat part of the curve. A mechanism comes first if an
/// operator costs less by it at that M, of one vertex (htm against atomics) or of two (stm against
/// locks). What is not known stays as by rule.
///
/// Source    [AAM15] section 5.3
[[nodiscard]] start_values start_from(const fitted_costs& costs) noexcept;

}  // namespace cairn::activity
