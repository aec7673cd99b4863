// SPDX-License-Identifier: Apache-2.0
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <limits>
#include <optional>
#include <sstream>
#include <string_view>

#include <cairn/base/error.hpp>
#include <cairn/base/random.hpp>
#include <cairn/graph/memory.hpp>

namespace cairn::graph {
namespace {

constexpr auto no_limit = std::numeric_limits<std::uint64_t>::max();

// The number in a file that holds one; nothing for "max" or if there is no such file.
std::optional<std::uint64_t> number_in(const std::string& path) {
  std::ifstream file(path);
  std::uint64_t number = 0;
  if (!(file >> number)) return std::nullopt;
  return number;
}

// The number after `key` in a file of lines "key number ...".
std::optional<std::uint64_t> number_after(const std::string& path, std::string_view key) {
  std::ifstream file(path);
  for (std::string word, rest; file >> word; std::getline(file, rest)) {
    std::uint64_t number = 0;
    if (word == key && file >> number) return number;
  }
  return std::nullopt;
}

struct group_files {
  const char *limit, *usage, *cached;
};

// What one control group leaves. Cached files are counted as used, but go when room is needed.
std::uint64_t left_in_group(const std::string& folder, const group_files& files) {
  const auto limit = number_in(folder + files.limit);
  const auto usage = number_in(folder + files.usage);
  if (!limit || !usage) return no_limit;
  const auto cached = number_after(folder + "/memory.stat", files.cached).value_or(0);
  const auto used = *usage - std::min(*usage, cached);
  return *limit - std::min(*limit, used);
}

// A group's parents limit it, too; in a container the outer part of the path may not be there.
std::uint64_t left_in_groups(const std::string& mount, std::string path, const group_files& files) {
  auto left = left_in_group(mount, files);
  while (path.size() > 1) {
    left = std::min(left, left_in_group(mount + path, files));
    path.resize(path.rfind('/'));
  }
  return left;
}

// In "cpu,cpuacct,memory".
bool names_memory(const std::string& controllers) {
  std::istringstream list(controllers);
  for (std::string name; std::getline(list, name, ',');) {
    if (name == "memory") return true;
  }
  return false;
}

std::uint64_t left_in_control_groups(const std::string& root) {
  const auto base = root + "/sys/fs/cgroup";
  auto left = no_limit;
  std::ifstream groups(root + "/proc/self/cgroup");
  for (std::string line; std::getline(groups, line);) {  // number:controllers:/path
    const auto first = line.find(':');
    const auto second = line.find(':', first + 1);
    if (first == std::string::npos || second == std::string::npos) continue;
    const auto controllers = line.substr(first + 1, second - first - 1);
    const auto path = line.substr(second + 1);
    if (controllers.empty()) {
      left = std::min(
          left, left_in_groups(base, path, {"/memory.max", "/memory.current", "inactive_file"}));
    } else if (names_memory(controllers)) {
      left = std::min(left, left_in_groups(base + "/memory", path,
                                           {"/memory.limit_in_bytes", "/memory.usage_in_bytes",
                                            "total_inactive_file"}));
    }
  }
  return left;
}

std::uint64_t clamped(uint128_t bytes) {
  return bytes > no_limit ? no_limit : static_cast<std::uint64_t>(bytes);
}

// Ranks with equal values share a machine.
std::uint64_t machine_of_this_rank() {
  std::array<char, 256> name{};
  gethostname(name.data(), name.size() - 1);
  std::uint64_t hash = 0;
  for (const char c : name) hash = mix64(hash ^ static_cast<unsigned char>(c));
  return hash;
}

}  // namespace

std::uint64_t available_memory(const std::string& root) {
  const auto kilobytes = number_after(root + "/proc/meminfo", "MemAvailable:");
  const auto system = kilobytes ? clamped(uint128_t{*kilobytes} * 1024) : no_limit;
  return std::min(system, left_in_control_groups(root));
}

std::uint64_t bytes_to_build(const build_size& size, rank_t ranks) {
  const auto share = [&](std::uint64_t n) {
    const auto parts = static_cast<std::uint64_t>(ranks);
    return uint128_t{n / parts + (n % parts != 0 ? 1 : 0)};
  };
  const uint128_t edge_bytes = 2 * size.id_bytes + size.weight_bytes;
  const auto edges = share(size.num_edges) * edge_bytes;
  const auto arcs = share(size.num_edges) * (size.symmetric ? 2 : 1);
  const auto rows = (share(size.num_vertices) + 1) * sizeof(std::uint64_t) +
                    arcs * (size.id_bytes + size.weight_bytes);
  const auto row_numbers = arcs * sizeof(std::uint16_t);
  // Edge blocks go while the last rows are dealt, so the two are never there at once in full;
  // with peers the blocks that came stand in their place.
  const auto dealt = rows + row_numbers;
  const auto came = ranks > 1 ? arcs * edge_bytes : uint128_t{0};
  const auto made = size.with_edges ? edges : uint128_t{0};
  const auto last = std::max({made, came, dealt});
  return clamped(size.inverse ? rows + last : last);
}

void expect_memory_for(const exchange& ranks, std::uint64_t bytes, const std::string& what) {
  const auto here = machine_of_this_rank();
  const auto machines = ranks.all_gather(here);
  const auto neighbours =
      static_cast<std::uint64_t>(std::count(machines.begin(), machines.end(), here));
  const auto needed = clamped(uint128_t{bytes} * neighbours);
  ranks.agree([&] {
    const auto there_is = available_memory();
    if (needed <= there_is) return;
    throw usage_error(what + " needs " + format_bytes(needed) + " of memory, and " +
                      format_bytes(there_is) + " are available");
  });
}

void expect_memory_for(const exchange& ranks, const build_size& size) {
  expect_memory_for(ranks, bytes_to_build(size, ranks.size()),
                    "to build a graph of " + std::to_string(size.num_vertices) + " vertices and " +
                        std::to_string(size.num_edges) + " edges");
}

std::string format_bytes(std::uint64_t bytes) {
  constexpr std::array units = {"B", "kB", "MB", "GB", "TB", "PB", "EB"};
  auto value = static_cast<double>(bytes);
  std::size_t unit = 0;
  for (; value >= 999.5 && unit + 1 < units.size(); ++unit) value /= 1000;
  std::array<char, 32> text{};
  const auto digits = unit == 0 || value >= 99.95 ? 0 : value >= 9.995 ? 1 : 2;
  std::snprintf(text.data(), text.size(), "%.*f %s", digits, value, units[unit]);
  return text.data();
}

}  // namespace cairn::graph
