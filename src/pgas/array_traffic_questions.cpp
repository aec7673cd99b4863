// SPDX-License-Identifier: Apache-2.0
// Part of array_traffic: asks owners to read and write elements.
#include <algorithm>
#include <cstring>

#include <cairn/base/random.hpp>
#include <cairn/pgas/array_traffic.hpp>

namespace cairn::pgas {
// Joins a get of the same element that is in flight, or becomes one that others may join.
bool array_traffic::join_shared_get(worker_t k, rank_t to, const array_command& command,
                                    answer_target& target, std::uint16_t& line) {
  auto& mine = workers_[k];
  const auto hash = mix64(command.offset() ^ static_cast<std::uint64_t>(to) << 48 ^
                          static_cast<std::uint64_t>(command.id().slot) << 32);
  auto& s = mine.shared_gets[hash % num_shared_lines];
  if (s.to == to && s.command == command &&
      mine.answer_targets[s.first].generation == target.generation) {
    target.next = s.first;
    s.first = static_cast<std::uint32_t>(mine.answer_targets.put(target));
    ++target.by->outstanding;
    return true;
  }
  if (s.to < 0) line = static_cast<std::uint16_t>(1 + hash % num_shared_lines);
  return false;
}

void array_traffic::get_shared_word(worker_t k, rank_t to, const array_command& command, void* into,
                                    std::uint32_t bytes, completion& c) {
  auto target = answer_target_for(into, bytes, c);
  auto& mine = workers_[k];
  if (join_shared_get(k, to, command, target, target.shared)) return;
  const auto slot = mine.answer_targets.put(target);
  ++c.outstanding;
  if (target.shared != 0) {
    mine.shared_gets[target.shared - 1u] = {command, static_cast<std::uint32_t>(slot), to};
  }
  get_words_.from(k)(to, {command}, am::slot(slot));
}

void array_traffic::get_pair(worker_t k, rank_t to, const array_command& command, void* into,
                             std::uint32_t bytes, completion& c) {
  ask(get_pairs_, k, to, get_command{command}, answer_target_for(into, bytes, c));
}

void array_traffic::get_bytes(worker_t k, rank_t to, const array_id& id, std::uint64_t offset,
                              std::span<std::byte> into, completion& c) {
  workers_[k].answer_targets.reserve(num_pieces(into.size()));
  while (!into.empty()) {
    const auto piece = into.first(std::min(into.size(), piece_bytes));
    const auto bytes = static_cast<std::uint32_t>(piece.size());
    ask(get_pieces_, k, to, get_piece_command{{id, offset, access::get}, bytes},
        answer_target_for(piece.data(), bytes, c));
    offset += bytes;
    into = into.subspan(bytes);
  }
}

void array_traffic::put_pair(worker_t k, rank_t to, const array_command& command, const void* from,
                             std::uint32_t bytes, completion& c) {
  put_command<16> q{command, {}};
  std::memcpy(q.value.data(), from, bytes);
  ask(put_pairs_, k, to, q, answer_target_for(nullptr, 0, c));
}

void array_traffic::put_bytes(worker_t k, rank_t to, const array_id& id, std::uint64_t offset,
                              std::span<const std::byte> from, completion& c) {
  workers_[k].answer_targets.reserve(num_pieces(from.size()));
  while (!from.empty()) {
    const auto piece = from.first(std::min(from.size(), piece_bytes));
    const auto bytes = static_cast<std::uint32_t>(piece.size());
    put_piece_command q{{id, offset, access::put}, bytes, {}};
    std::memcpy(q.value.data(), piece.data(), bytes);
    ask(put_pieces_, k, to, q, answer_target_for(nullptr, 0, c));
    offset += bytes;
    from = from.subspan(bytes);
  }
}

}  // namespace cairn::pgas
