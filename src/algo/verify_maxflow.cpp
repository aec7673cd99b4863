// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstddef>
#include <string_view>
#include <tuple>

#include <cairn/activity/executor.hpp>
#include <cairn/algo/maxflow.hpp>
#include <cairn/base/aggregator.hpp>
#include <cairn/pgas/accumulator.hpp>
#include <cairn/traverse/own.hpp>
#include <cairn/traverse/push.hpp>

#include "algo/first_own.hpp"
#include "algo/first_sentence.hpp"
#include "algo/residual_graph.hpp"

namespace cairn::algo {
namespace {

struct flow_to {  // the operator: adds to a vertex's inflow minus outflow
  struct message {
    std::uint64_t v;
    std::int64_t amount;
  };
  const pgas::vertex_map<std::int64_t>& net;

  auto cell(const message& m) const { return net.at(m.v); }
  void attempt(auto c, const message& m) const { c.add(m.amount); }
};

template <class Id>
class flow_checker {
 public:
  flow_checker(world& w, const graph::dist_csr<Id>& g) : w_(w), g_(g) {}

  std::optional<std::string> bad_arc(std::span<const flow_arc<Id>> flow) const {
    task::per_worker<std::size_t> first_bad(w_.workers());
    for (auto& k : first_bad) k.value = flow.size();
    constexpr double ns_of_arc = 100;  // two binary searches
    w_.parallel_for(
        flow.size(),
        [&](worker_t k, std::size_t i, std::size_t last) {
          for (; i < last; ++i) {
            if (!problem_of(flow, i).empty()) first_bad[k] = std::min(first_bad[k], i);
          }
        },
        traverse::chunk_of(w_, flow.size(), ns_of_arc));
    auto bad = flow.size();
    for (const auto& k : first_bad) bad = std::min(bad, k.value);
    if (bad == flow.size()) return std::nullopt;
    return "flow " + name(flow[bad].source) + " -> " + name(flow[bad].target) +
           std::string(problem_of(flow, bad));
  }

  std::optional<std::string> lossy_vertex(std::span<const flow_arc<Id>> flow, Id s, Id t,
                                          std::int64_t value) const {
    pgas::vertex_map<std::int64_t> net(w_, g_.partition(), 0);
    activity::executor adds(w_, flow_to{net}, {.sent_filter = false, .auxiliary = true});
    traverse::push_each(w_, adds, flow, [](const flow_arc<Id>& a, auto& send) {
      send({a.source, -a.amount});
      send({a.target, a.amount});
    });
    const auto expected = [&](std::uint64_t v) { return v == s ? -value : v == t ? value : 0; };
    const auto v = first_own(w_, net, [&](std::uint64_t x) { return net.load(x) != expected(x); });
    if (v == no_vertex<std::uint64_t>) return std::nullopt;
    return "vertex " + name(v) + " has a net inflow of " + std::to_string(net.load(v)) +
           ", expected " + std::to_string(expected(v));
  }

  std::optional<std::string> wrong_cut(Id s, Id t, std::int64_t value,
                                       const pgas::vertex_map<std::uint32_t>& source_side) const {
    const auto side = w_.all_gather_values<std::uint32_t>(source_side.local());
    const auto other = std::ranges::find_if(side, [](std::uint32_t x) { return x > 1; });
    if (other != side.end()) {
      const auto found = *other == no_vertex<std::uint32_t> ? "none" : std::to_string(*other);
      return "vertex " + name(static_cast<std::uint64_t>(other - side.begin())) +
             " has the source_side " + found + ", expected 0 or 1";
    }
    if (side[s] == 0 || side[t] != 0) return "the cut does not separate the source from the sink";
    pgas::accumulator<add<std::int64_t>> crossing(w_);
    traverse::for_each_own(w_, g_.out(), [&](worker_t k, Id v) {
      const auto row = g_.out().neighbors(v);
      for (std::size_t i = 0; side[v] != 0 && i < row.size(); ++i) {
        if (side[row[i]] == 0) crossing.accumulate(k, capacity_at(g_.out(), v, i));
      }
    });
    const auto all = crossing.collect();
    if (all == value) return std::nullopt;
    return "the cut has a capacity of " + std::to_string(all) + ", the flow a value of " +
           std::to_string(value);
  }

  std::optional<std::string> agreed(const std::optional<std::string>& mine) const {
    return first_sentence(w_, mine.value_or(""));
  }

 private:
  [[nodiscard]] std::string_view problem_of(std::span<const flow_arc<Id>> flow,
                                            std::size_t i) const {
    const auto& a = flow[i];
    if (a.source < g_.out().first() || a.source >= g_.out().last()) {
      return " is not at its source's owner";
    }
    if (i > 0 && std::tie(flow[i - 1].source, flow[i - 1].target) >= std::tie(a.source, a.target)) {
      return " is listed twice or out of order";
    }
    if (a.target >= g_.num_vertices() || a.amount <= 0 || a.amount > capacity(a)) {
      return " is not within the capacity";
    }
    return {};
  }
  [[nodiscard]] std::string name(std::uint64_t v) const {
    return v < g_.num_vertices() ? g_.labels().text_of(v) : "(no vertex)";
  }
  [[nodiscard]] std::int64_t capacity(const flow_arc<Id>& a) const {
    const auto row = g_.out().neighbors(a.source);
    const auto [begin, end] = std::equal_range(row.begin(), row.end(), a.target);
    std::int64_t sum = 0;
    for (auto at = begin; at != end; ++at) {
      sum += capacity_at(g_.out(), a.source, static_cast<std::size_t>(at - row.begin()));
    }
    return sum;
  }

  world& w_;
  const graph::dist_csr<Id>& g_;
};

}  // namespace

template <class Id>
std::optional<std::string> verify_maxflow(world& w, const graph::dist_csr<Id>& g,
                                          const terminals<std::type_identity_t<Id>>& ends,
                                          std::int64_t value, std::span<const flow_arc<Id>> flow,
                                          const pgas::vertex_map<std::uint32_t>& source_side) {
  const flow_checker<Id> check(w, g);
  if (auto wrong = check.agreed(check.bad_arc(flow))) return wrong;
  if (auto wrong = check.agreed(check.lossy_vertex(flow, ends.s, ends.t, value))) return wrong;
  return check.wrong_cut(ends.s, ends.t, value, source_side);
}

template std::optional<std::string> verify_maxflow(world&, const graph::dist_csr<std::uint32_t>&,
                                                   const terminals<std::uint32_t>&, std::int64_t,
                                                   std::span<const flow_arc<std::uint32_t>>,
                                                   const pgas::vertex_map<std::uint32_t>&);
template std::optional<std::string> verify_maxflow(world&, const graph::dist_csr<std::uint64_t>&,
                                                   const terminals<std::uint64_t>&, std::int64_t,
                                                   std::span<const flow_arc<std::uint64_t>>,
                                                   const pgas::vertex_map<std::uint32_t>&);

}  // namespace cairn::algo
