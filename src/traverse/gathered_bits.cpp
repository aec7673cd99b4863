// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <atomic>
#include <cstring>

#include <cairn/base/contract.hpp>
#include <cairn/traverse/gathered_bits.hpp>

namespace cairn::traverse {
namespace {

// Replaces bits [at, at + n) of `whole` by the first n of `words`. Other ranks may write the other
// bits of the first word and of the last one at the same time.
void replace_bits(std::span<std::uint64_t> whole, std::size_t at,
                  std::span<const std::uint64_t> words, std::size_t n) {
  if (n == 0) return;
  constexpr auto all = ~std::uint64_t{0};
  const auto shift = at % 64, after = (at + n) % 64;
  const auto part = whole.subspan(at / 64, (shift + n + 63) / 64);
  const auto shifted = [&](std::size_t i) {
    const auto low = i < words.size() ? words[i] << shift : 0;
    return shift == 0 || i == 0 ? low : low | words[i - 1] >> (64 - shift);
  };
  const auto replace = [&](std::size_t i, std::uint64_t mask) {
    if (mask == all) {
      part[i] = shifted(i);
      return;
    }
    const std::atomic_ref word(part[i]);
    word.fetch_and(~mask, std::memory_order_relaxed);
    word.fetch_or(shifted(i) & mask, std::memory_order_relaxed);
  };
  const auto last = part.size() - 1;
  const auto from_first = all << shift, to_last = after == 0 ? all : ~(all << after);
  replace(0, last == 0 ? from_first & to_last : from_first);
  for (std::size_t i = 1; i < last; ++i) part[i] = shifted(i);
  if (last > 0) replace(last, to_last);
}

std::size_t words_for(std::uint64_t bits) { return (bits + 63) / 64; }

}  // namespace

bool gathered_bits::is_cheap() const {
  constexpr std::uint64_t small = std::uint64_t{1} << 19;  // also in messages
  return vertices_.n() <= small || w_.machines().count() == 1;
}

void gathered_bits::gather(std::span<const std::uint64_t> own, std::span<std::uint64_t> sums) {
  const auto num_own = vertices_.size(w_.rank());
  CAIRN_EXPECTS(own.size() * 64 >= num_own);
  const auto shared = shared_.next(w_, words_for(vertices_.n()));
  if (shared.empty()) return gather_by_messages(own.first(words_for(num_own)), sums);
  replace_bits(shared, vertices_.first(w_.rank()), own, num_own);
  w_.sum_each(sums);
  words_ = shared.data();
}

// A part has the words of the rank's bits, then those to be summed.
void gathered_bits::gather_by_messages(std::span<const std::uint64_t> own,
                                       std::span<std::uint64_t> sums) {
  std::vector<std::uint64_t> part(own.begin(), own.end());
  part.insert(part.end(), sums.begin(), sums.end());
  const auto parts = w_.all_gather_bytes(std::as_bytes(std::span(part)));
  copied_.resize(words_for(vertices_.n()));
  std::ranges::fill(sums, 0);
  for (rank_t r = 0; r < w_.size(); ++r) {
    const auto bytes = parts[static_cast<std::size_t>(r)];
    const auto num_words = words_for(vertices_.size(r));
    part.resize(num_words + sums.size());
    CAIRN_EXPECTS(bytes.size() == part.size() * sizeof(std::uint64_t),
                  "the ranks gather different numbers of sums");
    if (!bytes.empty()) std::memcpy(part.data(), bytes.data(), bytes.size());
    replace_bits(copied_, vertices_.first(r), part, vertices_.size(r));
    for (std::size_t i = 0; i < sums.size(); ++i) sums[i] += part[num_words + i];
  }
  words_ = copied_.data();
}

}  // namespace cairn::traverse
