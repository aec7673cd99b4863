// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstddef>
#include <span>
#include <string>
#include <utility>

#include <cairn/algo/walk.hpp>
#include <cairn/am/channel.hpp>
#include <cairn/task/per_worker.hpp>
#include <cairn/tm/cell.hpp>
#include <cairn/traverse/push.hpp>

namespace cairn::algo {
namespace {

// Sent to the owner of `from`: the walker moved from there to `to`, or stopped if `to` is
// no_vertex.
template <class Id>
struct departure {
  std::uint64_t walker = no_vertex<std::uint64_t>;
  Id from = 0, to = 0;
  bool early = false;  // the walker stopped before its last step
};

template <class Id>
class path_check {
 public:
  path_check(world& w, const graph::dist_csr<Id>& g, const walk_paths<Id>& paths)
      : w_(w),
        g_(g),
        paths_(paths),
        visits_(w, g.partition(), 0),
        wrong_(w.handling_threads()),
        departures_(w, [this](worker_t k, std::span<const departure<Id>> batch) {
          for (const auto& d : batch) check(k, d);
        }) {}

  checked_paths run() {
    const auto mine = paths_.vertices.size() / paths_.row_size;
    traverse::push_ranges(
        w_, departures_, mine,
        [&](auto& send, worker_t, std::size_t begin, std::size_t end) -> std::uint64_t {
          for (auto i = begin; i < end; ++i) send_path(i, send);
          return 0;
        },
        traverse::chunk_of(w_, mine, 20));
    departure<Id> first;
    for (const auto& k : wrong_) first = std::min(first, k.value, by_walker);
    for (const auto& d : w_.all_gather(first)) first = std::min(first, d, by_walker);
    return {sentence(first), std::move(visits_)};
  }

 private:
  static bool by_walker(const departure<Id>& a, const departure<Id>& b) {
    return a.walker < b.walker;
  }

  void send_path(std::size_t i, auto& send) {
    const auto row = std::span(paths_.vertices).subspan(i * paths_.row_size, paths_.row_size);
    for (std::size_t k = 0; k < row.size() && row[k] != no_vertex<Id>; ++k) {
      const bool last = k + 1 == row.size();
      const auto to = last ? no_vertex<Id> : row[k + 1];
      send(visits_.owner(row[k]), {paths_.first + i, row[k], to, !last});
    }
  }

  void check(worker_t k, const departure<Id>& d) {
    tm::cell_ref<std::uint64_t, tm::atomic_access>(visits_.at(d.from).element()).add(1);
    const auto row = g_.out().neighbors(d.from);
    const bool right = d.to != no_vertex<Id> ? std::binary_search(row.begin(), row.end(), d.to)
                                             : !d.early || row.empty();
    if (!right) wrong_[k] = std::min(wrong_[k], d, by_walker);
  }

  std::optional<std::string> sentence(const departure<Id>& d) const {
    if (d.walker == no_vertex<std::uint64_t>) return std::nullopt;
    const auto& names = g_.labels();
    const auto walk = "walk " + std::to_string(d.walker + 1);
    const auto from = names.text_of(d.from);
    if (d.to == no_vertex<Id>) return walk + " ends early at " + from + ", which has out-edges";
    return walk + " takes no edge of the graph from " + from + " to " + names.text_of(d.to);
  }

  world& w_;
  const graph::dist_csr<Id>& g_;
  const walk_paths<Id>& paths_;
  pgas::vertex_map<std::uint64_t> visits_;
  task::per_worker<departure<Id>> wrong_;
  am::channel<departure<Id>> departures_;
};

}  // namespace

template <class Id>
checked_paths verify_walk_paths(world& w, const graph::dist_csr<Id>& g,
                                const walk_paths<Id>& paths) {
  return path_check<Id>(w, g, paths).run();
}

template checked_paths verify_walk_paths(world&, const graph::dist_csr<std::uint32_t>&,
                                         const walk_paths<std::uint32_t>&);
template checked_paths verify_walk_paths(world&, const graph::dist_csr<std::uint64_t>&,
                                         const walk_paths<std::uint64_t>&);

}  // namespace cairn::algo
