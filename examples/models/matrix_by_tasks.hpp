// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include <cairn/am/parallel_for.hpp>
#include <cairn/pgas/global_view.hpp>

namespace by_tasks {

using cairn::pgas::global_array;
using cairn::pgas::global_memory;
using cairn::task::task;

struct entry {
  std::uint64_t column;
  double value;
};

/// y = A x. Row i of A has entries first[i] .. first[i + 1] - 1.
struct product {
  global_array<std::uint64_t> first;
  global_array<entry> entries;
  global_array<double> x, y;
};

/// Some rows. A task asks for all elements of x that a row needs, then waits for them.
inline task<> multiply(cairn::world& world, std::uint64_t begin, std::uint64_t end, product p) {
  auto& memory = global_memory::of(world);
  const auto x = memory.view(p.x);
  auto operations = co_await memory.operations();
  for (auto i = begin; i < end; ++i) {
    std::uint64_t bounds[2];
    co_await memory.view(p.first).get(i, std::span(bounds));
    std::vector<entry> row(bounds[1] - bounds[0]);
    co_await memory.view(p.entries).get(bounds[0], std::span(row));
    std::vector<double> factors(row.size());
    for (std::size_t k = 0; k < row.size(); ++k) x.get(row[k].column, &factors[k], operations);
    co_await operations.wait();
    double sum = 0;
    for (std::size_t k = 0; k < row.size(); ++k) sum += row[k].value * factors[k];
    co_await memory.view(p.y).put(i, sum);
  }
}

inline task<> multiply_all(cairn::world* world, product p) {
  if (world->rank() != 0) co_return;
  co_await world->parallel_for<&multiply>(p.y.size(), cairn::am::loop_options{}, p);
}

}  // namespace by_tasks
