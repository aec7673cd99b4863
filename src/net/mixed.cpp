// SPDX-License-Identifier: Apache-2.0
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstring>
#include <functional>
#include <map>
#include <memory>
#include <new>
#include <numeric>
#include <string>
#include <utility>

#include <cairn/base/contract.hpp>
#include <cairn/base/error.hpp>
#include <cairn/hw/topology.hpp>
#include <cairn/net/mixed.hpp>

namespace cairn::net {
namespace {

/// The identity of the machine a rank runs on. Zeroed first, so that equality is equality of bytes.
struct identity {
  std::array<char, 256> host{};
  std::array<char, 64> boot{};
  std::array<std::uint64_t, 128> cores{};  // a bit for each that it may use
};

identity of_this_process() {
  identity here;
  gethostname(here.host.data(), here.host.size() - 1);
  // Two containers may share a host name, and two hosts may have the same name. The boot id decides
  // whether memory can be shared at all.
  if (std::FILE* const file = std::fopen("/proc/sys/kernel/random/boot_id", "re")) {
    const auto read = std::fread(here.boot.data(), 1, here.boot.size() - 1, file);
    here.boot[read] = 0;
    std::fclose(file);
  }
  const auto cores = hw::core_set::of_this_thread();
  for (const auto core : cores.numbers()) {
    const auto word = static_cast<std::size_t>(core) / 64;
    if (word < here.cores.size()) here.cores[word] |= std::uint64_t{1} << (core % 64);
  }
  return here;
}

bool share_cores(const identity& a, const identity& b) {
  return std::inner_product(a.cores.begin(), a.cores.end(), b.cores.begin(), false,
                            std::logical_or<>(), [](auto x, auto y) { return (x & y) != 0; });
}

/// Every rank's value, by rank.
template <class T>
std::vector<T> gather_values(mpi_process& process, const T& mine) {
  const auto bytes = process.all_gather(std::as_bytes(std::span(&mine, 1)));
  std::vector<T> all(static_cast<std::size_t>(process.size()));
  std::memcpy(all.data(), bytes.data(), bytes.size());
  return all;
}

}  // namespace

machine_map machine_map::gather(mpi_process& process, int pretended) {
  const auto all = gather_values(process, of_this_process());
  const auto& mine = all[static_cast<std::size_t>(process.self())];
  machine_map map;
  std::map<std::string, int> numbers;
  for (std::size_t r = 0; r < all.size(); ++r) {
    auto key = std::string(all[r].host.data()) + '\n' + all[r].boot.data();
    if (pretended > 0) key = std::to_string(r % static_cast<std::size_t>(pretended));
    const int next = static_cast<int>(numbers.size());
    map.machine_of.push_back(numbers.try_emplace(std::move(key), next).first->second);
  }
  // Cores are counted on the real machine, because a pretended one adds none.
  const auto shares = [&](const identity& i) {
    return i.host == mine.host && i.boot == mine.boot && share_cores(i, mine);
  };
  map.sharers = std::max(1, static_cast<int>(std::count_if(all.begin(), all.end(), shares)));
  map.place = static_cast<int>(std::count_if(all.begin(), all.begin() + process.self(), shares));
  return map;
}

std::vector<rank_t> machine_map::neighbors(rank_t rank) const {
  std::vector<rank_t> found;
  for (std::size_t r = 0; r < machine_of.size(); ++r) {
    if (machine_of[r] == machine_of[static_cast<std::size_t>(rank)]) {
      found.push_back(static_cast<rank_t>(r));
    }
  }
  return found;
}

std::unique_ptr<transport> make_machine_rings(mpi_process& process, const machine_map& map) {
  const auto neighbors = map.neighbors(process.self());
  const auto ranks = static_cast<rank_t>(neighbors.size());
  const auto first = neighbors.front();
  std::shared_ptr<segment> memory;
  segment::address mine;
  if (process.self() == first && ranks > 1) {
    try {
      memory = segment::shared(ring_fabric::bytes_needed(ranks));
      mine = memory->where();
    } catch (const system_failure&) {
      // The others receive an invalid address, and all ranks fall back together.
    }
  }
  const auto addresses = gather_values(process, mine);
  if (process.self() != first) {
    try {
      memory = segment::open(addresses[static_cast<std::size_t>(first)]);
    } catch (const system_failure&) {
      // Containers may hide each other's /proc; MPI then carries the packets.
    }
  }
  std::unique_ptr<transport> rings;
  if (memory) {
    const auto self = std::find(neighbors.begin(), neighbors.end(), process.self());
    try {
      rings = std::make_unique<ring_transport>(std::make_shared<ring_fabric>(memory, ranks),
                                               static_cast<rank_t>(self - neighbors.begin()));
    } catch (const std::bad_alloc&) {
      // As above.
    }
  }
  const auto opened = gather_values(process, static_cast<char>(rings != nullptr));
  if (memory) memory->close_descriptor();
  const bool all_opened = std::all_of(neighbors.begin(), neighbors.end(), [&](rank_t r) {
    return opened[static_cast<std::size_t>(r)] != 0;
  });
  return all_opened ? std::move(rings) : nullptr;
}

mixed_transport::mixed_transport(std::unique_ptr<transport> local, std::vector<rank_t> neighbors,
                                 std::unique_ptr<transport> remote)
    : local_(std::move(local)),
      remote_(std::move(remote)),
      neighbors_(std::move(neighbors)),
      local_rank_(static_cast<std::size_t>(remote_->size()), -1) {
  CAIRN_EXPECTS(static_cast<rank_t>(neighbors_.size()) == local_->size());
  CAIRN_EXPECTS(neighbors_[static_cast<std::size_t>(local_->self())] == remote_->self());
  for (std::size_t i = 0; i < neighbors_.size(); ++i) {
    local_rank_[static_cast<std::size_t>(neighbors_[i])] = static_cast<rank_t>(i);
  }
}

std::size_t mixed_transport::max_packet() const noexcept {
  return std::min(local_->max_packet(), remote_->max_packet());
}

std::size_t mixed_transport::best_packet() const noexcept {
  return std::min(remote_->best_packet(), max_packet());
}

std::size_t mixed_transport::best_packet_to(rank_t to) const noexcept {
  return std::min(towards(to).best_packet(), max_packet());
}

std::size_t mixed_transport::packet_cost() const noexcept { return remote_->packet_cost(); }

std::size_t mixed_transport::packet_cost_to(rank_t to) const noexcept {
  return towards(to).packet_cost();
}

const transport& mixed_transport::towards(rank_t to) const noexcept {
  return *(local_rank_[static_cast<std::size_t>(to)] >= 0 ? local_ : remote_);
}

const packet_steps& mixed_transport::steps_to(rank_t to) const noexcept {
  const auto local = local_rank_[static_cast<std::size_t>(to)];
  return local >= 0 ? local_->steps_to(local) : remote_->steps_to(to);
}

bool mixed_transport::send(rank_t to, std::span<const std::byte> packet) {
  const auto local = local_rank_[static_cast<std::size_t>(to)];
  return local >= 0 ? local_->send(local, packet) : remote_->send(to, packet);
}

std::size_t mixed_transport::poll(const sink& deliver) {
  const auto packets = local_->poll([&](rank_t from, std::span<const std::byte> packet) {
    deliver(neighbors_[static_cast<std::size_t>(from)], packet);
  });
  return packets + remote_->poll(deliver);
}

}  // namespace cairn::net
