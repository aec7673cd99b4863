// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <string_view>

#include "core/launcher.hpp"

namespace cairn {

/// What a launcher leaves undone when one of its ranks is killed while MPI starts. Open MPI's
/// mpiexec 4.1 may wait for ever, without passing on what the rank has written. Shared memory of
/// both MPIs, which has names for a moment, may stay behind.
///
/// Constructed by the process that the launcher started.
class killed_rank_cleanup {
 public:
  explicit killed_rank_cleanup(const launcher& started_by) noexcept;
  ~killed_rank_cleanup();
  killed_rank_cleanup(const killed_rank_cleanup&) = delete;
  killed_rank_cleanup& operator=(const killed_rank_cleanup&) = delete;

  /// Starts a process that waits for the launcher's end and then removes the files of shared memory
  /// that no process uses. Open MPI's mpiexec is asked to end after 1.5 s, when the process also
  /// writes `sentence` to where the launcher's errors go, and killed 0.7 s later. May be
  /// called from a signal handler, and by a child of the process that constructed this.
  void start(std::string_view sentence) const noexcept;

  /// Whether the launcher has ended.
  [[nodiscard]] bool launcher_has_ended() const noexcept;

 private:
  [[noreturn]] void clean_up(std::string_view sentence) const noexcept;

  const pid_t launcher_;
  const bool may_be_stuck_;
  int launcher_end_ = -1;  // a pidfd: no later process with the launcher's number is meant
};

}  // namespace cairn
