// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <stdexcept>
#include <string>
#include <string_view>

// Checks are classed by their cost:
//   CAIRN_EXPECTS  always on, at public borders, never in inner loops: detects errors of the caller
//   CAIRN_ASSERT   on in checked builds (CAIRN_CHECKS), local work only: detects errors of Cairn

namespace cairn {

/// The caller violated a documented precondition. The text names the function and the condition.
class contract_violation : public std::logic_error {
 public:
  using std::logic_error::logic_error;
};

namespace detail {
[[noreturn]] void broken_contract(const char* function, const char* condition,
                                  std::string_view detail);
[[noreturn]] void broken_assertion(const char* file, int line, const char* condition);
}  // namespace detail

}  // namespace cairn

#define CAIRN_EXPECTS(condition, ...)                                        \
  do {                                                                       \
    if (!(condition)) [[unlikely]]                                           \
      ::cairn::detail::broken_contract(__func__, #condition, {__VA_ARGS__}); \
  } while (false)

#ifdef CAIRN_CHECKS
namespace cairn {
inline constexpr bool checked = true;
}
#define CAIRN_ASSERT(condition)                                          \
  do {                                                                   \
    if (!(condition)) [[unlikely]]                                       \
      ::cairn::detail::broken_assertion(__FILE__, __LINE__, #condition); \
  } while (false)
#else
namespace cairn {
inline constexpr bool checked = false;
}
#define CAIRN_ASSERT(condition) static_cast<void>(0)
#endif
