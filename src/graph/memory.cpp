// SPDX-License-Identifier: Apache-2.0
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include <cairn/base/error.hpp>
#include <cairn/base/format.hpp>
#include <cairn/base/random.hpp>
#include <cairn/core/world.hpp>
#include <cairn/graph/memory.hpp>
#include <cairn/hw/memory.hpp>

namespace cairn::graph {
namespace {

constexpr auto no_limit = std::numeric_limits<std::uint64_t>::max();

std::uint64_t clamped(uint128_t bytes) {
  return bytes > no_limit ? no_limit : static_cast<std::uint64_t>(bytes);
}

// The share of a rank if n things are divided equally.
uint128_t share(std::uint64_t n, rank_t ranks) {
  const auto parts = static_cast<std::uint64_t>(ranks);
  return n / parts + (n % parts != 0 ? 1 : 0);
}

uint128_t bytes_of_rows(const build_size& size, rank_t ranks) {
  const auto arcs = share(size.num_edges, ranks) * (size.symmetric ? 2 : 1);
  // With weights, rows also exist as pairs, which align their larger member.
  const uint128_t pair_bytes =
      size.weight_bytes == 0 ? 0 : 2 * std::max(size.id_bytes, size.weight_bytes);
  return (share(size.num_vertices, ranks) + 1) * sizeof(std::uint64_t) +
         arcs * (size.id_bytes + pair_bytes);
}

// Of a graph and a result of two numbers per vertex, as most commands have.
std::uint64_t bytes_in_use(const build_size& size, rank_t ranks) {
  const auto rows = bytes_of_rows(size, ranks) * (size.inverse ? 2 : 1);
  return clamped(rows + share(size.num_vertices, ranks) * 2 * sizeof(std::uint64_t));
}

// Ranks on the same machine have equal values.
std::uint64_t machine_of_this_rank() {
  std::array<char, 256> name{};
  gethostname(name.data(), name.size() - 1);
  std::uint64_t hash = 0;
  for (const char c : name) hash = mix64(hash ^ static_cast<unsigned char>(c));
  return hash;
}

}  // namespace

std::uint64_t bytes_to_build(const build_size& size, rank_t ranks) {
  const uint128_t edge_bytes = 2 * size.id_bytes + size.weight_bytes;
  const auto edges = share(size.num_edges, ranks) * edge_bytes;
  const auto arcs = share(size.num_edges, ranks) * (size.symmetric ? 2 : 1);
  const auto rows = bytes_of_rows(size, ranks);
  const auto row_numbers = arcs * sizeof(std::uint16_t);
  // Edge blocks are freed while the last rows are distributed, so both never exist in full at the
  // same time. With several ranks the received blocks take the place of the edge blocks.
  const auto distributed = rows + row_numbers;
  const auto received = ranks > 1 ? arcs * edge_bytes : uint128_t{0};
  const auto generated = size.with_edges ? edges : uint128_t{0};
  const auto degrees =
      size.balanced && ranks > 1 ? uint128_t{size.num_vertices} * sizeof(std::uint64_t) : 0;
  const auto last = std::max({generated, degrees, received, distributed});
  return clamped(size.inverse ? rows + last : last);
}

void expect_memory_for(world& w, std::uint64_t bytes, const std::string& subject) {
  const auto this_machine = machine_of_this_rank();
  const auto machines = w.all_gather(this_machine);
  const auto ranks_here =
      static_cast<std::uint64_t>(std::count(machines.begin(), machines.end(), this_machine));
  const auto needed = clamped(uint128_t{bytes} * ranks_here);
  w.agree([&] {
    const auto expect = [&](std::uint64_t wanted, std::uint64_t available, const char* limit) {
      if (wanted <= available) return;
      throw usage_error(subject + " needs " + format_bytes(wanted) + " of memory, but " +
                        format_bytes(available) + " is available" + limit);
    };
    expect(needed, hw::available_memory(), "");
    expect(bytes, hw::available_addresses(), " to a process (ulimit -v)");
  });
}

void expect_memory_for(world& w, const build_size& size, const std::string& declared_at) {
  expect_memory_for(w, std::max(bytes_to_build(size, w.size()), bytes_in_use(size, w.size())),
                    (declared_at.empty() ? "" : declared_at + ": ") + "a graph of " +
                        std::to_string(size.num_vertices) + " vertices and " +
                        std::to_string(size.num_edges) + " edges");
}

}  // namespace cairn::graph
