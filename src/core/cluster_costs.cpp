// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <charconv>
#include <fstream>
#include <sstream>
#include <vector>

#include <cairn/base/contract.hpp>
#include <cairn/base/error.hpp>
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

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view space = " \t\r\n";
  const auto first = text.find_first_not_of(space);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(space) - first + 1);
}

/// Takes one `"name": number` in.
bool take(cluster_costs& costs, std::string_view member) {
  const auto colon = member.find(':');
  if (colon == std::string_view::npos) return false;
  const auto name = trimmed(member.substr(0, colon));
  const bool quoted = name.size() > 2 && name.front() == '"' && name.back() == '"';
  return quoted && costs.set(name.substr(1, name.size() - 2), trimmed(member.substr(colon + 1)));
}

}  // namespace

bool cluster_costs::knows(std::string_view name) noexcept { return find(name) != nullptr; }

bool cluster_costs::set(std::string_view name, std::string_view value) {
  const auto* const r = find(name);
  double number = 0;
  const auto* const end = value.data() + value.size();
  const auto read = std::from_chars(value.data(), end, number);
  const bool good = read.ec == std::errc{} && read.ptr == end && number >= 0 && number <= most;
  if (r == nullptr || !good) return false;
  r->of(*this) = number * r->unit_ns;
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

cluster_costs read_cluster_costs(const std::string& path) {
  std::ifstream file(path);
  if (!file) throw input_error(path + ": cannot be read");
  const std::string whole{std::istreambuf_iterator<char>(file), {}};
  auto members = trimmed(whole);
  if (members.size() < 2 || members.front() != '{' || members.back() != '}') {
    throw input_error(path + ": expected an object of numbers, as cairn bench sim writes it");
  }
  members = trimmed(members.substr(1, members.size() - 2));
  cluster_costs costs;
  for (bool more = !members.empty(); more;) {
    const auto comma = members.find(',');
    more = comma != std::string_view::npos;
    const auto member = trimmed(members.substr(0, comma));
    members.remove_prefix(more ? comma + 1 : members.size());
    if (!take(costs, member)) {
      throw input_error(path + ": expected costs such as \"latency_us\": 1.5, from 0 to 1e9, not " +
                        std::string(member));
    }
  }
  return costs;
}

}  // namespace cairn
