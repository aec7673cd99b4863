// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cairn/pgas/element_map.hpp>
#include <cairn/pgas/partition.hpp>

namespace cairn::pgas {

/// One T per vertex, at the vertex's owner: vertex_map<T>(world, partition, initial).
template <class T>
using vertex_map = element_map<T, partition>;

/// The type of vertex_map::view().
template <class T>
using vertex_view = element_view<T, partition_view>;

}  // namespace cairn::pgas
