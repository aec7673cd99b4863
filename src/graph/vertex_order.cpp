// SPDX-License-Identifier: Apache-2.0
#include <cairn/base/types.hpp>
#include <cairn/graph/vertex_order.hpp>

namespace cairn::graph {
namespace {

template <class Number>
void fill(const std::vector<std::uint64_t>& from, std::vector<Number>& positions,
          std::vector<Number>& vertices) {
  constexpr auto none = no_vertex<Number>;
  positions.assign(from.begin(), from.end());
  vertices.assign(from.size(), none);
  for (std::uint64_t v = 0; v < from.size(); ++v) {
    CAIRN_EXPECTS(from[v] < from.size() && vertices[from[v]] == none, "not a permutation");
    vertices[from[v]] = static_cast<Number>(v);
  }
}

bool counts_up(const std::vector<std::uint64_t>& numbers) noexcept {
  for (std::uint64_t i = 0; i < numbers.size(); ++i) {
    if (numbers[i] != i) return false;
  }
  return true;
}

}  // namespace

vertex_order vertex_order::listed(const std::vector<std::uint64_t>& positions) {
  vertex_order order;
  if (counts_up(positions)) return order;
  auto made = std::make_shared<table>();
  if (positions.size() < no_vertex<std::uint32_t>) {
    fill(positions, made->narrow_positions, made->narrow_vertices);
  } else {
    fill(positions, made->positions, made->vertices);
  }
  order.permutation_ = tables(std::move(made));
  return order;
}

}  // namespace cairn::graph
