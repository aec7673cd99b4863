// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cairn/algo/fields.hpp>

namespace cairn::algo {

/// Whether a run first reorders the edges; automatic: if that pays off in the trials.
enum class layout_wanted { none, automatic, always };
template <>
inline constexpr std::span<const std::string_view> enum_names<layout_wanted> =
    words<"none", "auto", "always">;

}  // namespace cairn::algo
