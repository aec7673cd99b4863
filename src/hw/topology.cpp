// SPDX-License-Identifier: Apache-2.0
#include <sched.h>

#include <cerrno>
#include <fstream>
#include <memory>

#include <hwloc.h>

#include <cairn/base/error.hpp>
#include <cairn/hw/memory.hpp>
#include <cairn/hw/topology.hpp>

namespace cairn::hw {
namespace {

// The kernel's mask may be wider than cpu_set_t's 1024; sched_getaffinity then returns EINVAL.
constexpr int max_cpus = 1 << 18;

struct free_cpu_set {
  void operator()(cpu_set_t* set) const noexcept { CPU_FREE(set); }
};
using cpu_set_ptr = std::unique_ptr<cpu_set_t, free_cpu_set>;

int count(hwloc_topology_t machine, hwloc_obj_type_t type) {
  const int n = hwloc_get_nbobjs_by_type(machine, type);
  return n < 0 ? 0 : n;
}

std::uint64_t cache_bytes(hwloc_topology_t machine, hwloc_obj_type_t type) {
  const auto* cache = hwloc_get_obj_by_type(machine, type, 0);
  return cache == nullptr ? 0 : cache->attr->cache.size;
}

std::string model_of(hwloc_topology_t machine) {
  for (const auto type : {HWLOC_OBJ_PACKAGE, HWLOC_OBJ_MACHINE}) {
    auto* const object = hwloc_get_obj_by_type(machine, type, 0);
    if (object == nullptr) continue;
    if (const char* model = hwloc_obj_get_info_by_name(object, "CPUModel")) return model;
  }
  return {};
}

void bind_this_thread(const int* begin, const int* end) noexcept {
  const int highest = *(end - 1);
  const cpu_set_ptr set(CPU_ALLOC(highest + 1));
  if (!set) return;
  const auto bytes = CPU_ALLOC_SIZE(highest + 1);
  CPU_ZERO_S(bytes, set.get());
  for (const int* cpu = begin; cpu != end; ++cpu) CPU_SET_S(*cpu, bytes, set.get());
  static_cast<void>(sched_setaffinity(0, bytes, set.get()));
}

}  // namespace

std::string processor_model() {
  std::ifstream info("/proc/cpuinfo");
  for (std::string line; std::getline(info, line);) {
    const auto colon = line.find(':');
    if (!line.starts_with("model name") || colon == std::string::npos) continue;
    const auto begin = line.find_first_not_of(' ', colon + 1);
    return begin == std::string::npos ? std::string() : line.substr(begin);
  }
  return {};
}

topology read_topology() {
  hwloc_topology_t machine = nullptr;
  if (hwloc_topology_init(&machine) != 0) throw system_failure("hwloc cannot start");
  const std::unique_ptr<hwloc_topology, void (*)(hwloc_topology_t)> owner(
      machine, [](hwloc_topology_t t) { hwloc_topology_destroy(t); });
  if (hwloc_topology_load(machine) != 0) {
    throw system_failure("hwloc cannot read the topology of this machine");
  }
  topology found;
  found.sockets = count(machine, HWLOC_OBJ_PACKAGE);
  found.cores = count(machine, HWLOC_OBJ_CORE);
  found.hardware_threads = count(machine, HWLOC_OBJ_PU);
  found.numa_nodes = count(machine, HWLOC_OBJ_NUMANODE);
  found.l1_bytes = cache_bytes(machine, HWLOC_OBJ_L1CACHE);
  found.l2_bytes = cache_bytes(machine, HWLOC_OBJ_L2CACHE);
  found.l3_bytes = cache_bytes(machine, HWLOC_OBJ_L3CACHE);
  found.memory_bytes = total_memory();
  found.model = model_of(machine);
  return found;
}

core_set core_set::of_this_thread() {
  for (int cpus = CPU_SETSIZE; cpus <= max_cpus; cpus *= 2) {
    const cpu_set_ptr set(CPU_ALLOC(cpus));
    if (!set) break;
    const auto bytes = CPU_ALLOC_SIZE(cpus);
    if (sched_getaffinity(0, bytes, set.get()) != 0) {
      if (errno == EINVAL) continue;
      break;
    }
    std::vector<int> numbers;
    for (int cpu = 0; cpu < cpus; ++cpu) {
      if (CPU_ISSET_S(cpu, bytes, set.get())) numbers.push_back(cpu);
    }
    if (numbers.empty()) break;
    return core_set(std::move(numbers));
  }
  return core_set({0});
}

void core_set::pin_this_thread(int index) const noexcept {
  const int* cpu = &numbers_[static_cast<std::size_t>(index) % numbers_.size()];
  bind_this_thread(cpu, cpu + 1);
}

void core_set::unpin_this_thread() const noexcept {
  bind_this_thread(numbers_.data(), numbers_.data() + numbers_.size());
}

int allowed_cores() { return core_set::of_this_thread().size(); }

}  // namespace cairn::hw
