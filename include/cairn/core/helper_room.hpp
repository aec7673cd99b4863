// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace cairn {

/// The rules by which helpers and the server wait for room in the style `specialised`
/// (progress_style.hpp).
///
///   helper   while its channel to the server is full, it keeps the blocks of its last handler, and
///            runs only handlers that send nothing
///   server   always sends; receives unless the rank holds more than its bound and a helper can run
///            any handler
///
/// Memory    a helper's channel exceeds its bound by what one handler sends. An inbox exceeds the
///           rank's bound only while all helpers of the rank wait, by what the credits of others
///           let them ask (credits.hpp)
///
/// This cannot deadlock. Suppose that no thread of any rank can move although messages are left.
/// A server that does not receive has a helper that can run the next handler, so all servers
/// receive. Then the transport has room for each of them, and no packet waits in an outbox. So each
/// server takes all blocks from its channels, no helper waits, and the next handler can run.
struct helper_room {
  [[nodiscard]] static constexpr bool runs_any_handler(bool channel_full) noexcept {
    return !channel_full;
  }
  [[nodiscard]] static constexpr bool receives_above_bound(bool all_helpers_wait) noexcept {
    return all_helpers_wait;
  }
};

}  // namespace cairn
