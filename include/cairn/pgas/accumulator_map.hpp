// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <type_traits>
#include <utility>

#include <cairn/am/channel.hpp>
#include <cairn/am/epoch.hpp>
#include <cairn/am/record_channel.hpp>
#include <cairn/am/reduce.hpp>
#include <cairn/base/aggregator.hpp>
#include <cairn/base/contract.hpp>
#include <cairn/base/packing.hpp>
#include <cairn/core/world.hpp>
#include <cairn/pgas/accumulation.hpp>
#include <cairn/pgas/accumulator_bins.hpp>
#include <cairn/pgas/partition.hpp>
#include <cairn/task/per_worker.hpp>

namespace cairn::pgas {

/// One value per element of a partition, to which all workers of all ranks contribute without
/// locks, atomics or transactions.
///
/// While an epoch is open a worker accumulates inside a chunk or a handler:
///
///   sums.accumulate(k, [&](auto&& add) { for (...) add(v, x); });
///
/// A contribution to an element of this rank is kept by the worker. A contribution to a remote
/// element is kept too, to be combined before it is sent: in partials of all ranks' elements if
/// they are small enough, else in bins. collect() sends one message per remote element that has
/// contributions on this rank. A worker whose remote bins are full combines and sends their
/// contents earlier. Without reduction each contribution is sent to its owner at once. The worker
/// that receives a contribution keeps it like its own. collect() combines the workers' shares and
/// resets them to the identity.
///
/// A            the aggregator of the totals. For float and double the result depends on the order,
///              which is not determined
/// Id           wide enough for the partition's elements
/// Contribution the type of what is added, kept in bins and sent: packable; if not trivially
///              copyable, sent as records. Either that of the totals, or float for totals in
///              double: a total of a rank is rounded to it each time it is sent
/// Work         one combination per add; in collect() one per worker and element (partials) or per
///              add (bins)
/// Messages     one per remote element that this rank added to, more if bins fill up; without
///              reduction one per add to a remote element
/// Memory       per worker: n totals (partials of all elements) or n/P totals (partials); in bins 8
///              to 16 bytes per add, for remote elements of at most `max_remote_entries` adds and
///              those of one call of accumulate()
/// Collective   constructor, destructor and collect(); accumulating only while an epoch is open
/// Source       [AGGRO] aggregation without conflicts; [Beamer17] propagation blocking
template <aggregator A, class Id = std::uint64_t, class Contribution = typename A::value_type>
class accumulator_map {
 public:
  using value_type = typename A::value_type;  ///< of totals
  static_assert(packable<Contribution>, "values travel as their bytes: specialise cairn::packing");
  static_assert(std::is_same_v<Contribution, value_type> ||
                    (std::is_floating_point_v<Contribution> &&
                     std::is_floating_point_v<value_type>),
                "a total may not fit a message");

  accumulator_map(world& w, const partition& partition, const accumulator_options& opt = {})
      : world_(w),
        partition_(expect_ranks(partition, w.size())),
        first_(partition.first(w.rank())),
        size_(partition.size(w.rank())),
        method_(opt.method),
        workers_(w.workers()) {
    if (method_ == accumulation::automatic) {
      const bool fits = partition.max_block() * sizeof(value_type) <= partials_bytes;
      method_ = fits ? accumulation::partials : accumulation::bins;
    }
    const bool reduces = opt.reduce && w.size() > 1;
    partials_cover_all_ranks_ = reduces && method_ == accumulation::partials &&
                                partition.n() * sizeof(value_type) <= partials_bytes;
    const auto values =
        std::bit_floor(std::max<std::size_t>(1, opt.bin_bytes / sizeof(value_type)));
    bin_shift_ = std::countr_zero(values);
    bins_remote_ = reduces && !partials_cover_all_ranks_;
    const bool bins_own = method_ == accumulation::bins;
    const auto remote = bins_remote_ ? partition.n() - size_ : 0;
    max_remote_entries_ = opt.max_remote_entries != 0
                              ? opt.max_remote_entries
                              : std::max(min_remote_entries_limit, 2 * remote);
    for (auto& k : workers_) {
      if (!bins_own)
        k.value.partial = am::partial_array<A>(partials_cover_all_ranks_ ? partition.n() : size_);
      if (bins_own) k.value.own = accumulator_bins<message>(bins_for(size_));
      k.value.remote = accumulator_bins<message>(bins_for(remote));
      const auto range = std::min(values, std::max<std::size_t>(bins_own ? size_ : 0, remote));
      k.value.range = am::partial_array<A>(range);
    }
    if (w.size() > 1) connect();
  }

  /// The chosen storage: partials or bins.
  [[nodiscard]] accumulation method() const noexcept { return method_; }

  /// Whether accumulate() may send messages.
  [[nodiscard]] bool sends() const noexcept { return channel_ && !partials_cover_all_ranks_; }

