// SPDX-License-Identifier: Apache-2.0
#include <cairn/core/progress_snapshot.hpp>

namespace cairn {
namespace {

std::string counted(std::uint64_t sent, std::uint64_t handled) {
  return std::to_string(sent) + " sent, " + std::to_string(handled) + " handled";
}

std::string list_of(const std::vector<worker_t>& workers) {
  std::string list;
  for (const auto w : workers) list += (list.empty() ? "" : ", ") + std::to_string(int{w});
  return list;
}

}  // namespace

std::string progress_snapshot::text() const {
  auto text = epoch_open ? "epoch " + std::to_string(epoch) + " is open"
                         : "no epoch is open, after " + std::to_string(epoch);
  if (collective) {
    text += std::string("; it is in collective ") + std::to_string(collective->number) +
            (collective->is_gather ? ", a gather" : ", a reduction");
    if (collective->awaited) text += ", and waits for rank " + std::to_string(*collective->awaited);
  }
  if (stopping) text += "; it has been asked to cancel";
  if (poisoned) text += "; the world has failed";
  const auto line = [&](const std::string& line_text) { text += "\n  " + line_text; };
  if (epoch_open && waves_sent != 0) {
    line("all ranks, in the last wave: " + counted(waves_sent, waves_handled));
  }
  for (const auto& c : channels) {
    if (c.kind == channel_kind::epoch && !epoch_open) continue;
    line("channel " + std::to_string(c.number) + (c.name.empty() ? "" : " " + c.name) +
         (c.kind == channel_kind::epoch ? ": " : " (standing): ") + counted(c.sent, c.handled));
  }
  if (held != released) {
    line("work that holds the epoch (parked, queued or a task): " +
         std::to_string(held - released) + " of " + std::to_string(held));
  }
  line("bytes of messages: " + std::to_string(block_bytes) + " in part-filled buffers, " +
       std::to_string(inbox_bytes) + " without a handler yet, " + std::to_string(outbox_bytes) +
       " without room in the network");
  if (!in_handler.empty()) line("in a handler: worker " + list_of(in_handler));
  return text;
}

}  // namespace cairn
