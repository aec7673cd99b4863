// SPDX-License-Identifier: Apache-2.0
#include <atomic>

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

}  // namespace

bool gathered_bits::is_cheap() const {
  constexpr std::uint64_t small = std::uint64_t{1} << 19;  // also in messages
  return num_bits_ <= small || w_.machines().count() == 1;
}

// Empty if not all ranks share memory.
std::span<std::uint64_t> gathered_bits::next_copy() {
  const auto n = num_words();
  if (n == 0 || w_.machines().count() > 1) return {};
  if (!gathered_) lent_ = w_.machines().lend(2 * n * sizeof(std::uint64_t));
  gathered_ = true;
  const auto copies = lent_.values<std::uint64_t>(2 * n);
  if (copies.empty()) return {};
  copy_ = 1 - copy_;
  return copies.subspan(copy_ * n, n);
}

void gathered_bits::gather(std::span<const std::uint64_t> own, std::span<std::uint64_t> sums) {
  const auto shared = next_copy();
  if (shared.empty()) {
    w_.all_gather_bits(own, num_own_, copied_, sums);
    words_ = copied_.data();
    return;
  }
  CAIRN_EXPECTS(own.size() * 64 >= num_own_);
  replace_bits(shared, first_, own, num_own_);
  w_.sum_each(sums);
  words_ = shared.data();
}

}  // namespace cairn::traverse
