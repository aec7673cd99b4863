// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include <cairn/activity/apply.hpp>
#include <cairn/activity/executor.hpp>
#include <cairn/core/world.hpp>
#include <cairn/graph/dist_csr.hpp>
#include <cairn/traverse/chunk.hpp>
#include <cairn/traverse/direction.hpp>
#include <cairn/traverse/frontier.hpp>
#include <cairn/traverse/push.hpp>
#include <cairn/traverse/rows.hpp>
#include <cairn/traverse/superstep_trace.hpp>

namespace cairn::traverse {

struct advance_options {
  activity::options activity = {};
  traverse::direction direction = direction::automatic;
  bool trace = false;  ///< records each superstep
};

/// Supersteps along the edges of a frontier. The operator takes effect at most once per vertex.
///
/// A push spawns op along each out-edge of the frontier, in an epoch of its own. A pull visits the
/// vertices whose element still wants a message and runs op there along the first in-edge from the
/// frontier. Vertices without such an in-edge are listed, and later pulls visit only those. The
/// operator's `after` adds vertices to the next frontier. Others add vertices only before the first
/// superstep; between supersteps the frontier is unspecified.
///
/// Op        a single-cell operator with `once`, whose `wanted` depends on the element alone.
///           Op::along(u, v) is the message of the edge u -> v
/// Work      per superstep the edges of the frontier (push), or the in-edges of waiting vertices up
///           to the first from the frontier (pull); counted as obs::counter::edges. Constant if no
///           vertex is waiting
/// Messages  push: one per edge to another rank that passes the sent-filter. Pull: one gather of n
///           bits. The sums that a superstep needs travel with the end of a push, or with a gather
///           that is cheap; else they are a reduction
/// Throws    contract_violation if the direction is pull and the graph has no in-edges
/// Collective: constructor, destructor and superstep().
/// Source    [AAM15] listing 4 (push); [Beamer12] (pull); the lists are ours
template <class Id, class Op>
class advance {
  static_assert(activity::selective<Op> && activity::once<Op>);

 public:
  advance(world& w, const graph::dist_csr<Id>& g, frontier<Id>& f, Op op,
          const advance_options& opt)
      : w_(w),
        g_(g),
        f_(f),
        op_(op),
        visits_(w, std::move(op), checked_options(g, opt)),
        direction_(opt.direction),
        size_{g.num_vertices(), g.directed() ? g.num_edges() : 2 * g.num_edges(), 0, 0},
        waiting_(g.has_in() ? g.in().num_nonempty_rows() : 0),
        trace_(w, opt.trace) {}

  /// Runs one superstep. Returns false if the frontier is empty on all ranks.
  bool superstep() {
    obs::trace_span span(w_.trace(), main_worker, obs::trace_kind::superstep);
    const auto vertices = begin_superstep();
    if (vertices == 0) {
      span.drop();
      return false;
    }
    const bool reaches_nobody = chooses() && size_.waiting == 0;
    const bool pulls = direction_ == direction::pull || (chooses() && pull_is_cheaper(size_));
    if (span) [[unlikely]]
      describe(span, vertices, reaches_nobody ? "none" : pulls ? "pull" : "push");
    ++num_supersteps_;
    num_reached_ += vertices;
    if (pulls) {
      pull();
      ++num_pulls_;
    } else if (!reaches_nobody) {
      push();
    }
    pulled_ = pulls;
    trace_.record(vertices, pulls);
    return true;
  }

  [[nodiscard]] std::uint64_t num_supersteps() const noexcept { return num_supersteps_; }
  [[nodiscard]] std::uint64_t num_pulls() const noexcept { return num_pulls_; }
  /// Vertices of all frontiers of all ranks.
  [[nodiscard]] std::uint64_t num_reached() const noexcept { return num_reached_; }
  [[nodiscard]] activity::executor<Op>& executor() noexcept { return visits_; }
  [[nodiscard]] std::vector<superstep_record> take_trace() { return trace_.take(); }

 private:
  // The first superstep begins with a sum, before it sends.
  static activity::options checked_options(const graph::dist_csr<Id>& g,
                                           const advance_options& opt) {
    if (opt.direction == direction::pull) g.expect_in();
    auto of_visits = opt.activity;
    of_visits.collective_follows = true;
    return of_visits;
  }

  [[nodiscard]] bool chooses() const { return direction_ == direction::automatic && g_.has_in(); }

