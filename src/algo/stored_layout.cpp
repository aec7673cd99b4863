// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <atomic>
#include <cstring>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>

#include <cairn/algo/stored_layout.hpp>
#include <cairn/base/contract.hpp>
#include <cairn/base/error.hpp>
#include <cairn/base/packing.hpp>
#include <cairn/task/per_worker.hpp>

namespace cairn::algo {
namespace {

constexpr auto layout_name = "pull-layout";

struct layout_head {
  std::uint64_t tiled = 0, block_rows = 0, num_blocks = 0, num_groups = 0, num_rows = 0,
                num_sources = 0;
};
struct stored_block {
  std::uint64_t first = 0, last = 0, num_groups = 0, num_rows = 0;
};

constexpr std::uint64_t padded(std::uint64_t bytes) { return (bytes + 7) / 8 * 8; }

[[noreturn]] void refuse() {
  throw input_error("the stored layout does not match the graph's in-edges: write the file again");
}

/// Consecutive arrays in the bytes of an untrusted attachment.
class byte_arrays {
 public:
  explicit byte_arrays(std::span<const std::byte> bytes) : rest_(bytes) {}

  template <class T>
  std::span<const T> take(std::uint64_t n) {
    if (n > rest_.size() / sizeof(T)) refuse();
    const auto taken = rest_.first(n * sizeof(T));
    rest_ = rest_.subspan(std::min<std::size_t>(rest_.size(), padded(taken.size())));
    return {reinterpret_cast<const T*>(taken.data()), static_cast<std::size_t>(n)};
  }
  [[nodiscard]] bool empty() const noexcept { return rest_.empty(); }

 private:
  std::span<const std::byte> rest_;
};

template <class Id, class Source>
class layout_reader {
  using layout = pull_layout<Id>;
  static constexpr bool tiled = sizeof(Source) == 2;

 public:
  layout_reader(world& w, const graph::csr<Id>& in, std::uint64_t num_vertices,
                const layout_head& head, byte_arrays from)
      : w_(w),
        offsets_(in.offsets()),
        targets_(in.targets()),
        num_rows_(in.num_rows()),
        num_segments_(tiled ? (num_vertices + layout::segment_size - 1) / layout::segment_size : 1),
        block_rows_(head.block_rows),
        blocks_(from.take<stored_block>(head.num_blocks)),
        groups_(from.take<typename layout::group>(head.num_groups)),
        rows_(from.take<std::uint16_t>(head.num_rows)),
        sources_(from.take<Source>(head.num_sources)) {
    if (!from.empty() || sources_.size() != in.num_edges()) refuse();
    if (block_rows_ > std::uint64_t{1} << 16) refuse();  // rows of a block are 16-bit
  }

  layout read() {
    std::vector<place> places;
    place at;
    for (const auto& b : blocks_) {
      if (b.first != at.row || b.last <= b.first || b.last > num_rows_ ||
          b.last - b.first > block_rows_ || b.num_groups > groups_.size() - at.group ||
          b.num_rows > rows_.size() - at.in_groups) {
        refuse();
      }
      places.push_back(at);
      at = {b.last, at.group + b.num_groups, at.in_groups + b.num_rows};
    }
    if (at.row != num_rows_ || at.group != groups_.size() || at.in_groups != rows_.size()) refuse();
    std::vector<typename layout::block> blocks(places.size());
    hw::page_buffer<Source> sources(sources_.size());
    task::per_worker<std::vector<std::uint64_t>> ends(w_.workers());
    std::atomic<bool> right{true};
    w_.parallel_for(
        blocks.size(),
        [&](worker_t k, std::size_t begin, std::size_t end) {
          for (auto i = begin; i < end; ++i) {
            if (!read_block(places[i], blocks_[i], blocks[i], sources.data(), ends[k])) {
              right.store(false, std::memory_order_relaxed);
            }
          }
        },
        tiled ? 1 : 16);
    if (!right.load()) refuse();
    return {block_rows_, std::move(blocks), std::move(sources)};
  }

 private:
  struct place {
    std::uint64_t row = 0, group = 0, in_groups = 0;
  };

