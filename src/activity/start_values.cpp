// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <sstream>
#include <string_view>

#include <cairn/activity/start_values.hpp>

namespace cairn::activity {
namespace {

constexpr std::string_view per_vertex = "_per_vertex_ns", fixed = "_fixed_ns";

/// The grain from which T is flat, for operators of so many vertices.
std::size_t flat_from(const cost_model& t, double vertices) noexcept {
  const auto a = t.per_vertex * vertices;
  if (!(a > 0)) return max_grain;
  const auto m = std::clamp(10 * t.fixed / a, 1.0, static_cast<double>(max_grain));
  return std::min(std::bit_ceil(static_cast<std::size_t>(std::ceil(m))), max_grain);
}

double per_operator(const cost_model& t, std::size_t grain, double vertices) noexcept {
  const auto m = static_cast<double>(grain);
  return t.at(m * vertices) / m;
}

constexpr cost_model unknown{std::numeric_limits<double>::quiet_NaN(),
                             std::numeric_limits<double>::quiet_NaN()};

}  // namespace

bool fitted_costs::set(std::string_view name, double value) {
  const bool slope = name.ends_with(per_vertex);
  if (!slope && !name.ends_with(fixed)) return false;
  const auto who = name.substr(0, name.size() - (slope ? per_vertex : fixed).size());
  for (auto chosen = mechanism::plain; chosen <= mechanism::stm;
       chosen = static_cast<mechanism>(static_cast<int>(chosen) + 1)) {
    if (activity::name(chosen) != who) continue;
    auto& model = of(chosen);
    if (!model) model = unknown;
    (slope ? model->per_vertex : model->fixed) = value;
    return true;
  }
  return false;
}

std::string fitted_costs::text() const {
  std::ostringstream out;
  for (std::size_t i = 1; i < models_.size(); ++i) {
    if (!models_[i]) continue;
    const auto chosen = name(static_cast<mechanism>(i));
    out << (out.tellp() == 0 ? "{" : ", ") << '"' << chosen << per_vertex
        << "\": " << models_[i]->per_vertex << ", \"" << chosen << fixed
        << "\": " << models_[i]->fixed;
  }
  out << (out.tellp() == 0 ? "{}" : "}");
  return out.str();
}

std::string fault_of(const fitted_costs& costs) {
  for (const auto chosen : {mechanism::atomics, mechanism::locks, mechanism::stm, mechanism::htm}) {
    const auto who = name(chosen);
    const auto& model = costs.of(chosen);
    if (!model && chosen == mechanism::htm) continue;
    std::ostringstream fault;
    if (!model) {
      fault << "the costs of " << who << " are missing";
    } else if (std::isnan(model->per_vertex) || std::isnan(model->fixed)) {
      fault << who << per_vertex << " or " << who << fixed << " is missing";
    } else if (model->per_vertex <= 0) {
      fault << who << per_vertex << " is not above 0";
    } else {
      continue;
    }
    return fault.str();
  }
  return "";
}

start_values start_from(const fitted_costs& costs) noexcept {
  start_values start;
  if (const auto& htm = costs.of(mechanism::htm)) {
    start.htm_grain = flat_from(*htm, 1);
    const auto& atomics = costs.of(mechanism::atomics);
    if (atomics) {
      start.htm_first = per_operator(*htm, start.htm_grain, 1) < atomics->at(1);
      start.fitted = true;
    }
  }
  if (const auto& stm = costs.of(mechanism::stm)) {
    start.stm_grain = flat_from(*stm, 2);
    const auto& locks = costs.of(mechanism::locks);
    if (locks) {
      start.stm_first = per_operator(*stm, start.stm_grain, 2) < locks->at(2);
      start.fitted = true;
    }
  }
  return start;
}

}  // namespace cairn::activity