  void describe(obs::trace_span& span, std::uint64_t vertices, std::string_view way) {
    span->amount = vertices;
    span->number = static_cast<std::uint32_t>(num_supersteps_ + 1);
    span->set_text(way);
    if (!chooses()) return;
    w_.trace().note(main_worker, obs::trace_kind::choice, way, {.amount = size_.frontier_edges});
  }

  // Of the added vertices, over all ranks.
  struct position {
    enum : std::size_t { reached, edges, waiting, ranks };
  };
  using sums = std::array<std::uint64_t, 4>;

  // Makes the added vertices the frontier. Returns their number on all ranks.
  std::uint64_t begin_superstep() {
    auto all = std::exchange(at_end_of_push_, {});
    if (all[position::ranks] != static_cast<std::uint64_t>(w_.size())) {
      all = count_added();
      if (w_.size() > 1 && pulled_ && f_.gather_is_cheap()) {
        f_.gather_and_sum(all);
      } else {
        w_.sum_each(all);
      }
    }
    counted_ = false;
    size_.frontier_edges = all[position::edges];
    size_.waiting = all[position::waiting];
    return all[position::reached];
  }
  // Makes the vertices that were added on this rank the frontier; called again, it adds those that
  // have been added since.
  sums count_added() {
    const auto before = counted_ ? f_.size() : 0;
    const std::uint64_t reached = counted_ ? f_.extend() : f_.begin_superstep();
    counted_ = true;
    waiting_ -= std::min(waiting_, reached - before - roots_without_in_edges());
    if (!f_.is_list() && reached < 1024) static_cast<void>(f_.list());
    own_edges_ = edges_of_frontier();
    return {reached, own_edges_, waiting_, 1};
  }
  // Of the frontier; all others were reached along an in-edge.
  [[nodiscard]] std::uint64_t roots_without_in_edges() {
    if (num_supersteps_ > 0 || !g_.has_in()) return 0;
    const auto in = g_.in().rows();
    return static_cast<std::uint64_t>(
        std::ranges::count_if(f_.list(), [&](Id v) { return in.neighbors(v).empty(); }));
  }
  // A small sample suffices if the direction is fixed or a pull cannot be cheaper.
  [[nodiscard]] std::uint64_t edges_of_frontier() const {
    const auto& out = g_.out();
    const auto bound = static_cast<double>(f_.size()) * static_cast<double>(out.max_degree());
    const auto frontier_edges =
        bound < static_cast<double>(size_.edges) ? static_cast<std::uint64_t>(bound) : size_.edges;
    const bool matters =
        chooses() &&
        (w_.size() > 1 || pull_is_cheaper({size_.vertices, size_.edges, frontier_edges, waiting_}));
    // The ranks' samples together have about a thousand vertices.
    const auto sample = std::max<std::size_t>(64, 1024 / static_cast<std::size_t>(w_.size()));
    return num_edges(out, f_, matters ? sample : 64);
  }

  // The list is built before the epoch opens, because visits from other ranks add to it.
  void push() {
    const auto list = f_.list();
    const auto degree = static_cast<double>(own_edges_) /
                        static_cast<double>(std::max<std::size_t>(1, list.size()));
    // A search reaches each vertex once, so in longer rows few messages are wanted.
    const bool many_wanted = degree < 5;
    const auto along = [=](Id u, std::span<const Id> row, auto& send)
        __attribute__((always_inline)) {
      if (many_wanted) {
        for (const Id v : row) send(Op::along(u, v));
      } else {
        for (const Id v : row) send.at_once(Op::along(u, v));
      }
    };
    // Edges that repay two binary searches in a row, each step of which may miss the cache. Shorter
    // rows are many, so that whole rows balance the workers.
    constexpr double long_part = 1024;
    constexpr std::uint64_t many_edges = 32'768;
    const auto parts = static_cast<double>(num_target_ranges(w_, own_edges_));
    if (w_.size() == 1 && w_.workers() > 1 && own_edges_ >= many_edges &&
        degree >= long_part * parts) {
      push_to_ranges(w_, visits_, g_.out(), list, along, own_edges_);
    } else {
      push_along(w_, visits_, edges<Id>(g_.out()), list, along, degree,
                 [this](am::epoch& e) { close(e); });
    }
  }
  // Sums what the next superstep needs as the epoch ends, if no other thread adds vertices then.
  void close(am::epoch& e) {
    if (w_.size() == 1) return e.close();
    const bool alone = w_.handling_threads() == 1;
    at_end_of_push_ = e.close_and_sum([&] { return alone ? count_added() : sums{}; });
  }

