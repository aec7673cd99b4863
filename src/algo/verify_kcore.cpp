// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <span>
#include <string>
#include <utility>

#include <cairn/algo/kcore.hpp>
#include <cairn/am/channel.hpp>
#include <cairn/tm/cell.hpp>
#include <cairn/traverse/push.hpp>

namespace cairn::algo {
namespace {

struct violation {
  std::uint64_t vertex = no_vertex<std::uint64_t>;
  bool too_large = false;
  std::uint32_t core = 0;
  std::uint64_t support = 0;  // neighbors whose core number is at least as large, or remaining

  [[nodiscard]] bool any() const { return vertex != no_vertex<std::uint64_t>; }
};

std::string to_sentence(const violation& f, const graph::labels& names) {
  const auto says =
      "vertex " + names.text_of(f.vertex) + " has core number " + std::to_string(f.core);
  if (f.too_large) {
    return says + ", but only " + std::to_string(f.support) +
           " neighbors with a core number of at least " + std::to_string(f.core);
  }
  return says + ", but belongs to a subgraph with minimum degree at least " +
         std::to_string(std::uint64_t{f.core} + 1) + ", in which it has " +
         std::to_string(f.support) + " neighbors";
}

template <class Id>
class checker {
  struct edge_message {  // an edge from a neighbor, or from a removed vertex
    Id to;
    std::uint32_t core;
  };

 public:
  checker(world& w, const graph::dist_csr<Id>& g, const pgas::vertex_map<std::uint32_t>& core)
      : w_(w),
        g_(g),
        edges_(traverse::edges_both_ways(g)),
        core_(core),
        support_(w, g.partition(), 0),
        is_removed_(w, g.partition(), 0),
        removed_(w),
        messages_(w, [this](worker_t k, std::span<const edge_message> batch) {
          for (const auto& m : batch) handle(k, m);
        }) {}

  std::optional<std::string> run() {
    violation wrong;
    traverse::push_own(w_, messages_, edges_, [&](Id v, auto& send) {
      edges_.each_row_of(v, [&](std::span<const Id> row) { notify(v, row, send); });
      return edges_.degree(v);
    });
    for (auto v = core_.first(); v < last() && !wrong.any(); ++v) {
      if (support(v) < core(v)) wrong = {v, true, core(v), support(v)};
    }
    if (!w_.any(wrong.any())) {  // numbers that are too large would keep others from being removed
      peeling_ = true;
      traverse::for_each_own(w_, g_.out(), [&](worker_t k, Id v) { remove_if_few(k, v); });
      peel();
      for (auto v = core_.first(); v < last() && !wrong.any(); ++v) {
        if (is_removed_.load(v) == 0) wrong = {v, false, core(v), support(v)};
      }
    }
    violation first;
    for (const auto& f : w_.all_gather(wrong)) {
      if (f.vertex < first.vertex) first = f;
    }
    if (!first.any()) return std::nullopt;
    return to_sentence(first, g_.labels());
  }

 private:
  [[nodiscard]] std::uint64_t last() const { return core_.first() + core_.local().size(); }
  [[nodiscard]] std::uint32_t core(std::uint64_t v) const { return core_.load(v); }
  [[nodiscard]] std::uint32_t support(std::uint64_t v) const { return support_.load(v); }
  [[nodiscard]] auto support_cell(Id v) const {
    return tm::cell_ref<std::uint32_t, tm::atomic_access>(support_.at(v).element());
  }

  // Sends v's core number to the neighbors in a row.
  void notify(Id v, std::span<const Id> row, auto&& send) {
    const auto mine = core(v);
    for (std::size_t i = 0; i < row.size(); ++i) {
      const bool again = i > 0 && row[i] == row[i - 1];
      if (row[i] != v && !again) send(core_.owner(row[i]), {row[i], mine});
    }
  }

  void peel() {
    const auto take_edges = [this](worker_t k, Id v, std::span<const Id> row, auto& send) {
      notify(v, row, [&](rank_t to, const edge_message& m) {
        if (to == w_.rank()) return handle(k, m);
        send(to, m);
      });
    };
    traverse::push_deep(w_, messages_, edges_, removed_, take_edges);
  }

  void handle(worker_t k, const edge_message& m) {
    if (!peeling_) {
      if (m.core >= core(m.to)) support_cell(m.to).add(1);
    } else if (m.core == core(m.to)) {
      support_cell(m.to).add(~std::uint32_t{0});
      remove_if_few(k, m.to);
    }
  }

  void remove_if_few(worker_t k, Id v) {
    if (support(v) > core(v)) return;
    const tm::cell_ref<std::uint8_t, tm::atomic_access> removed(is_removed_.at(v).element());
    if (removed.claim(0, 1) == 0) removed_.add(k, v);
  }

  world& w_;
  const graph::dist_csr<Id>& g_;
  const traverse::edges<Id> edges_;
  const pgas::vertex_map<std::uint32_t>& core_;
  pgas::vertex_map<std::uint32_t> support_;  // remaining neighbors with at least v's core number
  pgas::vertex_map<std::uint8_t> is_removed_;
  traverse::worklist<Id> removed_;
  bool peeling_ = false;  // false: neighbors are counted
  am::channel<edge_message> messages_;
};

}  // namespace

template <class Id>
std::optional<std::string> verify_kcore(world& w, const graph::dist_csr<Id>& g,
                                        const pgas::vertex_map<std::uint32_t>& core) {
  return checker<Id>(w, g, core).run();
}

template std::optional<std::string> verify_kcore(world&, const graph::dist_csr<std::uint32_t>&,
                                                 const pgas::vertex_map<std::uint32_t>&);
template std::optional<std::string> verify_kcore(world&, const graph::dist_csr<std::uint64_t>&,
                                                 const pgas::vertex_map<std::uint32_t>&);

}  // namespace cairn::algo
