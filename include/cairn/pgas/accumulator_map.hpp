// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include <cairn/am/channel.hpp>
#include <cairn/am/epoch.hpp>
#include <cairn/base/aggregator.hpp>
#include <cairn/core/world.hpp>
#include <cairn/hw/pages.hpp>
#include <cairn/pgas/partition.hpp>
#include <cairn/task/per_worker.hpp>

namespace cairn::pgas {

/// How a worker keeps what it has accumulated until it is collected.
///
///   partials   an array of its own with a value per own element of the rank
///   bins       a list of (element, value) for each range of elements that fits a core's cache;
///              when collected, each range is the work of one worker ([Beamer17])
///   automatic  partials up to `partials_bytes` of values, else bins
enum class accumulation { automatic, partials, bins };

struct accumulator_options {
  accumulation how = accumulation::automatic;
  std::size_t bin_bytes = std::size_t{1} << 18;  ///< of values in a bin's range
  bool reduce = true;  ///< combine at the sender, with partials of up to `partials_bytes`
};

/// A partial of up to so many bytes is faster than bins.
inline constexpr std::size_t partials_bytes = std::size_t{1} << 25;

/// One value per element of a partition, to which all workers of all ranks add without ever
/// meeting: no lock, no atomic, no transaction that could abort.
///
/// While an epoch is open a worker accumulates inside a chunk or a handler:
///
///   sums.accumulate(k, [&](auto& add) { for (...) add(v, x); });
///
/// A value for an own element joins what this worker keeps. One for a remote element does too, if
/// partials of all ranks' elements are small enough: collect() then sends what this rank has for
/// each of them as one message. Else it travels coalesced to its owner at once and joins what the
/// worker keeps that takes it in. collect() combines the workers' shares and starts again from the
/// identity.
///
/// A           combines; what it does to doubles or floats depends on the order, which is not
///             determined
/// Id          wide enough for the partition's elements
/// Work        one combination per add, and one per worker and element kept (partials) or per
///             add (bins) when collected
/// Messages    one per remote element that this rank added to, when collected; without reduction
///             one per add to a remote element
/// Memory      per worker: n (reduced) or n/P values (partials), or 8 to 16 bytes per add (bins)
/// Collective  constructor, destructor and collect(); accumulating only while an epoch is open
/// Source      [AGGRO] aggregation without conflicts; [Beamer17] propagation blocking
template <aggregator A, class Id = std::uint64_t>
class accumulator_map {
 public:
  using value_type = typename A::value_type;
  static_assert(std::is_trivially_copyable_v<value_type>, "values travel as their bytes");

  accumulator_map(world& w, const block_partition& partition, const accumulator_options& opt = {})
      : world_(w),
        partition_(partition),
        first_(partition.first(w.rank())),
        size_(partition.size(w.rank())),
        how_(opt.how),
        workers_(w.workers()) {
    if (how_ == accumulation::automatic) {
      const bool fits = partition.block() * sizeof(value_type) <= partials_bytes;
      how_ = fits ? accumulation::partials : accumulation::bins;
    }
    reduces_ = opt.reduce && w.size() > 1 && how_ == accumulation::partials &&
               partition.n() * sizeof(value_type) <= partials_bytes;
    const auto values =
        std::bit_floor(std::max<std::size_t>(1, opt.bin_bytes / sizeof(value_type)));
    bin_shift_ = std::countr_zero(values);
    for (auto& k : workers_) prepare(k.value);
    if (w.size() == 1) return;
    channel_.emplace(w, [this](worker_t k, std::span<const message> batch) {
      with_keeper(k, [&](auto keep) {
        for (const auto& m : batch) keep(m.id - first_, m.value);
      });
    });
  }

  /// What was chosen: partials or bins.
  [[nodiscard]] accumulation how() const noexcept { return how_; }

  /// Calls body(add) on worker k; add(id, x) accumulates x into element id, wherever it lives.
  template <class Body>
  void accumulate(worker_t k, Body&& body) {
    with_keeper(k, [&](auto keep) {
      if (!channel_ || reduces_) {
        body([keep, first = first_](Id id, const value_type& x) mutable {
          keep(static_cast<std::ptrdiff_t>(id) - static_cast<std::ptrdiff_t>(first), x);
        });
        return;
      }
      auto send = channel_->from(k);
      std::uint64_t looked_up = 0;
      body([&, keep](Id id, const value_type& x) mutable {
        ++looked_up;
        if (id - first_ < size_) {
          keep(id - first_, x);
        } else {
          send(partition_.owner(id), {id, x});
        }
      });
      world_.counters().add(k, obs::counter::lookups, looked_up);
    });
  }

  /// Calls f(worker, first id, totals) for ranges that cover this rank's elements once, on its
  /// workers, and forgets what was accumulated. The span is f's until it returns.
  /// Called by worker 0 of every rank after the epoch, while none is open.
  template <class F>
  void collect(F&& f) {
    if (reduces_) exchange();
    if (how_ == accumulation::partials) {
      collect_partials(f);
    } else {
      collect_bins(f);
    }
  }

