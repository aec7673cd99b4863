// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <atomic>
#include <cstring>
#include <iterator>
#include <span>
#include <string>
#include <vector>

#include <cairn/algo/triangles.hpp>
#include <cairn/am/record_channel.hpp>
#include <cairn/base/contract.hpp>
#include <cairn/task/per_worker.hpp>
#include <cairn/traverse/push.hpp>

namespace cairn::algo {
namespace {

template <class Id>
std::uint64_t common(std::span<const Id> a, std::span<const Id> b) {
  constexpr std::size_t much_shorter = 16;
  if (a.size() > b.size()) std::swap(a, b);
  std::uint64_t found = 0;
  auto at = b.begin();
  for (const Id x : a) {
    if (much_shorter * a.size() < b.size()) {
      at = std::lower_bound(at, b.end(), x);
    } else {
      while (at != b.end() && *at < x) ++at;
    }
    if (at == b.end()) break;
    found += *at == x ? 1 : 0;
  }
  return found;
}

// Counts at each vertex of this rank the common neighbours with each of its neighbours; this counts
// each of its triangles twice.
template <class Id>
class common_neighbor_counts {
 public:
  common_neighbor_counts(world& w, const graph::dist_csr<Id>& g)
      : w_(w), g_(g), twice_(w, g.partition(), 0), buffers_(w.workers()) {
    am::record_channel channel(w, [this](worker_t k, am::record_batch batch) {
      for (const auto bytes : batch) {
        auto& row = buffers_[k].row;
        row.resize(bytes.size() / sizeof(Id));
        std::memcpy(row.data(), bytes.data(), bytes.size());
        intersect_with_local_rows(k, row);
      }
    });
    constexpr double ns_of_vertex = 10'000;  // a row is merged with those of all its entries
    row_sender through{channel};
    traverse::push_ranges(
        w, through, twice_.local().size(),
        [&](auto& send, worker_t k, std::size_t begin, std::size_t end) {
          for (auto v = twice_.first() + begin; v < twice_.first() + end; ++v) {
            auto& row = buffers_[k].row;
            find_row(v, row);
            for (auto at = row.begin(); at != row.end();) {
              const auto owner = g.partition().owner(*at);
              if (owner != w.rank()) send(owner, row);
              at = std::lower_bound(at, row.end(), g.partition().last(owner));
            }
            intersect_with_local_rows(k, row);
          }
          return std::uint64_t{0};
        },
        traverse::chunk_of(w, twice_.local().size(), ns_of_vertex));
  }

  [[nodiscard]] const pgas::vertex_map<std::uint64_t>& twice() const noexcept { return twice_; }

 private:
  struct row_buffers {
    std::vector<Id> row, own;
  };
  struct row_sender {
    am::record_channel& channel;
    auto from(worker_t k) const {
      return [this, k](rank_t to, const std::vector<Id>& row) {
        channel.send(k, to, std::as_bytes(std::span(row)));
      };
    }
  };

  void find_row(std::uint64_t v, std::vector<Id>& row) const {
    const auto out = g_.out().neighbors(v);
    row.assign(out.begin(), out.end());
    if (g_.directed()) {
      const auto in = g_.in().neighbors(v);
      row.insert(row.end(), in.begin(), in.end());
      std::sort(row.begin(), row.end());
    }
    row.erase(std::unique(row.begin(), row.end()), row.end());
    row.erase(std::remove(row.begin(), row.end(), static_cast<Id>(v)), row.end());
  }

  // Intersects a vertex's row with the rows of its neighbours on this rank.
  void intersect_with_local_rows(worker_t k, const std::vector<Id>& row) {
    auto at = std::lower_bound(row.begin(), row.end(), twice_.first());
    for (; at != row.end() && twice_.owns(*at); ++at) {
      auto& own = buffers_[k].own;
      find_row(*at, own);
      const auto found = common<Id>(row, own);
      std::atomic_ref(twice_.at(*at).here()).fetch_add(found, std::memory_order_relaxed);
    }
  }

  world& w_;
  const graph::dist_csr<Id>& g_;
  pgas::vertex_map<std::uint64_t> twice_;
  task::per_worker<row_buffers> buffers_;
};

}  // namespace

template <class Id>
std::optional<std::string> verify_triangles(world& w, const graph::dist_csr<Id>& g,
                                            std::uint64_t total,
                                            const pgas::vertex_map<std::uint64_t>* of_vertex) {
  CAIRN_EXPECTS(g.has_in(), "in-edges are needed: load the graph with .inverse = true");
  const common_neighbor_counts<Id> counts(w, g);
  std::uint64_t six_times = 0;
  std::string wrong;
  for (auto v = g.out().first(); v < g.out().last(); ++v) {
    const auto twice = counts.twice().load(v);
    six_times += twice;
    if (of_vertex == nullptr || !wrong.empty() || of_vertex->load(v) * 2 == twice) continue;
    wrong = "vertex " + g.labels().text_of(v) + " is in " + std::to_string(twice / 2) +
            " triangles, not in " + std::to_string(of_vertex->load(v));
  }
  six_times = w.sum(six_times);
  for (const auto& said : w.all_gather_bytes(std::as_bytes(std::span(wrong)))) {
    if (!said.empty()) return std::string(reinterpret_cast<const char*>(said.data()), said.size());
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
