// SPDX-License-Identifier: Apache-2.0
#include <utility>

#include <cairn/activity/executor.hpp>
#include <cairn/algo/kcore.hpp>
#include <cairn/pgas/accumulator.hpp>
#include <cairn/traverse/push.hpp>
#include <cairn/traverse/vertex_list.hpp>

namespace cairn::algo {
namespace {

constexpr auto none = minimum<std::uint32_t>::identity();
// A vertex's cell: the remaining degree, or ~(core number) once removed.
constexpr bool exceeds(std::int32_t cell, std::uint32_t level) {
  return cell > static_cast<std::int32_t>(level);
}

template <class Id>
struct peeling {
  struct lose_edge {  // the operator: a neighbor of v was removed; may fail
    static constexpr bool prefiltered = true;  // each edge is sent twice and wanted once
    struct message {
      Id v;
    };
    pgas::vertex_view<std::int32_t> cells;
    peeling& p;

    auto cell(const message& m) const { return cells.at(m.v); }
    bool wanted(std::int32_t x, const message&) const { return exceeds(x, p.level); }
    bool attempt(auto cell, const message&) const {
      for (auto x = cell.load(); exceeds(x, p.level);) {
        if (const auto found = cell.claim(x, x - 1); std::exchange(x, found) == found) return true;
      }
      return false;
    }
    void after(const message& m, auto& at) { p.remove_if_few(at.worker(), m.v); }
  };

  peeling(world& world, const graph::dist_csr<Id>& g, const activity::options& opt)
      : w(world),
        edges(traverse::edges_both_ways(g)),
        cells(w, g.partition(), 0),
        left(w, g.out().num_rows()),
        removed(w),
        min_degree(w),
        losses(w, lose_edge{cells.view(), *this}, opt) {
    traverse::for_each_own(w, g.out(), [&](worker_t k, Id v) {
      std::uint64_t degree = 0;
      edges.each_row_of(v, [&](std::span<const Id> row) {
        traverse::each_distinct(row, [&](Id u) { degree += u != v; });
      });
      CAIRN_EXPECTS(degree < std::uint64_t{1} << 31, "a vertex has at most 2^31 - 1 neighbors");
      cells.store(v, static_cast<std::int32_t>(degree));
      left.add(k, v);
    });
  }

  // If several workers call this concurrently, one of them removes v.
  [[gnu::always_inline]] void remove_if_few(worker_t k, Id v) {
    const auto x = cells.load(v);
    if (x < 0 || exceeds(x, level)) return;
    const tm::cell_ref<std::int32_t, tm::atomic_access> cell(cells.at(v).element());
    if (cell.claim(x, ~static_cast<std::int32_t>(level)) == x) removed.add(k, v);
  }

  // Removes the vertices of degree at most `level`. Returns the smallest remaining degree, if any.
  std::uint32_t scan() {
    left.keep_if([&](worker_t k, Id v) {
      const auto x = cells.load(v);
      if (x >= 0) min_degree.accumulate(k, static_cast<std::uint32_t>(x));
      remove_if_few(k, v);
      return exceeds(x, level);
    });
    return min_degree.collect();
  }

  void peel() {
    largest = level;
    ++levels;
    const auto take_edges = [](Id, std::span<const Id> row, auto& send) {
      traverse::each_distinct(row, [&](Id u) { row.size() > 2 ? send({u}) : send.at_once({u}); });
    };
    rounds += traverse::push_deep(w, losses, edges, removed, take_edges);
  }

  world& w;
  const traverse::edges<Id> edges;
  pgas::vertex_map<std::int32_t> cells;
  traverse::shrinking_list<Id> left;  // may contain vertices that have been removed
  traverse::worklist<Id> removed;
  pgas::accumulator<minimum<std::uint32_t>> min_degree;
  std::uint32_t level = 0;
  std::uint64_t largest = 0, levels = 0, rounds = 0;
  activity::executor<lose_edge> losses;
};

}  // namespace

template <class Id>
kcore_result kcore(world& w, const graph::dist_csr<Id>& g, const kcore_options& opt) {
  g.expect_in();
  auto activity = opt.activity;
  activity.sent_filter = false;  // the filter would drop the second of two equal messages
  peeling<Id> p(w, g, activity);
  for (auto min_degree = p.scan(); min_degree != none; min_degree = p.scan()) {
    if (min_degree == p.level) p.peel();
    p.level = min_degree == p.level ? min_degree + 1 : min_degree;
  }
  pgas::vertex_map<std::uint32_t> core(w, g.partition(), 0);
  traverse::for_each_own(w, core, [&](worker_t, std::uint64_t v) {
    core.store(v, static_cast<std::uint32_t>(~p.cells.load(v)));
  });
  return {std::move(core), p.largest, p.levels, p.rounds, p.losses.ran()};
}

template kcore_result kcore(world&, const graph::dist_csr<std::uint32_t>&, const kcore_options&);
template kcore_result kcore(world&, const graph::dist_csr<std::uint64_t>&, const kcore_options&);

}  // namespace cairn::algo
