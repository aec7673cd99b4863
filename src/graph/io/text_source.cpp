// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <atomic>
#include <cstring>
#include <limits>

#include <cairn/base/contract.hpp>
#include <cairn/graph/io/scan.hpp>
#include <cairn/graph/io/text_source.hpp>
#include <cairn/task/parallel_for.hpp>
#include <cairn/task/spin_lock.hpp>

namespace cairn::graph::io {
namespace {

constexpr std::size_t padding = mapped_file::readable_behind;
// Text after a fault that is decompressed to check whether the data is corrupt.
constexpr std::uint64_t checked_behind_fault = std::uint64_t{256} << 20;

/// One worker at a time decompresses, for milliseconds; waiting workers must not spin.
class decompressor_lock {
 public:
  decompressor_lock(std::atomic<bool>& taken, task::pool& workers) : taken_(taken) {
    for (unsigned tries = 0; taken_.exchange(true, std::memory_order_acquire);) {
      workers.relax(tries++);
    }
  }
  ~decompressor_lock() { taken_.store(false, std::memory_order_release); }
  decompressor_lock(const decompressor_lock&) = delete;
  decompressor_lock& operator=(const decompressor_lock&) = delete;

 private:
  std::atomic<bool>& taken_;
};

}  // namespace

/// Collects the faults that workers find. Blocks after a fault are skipped.
class text_source::faults {
 public:
  [[nodiscard]] bool skips(std::uint64_t offset) const noexcept {
    return offset > first_.load(std::memory_order_relaxed);
  }
  void add(source_fault fault) {
    const std::lock_guard held(guard_);
    if (found_ && found_->offset <= fault.offset) return;
    first_.store(fault.offset, std::memory_order_relaxed);
    found_ = std::move(fault);
  }
  [[nodiscard]] std::optional<source_fault> take() { return std::move(found_); }

 private:
  std::atomic<std::uint64_t> first_{std::numeric_limits<std::uint64_t>::max()};
  task::spin_lock guard_;
  std::optional<source_fault> found_;
};

/// The blocks of a compressed file, in order.
class text_source::stream {
 public:
  stream(const mapped_file& file, std::size_t block_bytes, std::size_t max_line_bytes)
      : bytes_(decompress(file)), block_bytes_(block_bytes), max_line_bytes_(max_line_bytes) {}

  /// Reads the next block into `storage`. Returns false at the end.
  bool next(std::vector<char>& storage, text_block& block) {
    if (ended_) return false;
    // The ends of blocks must not depend on the capacity of `storage`, which differs between
    // workers: every rank splits the stream itself, and all must split it alike.
    auto limit = incomplete_line_.size() + block_bytes_;
    storage.resize(std::max(storage.size(), limit + padding));
    std::copy(incomplete_line_.begin(), incomplete_line_.end(), storage.begin());
    auto filled = incomplete_line_.size();
    auto keep = std::size_t{0};
    for (;;) {
      const auto room = limit - filled;
      const auto n = bytes_->read({storage.data() + filled, room});
      ended_ = n < room;
      const void* const newline = memrchr(storage.data() + filled, '\n', n);
      filled += n;
      if (ended_) {
        keep = filled;
        break;
      }
      if (newline != nullptr) {
        keep = static_cast<std::size_t>(static_cast<const char*>(newline) - storage.data()) + 1;
        break;
      }
      if (filled > max_line_bytes_) {
        throw text_fault{storage.data(), "the line is longer than " +
                                             std::to_string(max_line_bytes_) +
                                             " bytes, the maximum for this file"};
      }
      limit *= 2;
      storage.resize(std::max(storage.size(), limit + padding));
    }
    const auto at = [&](std::size_t i) { return storage.begin() + static_cast<std::ptrdiff_t>(i); };
    incomplete_line_.assign(at(keep), at(filled));
    std::fill_n(at(keep), padding, '\0');
    block = {{storage.data(), keep}, offset_, index_++, 0};
    offset_ += keep;
    return keep != 0;
  }

  [[nodiscard]] std::uint64_t offset() const noexcept { return offset_; }
  [[nodiscard]] std::uint64_t consumed() const noexcept { return bytes_->consumed(); }

