// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <span>
#include <tuple>
#include <utility>

#include <cairn/algo/verify_components.hpp>
#include <cairn/am/channel.hpp>
#include <cairn/tm/cell.hpp>
#include <cairn/traverse/edges.hpp>
#include <cairn/traverse/own.hpp>
#include <cairn/traverse/push.hpp>
#include <cairn/traverse/worklist.hpp>

namespace cairn::algo {
namespace {

enum class broken_rule : std::uint32_t { none, no_smaller_vertex, edge_between, unconnected };

struct violation {
  broken_rule rule = broken_rule::none;
  std::uint64_t v = 0, u = 0;  // u is the label, or the other endpoint
};

violation first_of(const violation& a, const violation& b) {
  if (a.rule == broken_rule::none) return b;
  if (b.rule == broken_rule::none) return a;
  return std::tie(b.rule, b.v, b.u) < std::tie(a.rule, a.v, a.u) ? b : a;
}

std::string to_sentence(const violation& f, const graph::labels& names) {
  const auto vertex = [&](std::uint64_t v) {
    return v < names.size() ? "vertex " + names.text_of(v) : std::string("no vertex");
  };
  const auto v = vertex(f.v), u = vertex(f.u);
  if (f.rule == broken_rule::no_smaller_vertex) {
    return "the label of " + v + " is " + u + ", expected the smallest vertex of its component";
  }
  if (f.rule == broken_rule::edge_between) {
    return "the endpoints " + v + " and " + u + " of an edge have different labels";
  }
  return v + " is not connected to its label, " + u;
}

template <class Id>
class checker {
  struct edge_visit {  // an edge from a reached vertex
    Id at, from, label;
  };

 public:
  checker(world& w, const graph::dist_csr<Id>& g, const pgas::vertex_map<Id>& label)
      : w_(w),
        g_(g),
        label_(label),
        reached_(w, g.partition(), 0),
        edges_(traverse::edges_both_ways(g)),
        next_(w),
        found_(w.workers()),
        visits_(w, [this](worker_t k, std::span<const edge_visit> batch) {
          for (const auto& m : batch) handle(k, m);
        }) {}

  std::optional<std::string> run() {
    each_own([&](worker_t k, Id v) {
      const Id label = label_.load(v);
      if (label > v) note(k, {broken_rule::no_smaller_vertex, v, label});
      if (label == v) reach(k, v);
    });
    while (w_.any(!next_.empty())) level();
    each_own([&](worker_t k, Id v) {
      if (reached_.load(v) == 0) note(k, {broken_rule::unconnected, v, label_.load(v)});
    });
    violation mine;
    for (const auto& f : found_) mine = first_of(mine, f.value);
    violation all;
    for (const auto& f : w_.all_gather(mine)) all = first_of(all, f);
    if (all.rule == broken_rule::none) return std::nullopt;
    return to_sentence(all, g_.labels());
  }

 private:
  template <class F>
  void each_own(F&& f) {
    traverse::for_each_own(w_, g_.out(), f);
  }

  void level() {
    const auto list = next_.take();
    traverse::push_ranges(
        w_, visits_, list.size(),
        [&](auto& send, worker_t k, std::size_t begin, std::size_t end) {
          const auto look = [&](Id v, std::span<const Id> row) {
            for (const Id u : row) {
              const edge_visit m{u, v, label_.load(v)};
              if (label_.owns(u)) {
                handle(k, m);
              } else {
                send(label_.owner(u), m);
              }
            }
          };
          return edges_.each_row(list.subspan(begin, end - begin), look);
        },
        traverse::chunk_of(w_, list.size(), traverse::ns_of_row(edges_.mean_degree(list))));
  }

  void handle(worker_t k, const edge_visit& m) {
    if (label_.load(m.at) != m.label) {
      note(k, {broken_rule::edge_between, std::min(m.at, m.from), std::max(m.at, m.from)});
    } else {
      reach(k, m.at);
    }
  }

  void reach(worker_t k, Id v) {
    const tm::cell_ref<std::uint8_t, tm::atomic_access> cell(reached_.at(v).element());
    if (cell.claim(0, 1) == 0) next_.add(k, v);
  }

  void note(worker_t k, const violation& f) { found_[k] = first_of(found_[k], f); }

  world& w_;
  const graph::dist_csr<Id>& g_;
  const pgas::vertex_map<Id>& label_;
  pgas::vertex_map<std::uint8_t> reached_;
  const traverse::edges<Id> edges_;
  traverse::worklist<Id> next_;  // reached vertices whose edges are not processed yet
  task::per_worker<violation> found_;
  am::channel<edge_visit> visits_;
};

}  // namespace

template <class Id>
std::optional<std::string> verify_components(world& w, const graph::dist_csr<Id>& g,
                                             const pgas::vertex_map<Id>& label) {
  g.expect_in();
  return checker<Id>(w, g, label).run();
}

template std::optional<std::string> verify_components(world&, const graph::dist_csr<std::uint32_t>&,
                                                      const pgas::vertex_map<std::uint32_t>&);
template std::optional<std::string> verify_components(world&, const graph::dist_csr<std::uint64_t>&,
                                                      const pgas::vertex_map<std::uint64_t>&);

}  // namespace cairn::algo
