// SPDX-License-Identifier: Apache-2.0
#include "verify_native.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <string>
#include <type_traits>
#include <variant>
#include <vector>

#include <cairn/core/world.hpp>
#include <cairn/pgas/partition.hpp>
#include <cairn/task/parallel_for.hpp>

#include "balance.hpp"
#include "faults.hpp"
#include "verify_labels.hpp"

namespace cairn::graph::io {
namespace {

constexpr std::size_t rows_per_chunk = std::size_t{1} << 14;

void verify_checksums(world& w, const native_file& file) {
  const auto rank = static_cast<std::uint64_t>(w.rank());
  const auto size = static_cast<std::uint64_t>(w.size());
  std::array<std::uint64_t, native_section_names.size()> mine{};
  for (std::size_t i = 0; i < mine.size(); ++i) {
    const auto bytes = file.section(i);
    const auto chunks = (bytes.size() + checksum_chunk - 1) / checksum_chunk;
    const auto own = chunks > rank ? (chunks - rank + size - 1) / size : 0;
    std::atomic<std::uint64_t> sum{0};
    task::parallel_for(
        w.pool(), {.elements = own, .chunk = 1}, [&](worker_t, std::size_t k, std::size_t) {
          const auto index = rank + k * size;
          const auto from = bytes.subspan(index * checksum_chunk);
          sum += chunk_checksum(from.first(std::min(from.size(), checksum_chunk)), index);
        });
    mine[i] = sum.load();
  }
  auto all = decltype(mine){};
  for (const auto& part : w.all_gather(mine)) {
    for (std::size_t i = 0; i < all.size(); ++i) all[i] += part[i];
  }
  for (std::size_t i = 0; i < all.size(); ++i) {
    const auto& section = file.header().section(i);
    if (all[i] == section.checksum) continue;
    throw input_error::at_byte(file.path(), section.offset,
                               std::string("the checksum of the section of ") +
                                   native_section_names[i] + " is wrong: the file is damaged");
  }
}

/// Verifies this rank's rows of a file whose checksums are correct.
///
/// Weight    std::monostate, std::int32_t or double
template <class Id, class Weight>
class row_verifier {
 public:
  row_verifier(world& w, const native_file& file, const balance::key& key)
      : w_(w),
        file_(file),
        partition_(file.header().num_vertices, w.size()),
        balance_(key),
        offsets_(file.values<std::uint64_t>(offsets_section)),
        targets_(file.values<Id>(targets_section)) {
    if constexpr (weighted) weights_ = file.values<Weight>(weights_section);
  }

  void verify() {
    w_.agree([&] {
      faults found;
      verify_offsets(found);
      found.throw_if_any(file_.path());
    });
    entry_sums mine;
    w_.agree([&] {
      faults found;
      mine = verify_rows(found);
      verify_labels(file_, found);
      found.throw_if_any(file_.path());
    });
    if (!directed()) verify_symmetry(mine);
  }

 private:
  static constexpr bool weighted = !std::is_same_v<Weight, std::monostate>;

  /// Sums over verified entries: their balance, and the number of self-loops.
  struct entry_sums {
    std::uint64_t balance = 0;
    std::uint64_t loops = 0;
  };

  [[nodiscard]] bool directed() const noexcept { return file_.header().directed == 1; }
  [[nodiscard]] std::span<const Id> row(std::uint64_t v) const noexcept {
    return targets_.subspan(offsets_[v], offsets_[v + 1] - offsets_[v]);
  }

  template <class F>
  void for_own_rows(F&& f) const {
    const auto first = partition_.first(w_.rank());
    const auto count = partition_.size(w_.rank());
    task::parallel_for(
        w_.pool(), {.elements = count, .chunk = rows_per_chunk},
        [&](worker_t, std::size_t begin, std::size_t end) { f(first + begin, first + end); });
  }

  void verify_offsets(faults& found) const {
    const auto at = [&](std::uint64_t i) {
      return file_.byte_of<std::uint64_t>(offsets_section, i);
    };
    if (offsets_.front() != 0) found.add(at(0), "the first offset is not 0");
    if (offsets_.back() != targets_.size()) {
      found.add(at(offsets_.size() - 1), "the last offset is not the number of entries");
    }
    for_own_rows([&](std::uint64_t first, std::uint64_t last) {
      for (auto v = first; v < last; ++v) {
        if (offsets_[v] > offsets_[v + 1]) {
          found.add(at(v + 1), "an offset is smaller than the one before");
        } else if (offsets_[v + 1] > targets_.size()) {
          found.add(at(v + 1), "an offset is beyond the last entry");
        }
      }
    });
  }

  entry_sums verify_rows(faults& found) const {
    std::atomic<std::uint64_t> sum{0}, loops{0};
    for_own_rows([&](std::uint64_t first, std::uint64_t last) {
      entry_sums chunk;
      for (auto v = first; v < last; ++v) {
        const auto targets = row(v);
        if (targets.empty()) continue;
        if (!ascends_below(targets, partition_.n())) name_wrong_target(v, found);
        if (!directed()) add_row(static_cast<Id>(v), targets, chunk);
      }
      if constexpr (std::is_same_v<Weight, double>) verify_weights(first, last, found);
      sum.fetch_add(chunk.balance, std::memory_order_relaxed);
      loops.fetch_add(chunk.loops, std::memory_order_relaxed);
    });
    return {sum.load(), loops.load()};
  }

