// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <utility>

#include <cairn/activity/executor.hpp>
#include <cairn/am/epoch.hpp>
#include <cairn/base/aggregator.hpp>
#include <cairn/graph/dist_csr.hpp>
#include <cairn/pgas/vertex_map.hpp>

namespace graphblas {

using matrix = cairn::graph::dist_csr<std::uint32_t>;  // with integer weights

/// Elements that equal the zero of the semiring count as absent.
using vector = cairn::pgas::vertex_map<double>;

/// A semiring: an aggregator, whose identity is the zero, and multiply(entry, x).
struct min_plus : cairn::minimum<double> {
  static double multiply(double entry, double x) { return entry + x; }
};
struct min_second : cairn::minimum<double> {
  static double multiply(double, double x) { return x; }
};
struct plus_second : cairn::add<double> {
  static double multiply(double, double x) { return x; }
};

/// The operator: adds one term of the sum to element i, if the mask allows i.
template <class Semiring, class Mask>
struct add_term {
  struct message {
    std::uint32_t i;
    double term;
  };
  const vector& sums;
  const Mask& mask;

  auto cell(const message& m) const { return sums.at(m.i); }
  bool wanted(double, const message& m) const { return mask(m.i); }
  void attempt(auto sum, const message& m) const {
    for (double seen = sum.load();;) {
      const double found = sum.claim(seen, Semiring::combine(seen, m.term));
      if (std::exchange(seen, found) == found) return;
    }
  }
};

/// w(i) = accumulate(w(i), (A^T u)(i)) for each i with mask(i): GraphBLAS' mxv.
///
/// mask(i) is evaluated at the owner of i; other elements keep their values. Each present element
/// of u sends a term along its row of A; the mask saves the additions, as in a search.
template <class Semiring, class Mask, class Accumulate>
void mxv(cairn::world& world, vector& w, const Mask& mask, Accumulate accumulate, const matrix& a,
         const vector& u) {
  vector sums(world, a.partition(), Semiring::identity());
  cairn::activity::executor terms(world, add_term<Semiring, Mask>{sums, mask},
                                  {.sent_filter = false});  // the sender cannot evaluate the mask
  const auto first = a.out().first();
  cairn::am::epoch epoch(world);
  world.parallel_for(u.local().size(), [&](cairn::worker_t k, std::size_t begin, std::size_t end) {
    terms.spawn(k, [&](auto& send) {
      for (auto v = first + begin; v < first + end; ++v) {
        if (u.load(v) == Semiring::identity()) continue;
        for (const auto& [target, entry] : a.out().template edges_of<std::int32_t>(v)) {
          send({target, Semiring::multiply(entry, u.load(v))});
        }
      }
    });
  });
  epoch.close();
  for (auto i = first; i < a.out().last(); ++i) {
    if (mask(i)) w.store(i, accumulate(w.load(i), sums.load(i)));
  }
}

}  // namespace graphblas
