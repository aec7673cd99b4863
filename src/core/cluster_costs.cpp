// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <charconv>
#include <sstream>
#include <vector>

#include <cairn/base/contract.hpp>
#include <cairn/core/cluster_costs.hpp>

namespace cairn {
namespace {

constexpr double most = 1e9;

struct row {
  std::string_view name;
  double unit_ns;
  double& (*of)(cluster_costs& all);
};

constexpr std::array rows{
    row{"latency_us", 1e3, [](cluster_costs& c) -> double& { return c.network.latency_ns; }},
    row{"overhead_us", 1e3, [](cluster_costs& c) -> double& { return c.network.overhead_ns; }},
    row{"gap_us", 1e3, [](cluster_costs& c) -> double& { return c.network.gap_ns; }},
    row{"byte_ns", 1, [](cluster_costs& c) -> double& { return c.network.byte_ns; }},
    row{"message_ns", 1, [](cluster_costs& c) -> double& { return c.message_ns; }},
    row{"edge_ns", 1, [](cluster_costs& c) -> double& { return c.edge_ns; }},
    row{"owner_ns", 1, [](cluster_costs& c) -> double& { return c.owner_ns; }},
    row{"commit_ns", 1, [](cluster_costs& c) -> double& { return c.commit_ns; }}};

const row* find(std::string_view name) noexcept {
  for (const auto& r : rows) {
    if (r.name == name) return &r;
  }
  return nullptr;
}

}  // namespace

bool cluster_costs::knows(std::string_view name) noexcept { return find(name) != nullptr; }

bool cluster_costs::set(std::string_view name, std::string_view value) {
  double number = 0;
  const auto* const end = value.data() + value.size();
  const auto read = std::from_chars(value.data(), end, number);
  return read.ec == std::errc{} && read.ptr == end && set(name, number);
}

bool cluster_costs::set(std::string_view name, double value) {
  const auto* const r = find(name);
  if (r == nullptr || !(value >= 0 && value <= most)) return false;
  r->of(*this) = value * r->unit_ns;
  return true;
}

cluster_costs cluster_costs::median(std::span<const cluster_costs> found) {
  CAIRN_EXPECTS(!found.empty());
  std::vector<cluster_costs> sorted(found.begin(), found.end());
  auto median = found.front();
  for (const auto& r : rows) {
    const auto middle = sorted.begin() + static_cast<std::ptrdiff_t>(sorted.size() / 2);
    std::nth_element(sorted.begin(), middle, sorted.end(),
                     [&](auto& a, auto& b) { return r.of(a) < r.of(b); });
    r.of(median) = r.of(*middle);
  }
  return median;
}

std::string cluster_costs::text() const {
  auto costs = *this;
  std::ostringstream out;
  out << '{';
  for (const auto& r : rows) {
    out << (&r == rows.data() ? "" : ", ") << '"' << r.name << "\": " << r.of(costs) / r.unit_ns;
  }
  out << '}';
  return out.str();
}

}  // namespace cairn
