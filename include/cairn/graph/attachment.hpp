// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>

namespace cairn::graph {

/// Data of another layer that a native file stores beside a graph. Only that layer knows what the
/// data means and whether it fits the graph.
///
/// name   identifies the data; at most 15 characters
/// bytes  aligned to a page, or as the memory that `kept` owns
/// kept   owns the memory of `bytes`
struct attachment {
  std::string name;
  std::span<const std::byte> bytes;
  std::shared_ptr<const void> kept = {};
};

}  // namespace cairn::graph
