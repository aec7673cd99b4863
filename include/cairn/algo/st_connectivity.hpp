// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <type_traits>

#include <cairn/activity/mechanism.hpp>
#include <cairn/activity/ran.hpp>
#include <cairn/algo/fields.hpp>
#include <cairn/algo/terminals.hpp>
#include <cairn/core/world.hpp>
#include <cairn/graph/dist_csr.hpp>

namespace cairn::algo {

struct st_connectivity_options {
  activity::options activity = {};
};

struct st_connectivity_result {
  bool connected;
  std::uint64_t levels;   ///< of both searches, until they met or ended
  std::uint64_t visited;  ///< vertices that either search has reached
  activity::ran ran = {};

  static constexpr auto fields() {
    using r = st_connectivity_result;
    return std::tuple(field{"connected", &r::connected, "whether there is a path"},
                      field{"levels", &r::levels, "levels of both searches"},
                      field{"visited", &r::visited, "vertices that either search reached"},
                      field{"ran", &r::ran, "mechanism of the visits"});
  }
};

/// Whether a path leads from s to t.
///
/// Two breadth-first searches: a grey one from s along edges and a green one from t against them.
/// The search with the smaller frontier runs the next level. Each visit claims a white vertex for
/// its color and returns the color that it found; there is no other synchronisation. An answer
/// with the other color shows that the searches have met. The receiver then stops spawning, and
/// the level ends early.
///
/// ends        global vertex ids; s == t is connected
/// Returns     the same on every rank. `connected` and `levels` are determined, `visited` only if
///             the searches do not meet
/// Work        O(n + m); usually far less, because both searches stay small
/// Depth       one epoch per level
/// Messages    two per visited edge between ranks: the visit and its answer
/// Memory      per rank: n/P bytes and the frontiers
/// Throws      contract_violation unless s and t are vertices and g.has_in()
/// Collective  same arguments on every rank
/// Source      [AAM15] section 3.3.3 and listing 5; here for directed graphs too
template <class Id>
[[nodiscard]] st_connectivity_result st_connectivity(
    world& w, const graph::dist_csr<Id>& g, const terminals<std::type_identity_t<Id>>& ends,
    const st_connectivity_options& opt = {});

extern template st_connectivity_result st_connectivity(world&,
                                                       const graph::dist_csr<std::uint32_t>&,
                                                       const terminals<std::uint32_t>&,
                                                       const st_connectivity_options&);
extern template st_connectivity_result st_connectivity(world&,
                                                       const graph::dist_csr<std::uint64_t>&,
                                                       const terminals<std::uint64_t>&,
                                                       const st_connectivity_options&);

}  // namespace cairn::algo
