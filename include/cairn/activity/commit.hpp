// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

#include <cairn/activity/domain.hpp>
#include <cairn/activity/shape.hpp>
#include <cairn/hw/pages.hpp>
#include <cairn/tm/section.hpp>

// How one worker makes operators atomic, for the length of a span: one file per mechanism. Each is
// made of a domain and a worker.
//
//   collects       operators wait until a group is full, or the span ends: it has group(). Else
//                  it has one(), which runs an operator at once
//   transactional  a group is one transaction, in as many parts as it takes
//   for_speed      worth a span compiled for one rank alone, beside that for any number
//
//   one(op, message)                  returns run_of<Op>
//   group(op, messages, n, ran)       runs n operators; returns the activities that committed

namespace cairn::activity::detail {

/// What tm::section_runner needs of n operators: their body, and how to make their memory present.
/// Both capture by value: what a transaction captures by reference it loads again for each
/// operator.
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
