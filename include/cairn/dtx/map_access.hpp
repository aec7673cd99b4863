// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

#include <cairn/activity/domain.hpp>
#include <cairn/activity/executor.hpp>
#include <cairn/dtx/marker.hpp>

namespace cairn::dtx {

/// Sent to the owner and echoed in the answer; identifies the claiming transaction.
struct claim_request {
  std::uint64_t id;
  marker_word holder;
  void* transaction;  // runner::record; valid on the claiming rank only
  std::uint32_t index;
};

/// Releases a granted element. A non-null `value` is written to the element first.
struct release_request {
  std::uint64_t id;
  const std::byte* value;
};

/// Receives the answers to claims, on the worker that claimed.
class claim_answer_handler {
 public:
  virtual ~claim_answer_handler() = default;
  virtual void handle_answer(worker_t k, const claim_request& request, bool granted,
                             std::span<const std::byte> value) = 0;
};

/// Type-erased access to the elements of one map: claims and releases.
class map_access {
 public:
  virtual ~map_access() = default;
  virtual void claim(worker_t k, std::span<const claim_request> requests) = 0;
  virtual void release(worker_t k, std::span<const release_request> requests) = 0;
};

/// Claims an element for a transaction: sets the marker and returns the value, or fails.
template <class Map>
struct claim_operator {
  using message = claim_request;
  using value_type = typename Map::value_type;
  const Map* map;
  claim_answer_handler* handler;

  void elements(const message& m, auto&& each) const { each(map->values().at(m.id)); }
  activity::outcome<value_type> attempt(auto& tx, const message& m) const {
    if (!grants(tx.read(map->markers(), m.id))) return {};
    tx.write(map->markers(), m.id, m.holder);
    return {true, tx.read(map->values(), m.id)};
  }
  void answer(const message& m, const activity::outcome<value_type>& a, auto& at) const {
    handler->handle_answer(at.worker(), m, a.done, std::as_bytes(std::span(&a.value, 1)));
  }
};

/// Writes an element back, if it was changed, and frees its marker, in one activity.
template <class Map>
struct release_operator {
  using value_type = typename Map::value_type;
  struct message {
    std::uint64_t id;
    bool changed;
    value_type value;
  };
  const Map* map;

  void elements(const message& m, auto&& each) const { each(map->values().at(m.id)); }
  void attempt(auto& tx, const message& m) const {
    if (m.changed) tx.write(map->values(), m.id, m.value);
    tx.write(map->markers(), m.id, free_marker);
  }
};

template <class Map>
class typed_map_access final : public map_access {
 public:
  typed_map_access(activity::domain& data, const Map& map, claim_answer_handler& handler)
      : claims_(data, {&map, &handler}), releases_(data, {&map}) {}

  void claim(worker_t k, std::span<const claim_request> requests) override {
    claims_.spawn(k, [&](auto& send) {
      for (const auto& r : requests) send(r);
    });
  }
  void release(worker_t k, std::span<const release_request> requests) override {
    releases_.spawn(k, [&](auto& send) {
      for (const auto& r : requests) {
        typename release_operator<Map>::message m{r.id, r.value != nullptr, {}};
        if (r.value) std::memcpy(static_cast<void*>(&m.value), r.value, sizeof m.value);
        send(m);
      }
    });
  }

 private:
  activity::executor<claim_operator<Map>> claims_;
  activity::executor<release_operator<Map>> releases_;
};

}  // namespace cairn::dtx
