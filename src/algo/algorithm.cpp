// SPDX-License-Identifier: Apache-2.0
#include <cairn/algo/algorithm.hpp>

namespace cairn::algo {

#define CAIRN_ALGORITHM(name) const algorithm& name##_algorithm();
#include "algo/algorithms.def"
#undef CAIRN_ALGORITHM

const std::vector<const algorithm*>& algorithms() {
  static const std::vector<const algorithm*> all{
#define CAIRN_ALGORITHM(name) &name##_algorithm(),
#include "algo/algorithms.def"
#undef CAIRN_ALGORITHM
  };
  return all;
}

namespace {

template <class T>
void gather_column(world& w, std::string_view name, const pgas::vertex_map<T>& map,
                   ref::output& to) {
  const auto all = w.all_gather_values<T>(map.local());
  if constexpr (std::is_floating_point_v<T>) {
    to.real[std::string(name)].assign(all.begin(), all.end());
  } else {
    auto& values = to.integers[std::string(name)];
    for (const T x : all) values.push_back(x == no_vertex<T> ? no_vertex<std::uint64_t> : x);
  }
}

}  // namespace

ref::output gather(world& w, const run_result& f) {
  ref::output all;
  for (const auto& c : f.columns()) {
    std::visit([&](const auto* map) { gather_column(w, c.name, *map, all); }, c.values);
  }
  for (const auto& [name, value] : f.facts()) {
    std::visit(
        [&](const auto& x) {
          using T = std::remove_cvref_t<decltype(x)>;
          if constexpr (std::is_same_v<T, vertex_id>) {
            all.numbers[std::string(name)] = static_cast<double>(x.vertex);
          } else if constexpr (std::is_arithmetic_v<T>) {
            all.numbers[std::string(name)] = static_cast<double>(x);
          }
        },
        value);
  }
  return all;
}

}  // namespace cairn::algo
