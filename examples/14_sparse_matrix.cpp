// SPDX-License-Identifier: Apache-2.0
// The product of a sparse matrix and a vector, by tasks over global arrays: the program is
// examples/models/matrix_by_tasks.hpp. It is compared with plain sums.
//
//   ./14_sparse_matrix --ranks 3

#include <cstdint>

#include <fmt/core.h>

#include <cairn/base/random.hpp>
#include <cairn/core/launch.hpp>

#include "models/matrix_by_tasks.hpp"

namespace {

using by_tasks::entry;
using cairn::mix64;
using cairn::pgas::global_array;
using cairn::pgas::global_memory;

constexpr std::uint64_t n = 10'000, entries = 8 * n;

// Row i has entries first_of(i) .. first_of(i + 1) - 1. Values are whole: no order changes a sum.
std::uint64_t first_of(std::uint64_t i) { return i == n ? entries : 8 * i + mix64(i) % 8; }
entry entry_at(std::uint64_t e) { return {mix64(e) % n, static_cast<double>(mix64(e) >> 56)}; }
double element_of_x(std::uint64_t i) { return static_cast<double>(mix64(~i) >> 56); }

// Sets this rank's elements.
template <class T>
void fill(global_memory& memory, const global_array<T>& array, auto value) {
  const auto a = memory.view(array);
  const auto me = memory.owning_world().rank();
  for (std::size_t k = 0; auto& x : a.local()) x = value(a.layout().element(me, k++));
}

}  // namespace

int main(int argc, char** argv) {
  return cairn::launch(argc, argv, [](cairn::world& world) {
    global_memory memory(world);
    const by_tasks::product p{
        memory.collective_alloc<std::uint64_t>(n + 1), memory.collective_alloc<entry>(entries),
        memory.collective_alloc<double>(n), memory.collective_alloc<double>(n)};
    fill(memory, p.first, first_of);
    fill(memory, p.entries, entry_at);
    fill(memory, p.x, element_of_x);
    world.barrier();
    world.run(by_tasks::multiply_all(&world, p));
    world.barrier();
    const auto y = memory.view(p.y);
    std::uint64_t wrong = 0;
    for (std::size_t k = 0; k < y.local().size(); ++k) {
      const auto i = y.layout().element(world.rank(), k);
      double sum = 0;
      for (auto e = first_of(i); e < first_of(i + 1); ++e) {
        sum += entry_at(e).value * element_of_x(entry_at(e).column);
      }
      wrong += y.local()[k] != sum ? 1 : 0;
    }
    wrong = world.sum(wrong);
    if (world.rank() == 0) fmt::print("{} of {} elements differ\n", wrong, n);
    return wrong == 0 ? 0 : 1;
  });
}