  /// Calls body(add) on worker k; add(id, x) accumulates x into element id of any rank.
  template <class Body>
  void accumulate(worker_t k, Body&& body) {
    with_keeper(k, [&](auto keep) {
      if (!channel_ || partials_cover_all_ranks_) {
        body([keep, first = first_](Id id, const Contribution& x) mutable {
          keep(static_cast<std::ptrdiff_t>(id) - static_cast<std::ptrdiff_t>(first), x);
        });
        return;
      }
      with_sender(k, [&](auto send) {
        std::uint64_t looked_up = 0;
        const auto run = [&](auto remote) {
          body([&, keep, remote](Id id, const Contribution& x) mutable {
            ++looked_up;
            if (id - first_ < size_) {
              keep(static_cast<std::ptrdiff_t>(id - first_), x);
            } else {
              remote(id, x);
            }
          });
        };
        if (!bins_remote_) {
          run([send](Id id, const Contribution& x) { send({id, x}); });
        } else {
          auto& bins = workers_[k].remote;
          run([this, &bins](Id id, const Contribution& x) {
            const auto i = id < first_ ? id : id - size_;
            bins.append(i >> bin_shift_, {static_cast<Id>(i), x});
          });
          if (bins.entries() > max_remote_entries_) send_bins_of(k, send);
        }
        world_.counters().add(k, obs::counter::lookups, looked_up);
      });
    });
  }

  /// Calls f(worker, first id, totals) on this rank's workers, for ranges that cover its elements
  /// once, and resets the contributions. The span is valid until f returns. Called by worker 0 of
  /// every rank after the epoch.
  /// Throws    contract_violation while an epoch is open, because handlers may be accumulating
  template <class F>
  void collect(F&& f) {
    CAIRN_EXPECTS(!world_.messages().epoch_open(),
                  "collect() must not be called while an epoch is open");
    if (partials_cover_all_ranks_) send_partials();
    if (bins_remote_) send_bins();
    if (method_ == accumulation::partials) {
      collect_partials(f);
    } else {
      collect_bins(f);
    }
  }

 private:
  struct message {
    Id id;
    Contribution value;
  };
  static constexpr bool plain_bytes = std::is_trivially_copyable_v<Contribution>;
  using link = std::conditional_t<plain_bytes, am::channel<message>, am::record_channel>;

  struct state {
    am::partial_array<A> partial;
    accumulator_bins<message> own, remote;  // remote ids skip this rank's range
    am::partial_array<A> range;             // totals of the bin that is being combined
  };

  void connect() {
    if constexpr (plain_bytes) {
      const auto owner = [partition = partition_](const message& m) {
        return partition.owner(m.id);
      };
      const auto receive = [this](worker_t k, std::span<const message> batch) {
        with_keeper(k, [&](auto keep) {
          for (const auto& m : batch) keep(static_cast<std::ptrdiff_t>(m.id - first_), m.value);
        });
      };
      channel_.emplace(world_, owner, receive, am::channel_options{.sends = false});
    } else {
      const auto owner = [partition = partition_](std::span<const std::byte> record) {
        return partition.owner(unpack<Id>(record));
      };
      const auto receive = [this](worker_t k, am::record_batch batch) {
        with_keeper(k, [&](auto keep) {
          for (auto record : batch) {
            const auto id = unpack<Id>(record);
            keep(static_cast<std::ptrdiff_t>(id - first_), unpacked<Contribution>(record));
          }
        });
      };
      channel_.emplace(world_, owner, receive, am::channel_options{.sends = false});
    }
  }

  // Calls f(send); send(message) sends from worker k to the element's owner.
  template <class F>
  void with_sender(worker_t k, F&& f) {
    if constexpr (plain_bytes) {
      auto to = channel_->from(k);
      f([this, &to](const message& m) { to(partition_.owner(m.id), m); });
    } else {
      f([this, k](const message& m) {
        channel_->send_packed(k, partition_.owner(m.id), m.id, m.value);
      });
    }
  }

  // Worker k's values of this rank's elements.
  [[nodiscard]] value_type* partial_of(worker_t k) noexcept {
    return workers_[k].partial.data() + (partials_cover_all_ranks_ ? first_ : 0);
  }

  // Calls f(keep); keep(i, x) stores worker k's contribution x to element first_ + i of this rank,
  // or of any rank if its partials cover all.
  template <class F>
  void with_keeper(worker_t k, F&& f) {
    if (method_ == accumulation::partials) {
      f([values = partial_of(k)]<class X>(std::ptrdiff_t i, X&& x) {
        combine_into<A>(values[i], std::forward<X>(x));
      });
    } else {
      f([&bins = workers_[k].own, shift = bin_shift_]<class X>(std::ptrdiff_t i, X&& x) {
        const auto at = static_cast<std::size_t>(i);
        bins.append(at >> shift, {static_cast<Id>(i), std::forward<X>(x)});
      });
    }
  }