  void pull() {
    const auto* const front = f_.bits_of_all();
    if (!lists_) {
      lists_.emplace(w_, g_.in().num_rows());
      pull_all(front);
    } else {
      pull_waiting(front);
    }
    lists_->current().slide();
  }

  // Most vertices find a sender soon or have few edges. If none finds one, a chunk takes 20 times
  // as long.
  [[nodiscard]] double ns_of_pull() const { return ns_of_vertex + mean_ns_of_row(g_.in()) / 20; }

  void pull_all(const std::uint64_t* front) {
    f_.keep_next_as(frontier<Id>::form::bits);
    const auto& in = g_.in();
    w_.parallel_for(
        in.num_rows(),
        [&, front](worker_t k, std::size_t begin, std::size_t end) {
          const puller pull(*this, k, front, lists_->current());
          const auto edges = each_row(in, in.first() + begin, in.first() + end, pull);
          w_.counters().add(k, obs::counter::edges, edges);
        },
        whole_words(chunk_of(w_, in.num_rows(), ns_of_pull())));
  }

  // Rounds up to whole words of bits.
  static std::size_t whole_words(std::size_t chunk) { return (chunk + 63) / 64 * 64; }

  void pull_waiting(const std::uint64_t* front) {
    using form = typename frontier<Id>::form;
    f_.keep_next_as(w_.workers() == 1 ? form::bits : form::shared_bits);
    const auto list = lists_->current().window();
    w_.parallel_for(
        list.size(),
        [&, front](worker_t k, std::size_t begin, std::size_t end) {
          const puller pull(*this, k, front, lists_->next());
          const auto edges = each_row(g_.in(), list.subspan(begin, end - begin), pull);
          w_.counters().add(k, obs::counter::edges, edges);
        },
        chunk_of(w_, list.size(), ns_of_pull()));
    lists_->swap();
  }

  // Runs op along the first in-edge of v from the frontier. Without such an edge v keeps waiting.
  class puller {
   public:
    puller(advance& a, worker_t k, const std::uint64_t* front, vertex_list<Id>& waiting)
        : op_(a.op_), original_(a.op_), k_(k), front_(front), wait_(waiting, k) {}

    [[gnu::always_inline]] std::size_t operator()(Id v, std::span<const Id> row) const {
      if (row.empty() || !waits(v)) return 0;
      for (const Id& u : row) {
        if ((front_[u / 64] >> (u % 64) & 1) == 0) continue;
        if (!activity::apply_plain(op_, original_, Op::along(u, v), k_)) continue;
        return static_cast<std::size_t>(&u - row.data()) + 1;
      }
      wait_(v);
      return row.size();
    }

   private:
    [[gnu::always_inline]] bool waits(Id v) const {
      const auto m = Op::along(v, v);
      return op_.wanted(tm::load_cell(op_.cell(m).element()), m);
    }

    const Op op_;
    Op& original_;
    const worker_t k_;
    const std::uint64_t* const front_;
    const typename vertex_list<Id>::adder wait_;
  };

  // Own vertices for which no pull has found a sender.
  class waiting_lists {
   public:
    waiting_lists(world& w, std::size_t own) : lists_{{{w, own}, {w, own}}} {}
    vertex_list<Id>& current() { return lists_[at_]; }
    vertex_list<Id>& next() { return lists_[1 - at_]; }
    void swap() {
      current().clear();
      at_ = 1 - at_;
    }

   private:
    std::array<vertex_list<Id>, 2> lists_;
    std::size_t at_ = 0;
  };

  world& w_;
  const graph::dist_csr<Id>& g_;
  frontier<Id>& f_;
  Op op_;
  activity::executor<Op> visits_;
  const traverse::direction direction_;
  superstep_size size_;
  bool pulled_ = false;   // in the last superstep
  bool counted_ = false;  // the vertices for the next superstep, at least in part
  sums at_end_of_push_ = {};
  std::uint64_t own_edges_ = 0;  // estimated out-edges of the frontier's own vertices
  std::uint64_t waiting_;        // own vertices with in-edges that no superstep has reached
  std::optional<waiting_lists> lists_;
  std::uint64_t num_supersteps_ = 0, num_pulls_ = 0, num_reached_ = 0;
  superstep_trace trace_;
};

}  // namespace cairn::traverse
