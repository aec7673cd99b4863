// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <cstring>
#include <functional>
#include <limits>
#include <memory>
#include <mutex>
#include <optional>
#include <type_traits>
#include <utility>
#include <vector>

#include <cairn/graph/io/compressed.hpp>
#include <cairn/graph/io/native.hpp>
#include <cairn/task/parallel_for.hpp>
#include <cairn/task/spin_lock.hpp>

#include "native_header.hpp"

namespace cairn::graph::io {
namespace {

constexpr std::size_t rows_per_chunk = std::size_t{1} << 14;

/// The bytes of a file in memory, mapped or decompressed.
class file_bytes {
 public:
  explicit file_bytes(const std::string& path) : file_(path) {
    if (compression_of(file_) == compression::none) {
      bytes_ = std::as_bytes(std::span(file_.data(), file_.size()));
    } else {
      inflate();
    }
    if (bytes_.size() < sizeof header_) {
      throw input_error::at_byte(path, bytes_.size(), "the file ends within its header");
    }
    std::memcpy(&header_, bytes_.data(), sizeof header_);
    header_.validate(path);
    if (bytes_.size() != header_.file_bytes()) {
      throw input_error::at_byte(path, std::min<std::uint64_t>(bytes_.size(), header_.file_bytes()),
                                 "the file has " + std::to_string(bytes_.size()) +
                                     " bytes, but its header describes " +
                                     std::to_string(header_.file_bytes()));
    }
  }

  [[nodiscard]] const std::string& path() const noexcept { return file_.path(); }
  [[nodiscard]] const native_header& header() const noexcept { return header_; }
  [[nodiscard]] std::span<const std::byte> section(std::size_t i) const noexcept {
    return bytes_.subspan(header_.sections[i].offset, header_.sections[i].bytes);
  }
  template <class T>
  [[nodiscard]] std::span<const T> values(std::size_t i) const noexcept {
    const auto bytes = section(i);
    return {reinterpret_cast<const T*>(bytes.data()), bytes.size() / sizeof(T)};
  }

 private:
  // Grows with what comes, not with what the header promises.
  void inflate() {
    const auto from = decompress(file_);
    std::size_t filled = 0;
    do {
      inflated_.resize(std::max<std::size_t>(std::size_t{1} << 20, 2 * inflated_.size()));
      filled += from->read(std::span(inflated_).subspan(filled));
    } while (filled == inflated_.size());
    inflated_.resize(filled);
    bytes_ = std::as_bytes(std::span<const char>(inflated_));
  }

  mapped_file file_;
  std::vector<char> inflated_;
  std::span<const std::byte> bytes_;
  native_header header_;
};

/// The first thing found wrong, by its byte.
class faults {
 public:
  void add(std::uint64_t at, const char* what) {
    const std::lock_guard held(guard_);
    if (at < at_) {
      at_ = at;
      what_ = what;
    }
  }
  void throw_if_any(const std::string& path) const {
    if (what_ != nullptr) throw input_error::at_byte(path, at_, what_);
  }

 private:
  task::spin_lock guard_;
  std::uint64_t at_ = std::numeric_limits<std::uint64_t>::max();
  const char* what_ = nullptr;
};

class verifier {
 public:
  verifier(const exchange& ranks, const file_bytes& file, const pgas::block_partition& partition)
      : ranks_(ranks), file_(file), partition_(partition) {}

  void verify() {
    verify_checksums();
    ranks_.agree([&] {
      faults found;
      verify_offsets(found);
      found.throw_if_any(file_.path());
    });
    ranks_.agree([&] {
      faults found;
      if (file_.header().id_bytes == 4) {
        verify_rows<std::uint32_t>(found);
      } else {
        verify_rows<std::uint64_t>(found);
      }
      verify_labels(found);
      found.throw_if_any(file_.path());
    });
  }

 private:
  void verify_checksums() {
    const auto rank = static_cast<std::uint64_t>(ranks_.rank());
    const auto size = static_cast<std::uint64_t>(ranks_.size());
    std::array<std::uint64_t, 4> mine{};
    for (std::size_t i = 0; i < mine.size(); ++i) {
      const auto bytes = file_.section(i);
      const auto chunks = (bytes.size() + checksum_chunk - 1) / checksum_chunk;
      const auto own = chunks > rank ? (chunks - rank + size - 1) / size : 0;
      std::atomic<std::uint64_t> sum{0};
      task::parallel_for(ranks_.workers(), own, 1, [&](worker_t, std::size_t k, std::size_t) {
        const auto index = rank + k * size;
        const auto from = bytes.subspan(index * checksum_chunk);
        sum += chunk_checksum(from.first(std::min(from.size(), checksum_chunk)), index);
      });
      mine[i] = sum.load();
    }
    std::array<std::uint64_t, 4> all{};
    for (const auto& part : ranks_.all_gather(mine)) {
      for (std::size_t i = 0; i < all.size(); ++i) all[i] += part[i];
    }
    for (std::size_t i = 0; i < all.size(); ++i) {
      const auto& section = file_.header().sections[i];
      if (all[i] == section.checksum) continue;
      throw input_error::at_byte(file_.path(), section.offset,
                                 std::string("the checksum of the section of ") +
                                     native_section_names[i] + " is wrong: the file is damaged");
    }
  }

