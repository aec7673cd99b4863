// SPDX-License-Identifier: Apache-2.0
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <fstream>
#include <limits>
#include <optional>
#include <sstream>
#include <string>
#include <string_view>

#include <cairn/hw/memory.hpp>

namespace cairn::hw {
namespace {

constexpr auto no_limit = std::numeric_limits<std::uint64_t>::max();

// The number in a file; nothing if the file contains "max" or does not exist.
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

/// A query of a control group: its limit, or what is left of it.
using group_query = std::uint64_t (*)(const std::string& folder, const group_files& files);

std::uint64_t limit_of_group(const std::string& folder, const group_files& files) {
  return number_in(folder + files.limit).value_or(no_limit);
}

// Cached files are counted as used, but are evicted when memory is needed.
std::uint64_t available_in_group(const std::string& folder, const group_files& files) {
  const auto limit = number_in(folder + files.limit);
  const auto usage = number_in(folder + files.usage);
  if (!limit || !usage) return no_limit;
  const auto cached = number_after(folder + "/memory.stat", files.cached).value_or(0);
  const auto used = *usage - std::min(*usage, cached);
  return *limit - std::min(*limit, used);
}

// A group's parents limit it too. In a container the outer part of the path may not exist.
std::uint64_t minimum_over_groups(const std::string& mount, std::string path,
                                  const group_files& files, group_query query) {
  auto left = query(mount, files);
  while (path.size() > 1) {
    left = std::min(left, query(mount + path, files));
    path.resize(path.rfind('/'));
  }
  return left;
}

// Whether a list such as "cpu,cpuacct,memory" contains "memory".
bool names_memory(const std::string& controllers) {
  std::istringstream list(controllers);
  for (std::string name; std::getline(list, name, ',');) {
    if (name == "memory") return true;
  }
  return false;
}

std::uint64_t minimum_over_control_groups(const std::string& root, group_query query) {
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
          left, minimum_over_groups(base, path, {"/memory.max", "/memory.current", "inactive_file"},
                                    query));
    } else if (names_memory(controllers)) {
      left = std::min(left, minimum_over_groups(base + "/memory", path,
                                                {"/memory.limit_in_bytes", "/memory.usage_in_bytes",
                                                 "total_inactive_file"},
                                                query));
    }
  }
  return left;
}

// A value of /proc/meminfo in bytes; no_limit if it is missing.
std::uint64_t meminfo_bytes(const std::string& root, std::string_view kind) {
  const auto kilobytes = number_after(root + "/proc/meminfo", kind);
  return kilobytes && *kilobytes < no_limit / 1024 ? *kilobytes * 1024 : no_limit;
}

}  // namespace

std::uint64_t available_memory(const std::string& root) {
  return std::min(meminfo_bytes(root, "MemAvailable:"),
                  minimum_over_control_groups(root, available_in_group));
}

std::uint64_t available_addresses() {
  rlimit limit{};
  if (getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return no_limit;
  const auto pages = number_in("/proc/self/statm").value_or(0);
  const auto mapped = pages * static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
  return limit.rlim_cur - std::min<std::uint64_t>(limit.rlim_cur, mapped);
}

std::uint64_t total_memory(const std::string& root) {
  const auto found =
      std::min(meminfo_bytes(root, "MemTotal:"), minimum_over_control_groups(root, limit_of_group));
  return found == no_limit ? 0 : found;
}

}  // namespace cairn::hw
