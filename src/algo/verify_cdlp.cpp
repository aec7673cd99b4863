// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <atomic>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <cairn/algo/cdlp.hpp>
#include <cairn/am/channel.hpp>
#include <cairn/traverse/push.hpp>

#include "algo/first_sentence.hpp"

namespace cairn::algo {
namespace {

// Labels are ids of the input. Every vertex sends its label along each of its edges.
template <class Id>
class label_exchange {
  struct vote {
    Id to;
    std::uint64_t label;
  };

 public:
  label_exchange(world& w, const graph::dist_csr<Id>& g)
      : w_(w),
        g_(g),
        edges_(traverse::edges_both_ways(g)),
        label_(w, g.partition(), 0),
        end_(w, g.partition(), 0),
        votes_(w, [this](worker_t, std::span<const vote> batch) {
          for (const auto& m : batch) {
            const std::atomic_ref end(end_.at(m.to).element());
            received_[end.fetch_add(1, std::memory_order_relaxed)] = m.label;
          }
        }) {
    std::uint64_t before = 0;
    for (auto v = label_.first(); v < last(); ++v) {
      label_.store(v, g.labels().id_of(v));
      begin_.push_back(before);
      before += edges_.degree(v);
    }
    begin_.push_back(before);
    received_.resize(before);
  }

  // Returns whether a label changed.
  bool iterate() {
    std::copy(begin_.begin(), begin_.end() - 1, end_.local().begin());
    traverse::push_own(w_, votes_, edges_, [&](Id v, auto& send) {
      edges_.each_neighbor(v, [&](Id u) { send(label_.owner(u), {u, label_.load(v)}); });
      return edges_.degree(v);
    });
    std::atomic<bool> changed = false;
    traverse::for_each_own(w_, label_, [&](worker_t, std::uint64_t v) {
      const auto i = v - label_.first();
      const std::span votes(received_.begin() + begin_[i], received_.begin() + begin_[i + 1]);
      if (votes.empty()) return;
      std::sort(votes.begin(), votes.end());
      std::pair<std::ptrdiff_t, std::uint64_t> best{0, 0};
      for (auto at = votes.begin(); at != votes.end();) {
        const auto end = std::upper_bound(at, votes.end(), *at);
        if (end - at > best.first) best = {end - at, *at};
        at = end;
      }
      if (best.second == label_.load(v)) return;
      label_.store(v, best.second);
      changed.store(true, std::memory_order_relaxed);
    });
    return w_.any(changed.load());
  }

  // The first vertex of this rank that has another label, as a sentence; or "".
  [[nodiscard]] std::string first_wrong(const pgas::vertex_map<Id>& claimed) const {
    const auto& names = g_.labels();
    for (auto v = label_.first(); v < last(); ++v) {
      const auto expected = names.text_of(*names.vertex_of(label_.load(v)));
      const auto x = claimed.load(v);
      if (x < names.size() && names.id_of(x) == label_.load(v)) continue;
      return "vertex " + names.text_of(v) + " has " +
             (x < names.size() ? "the label " + names.text_of(x) : "no vertex as its label") +
             ", expected " + expected;
    }
    return {};
  }

 private:
  [[nodiscard]] std::uint64_t last() const { return label_.first() + label_.local().size(); }

  world& w_;
  const graph::dist_csr<Id>& g_;
  const traverse::edges<Id> edges_;
  pgas::vertex_map<std::uint64_t> label_, end_;  // end: of the labels received so far
  std::vector<std::uint64_t> begin_, received_;  // by own vertex; labels, by vertex
  am::channel<vote> votes_;
};

}  // namespace

template <class Id>
std::optional<std::string> verify_cdlp(world& w, const graph::dist_csr<Id>& g,
                                       const pgas::vertex_map<Id>& label,
                                       std::uint64_t iterations) {
  label_exchange<Id> again(w, g);
  for (std::uint64_t i = 0; i < iterations && again.iterate(); ++i) continue;
  return first_sentence(w, again.first_wrong(label));
}

template std::optional<std::string> verify_cdlp(world&, const graph::dist_csr<std::uint32_t>&,
                                                const pgas::vertex_map<std::uint32_t>&,
                                                std::uint64_t);
template std::optional<std::string> verify_cdlp(world&, const graph::dist_csr<std::uint64_t>&,
                                                const pgas::vertex_map<std::uint64_t>&,
                                                std::uint64_t);

}  // namespace cairn::algo