  // Sends the partial sums of remote elements to their owners.
  void send_partials() {
    am::epoch epoch(world_);
    world_.parallel_for(
        partition_.n() - size_, [&](worker_t k, std::size_t begin, std::size_t end) {
          with_sender(k, [&](auto send) {
            for (auto i = begin; i < end; ++i) {
              const auto id = i < first_ ? i : i + size_;
              auto total = take(id);
              if (am::partial_array<A>::is_identity(total)) continue;
              send({static_cast<Id>(id), static_cast<Contribution>(std::move(total))});
            }
          });
        });
    epoch.close();
  }
  [[nodiscard]] value_type take(std::uint64_t id) {
    value_type total = A::identity();
    for (auto& k : workers_) combine_into<A>(total, k.value.partial.take(id));
    return total;
  }

  // As send_partials(), from the bins of all workers.
  void send_bins() {
    am::epoch epoch(world_);
    world_.parallel_for(
        workers_[main_worker].remote.num_bins(),
        [&](worker_t k, std::size_t begin, std::size_t end) {
          with_sender(k, [&](auto send) {
            for (auto b = begin; b < end; ++b) {
              bool any = false;
              for (auto& j : workers_) any |= combine_bin(k, j.value.remote, b);
              if (any) send_range(k, b, send);
            }
          });
        },
        1);
    for (auto& k : workers_) k.value.remote.clear();
    epoch.close();
  }
  // Sends the contents of worker k's remote bins, during an epoch.
  template <class Send>
  [[gnu::noinline]] void send_bins_of(worker_t k, Send send) {
    auto& bins = workers_[k].remote;
    for (std::size_t b = 0; b < bins.num_bins(); ++b) {
      if (combine_bin(k, bins, b)) send_range(k, b, send);
    }
    bins.clear();
  }
  template <class Send>
  void send_range(worker_t k, std::size_t b, Send send) {
    auto& range = workers_[k].range;
    const auto first = b << bin_shift_, size = partition_.n() - size_;
    for (std::size_t i = 0; i < range.size() && first + i < size; ++i) {
      auto total = range.take(i);
      if (am::partial_array<A>::is_identity(total)) continue;
      const auto id = first + i < first_ ? first + i : first + i + size_;
      send({static_cast<Id>(id), static_cast<Contribution>(std::move(total))});
    }
  }

  [[nodiscard]] std::size_t bins_for(std::size_t elements) const noexcept {
    return (elements + (std::size_t{1} << bin_shift_) - 1) >> bin_shift_;
  }
  // Combines a bin into worker k's range. Returns whether the bin had entries.
  bool combine_bin(worker_t k, accumulator_bins<message>& bins, std::size_t b) {
    const auto begin = b << bin_shift_;
    auto* const totals = workers_[k].range.data();
    bool any = false;
    bins.each(b, [&](message&& m) {
      combine_into<A>(totals[m.id - begin], std::move(m.value));
      any = true;
    });
    return any;
  }

  template <class F>
  void collect_partials(F& f) {
    world_.parallel_for(size_, [&](worker_t k, std::size_t begin, std::size_t end) {
      auto* const totals = partial_of(main_worker);
      for (worker_t j{1}; j < world_.workers(); ++j) {
        auto* const more = partial_of(j);
        for (auto i = begin; i < end; ++i) combine_into<A>(totals[i], std::move(more[i]));
        std::fill(more + begin, more + end, A::identity());
      }
      f(k, first_ + begin, std::span<const value_type>(totals + begin, end - begin));
      std::fill(totals + begin, totals + end, A::identity());
    });
  }

  template <class F>
  void collect_bins(F& f) {
    world_.parallel_for(
        workers_[main_worker].own.num_bins(),
        [&](worker_t k, std::size_t begin, std::size_t end) {
          for (auto b = begin; b < end; ++b) {
            for (auto& j : workers_) combine_bin(k, j.value.own, b);
            const auto first = b << bin_shift_;
            auto& range = workers_[k].range;
            const std::span totals(range.data(), std::min(range.size(), size_ - first));
            f(k, first_ + first, std::span<const value_type>(totals));
            std::fill(totals.begin(), totals.end(), A::identity());
          }
        },
        1);
    for (auto& k : workers_) k.value.own.clear();
  }

  static constexpr std::size_t min_remote_entries_limit = std::size_t{1} << 22;

  world& world_;
  partition partition_;
  std::uint64_t first_;
  std::size_t size_;
  accumulation method_;
  bool partials_cover_all_ranks_ = false;  // partials cover the elements of all ranks
  bool bins_remote_ = false;               // contributions to remote elements are kept in bins
  std::size_t max_remote_entries_ = 0;
  int bin_shift_ = 0;
  task::per_worker<state> workers_;
  std::optional<link> channel_;
};

}  // namespace cairn::pgas
