// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

#include <cairn/activity/domain.hpp>
#include <cairn/activity/shape.hpp>
#include <cairn/hw/pages.hpp>
#include <cairn/tm/section.hpp>

// A commit policy: how one worker makes operators atomic during a span. There is one file per
// mechanism. A policy is constructed from a domain and a worker.
//
//   collects                     operators wait until a group is full or the span ends: group() is
//                                called, otherwise one()
//   prefilters                   a lane may first evaluate `wanted` for dozens of messages: see
//                                `prefiltered` in operator.hpp
//   one(op, message)             runs an operator at once; returns run_of<Op>
//   group(op, messages, n, ran)  runs n operators; returns the activities that committed

namespace cairn::activity::detail {

/// The two callbacks that tm::section_runner needs for n operators: their body, and a function that
/// makes their memory present. Both capture by value, because a transaction reloads a variable
/// captured by reference for each operator.
template <class Op>
auto body_of(const Op& op, const typename Op::message* messages, run_of<Op>* ran) {
  return [&op, messages, ran](auto access, std::size_t first, std::size_t last) {
    for (auto i = first; i < last; ++i) ran[i] = shape<Op>::run(op, access, messages[i]);
  };
}
template <class Op>
auto pretouch_of(const Op& op, const typename Op::message* messages) {
  return [&op, messages](std::size_t first, std::size_t last) {
    for (auto i = first; i < last; ++i) {
      shape<Op>::each_cell(op, messages[i],
                           [](void* at, std::size_t bytes) { hw::touch_pages(at, bytes); });
    }
  };
}

}  // namespace cairn::activity::detail
