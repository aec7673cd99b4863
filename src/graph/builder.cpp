// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <graph/balanced_partition.hpp>
#include <graph/degrees.hpp>
#include <graph/row_builder.hpp>
#include <numeric>
#include <span>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include <cairn/am/channel.hpp>
#include <cairn/am/epoch.hpp>
#include <cairn/base/contract.hpp>
#include <cairn/graph/builder.hpp>
#include <cairn/graph/memory.hpp>
#include <cairn/task/per_worker.hpp>

namespace cairn::graph {
namespace {

using detail::arc_chunks;
using detail::direction;
using detail::row_request;
using detail::unweighted;

template <class Id, class W>
struct weighted_arc {
  Id source, target;
  W weight;
};
template <class Id, class W>
using arc = std::conditional_t<std::is_same_v<W, unweighted>, edge<Id>, weighted_arc<Id, W>>;

/// An empty block with capacity for `room` edges of these types.
template <class Id, class W>
io::edge_block make_block(std::size_t room) {
  io::edge_block block;
  block.edges.template emplace<std::vector<edge<Id>>>().reserve(room);
  if constexpr (!std::is_same_v<W, unweighted>) {
    block.weights.template emplace<std::vector<W>>().reserve(room);
  }
  return block;
}

template <class Id, class W>
void append(std::vector<io::edge_block>& blocks, std::span<const arc<Id, W>> arrived) {
  constexpr auto room = arc_chunks<Id, W>::chunk_edges;
  if (blocks.empty() || blocks.back().size() + arrived.size() > room) {
    blocks.push_back(make_block<Id, W>(std::max(room, arrived.size())));
  }
  auto& edges = std::get<std::vector<edge<Id>>>(blocks.back().edges);
  if constexpr (std::is_same_v<W, unweighted>) {
    edges.insert(edges.end(), arrived.begin(), arrived.end());
  } else {
    auto& weights = std::get<std::vector<W>>(blocks.back().weights);
    for (const auto& a : arrived) {
      edges.push_back({a.source, a.target});
      weights.push_back(a.weight);
    }
  }
}

/// The arcs of all ranks' blocks, in this direction, that start in this rank's rows.
template <class Id, class W>
std::vector<io::edge_block> shuffle(world& w, std::vector<io::edge_block>& blocks,
                                    const pgas::partition& partition, const row_request& request) {
  task::per_worker<std::vector<io::edge_block>> received(w.workers());
  am::channel<arc<Id, W>> arc_channel(w, [&](worker_t worker, std::span<const arc<Id, W>> arrived) {
    append<Id, W>(received[worker], arrived);
  });
  arc_chunks<Id, W> chunks(blocks);
  am::epoch open(w);
  w.parallel_for(
      chunks.size(),
      [&](worker_t worker, std::size_t chunk, std::size_t) {
        if (worker == 0 && request.progress) {
          request.progress(static_cast<double>(chunk) / static_cast<double>(chunks.size()));
        }
        auto send = arc_channel.from(worker);
        chunks.for_each(chunk, request.arcs, request.drop_self_loops,
                        [&](Id source, Id target, [[maybe_unused]] W weight) {
                          if constexpr (std::is_same_v<W, unweighted>) {
                            send(partition.owner(source), {source, target});
                          } else {
                            send(partition.owner(source), {source, target, weight});
                          }
                        });
        if (!request.keep_blocks) chunks.release(chunk);
      },
      1);
  open.close();
  std::vector<io::edge_block> mine;
  for (auto& [part] : received) std::move(part.begin(), part.end(), std::back_inserter(mine));
  return mine;
}

template <class Id, class W>
csr<Id> build_own_rows(world& w, std::vector<io::edge_block>& blocks,
                       const pgas::partition& partition, row_request request) {
  request.num_vertices = partition.n();
  request.first = partition.first(w.rank());
  request.last = partition.last(w.rank());
  if (w.size() == 1) return detail::build_rows<Id, W>(w.pool(), blocks, request);
  const auto progress = std::exchange(request.progress, {});
  const auto half = [&](double before) -> std::function<void(double)> {
    if (!progress) return {};
    return [&progress, before](double part) { progress(before + part / 2); };
  };
  request.progress = half(0);
  auto received = shuffle<Id, W>(w, blocks, partition, request);
  request.progress = half(0.5);
  request.arcs = direction::out;
  request.keep_blocks = false;
  return detail::build_rows<Id, W>(w.pool(), received, request);
}

template <class Id>
std::uint64_t count_self_loops(world& w, const csr<Id>& rows) {
  task::per_worker<std::uint64_t> counts(w.workers());
  w.parallel_for(rows.num_rows(), [&](worker_t worker, std::size_t begin, std::size_t end) {
    std::uint64_t found = 0;
    for (auto v = rows.first() + begin; v < rows.first() + end; ++v) {
      const auto list = rows.neighbors(v);
      const auto [from, to] = std::equal_range(list.begin(), list.end(), static_cast<Id>(v));
      found += static_cast<std::uint64_t>(to - from);
    }
    counts[worker] += found;
  });
  std::uint64_t all = 0;
  for (const auto& [count] : counts) all += count;
  return all;
}

pgas::partition partition_for(world& w, const io::raw_edges& edges, std::uint64_t n, direction arcs,
                              partition_kind kind) {
  if (kind == partition_kind::vertices || w.size() == 1) return {n, w.size()};
  auto sums = detail::degrees_of(w, edges, n, arcs);
  std::inclusive_scan(sums.begin(), sums.end(), sums.begin());
  const auto before = [&](std::uint64_t v) { return v == 0 ? 0 : sums[v - 1]; };
  return detail::balanced_partition(n, w.size(), before);
}

template <class Id, class W>
dist_csr<Id> build_as(world& w, io::raw_edges& raw, labels&& names, const build_options& options) {
  const bool directed = raw.directed && !options.symmetrize;
  const bool inverse = directed && options.inverse;
  const auto arcs = directed ? direction::out : direction::both;
  const auto partition = partition_for(w, raw, names.size(), arcs, options.partition);
  // Reports in units of 2^-16; the in-rows are the second half.
  const auto report = [&](double part) {
    constexpr std::uint64_t parts = 1 << 16;
    options.progress(static_cast<std::uint64_t>(part * parts), parts);
  };
  const auto passes = inverse ? 2.0 : 1.0;
  row_request request{.arcs = arcs,
                      .drop_self_loops = options.drop_self_loops,
                      .drop_duplicates = options.drop_duplicates,
                      .keep_blocks = inverse};
  if (options.progress) {
    request.progress = [&report, passes](double part) { report(part / passes); };
  }
  auto out = build_own_rows<Id, W>(w, raw.blocks, partition, request);
  auto num_edges = w.sum(out.num_edges());
  if (!directed) {
    const auto loops = options.drop_self_loops ? 0 : w.sum(count_self_loops(w, out));
    num_edges = (num_edges - loops) / 2 + loops;
  }
  dist_csr<Id> g(partition, directed, num_edges, std::move(out), std::move(names));
  if (inverse) {
    auto reversed = request;
    reversed.arcs = direction::in;
    reversed.keep_blocks = false;
    if (options.progress) {
      reversed.progress = [&report](double part) { report(0.5 + part / 2); };
    }
    g.add_inverse(build_own_rows<Id, W>(w, raw.blocks, partition, reversed));
  }
  return g;
}

/// The rows as blocks of about `size` edges.
template <class Id, class W>
std::vector<io::edge_block> blocks_of(world& w, const csr<Id>& rows, std::uint64_t size) {
  const auto offsets = rows.offsets();
  std::vector<std::uint64_t> cuts{0};
  while (cuts.back() < rows.num_rows()) {
    const auto from = offsets.begin() + static_cast<std::ptrdiff_t>(cuts.back());
    const auto to = std::lower_bound(from + 1, offsets.end() - 1, *from + size);
    cuts.push_back(static_cast<std::uint64_t>(to - offsets.begin()));
  }
  std::vector<io::edge_block> blocks(cuts.size() - 1);
  w.parallel_for(
      blocks.size(),
      [&](worker_t, std::size_t b, std::size_t) {
        const auto num_edges = static_cast<std::size_t>(offsets[cuts[b + 1]] - offsets[cuts[b]]);
        blocks[b] = make_block<Id, W>(num_edges);
        auto& edges = std::get<std::vector<edge<Id>>>(blocks[b].edges);
        for (auto row = cuts[b]; row < cuts[b + 1]; ++row) {
          const auto v = rows.first() + row;
          for (const Id u : rows.neighbors(v)) edges.push_back({static_cast<Id>(v), u});
          if constexpr (!std::is_same_v<W, unweighted>) {
            auto& weights = std::get<std::vector<W>>(blocks[b].weights);
            for (const auto& e : rows.template edges_of<W>(v)) weights.push_back(e.weight);
          }
        }
      },
      1);
  return blocks;
}

/// Calls f with an object of the weight type of this kind.
template <class F>
decltype(auto) with_weight_type(io::weight_kind kind, F&& f) {
  switch (kind) {
    case io::weight_kind::integer:
      return f(std::int32_t{});
    case io::weight_kind::real:
      return f(double{});
    case io::weight_kind::none:
      break;
  }
  return f(unweighted{});
}

unsigned bytes_of(io::weight_kind kind) {
  return with_weight_type(kind, [](auto weight) -> unsigned {
    return std::is_empty_v<decltype(weight)> ? 0 : sizeof weight;
  });
}

}  // namespace

template <class Id>
dist_csr<Id> build(world& w, io::raw_edges edges, labels names, const build_options& options) {
  CAIRN_EXPECTS(sizeof(Id) == 8 || fits_32_bits(names.size()));
  const auto kind = options.keep_weights ? edges.weights : io::weight_kind::none;
  const bool symmetric = !edges.directed || options.symmetrize;
  expect_memory_for(w,
                    {.num_vertices = names.size(),
                     .num_edges = w.sum(edges.num_edges()),
                     .id_bytes = sizeof(Id),
                     .weight_bytes = bytes_of(kind),
                     .symmetric = symmetric,
                     .inverse = options.inverse && !symmetric,
                     .balanced = options.partition == partition_kind::edges},
                    edges.declared_at);
  return with_weight_type(kind, [&](auto weight) {
    return build_as<Id, decltype(weight)>(w, edges, std::move(names), options);
  });
}

any_graph build_any(world& w, io::raw_edges edges, labels names, const build_options& options) {
  if (fits_32_bits(names.size())) {
    return build<std::uint32_t>(w, std::move(edges), std::move(names), options);
  }
  return build<std::uint64_t>(w, std::move(edges), std::move(names), options);
}

template <class Id>
void build_inverse(world& w, dist_csr<Id>& g) {
  if (g.has_in()) return;
  const auto kind = !g.weighted()                            ? io::weight_kind::none
                    : g.out().template weighted_by<double>() ? io::weight_kind::real
                                                             : io::weight_kind::integer;
  with_weight_type(kind, [&](auto weight) {
    using weight_type = decltype(weight);
    auto blocks = blocks_of<Id, weight_type>(w, g.out(), std::uint64_t{1} << 19);
    g.add_inverse(
        build_own_rows<Id, weight_type>(w, blocks, g.partition(), {.arcs = direction::in}));
  });
}

template dist_csr<std::uint32_t> build(world&, io::raw_edges, labels, const build_options&);
template dist_csr<std::uint64_t> build(world&, io::raw_edges, labels, const build_options&);
template void build_inverse(world&, dist_csr<std::uint32_t>&);
template void build_inverse(world&, dist_csr<std::uint64_t>&);

}  // namespace cairn::graph