  // Has no branch per entry, so that the loop is vectorised.
  static bool ascends_below(std::span<const Id> targets, std::uint64_t n) noexcept {
    Id descents = 0;
    for (std::size_t i = 1; i < targets.size(); ++i) {
      descents |= static_cast<Id>(targets[i] < targets[i - 1]);
    }
    return descents == 0 && targets.back() < n;
  }

  void name_wrong_target(std::uint64_t v, faults& found) const {
    for (auto i = offsets_[v]; i < offsets_[v + 1]; ++i) {
      const auto at = file_.byte_of<Id>(targets_section, i);
      if (targets_[i] >= partition_.n()) found.add(at, "a target is not a vertex");
      if (i > offsets_[v] && targets_[i] < targets_[i - 1]) {
        found.add(at, "the targets of a row do not ascend");
      }
    }
  }

  void add_row(Id v, std::span<const Id> targets, entry_sums& sums) const noexcept {
    if constexpr (weighted) {
      sums.balance += balance_.of_row(v, targets, weights_.subspan(offsets_[v], targets.size()));
    } else {
      sums.balance += balance_.of_row(v, targets, std::monostate{});
    }
    sums.loops += static_cast<std::uint64_t>(std::count(targets.begin(), targets.end(), v));
  }

  void verify_weights(std::uint64_t first, std::uint64_t last, faults& found) const {
    for (auto i = offsets_[first]; i < offsets_[last]; ++i) {
      if (!std::isfinite(weights_[i])) {
        found.add(file_.byte_of<Weight>(weights_section, i), "a weight is not finite");
      }
    }
  }

  void verify_symmetry(const entry_sums& mine) const {
    entry_sums all;
    for (const auto& part : w_.all_gather(mine)) {
      all.balance += part.balance;
      all.loops += part.loops;
    }
    if (all.balance != 0) {
      w_.agree([&] {
        faults found;
        find_one_sided(found);
        found.throw_if_any(file_.path());
      });
      // reached only if find_one_sided has a bug
      throw input_error::in_file(file_.path(), one_sided);
    }
    const auto edges = (targets_.size() + all.loops) / 2;
    if (edges == file_.header().num_edges) return;
    throw input_error::at_byte(file_.path(), offsetof(native_header, num_edges),
                               "the header counts " + std::to_string(file_.header().num_edges) +
                                   " edges, but the rows hold " + std::to_string(edges));
  }

  // Slower than the balance by a search per edge; used only to find the position.
  void find_one_sided(faults& found) const {
    for_own_rows([&](std::uint64_t first, std::uint64_t last) {
      for (auto v = first; v < last; ++v) {
        const auto targets = row(v);
        for (auto at = targets.begin(); at != targets.end();) {
          const auto u = *at;
          if (weights_between(v, u) != weights_between(u, static_cast<Id>(v))) {
            const auto i = offsets_[v] + static_cast<std::uint64_t>(at - targets.begin());
            found.add(file_.byte_of<Id>(targets_section, i), one_sided);
            return;
          }
          at = std::upper_bound(at, targets.end(), u);
        }
      }
    });
  }

  /// The weights of the entries from v to u, ascending; zeros if unweighted.
  std::vector<double> weights_between(std::uint64_t v, Id u) const {
    const auto targets = row(v);
    const auto [begin, end] = std::equal_range(targets.begin(), targets.end(), u);
    std::vector<double> found(static_cast<std::size_t>(end - begin));
    if constexpr (weighted) {
      const auto from = offsets_[v] + static_cast<std::uint64_t>(begin - targets.begin());
      std::copy_n(weights_.begin() + static_cast<std::ptrdiff_t>(from), found.size(),
                  found.begin());
      std::sort(found.begin(), found.end());
    }
    return found;
  }

  static constexpr const char* one_sided =
      "the graph is undirected, but this edge is not in its target's row, or has another weight "
      "there";

  world& w_;
  const native_file& file_;
  pgas::partition partition_;
  balance balance_;
  std::span<const std::uint64_t> offsets_;
  std::span<const Id> targets_;
  std::span<const Weight> weights_;
};

template <class Id>
void verify_rows_of(world& w, const native_file& file, const balance::key& key) {
  switch (file.header().weights) {
    case 0:
      return row_verifier<Id, std::monostate>(w, file, key).verify();
    case 1:
      return row_verifier<Id, std::int32_t>(w, file, key).verify();
    default:
      return row_verifier<Id, double>(w, file, key).verify();
  }
}

}  // namespace

void verify_native(world& w, const native_file& file) {
  verify_checksums(w, file);
  const auto key = w.all_gather(balance::draw()).front();
  if (file.header().id_bytes == 4) {
    verify_rows_of<std::uint32_t>(w, file, key);
  } else {
    verify_rows_of<std::uint64_t>(w, file, key);
  }
}

}  // namespace cairn::graph::io
