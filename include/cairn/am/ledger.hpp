// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>

namespace cairn::am {

/// Messages sent and handled so far, by a worker, a rank or all ranks; they only grow.
struct message_counts {
  std::uint64_t sent = 0;     ///< counted when appended to a block
  std::uint64_t handled = 0;  ///< counted after the handler, and after all that it sent
  /// Leading messages: those sent in this epoch whose handlers may send or hold, on epoch channels
  /// and on standing ones; and holds.
  std::uint64_t leading = 0;
};

/// Decides from global counts whether an epoch has ended: no message is in a block, in a
/// buffer, put aside, parked, or being handled anywhere.
///
/// One wave with sent == handled proves nothing: it reads the ranks at different times. A message
/// may be counted as handled on a rank that is read late, while a rank that was read early had not
/// yet sent it. Two equal waves, the second begun after the first had ended everywhere, rule this
/// out: at the moment between them handled >= first.handled = second.sent >= sent.
///
/// One wave suffices if every rank joins it after its body has ended and no counted message is
/// leading. A message that is sent later needs a handler that sends, so a leading message. The
/// first leading message comes from a body, so it would have been counted. Hence `sent` is exact,
/// and sent == handled proves the end.
///
/// Work that will send later (parked, an unfinished group, a buffer not yet taken) keeps the epoch
/// open by its own message, which counts as handled only when the work is finished. `sent` and
/// `handled` may continue from epoch to epoch.
///
/// A pure state machine: epoch::close() feeds it waves, tests feed it schedules.
/// Source    [Mattern87] section 6, the four-counter method; one wave is ours
class ledger {
 public:
  /// Takes in one more wave: counts summed over all workers of all ranks. Each rank reads the
  /// `handled` of all its workers before any `sent`. The wave began after the previous one had
  /// ended everywhere. A rank whose body may still send adds 1 to `leading`. Returns true if the
  /// epoch has ended; all ranks get the same answer, and the next wave is then the first of a new
  /// epoch.
  [[nodiscard]] bool finished_after(const message_counts& global_wave) noexcept {
    const bool equal = last_ && last_->sent == global_wave.sent &&  // standing channels may go on
                       last_->handled == global_wave.handled;
    const bool proven = global_wave.leading == 0 || equal;
    const bool finished = proven && global_wave.sent == global_wave.handled;
    last_ = global_wave;
    if (finished) reset();
    return finished;
  }

  /// Forgets the previous waves. Needed only when an epoch is abandoned.
  void reset() noexcept { last_.reset(); }

 private:
  std::optional<message_counts> last_;
};

}  // namespace cairn::am