 private:
  std::unique_ptr<byte_source> bytes_;
  std::size_t block_bytes_;
  std::size_t max_line_bytes_;
  std::vector<char> incomplete_line_;
  std::uint64_t offset_ = 0;
  std::uint64_t index_ = 0;
  bool ended_ = false;
};

text_source::text_source(const std::string& path, std::size_t block_bytes)
    : file_(path), compression_(compression_of(file_)), block_bytes_(block_bytes) {
  CAIRN_EXPECTS(block_bytes > 0);
}

std::string_view text_source::head(std::size_t bytes) {
  if (!streamed()) return file_.text().substr(0, bytes);
  const auto source = decompress(file_);
  head_.assign(bytes + padding, '\0');
  const auto n = source->read({head_.data(), bytes});
  return {head_.data(), n};
}

std::uint64_t text_source::num_blocks() const noexcept {
  return (file_.size() + block_bytes_ - 1) / block_bytes_;
}

text_block text_source::block(std::uint64_t index) const noexcept {
  const char* const data = file_.data();
  const char* const end = data + file_.size();
  const char* const low = data + index * block_bytes_;
  const char* const high = std::min<std::uint64_t>(block_bytes_, end - low) + low;
  const char* const first = index == 0 ? low : next_line(low - 1, high);
  // No line begins in this block if the previous one extends to `high` or beyond.
  if (first == high) return {{}, static_cast<std::uint64_t>(high - data), index, 0};
  const char* const last = next_line(high - 1, end);
  return {{first, static_cast<std::size_t>(last - first)},
          static_cast<std::uint64_t>(first - data),
          index,
          0};
}

void text_source::cut_to_begin(text_block& block) const noexcept {
  const auto first = block.offset == 0 && block.text.starts_with(byte_order_mark)
                         ? std::max<std::uint64_t>(begin_, byte_order_mark.size())
                         : begin_;
  if (block.offset >= first) return;
  const auto cut = std::min<std::uint64_t>(first - block.offset, block.text.size());
  block.text.remove_prefix(cut);
  block.offset += cut;
}

std::optional<source_fault> text_source::for_each_block(
    task::pool& workers, const pass& options,
    const std::function<void(worker_t, const text_block&)>& f) const {
  faults found;
  const auto guarded = [&](worker_t k, const text_block& block) {
    try {
      f(k, block);
    } catch (const text_fault& fault) {
      const auto at = static_cast<std::uint64_t>(fault.at - block.text.data());
      found.add({block.offset + at, fault.problem, false});
    }
  };
  if (streamed()) {
    parse_streamed(workers, options, found, guarded);
  } else {
    parse_mapped(workers, options, found, guarded);
  }
  return found.take();
}

void text_source::parse_mapped(task::pool& workers, const pass& options, faults& found,
                               const std::function<void(worker_t, const text_block&)>& f) const {
  const auto size = static_cast<std::uint64_t>(options.size);
  const auto rank = static_cast<std::uint64_t>(options.rank);
  const auto all = num_blocks();
  const auto own = all > rank ? (all - rank + size - 1) / size : 0;
  std::atomic<std::uint64_t> done{0};
  task::parallel_for(
      workers, {.elements = own, .chunk = 1}, [&](worker_t k, std::size_t begin, std::size_t end) {
        for (auto i = begin; i < end; ++i) {
          auto part = block(rank + i * size);
          cut_to_begin(part);
          if (found.skips(part.offset)) return;
          if (!part.text.empty()) f(k, part);
          const auto so_far = done.fetch_add(1, std::memory_order_relaxed) + 1;
          if (k == 0 && options.progress) {
            options.progress(std::min<std::uint64_t>(so_far * block_bytes_, file_.size()),
                             std::min<std::uint64_t>(own * block_bytes_, file_.size()));
          }
        }
      });
}

void text_source::parse_streamed(task::pool& workers, const pass& options, faults& found,
                                 const std::function<void(worker_t, const text_block&)>& f) const {
  stream blocks(file_, block_bytes_, max_line_bytes_);
  std::uint64_t counted = 0;
  std::atomic<bool> taken{false};
  bool ended = false;
  const auto take_next = [&](std::vector<char>& storage, text_block& part) {
    try {
      if (found.skips(blocks.offset()) || !blocks.next(storage, part)) return false;
    } catch (const text_fault& fault) {
      found.add({blocks.offset(), fault.problem, false});
      return false;
    } catch (const input_error& error) {
      found.add({blocks.offset(), error.what(), true});
      return false;
    }
    cut_to_begin(part);
    part.before = counted;
    if (options.count) counted += options.count(part.text);
    return true;
  };
  workers.run([&](worker_t k) {
    std::vector<char> storage;
    for (text_block part;;) {
      std::uint64_t consumed = 0;
      {
        const decompressor_lock held(taken, workers);
        if (ended) return;
        ended = true;  // remains true if take_next throws
        if (!take_next(storage, part)) return;
        ended = false;
        consumed = blocks.consumed();
      }
      const bool own = part.index % static_cast<std::uint64_t>(options.size) ==
                       static_cast<std::uint64_t>(options.rank);
      if (own && !part.text.empty() && !found.skips(part.offset)) f(k, part);
      if (k == 0 && options.progress) options.progress(consumed, file_.size());
      if (!workers.may_continue(k)) return;
    }
  });
  workers.throw_if_interrupted();
}

input_error text_source::error(const source_fault& fault) const {
  if (fault.sentence) return input_error(fault.problem);
  if (!streamed()) {
    const auto lines = std::count(file_.data(), file_.data() + fault.offset, '\n');
    return input_error::at_line(path(), static_cast<std::uint64_t>(lines) + 1, fault.problem);
  }
  std::uint64_t line = 1;
  try {
    const auto source = decompress(file_);
    std::vector<char> buffer(std::size_t{1} << 20);
    for (std::uint64_t at = 0; at < fault.offset + checked_behind_fault;) {
      const auto n = source->read(buffer);
      const auto upto = std::min<std::uint64_t>(n, fault.offset - std::min(at, fault.offset));
      line += static_cast<std::uint64_t>(std::count(buffer.data(), buffer.data() + upto, '\n'));
      at += n;
      if (n < buffer.size()) break;
    }
  } catch (const input_error& corrupt) {
    return corrupt;
  }
  return input_error::at_line(path(), line, fault.problem);
}

}  // namespace cairn::graph::io
