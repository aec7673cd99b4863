// SPDX-License-Identifier: Apache-2.0
#include <span>
#include <vector>

#include <cairn/algo/cdlp.hpp>
#include <cairn/task/per_worker.hpp>
#include <cairn/traverse/edges.hpp>
#include <cairn/traverse/own.hpp>
#include <cairn/traverse/worklist.hpp>

#include "algo/label_counts.hpp"

namespace cairn::algo {
namespace {

// Labels are positions of ids, which are ordered as the ids are.
template <class Id>
class propagation {
  struct change {
    Id v, label;
  };

 public:
  propagation(world& w, const graph::dist_csr<Id>& g)
      : w_(w),
        g_(g),
        edges_(traverse::edges_both_ways(g)),
        labels_(g.num_vertices(), w.memory()),
        changes_(w),
        workers_(w.workers()) {
    w.parallel_for(labels_.size(), [&](worker_t, std::size_t v, std::size_t end) {
      for (; v < end; ++v) labels_[v] = static_cast<Id>(g.labels().position_of(v));
    });
  }

  // Returns the number of labels that changed.
  std::uint64_t iterate() {
    count();
    const auto mine = changes_.take();
    if (w_.size() == 1) return apply(mine);
    return apply(w_.template all_gather_values<change>(mine));
  }

  [[nodiscard]] pgas::vertex_map<Id> result() const {
    pgas::vertex_map<Id> label(w_, g_.partition(), 0);
    traverse::for_each_own(w_, label, [&](worker_t, std::uint64_t v) {
      label.store(v, static_cast<Id>(g_.labels().vertex_at(labels_[v])));
    });
    return label;
  }

 private:
  struct scratch {
    label_counts<Id> counts;
    std::vector<Id> seen;
  };

  void count() {
    const auto& rows = g_.out();
    const auto kinds = g_.directed() ? 2.0 : 1.0;
    const auto degree =
        kinds * static_cast<double>(rows.num_edges()) / static_cast<double>(rows.num_rows() + 1);
    traverse::for_own_ranges(
        w_, rows,
        [&](worker_t k, std::uint64_t v, std::uint64_t last) {
          std::uint64_t looked = 0;
          for (; v < last; ++v) {
            const Id label = most_frequent(v, workers_[k]);
            if (label != labels_[v]) changes_.add(k, {static_cast<Id>(v), label});
            looked += edges_.degree(v);
          }
          w_.counters().add(k, obs::counter::edges, looked);
        },
        3 * traverse::ns_of_row(degree));
  }

  Id most_frequent(std::uint64_t v, scratch& s) const {
    const auto degree = edges_.degree(v);
    if (degree == 0) return labels_[v];
    if (s.seen.size() < degree) s.seen.resize(2 * degree);
    Id* to = s.seen.data();
    edges_.each_neighbor(v, [&](Id u) { *to++ = labels_[u]; });
    return s.counts.most_frequent({s.seen.data(), to}, labels_[v]);
  }

  std::uint64_t apply(std::span<const change> all) {
    w_.parallel_for(all.size(), [&](worker_t, std::size_t begin, std::size_t end) {
      for (const auto& c : all.subspan(begin, end - begin)) labels_[c.v] = c.label;
    });
    return all.size();
  }

  world& w_;
  const graph::dist_csr<Id>& g_;
  const traverse::edges<Id> edges_;
  hw::page_buffer<Id> labels_;  // of the whole graph; constant while workers count
  traverse::worklist<change> changes_;
  task::per_worker<scratch> workers_;
};

}  // namespace

template <class Id>
cdlp_result<Id> cdlp(world& w, const graph::dist_csr<Id>& g, const cdlp_options& opt) {
  propagation<Id> p(w, g);
  std::uint64_t iterations = 0, changed = 0;
  for (bool settled = false; iterations < opt.iterations && !settled; ++iterations) {
    changed = p.iterate();
    settled = changed == 0;
  }
  return {p.result(), iterations, changed, {activity::mechanism::plain, 1, {}}};
}

template cdlp_result<std::uint32_t> cdlp(world&, const graph::dist_csr<std::uint32_t>&,
                                         const cdlp_options&);
template cdlp_result<std::uint64_t> cdlp(world&, const graph::dist_csr<std::uint64_t>&,
                                         const cdlp_options&);

}  // namespace cairn::algo
