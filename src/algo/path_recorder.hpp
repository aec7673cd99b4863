// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <utility>

#include <cairn/algo/walk.hpp>
#include <cairn/am/channel.hpp>

#include "algo/sort.hpp"

namespace cairn::algo {

/// Writes the vertices of walkers to the ranks that have their rows. Each position of a row is
/// written once, so workers need no lock.
///
/// Collective  constructor and destructor
template <class Id>
class path_recorder {
  struct entry {  // also the message
    std::uint64_t at;
    Id vertex;
  };

 public:
  path_recorder(world& w, const walk_options& opt)
      : me_(w.rank()), entries_(w, [this](worker_t, std::span<const entry> batch) {
          for (const auto& e : batch) paths_.vertices[e.at] = e.vertex;
        }) {
    paths_.walkers = pgas::partition_view(opt.walkers, w.size());
    paths_.first = paths_.walkers.first(me_);
    paths_.row_size = opt.length + 1;
    const auto size = paths_.walkers.size(me_) * paths_.row_size;
    paths_.vertices.reserve(size);
    in_pieces(w, size,
              [&](std::size_t, std::size_t end) { paths_.vertices.resize(end, no_vertex<Id>); });
  }

  /// Records that the walker is at `vertex` after `step` steps.
  void record(worker_t k, std::uint64_t walker, std::uint64_t step, Id vertex) {
    const auto home = paths_.walkers.owner(walker);
    const auto at = (walker - paths_.walkers.first(home)) * paths_.row_size + step;
    if (home == me_) {
      paths_.vertices[at] = vertex;
    } else {
      entries_.send(k, home, {at, vertex});
    }
  }

  [[nodiscard]] walk_paths<Id> take() { return std::move(paths_); }

 private:
  const rank_t me_;
  walk_paths<Id> paths_;
  am::channel<entry> entries_;
};

}  // namespace cairn::algo
