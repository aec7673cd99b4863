// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>

namespace cairn::graph {

/// Bytes that a native file keeps beside a graph for another layer, which alone knows what they
/// mean and whether they fit the graph.
///
/// name   whose bytes they are: at most 15 characters
/// bytes  their beginning is aligned to a page, or to what `kept` is aligned to
/// kept   what the bytes lie in
struct attachment {
  std::string name;
  std::span<const std::byte> bytes;
  std::shared_ptr<const void> kept = {};
};

}  // namespace cairn::graph
