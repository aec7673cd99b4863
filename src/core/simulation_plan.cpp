// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <charconv>
#include <iterator>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <cairn/base/error.hpp>
#include <cairn/core/simulation.hpp>

#include "core/simulation_limits.hpp"

namespace cairn {
namespace {

template <class T>
bool parse_number(std::string_view text, T& number) {
  const auto* const end = text.data() + text.size();
  const auto read = std::from_chars(text.data(), end, number);
  return read.ec == std::errc{} && read.ptr == end;
}

[[noreturn]] void refuse(std::string_view name, std::string_view value, const std::string& wanted) {
  throw usage_error("--sim: " + std::string(name) + " is '" + std::string(value) + "', expected " +
                    wanted);
}

[[noreturn]] void refuse_item(std::string_view item) {
  throw usage_error(
      "--sim has the item '" + std::string(item) +
      "', expected ranks=N, machines=N, latency_us=X, seed=N or N..N, max_packet=BYTES, "
      "clock=loggp or FILE, or a cost of packets or work");
}

cluster_costs costs_of(std::string_view clock, const std::optional<cluster_costs>& of_file) {
  if (clock == "loggp") return {};
  if (clock.empty() || !of_file) {
    refuse("clock", clock, "loggp or, for a command, the file that cairn bench sim wrote");
  }
  return *of_file;
}

void read_ranks(std::string_view value, simulation_plan& plan) {
  auto& ranks = plan.cluster.ranks;
  if (!parse_number(value, ranks) || ranks < 1 || ranks > max_ranks) {
    refuse("ranks", value, "a number from 1 to " + std::to_string(max_ranks));
  }
}

void read_machines(std::string_view value, simulation_plan& plan) {
  auto& machines = plan.cluster.machines;
  if (!parse_number(value, machines) || machines < 1 || machines > max_ranks) {
    refuse("machines", value, "a number from 1 to " + std::to_string(max_ranks));
  }
}

void read_latency(std::string_view value, simulation_plan& plan) {
  auto& latency = plan.cluster.latency_us;
  if (!parse_number(value, latency) || !(latency >= 0 && latency <= max_latency_us)) {
    refuse("latency_us", value, "a number of microseconds from 0 to 1e9");
  }
}

void read_seeds(std::string_view value, simulation_plan& plan) {
  const auto dots = value.find("..");
  const bool range = dots != std::string_view::npos;
  auto& [cluster, first, last, is_series] = plan;
  is_series = range;
  const bool good = parse_number(value.substr(0, dots), first) &&
                    (!range || parse_number(value.substr(dots + 2), last));
  if (!range) last = first;
  if (!good || first > last) refuse("seed", value, "a number or a range such as 1..100");
  cluster.seed = first;
}

void read_packet(std::string_view value, simulation_plan& plan) {
  auto& bytes = plan.cluster.max_packet;
  if (!parse_number(value, bytes) || bytes < smallest_packet || bytes > largest_packet) {
    refuse("max_packet", value,
           "a number of bytes from " + std::to_string(smallest_packet) + " to " +
               std::to_string(largest_packet));
  }
}

struct item {
  std::string_view name, value;
};

/// The names and values; each name occurs once.
std::vector<item> items_of(std::string_view text) {
  std::vector<item> all;
  for (bool more = true; more;) {
    const auto comma = text.find(',');
    more = comma != std::string_view::npos;
    const auto one = text.substr(0, comma);
    text.remove_prefix(more ? comma + 1 : text.size());
    const auto equals = one.find('=');
    if (equals == std::string_view::npos) refuse_item(one);
    all.push_back({one.substr(0, equals), one.substr(equals + 1)});
    for (std::size_t i = 0; i + 1 < all.size(); ++i) {
      if (all[i].name == all.back().name) {
        throw usage_error("--sim names " + std::string(all[i].name) + " twice");
      }
    }
  }
  return all;
}

}  // namespace

std::string clock_file_of(std::string_view simulation) {
  for (const auto& [name, value] : items_of(simulation)) {
    if (name == "clock" && value != "loggp") return std::string(value);
  }
  return "";
}

simulation_plan parse_simulation(std::string_view text,
                                 const std::optional<cluster_costs>& of_file) {
  constexpr struct {
    std::string_view name;
    void (*read)(std::string_view value, simulation_plan& plan);
  } keys[] = {{"ranks", read_ranks},
              {"machines", read_machines},
              {"latency_us", read_latency},
              {"seed", read_seeds},
              {"max_packet", read_packet}};
  simulation_plan plan;
  auto& costs = plan.cluster.costs;
  const auto items = items_of(text);
  for (const auto& [name, value] : items) {
    if (name == "clock") costs = costs_of(value, of_file);
  }
  for (const auto& [name, value] : items) {
    const auto* const known = std::find_if(std::begin(keys), std::end(keys),
                                           [&](const auto& k) { return k.name == name; });
    if (known != std::end(keys)) {
      known->read(value, plan);
    } else if (name != "clock" && !cluster_costs::knows(name)) {
      refuse_item(std::string(name) + "=" + std::string(value));
    }
    if (!cluster_costs::knows(name)) continue;
    if (costs && !costs->set(name, value)) refuse(name, value, "a number from 0 to 1e9");
    if (!costs && known == std::end(keys)) {
      throw usage_error("--sim: " + std::string(name) + " needs clock=loggp or clock=FILE");
    }
  }
  if (plan.cluster.machines > plan.cluster.ranks) {
    refuse("machines", std::to_string(plan.cluster.machines),
           "at most the number of ranks, " + std::to_string(plan.cluster.ranks));
  }
  return plan;
}

}  // namespace cairn
