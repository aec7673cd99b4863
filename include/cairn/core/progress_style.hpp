// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

namespace cairn {

/// The threads that move a rank's messages while its workers compute.
///
///   poll         the workers, between two chunks and while they wait
///   thread       also a thread beside the workers. It receives packets, sends packets that waited
///                for room, and runs the handlers of standing channels. The workers run the
///                handlers of epochs
///   automatic    the same thread; it sleeps for a millisecond at a time while the workers poll
///                often, and acts while they rarely do (rest_choice.hpp)
///   specialised  helpers, which alone run the handlers of standing channels, and a communication
///                server, which alone calls the transport (communication_server.hpp). The workers
///                run the body, tasks, and the handlers of epochs
///
/// Source     [DC15] section 4, figure 2 (AM++); specialised: [GMT14] section IV.A, where helpers
///            also run what here belongs to an epoch
enum class progress_style { automatic, poll, thread, specialised };

/// Of the style `specialised`; [GMT14] table IV and section IV.C.
struct specialised_options {
  int helpers = 1;
  std::size_t command_block_bytes = 0;  ///< that a thread fills; 0: those of a whole buffer
  std::uint64_t queue_age_ns = 0;       ///< after which a queue leaves that does not fill a buffer
  /// A thread with so many filled blocks waits. With four blocks, threads that share cores wait for
  /// each other: index gather took 1.3 times as long.
  std::size_t channel_blocks = 64;
};

}  // namespace cairn