 private:
  struct message {
    Id id;
    value_type value;
  };
  // A bin's adds lie in blocks of a worker's slabs; all are given back at once.
  // Blocks are no power of two long, or those of all bins would fill the same cache sets at once.
  static constexpr std::size_t block_entries = 520, slab_blocks = 512;
  struct bin {
    message* at = nullptr;
    message* end = nullptr;
    std::vector<message*> blocks;
  };
  struct state {
    hw::page_buffer<value_type> partial;  // bins: of the range that is being collected
    std::vector<bin> bins;
    std::vector<hw::page_buffer<message>> slabs;
    std::size_t blocks_used = 0;
  };

  void prepare(state& s) {
    const auto bin_values = std::size_t{1} << bin_shift_;
    const auto values = reduces_                         ? partition_.n()
                        : how_ == accumulation::partials ? size_
                                                         : std::min(size_, bin_values);
    s.partial = hw::page_buffer<value_type>(values);
    std::fill(s.partial.begin(), s.partial.end(), A::identity());
    if (how_ == accumulation::bins) s.bins.resize((size_ + bin_values - 1) >> bin_shift_);
  }

  // Of own elements.
  [[nodiscard]] value_type* partial_of(worker_t k) noexcept {
    return workers_[k].partial.data() + (reduces_ ? first_ : 0);
  }

  // Calls f(keep) with worker k's way to keep a value for an own element, or for any if reduced.
  template <class F>
  void with_keeper(worker_t k, F&& f) {
    auto& s = workers_[k];
    if (how_ == accumulation::partials) {
      f([values = partial_of(k)](std::ptrdiff_t i, const value_type& x) {
        values[i] = A::combine(values[i], x);
      });
    } else {
      f([&s, bins = s.bins.data(), shift = bin_shift_](std::size_t i, const value_type& x) {
        auto& b = bins[i >> shift];
        if (b.at == b.end) [[unlikely]] {
          extend(s, b);
        }
        *b.at++ = {static_cast<Id>(i), x};
      });
    }
  }

  [[gnu::noinline]] static void extend(state& s, bin& b) {
    const auto slab = s.blocks_used / slab_blocks, block = s.blocks_used % slab_blocks;
    if (slab == s.slabs.size()) s.slabs.emplace_back(slab_blocks * block_entries);
    b.at = s.slabs[slab].data() + block * block_entries;
    b.end = b.at + block_entries;
    b.blocks.push_back(b.at);
    ++s.blocks_used;
  }

  // Takes what this rank's workers have for an element, and leaves the identity.
  [[nodiscard]] value_type take(std::uint64_t id) {
    value_type total = A::identity();
    for (auto& k : workers_) {
      total = A::combine(total, std::exchange(k.value.partial[id], A::identity()));
    }
    return total;
  }

  // To the owners, what this rank's workers have for other ranks' elements.
  void exchange() {
    am::epoch epoch(world_);
    const value_type nothing = A::identity();
    world_.parallel_for(partition_.n() - size_,
                        [&](worker_t k, std::size_t begin, std::size_t end) {
                          auto send = channel_->from(k);
                          for (auto i = begin; i < end; ++i) {
                            const auto id = i < first_ ? i : i + size_;
                            const auto total = take(id);
                            if (std::memcmp(&total, &nothing, sizeof total) == 0) continue;
                            send(partition_.owner(id), {static_cast<Id>(id), total});
                          }
                        });
    epoch.close();
  }

  template <class F>
  void collect_partials(F& f) {
    world_.parallel_for(size_, [&](worker_t k, std::size_t begin, std::size_t end) {
      auto* const totals = partial_of(0);
      for (worker_t j = 1; j < world_.workers(); ++j) {
        auto* const more = partial_of(j);
        for (auto i = begin; i < end; ++i) totals[i] = A::combine(totals[i], more[i]);
        std::fill(more + begin, more + end, A::identity());
      }
      f(k, first_ + begin, std::span<const value_type>(totals + begin, end - begin));
      std::fill(totals + begin, totals + end, A::identity());
    });
  }

  template <class F>
  void collect_bins(F& f) {
    const auto num_bins = workers_[0].bins.size();
    const auto collect_bin = [&](worker_t k, std::size_t b) {
      const auto begin = b << bin_shift_, values = std::size_t{1} << bin_shift_;
      auto totals = workers_[k].partial.span().first(std::min(values, size_ - begin));
      for (auto& j : workers_) {
        const auto& from = j.value.bins[b];
        for (const auto* const block : from.blocks) {
          const bool last = block + block_entries == from.end;
          const auto* const end = last ? from.at : block + block_entries;
          for (const auto* m = block; m != end; ++m) {
            auto& total = totals[m->id - begin];
            total = A::combine(total, m->value);
          }
        }
      }
      f(k, first_ + begin, std::span<const value_type>(totals));
      std::fill(totals.begin(), totals.end(), A::identity());
    };
    world_.parallel_for(
        num_bins,
        [&](worker_t k, std::size_t begin, std::size_t end) {
          for (auto b = begin; b < end; ++b) collect_bin(k, b);
        },
        1);
    for (auto& k : workers_) {
      for (auto& b : k.value.bins) b.at = b.end = nullptr, b.blocks.clear();
      k.value.blocks_used = 0;
    }
  }

  world& world_;
  block_partition partition_;
  std::uint64_t first_;
  std::size_t size_;
  accumulation how_;
  bool reduces_ = false;
  int bin_shift_ = 0;
  task::per_worker<state> workers_;
  std::optional<am::channel<message>> channel_;
};

}  // namespace cairn::pgas