  template <class F>
  void for_own_rows(F&& f) const {
    const auto first = partition_.first(ranks_.rank());
    const auto count = partition_.size(ranks_.rank());
    task::parallel_for(
        ranks_.workers(), count, rows_per_chunk,
        [&](worker_t, std::size_t begin, std::size_t end) { f(first + begin, first + end); });
  }

  void verify_offsets(faults& found) const {
    const auto offsets = file_.values<std::uint64_t>(offsets_section);
    const auto at = file_.header().sections[offsets_section].offset;
    if (offsets.front() != 0) found.add(at, "the first offset is not 0");
    if (offsets.back() != file_.header().num_entries) {
      found.add(at + (offsets.size() - 1) * 8, "the last offset is not the number of entries");
    }
    for_own_rows([&](std::uint64_t first, std::uint64_t last) {
      for (auto v = first; v < last; ++v) {
        if (offsets[v] > offsets[v + 1]) {
          found.add(at + (v + 1) * 8, "an offset is smaller than the one before");
        } else if (offsets[v + 1] > file_.header().num_entries) {
          found.add(at + (v + 1) * 8, "an offset is beyond the last entry");
        }
      }
    });
  }

  template <class Id>
  void verify_rows(faults& found) const {
    const auto offsets = file_.values<std::uint64_t>(offsets_section);
    const auto targets = file_.values<Id>(targets_section);
    const auto at = file_.header().sections[targets_section].offset;
    const auto n = file_.header().num_vertices;
    for_own_rows([&](std::uint64_t first, std::uint64_t last) {
      for (auto v = first; v < last; ++v) {
        for (auto i = offsets[v]; i < offsets[v + 1]; ++i) {
          if (targets[i] >= n) found.add(at + i * sizeof(Id), "a target is not a vertex");
          if (i > offsets[v] && targets[i] < targets[i - 1]) {
            found.add(at + i * sizeof(Id), "the targets of a row do not ascend");
          }
        }
      }
      if (file_.header().weights == 2) verify_weights(offsets[first], offsets[last], found);
    });
  }

  void verify_weights(std::uint64_t first, std::uint64_t last, faults& found) const {
    const auto weights = file_.values<double>(weights_section);
    for (auto i = first; i < last; ++i) {
      if (!std::isfinite(weights[i])) {
        found.add(file_.header().sections[weights_section].offset + i * 8,
                  "a weight is not finite");
      }
    }
  }

  void verify_labels(faults& found) const {
    const auto ids = file_.values<std::uint64_t>(labels_section);
    const auto wrong = std::adjacent_find(ids.begin(), ids.end(), std::greater_equal<>());
    if (wrong == ids.end()) return;
    found.add(file_.header().sections[labels_section].offset +
                  static_cast<std::uint64_t>(wrong - ids.begin() + 1) * 8,
              "the labels do not ascend");
  }

  const exchange& ranks_;
  const file_bytes& file_;
  pgas::block_partition partition_;
};

template <class Id>
any_graph view_of(const std::shared_ptr<const file_bytes>& file, rank_t rank,
                  const pgas::block_partition& partition) {
  const auto& header = file->header();
  const auto rows = static_cast<std::size_t>(partition.size(rank));
  const auto first = partition.first(rank);
  array<std::uint64_t> offsets(
      file->values<std::uint64_t>(offsets_section).subspan(first, rows + 1), file);
  weight_array weights;
  if (header.weights == 1) {
    weights = array<std::int32_t>(file->values<std::int32_t>(weights_section), file);
  } else if (header.weights == 2) {
    weights = array<double>(file->values<double>(weights_section), file);
  }
  csr<Id> out(first, std::move(offsets), array<Id>(file->values<Id>(targets_section), file),
              std::move(weights));
  const auto ids = file->values<std::uint64_t>(labels_section);
  labels names = ids.empty() ? labels(header.num_vertices)
                             : labels(std::vector<std::uint64_t>(ids.begin(), ids.end()));
  return dist_csr<Id>(partition, header.directed == 1, header.num_edges, std::move(out),
                      std::move(names));
}

}  // namespace

any_graph read_native(const exchange& ranks, const std::string& path) {
  std::shared_ptr<const file_bytes> file;
  ranks.agree([&] { file = std::make_shared<const file_bytes>(path); });
  const pgas::block_partition partition(file->header().num_vertices, ranks.size());
  verifier(ranks, *file, partition).verify();
  if (file->header().id_bytes == 4) return view_of<std::uint32_t>(file, ranks.rank(), partition);
  return view_of<std::uint64_t>(file, ranks.rank(), partition);
}

}  // namespace cairn::graph::io
