// SPDX-License-Identifier: Apache-2.0
#include <cairn/traverse/heap_queue.hpp>

#include "algo/shortest_paths.hpp"

namespace cairn::algo {

// [DC15] algorithm 1.
template <class Id, class Distance>
std::optional<sssp_result<Distance>> search_by_heaps(world& w, const graph::dist_csr<Id>& g,
                                                     Id source, const sssp_options& opt,
                                                     const edge_lengths& lengths) {
  using search = shortest_paths<Id, Distance, traverse::heap_queue>;
  search s(w, g, opt.activity, lengths, [] { return typename search::queue(); });
  s.start(source);
  s.work.run([&](worker_t k, auto entries, auto next) { s.expand(k, entries, next); });
  return s.result(sssp_method::distributed_control, 0, 0);
}

#define CAIRN_INSTANTIATE(Id, Distance)                          \
  template std::optional<sssp_result<Distance>> search_by_heaps( \
      world&, const graph::dist_csr<Id>&, Id, const sssp_options&, const edge_lengths&);
CAIRN_INSTANTIATE(std::uint32_t, std::uint32_t)
CAIRN_INSTANTIATE(std::uint32_t, std::uint64_t)
CAIRN_INSTANTIATE(std::uint32_t, double)
CAIRN_INSTANTIATE(std::uint64_t, std::uint64_t)
CAIRN_INSTANTIATE(std::uint64_t, double)
#undef CAIRN_INSTANTIATE

}  // namespace cairn::algo
