// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <limits>
#include <span>
#include <string>
#include <tuple>
#include <type_traits>

#include <cairn/algo/sssp.hpp>
#include <cairn/am/channel.hpp>
#include <cairn/task/per_worker.hpp>
#include <cairn/tm/cell.hpp>
#include <cairn/traverse/push.hpp>
#include <cairn/traverse/weighted_rows.hpp>

namespace cairn::algo {
namespace {

enum class broken_rule : std::uint32_t { none, source, too_far, no_path, no_root, no_tree };

struct violation {
  broken_rule rule = broken_rule::none;
  std::uint64_t vertex = 0, from = 0;

  void keep_first(const violation& other) {
    if (other.rule == broken_rule::none) return;
    if (rule == broken_rule::none ||
        std::tie(other.rule, other.vertex, other.from) < std::tie(rule, vertex, from)) {
      *this = other;
    }
  }
};

std::string to_sentence(const violation& f, bool of_tree, const graph::labels& names) {
  const auto v = "vertex " + names.text_of(f.vertex);
  switch (f.rule) {
    case broken_rule::source:
      return "the source, " + v + ", does not have distance 0";
    case broken_rule::too_far:
      return v + " has a larger distance than by the edge from " + names.text_of(f.from);
    case broken_rule::no_path:
      if (of_tree)
        return "the path of predecessors of " + v + " does not have its distance as length";
      return "no path from the source has the distance of " + v + " as length";
    case broken_rule::no_root:
      return "the source, " + v + ", is not its own predecessor";
    default:
      return v + " has a predecessor, but no distance";
  }
}

template <class Id, class Distance>
class checker {
  using weight = std::conditional_t<std::is_integral_v<Distance>, std::int32_t, double>;
  struct edge_bound {  // an edge, the bound on its target's distance, and its source's distance
    Id to, from;
    Distance bound, before;
  };

 public:
  checker(world& w, const graph::dist_csr<Id>& g, const pgas::vertex_map<Distance>& distance,
          const pgas::vertex_map<std::uint64_t>* predecessor)
      : w_(w),
        g_(g),
        rows_(g.out()),
        distance_(distance),
        predecessor_(predecessor),
        proven_(w, g.partition(), 0),
        frontier_(w),
        found_(w.workers()),
        bounds_(w, [this](worker_t k, std::span<const edge_bound> batch) {
          for (const auto& m : batch) receive(k, m);
        }) {}

  std::optional<std::string> run(std::uint64_t source) {
    if (distance_.owns(source)) {
      if (distance_.load(source) != 0) found_[worker_t(0)] = {broken_rule::source, source, 0};
      prove(worker_t(0), static_cast<Id>(source));
    }
    traverse::push_own(w_, bounds_, g_.out(),
                       [&](Id v, auto& send) { return send_bounds(v, send); });
    searching_ = true;
    while (w_.any(!frontier_.empty())) {
      traverse::push_each(
          w_, bounds_, frontier_.take(), [&](Id v, auto& send) { return send_bounds(v, send); },
          traverse::mean_ns_of_row(g_.out()));
    }
    traverse::for_each_own(w_, g_.out(), [&](worker_t k, Id v) {
      const bool reached = is_reached(distance_.load(v));
      if (reached && proven_.load(v) == 0) found_[k].keep_first({broken_rule::no_path, v, 0});
      if (predecessor_ == nullptr || (reached && v != source)) return;
      const auto expected = v == source ? source : no_vertex<std::uint64_t>;
      const auto broken = v == source ? broken_rule::no_root : broken_rule::no_tree;
      if (predecessor_->load(v) != expected) found_[k].keep_first({broken, v, 0});
    });
    violation mine, first;
    for (const auto& f : found_) mine.keep_first(f.value);
    for (const auto& f : w_.all_gather(mine)) first.keep_first(f);
    if (first.rule == broken_rule::none) return std::nullopt;
    return to_sentence(first, predecessor_ != nullptr, g_.labels());
  }

 private:
  static bool is_reached(Distance d) { return d < unreached<Distance>; }  // false for NaN

  static Distance sum(Distance d, weight x) {
    if constexpr (std::is_integral_v<Distance>) {
      const auto longer = static_cast<Distance>(x);
      return longer < unreached<Distance> - d ? static_cast<Distance>(d + longer)
                                              : unreached<Distance>;
    } else {
      return d + x;
    }
  }

  // Records that a path to v has the right length. v's edges of weight 0 may prove more vertices.
  void prove(worker_t k, Id v) {
    const tm::cell_ref<std::uint8_t, tm::atomic_access> cell(proven_.at(v).element());
    if (cell.claim(0, 1) == 0) frontier_.add(k, v);
  }

  std::uint64_t send_bounds(Id v, auto& send) {
    const auto d = distance_.load(v);
    if (!is_reached(d)) return 0;
    rows_.each_edge(rows_.row_of(v), [&](Id u, weight x) {
      const auto bound = sum(d, x);
      if (!searching_ || bound == d) send(distance_.owner(u), {u, v, bound, d});
    });
    return rows_.degree(v);
  }

  void receive(worker_t k, const edge_bound& m) {
    const auto d = distance_.load(m.to);
    if (!(d <= m.bound)) found_[k].keep_first({broken_rule::too_far, m.to, m.from});
    if (m.bound != d || !is_reached(d) || !(searching_ || m.before < d)) return;
    if (predecessor_ == nullptr || predecessor_->load(m.to) == m.from) prove(k, m.to);
  }

  world& w_;
  const graph::dist_csr<Id>& g_;
  const traverse::weighted_rows<Id, weight> rows_;
  const pgas::vertex_map<Distance>& distance_;
  const pgas::vertex_map<std::uint64_t>* const predecessor_;
  pgas::vertex_map<std::uint8_t> proven_;  // whether a path has the right length
  traverse::worklist<Id> frontier_;
  task::per_worker<violation> found_;
  bool searching_ = false;  // only edges of weight 0 are sent
  am::channel<edge_bound> bounds_;
};

}  // namespace

template <class Id, class Distance>
std::optional<std::string> verify_sssp(world& w, const graph::dist_csr<Id>& g, std::uint64_t source,
                                       const pgas::vertex_map<Distance>& distance,
                                       const pgas::vertex_map<std::uint64_t>* predecessor) {
  CAIRN_EXPECTS(source < g.num_vertices());
  return checker<Id, Distance>(w, g, distance, predecessor).run(source);
}

#define CAIRN_INSTANTIATE(Id, Distance)                                                     \
  template std::optional<std::string> verify_sssp(                                          \
      world&, const graph::dist_csr<Id>&, std::uint64_t, const pgas::vertex_map<Distance>&, \
      const pgas::vertex_map<std::uint64_t>*);
CAIRN_INSTANTIATE(std::uint32_t, std::uint32_t)
CAIRN_INSTANTIATE(std::uint32_t, std::uint64_t)
CAIRN_INSTANTIATE(std::uint32_t, double)
CAIRN_INSTANTIATE(std::uint64_t, std::uint32_t)
CAIRN_INSTANTIATE(std::uint64_t, std::uint64_t)
CAIRN_INSTANTIATE(std::uint64_t, double)
#undef CAIRN_INSTANTIATE

}  // namespace cairn::algo