  // Copies a block. Returns false unless its groups hold the rows' sources, each once and in order.
  //
  // at    by row: index of its next source in the targets
  bool read_block(const place& p, const stored_block& from, typename layout::block& to, Source* all,
                  std::vector<std::uint64_t>& at) const {
    const auto num_rows = from.last - from.first;
    const auto groups = groups_.subspan(p.group, from.num_groups);
    const auto rows = rows_.subspan(p.in_groups, from.num_rows);
    const auto begin = offsets_[from.first] - offsets_[0], end = offsets_[from.last] - offsets_[0];
    to = {from.first, from.last, begin, {groups.begin(), groups.end()}, {rows.begin(), rows.end()}};
    at.assign(offsets_.begin() + static_cast<std::ptrdiff_t>(from.first),
              offsets_.begin() + static_cast<std::ptrdiff_t>(from.last));
    // Without tiles each row occurs exactly once.
    std::vector<std::uint8_t> seen(tiled ? 0 : num_rows);
    if (!tiled && rows.size() != num_rows) return false;
    std::uint64_t row = 0, source = begin;
    for (const auto& g : groups) {
      const auto count = std::uint64_t{g.num_rows} * g.length;
      if (g.segment >= num_segments_ || g.num_rows > rows.size() - row || count > end - source) {
        return false;
      }
      const auto base = static_cast<Id>(tiled ? g.segment * layout::segment_size : 0);
      for (const auto row_end = row + g.num_rows; row != row_end; ++row) {
        const auto i = rows[row];
        if (i >= num_rows) return false;
        if constexpr (!tiled) {
          if (std::exchange(seen[i], std::uint8_t{1}) != 0 ||
              at[i] + g.length != offsets_[from.first + i + 1]) {
            return false;
          }
        }
        if (g.length > offsets_[from.first + i + 1] - at[i]) return false;
        if (g.length != 0 && targets_[at[i]] < base) return false;
        if (!copy_equal(targets_.data() + at[i], sources_.data() + source, g.length, base,
                        all + source)) {
          return false;
        }
        at[i] += g.length;
        source += g.length;
      }
    }
    return row == rows.size() && source == end &&
           std::equal(at.begin(), at.end(),
                      offsets_.begin() + 1 + static_cast<std::ptrdiff_t>(from.first));
  }

  static bool copy_equal(const Id* targets, const Source* sources, std::uint32_t n, Id base,
                         Source* to) noexcept {
    Id wrong = 0;
    for (std::uint32_t j = 0; j < n; ++j) {
      const auto source = sources[j];
      wrong |= static_cast<Id>(base + source) ^ targets[j];
      to[j] = source;
    }
    return wrong == 0;
  }

  world& w_;
  std::span<const std::uint64_t> offsets_;
  std::span<const Id> targets_;
  const std::uint64_t num_rows_, num_segments_, block_rows_;
  std::span<const stored_block> blocks_;
  std::span<const typename layout::group> groups_;
  std::span<const std::uint16_t> rows_;
  std::span<const Source> sources_;
};

}  // namespace

template <class Id>
graph::attachment attachment_of(const pull_layout<Id>& layout) {
  layout_head head{.tiled = layout.tiled() ? 1U : 0U,
                   .block_rows = layout.block_rows(),
                   .num_blocks = layout.blocks().size()};
  for (const auto& b : layout.blocks()) {
    head.num_groups += b.groups.size();
    head.num_rows += b.rows.size();
    for (const auto& g : b.groups) head.num_sources += std::uint64_t{g.num_rows} * g.length;
  }
  const auto bytes = std::make_shared<std::vector<std::byte>>();
  const auto put = [&](const auto* from, std::uint64_t n) {
    append_bytes(*bytes, from, n * sizeof(*from));
  };
  const auto pad = [&] { bytes->resize(padded(bytes->size())); };
  put(&head, 1);
  for (const auto& b : layout.blocks()) {
    const stored_block block{b.first, b.last, b.groups.size(), b.rows.size()};
    put(&block, 1);
  }
  for (const auto& b : layout.blocks()) put(b.groups.data(), b.groups.size());
  pad();
  for (const auto& b : layout.blocks()) put(b.rows.data(), b.rows.size());
  pad();
  if (layout.tiled()) {
    put(layout.template sources<std::uint16_t>(), head.num_sources);
  } else {
    put(layout.template sources<Id>(), head.num_sources);
  }
  return {layout_name, *bytes, bytes};
}

template <class Id>
std::optional<pull_layout<Id>> stored_layout(world& w, const graph::dist_csr<Id>& g) {
  const auto& from = g.attached();
  if (w.size() > 1 || !from || from->name != layout_name) return std::nullopt;
  byte_arrays arrays(from->bytes);
  const auto head = arrays.take<layout_head>(1).front();
  if (head.tiled == 1) {
    return layout_reader<Id, std::uint16_t>(w, g.in(), g.num_vertices(), head, arrays).read();
  }
  if (head.tiled != 0) refuse();
  return layout_reader<Id, Id>(w, g.in(), g.num_vertices(), head, arrays).read();
}

template graph::attachment attachment_of(const pull_layout<std::uint32_t>&);
template graph::attachment attachment_of(const pull_layout<std::uint64_t>&);
template std::optional<pull_layout<std::uint32_t>> stored_layout(
    world&, const graph::dist_csr<std::uint32_t>&);
template std::optional<pull_layout<std::uint64_t>> stored_layout(
    world&, const graph::dist_csr<std::uint64_t>&);

}  // namespace cairn::algo
