// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bit>
#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <cairn/base/random.hpp>
#include <cairn/core/recursive_doubling.hpp>

// For the tests of recursive_doubling and board_reduction.
namespace cairn::recursive_doubling_parts {

using bytes = std::vector<std::byte>;
using view = std::span<const std::byte>;

inline bytes to_bytes(const std::string& s) {
  const auto all = std::as_bytes(std::span(s));
  return {all.begin(), all.end()};
}
inline std::string to_string(view b) { return {reinterpret_cast<const char*>(b.data()), b.size()}; }

// Neither commutative nor associative: the result shows the order and the shape.
inline void in_brackets(view lower, view higher, bytes& result) {
  result.push_back(std::byte{'('});
  result.insert(result.end(), lower.begin(), lower.end());
  result.insert(result.end(), higher.begin(), higher.end());
  result.push_back(std::byte{')'});
}

// The documented shape, by recursion over the ranks [first, first + n) with n a power of two.
inline std::string shape_of(const std::vector<std::string>& values, std::size_t first,
                            std::size_t n) {
  if (n > 1) {
    return '(' + shape_of(values, first, n / 2) + shape_of(values, first + n / 2, n / 2) + ')';
  }
  const auto beyond = first + std::bit_floor(values.size());
  return beyond < values.size() ? '(' + values[first] + values[beyond] + ')' : values[first];
}
inline std::string shape_of(const std::vector<std::string>& values) {
  return shape_of(values, 0, std::bit_floor(values.size()));
}

/// What the ranks contribute to an operation, by rank: different for all, of different lengths.
inline std::vector<std::string> random_values(random64& random, rank_t size, int operation) {
  std::vector<std::string> values;
  for (rank_t r = 0; r < size; ++r) {
    values.push_back(std::to_string(r) + static_cast<char>('a' + operation) +
                     std::string(random.below(4), '.'));
  }
  return values;
}

/// The machine, with packets that outlive the next call.
class subject {
 public:
  struct outgoing {
    rank_t to;
    bytes packet;
  };
  subject(rank_t self, rank_t size) : machine_(self, size) {}
  void begin(const std::string& mine) { machine_.begin(to_bytes(mine), in_brackets); }
  std::optional<outgoing> next_send() {
    const auto out = machine_.next_send();
    if (!out) return {};
    return outgoing{out->to, {out->packet.begin(), out->packet.end()}};
  }
  void receive(rank_t from, view packet) { machine_.receive(from, packet); }
  bool done() const { return machine_.done(); }
  std::string take() { return to_string(machine_.take()); }

 private:
  recursive_doubling machine_;
};

}  // namespace cairn::recursive_doubling_parts
