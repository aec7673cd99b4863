// SPDX-License-Identifier: Apache-2.0
#include <string>

#include <cairn/algo/triangles.hpp>

#include "algo/common_neighbors.hpp"
#include "algo/first_own.hpp"
#include "algo/first_sentence.hpp"

namespace cairn::algo {

template <class Id>
std::optional<std::string> verify_triangles(world& w, const graph::dist_csr<Id>& g,
                                            std::uint64_t total,
                                            const pgas::vertex_map<std::uint64_t>* of_vertex) {
  g.expect_in();
  const common_neighbor_counts<Id> counts(w, g, joined_by::any_edge);
  const auto& twice = counts.of_vertex();
  task::per_worker<std::uint64_t> sums(w.workers());
  traverse::for_each_own(w, twice, [&](worker_t k, std::uint64_t v) { sums[k] += twice.load(v); });
  std::uint64_t six_times = 0;
  for (const auto& s : sums) six_times += s.value;
  six_times = w.sum(six_times);
  if (of_vertex != nullptr) {
    const auto is_wrong = [&](std::uint64_t v) { return of_vertex->load(v) != twice.load(v) / 2; };
    std::string wrong;
    if (const auto v = first_own(w, twice, is_wrong); v != no_vertex<std::uint64_t>) {
      wrong = "vertex " + g.labels().text_of(v) + " is in " + std::to_string(twice.load(v) / 2) +
              " triangles, not in " + std::to_string(of_vertex->load(v));
    }
    if (auto first = first_sentence(w, wrong)) return first;
  }
  if (six_times == 6 * total) return std::nullopt;
  return "there are " + std::to_string(six_times / 6) + " triangles, not " + std::to_string(total);
}

template std::optional<std::string> verify_triangles(world&, const graph::dist_csr<std::uint32_t>&,
                                                     std::uint64_t,
                                                     const pgas::vertex_map<std::uint64_t>*);
template std::optional<std::string> verify_triangles(world&, const graph::dist_csr<std::uint64_t>&,
                                                     std::uint64_t,
                                                     const pgas::vertex_map<std::uint64_t>*);

}  // namespace cairn::algo
