// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstring>
#include <limits>

#include <lzma.h>
#include <zlib.h>
#include <zstd.h>

#include <cairn/base/error.hpp>
#include <cairn/graph/io/compressed.hpp>

namespace cairn::graph::io {
namespace {

// A header may request a window of gigabytes. zstd(1) rejects windows larger than this by default,
// and xz(1) does not write them.
constexpr int window_log = 27;
constexpr std::uint64_t xz_memory_limit = (std::uint64_t{1} << window_log) + (1 << 20);
// zlib counts its input in 32 bits.
constexpr std::size_t max_per_call = std::numeric_limits<std::uint32_t>::max() / 2;

const unsigned char* bytes_of(const mapped_file& file) {
  return reinterpret_cast<const unsigned char*>(file.data());
}

input_error truncated(const mapped_file& file, std::uint64_t at, const char* kind) {
  return input_error::at_byte(
      file.path(), at, std::string("the ") + kind + " data ends too early: the file is truncated");
}

input_error corrupt(const mapped_file& file, std::uint64_t at, const char* kind,
                    const std::string& why) {
  return input_error::at_byte(file.path(), at,
                              std::string("the ") + kind + " data is corrupt (" + why + ")");
}

class plain_source final : public byte_source {
 public:
  explicit plain_source(const mapped_file& file) : file_(file) {}

  std::size_t read(std::span<char> out) override {
    const auto n = std::min(out.size(), file_.size() - at_);
    std::memcpy(out.data(), file_.data() + at_, n);
    at_ += n;
    return n;
  }
  std::uint64_t consumed() const noexcept override { return at_; }

 private:
  const mapped_file& file_;
  std::size_t at_ = 0;
};

class gzip_source final : public byte_source {
 public:
  explicit gzip_source(const mapped_file& file) : file_(file) {
    if (inflateInit2(&stream_, 15 + 16) != Z_OK) throw std::bad_alloc();
  }
  ~gzip_source() override { inflateEnd(&stream_); }

  std::size_t read(std::span<char> out) override {
    std::size_t done = 0;
    while (done < out.size() && !ended_) {
      const auto in = std::min(file_.size() - at_, max_per_call);
      const auto room = std::min(out.size() - done, max_per_call);
      stream_.next_in = const_cast<unsigned char*>(bytes_of(file_) + at_);
      stream_.avail_in = static_cast<unsigned>(in);
      stream_.next_out = reinterpret_cast<unsigned char*>(out.data() + done);
      stream_.avail_out = static_cast<unsigned>(room);
      const int status = inflate(&stream_, Z_NO_FLUSH);
      at_ += in - stream_.avail_in;
      done += room - stream_.avail_out;
      if (status == Z_STREAM_END) {
        next_member();
      } else if (status == Z_MEM_ERROR) {
        throw std::bad_alloc();
      } else if (status != Z_OK && status != Z_BUF_ERROR) {
        throw corrupt(file_, at_, "gzip", stream_.msg != nullptr ? stream_.msg : "no gzip stream");
      } else if (at_ == file_.size() && stream_.avail_out != 0) {
        throw truncated(file_, at_, "gzip");
      }
    }
    return done;
  }
  std::uint64_t consumed() const noexcept override { return at_; }

 private:
  // Zeros after the last member are padding of tape blocks, which gzip(1) also accepts.
  void next_member() {
    auto next = at_;
    while (next < file_.size() && file_.data()[next] == 0) ++next;
    if (next == file_.size()) {
      at_ = next;
      ended_ = true;
      return;
    }
    inflateReset(&stream_);
  }

  const mapped_file& file_;
  std::size_t at_ = 0;
  bool ended_ = false;
  z_stream stream_{};
};

class zstd_source final : public byte_source {
 public:
  explicit zstd_source(const mapped_file& file) : file_(file), stream_(ZSTD_createDCtx()) {
    if (stream_ == nullptr) throw std::bad_alloc();
    ZSTD_DCtx_setParameter(stream_, ZSTD_d_windowLogMax, window_log);
  }
  ~zstd_source() override { ZSTD_freeDCtx(stream_); }

  std::size_t read(std::span<char> out) override {
    ZSTD_outBuffer to{out.data(), out.size(), 0};
    while (to.pos < to.size) {
      if (at_ == file_.size() && between_frames_) break;
      const auto before = to.pos;
      ZSTD_inBuffer from{file_.data(), file_.size(), at_};
      const auto status = ZSTD_decompressStream(stream_, &to, &from);
      if (ZSTD_isError(status) != 0) {
        throw corrupt(file_, from.pos, "zstd", ZSTD_getErrorName(status));
      }
      between_frames_ = status == 0;
      const bool stuck = from.pos == at_ && to.pos == before;
      at_ = from.pos;
      if (stuck && at_ == file_.size() && !between_frames_) throw truncated(file_, at_, "zstd");
    }
    return to.pos;
  }
  std::uint64_t consumed() const noexcept override { return at_; }

 private:
  const mapped_file& file_;
  std::size_t at_ = 0;
  bool between_frames_ = true;
  ZSTD_DCtx* stream_;
};

class xz_source final : public byte_source {
 public:
  explicit xz_source(const mapped_file& file) : file_(file) {
    if (lzma_stream_decoder(&stream_, xz_memory_limit, LZMA_CONCATENATED) != LZMA_OK) {
      throw std::bad_alloc();
    }
    stream_.next_in = bytes_of(file);
    stream_.avail_in = file.size();
  }
  ~xz_source() override { lzma_end(&stream_); }

  std::size_t read(std::span<char> out) override {
    stream_.next_out = reinterpret_cast<std::uint8_t*>(out.data());
    stream_.avail_out = out.size();
    while (stream_.avail_out != 0 && !ended_) {
      switch (lzma_code(&stream_, LZMA_FINISH)) {
        case LZMA_OK:
          break;
        case LZMA_STREAM_END:
          ended_ = true;
          break;
        case LZMA_BUF_ERROR:
          throw truncated(file_, consumed(), "xz");
        case LZMA_MEM_ERROR:
          throw std::bad_alloc();
        case LZMA_MEMLIMIT_ERROR:
          throw corrupt(file_, consumed(), "xz", "it requires more than 128 MiB of memory");
        case LZMA_FORMAT_ERROR:
          throw corrupt(file_, consumed(), "xz", "no xz stream");
        default:
          throw corrupt(file_, consumed(), "xz", "its check failed");
      }
    }
    return out.size() - stream_.avail_out;
  }
  std::uint64_t consumed() const noexcept override { return file_.size() - stream_.avail_in; }

 private:
  const mapped_file& file_;
  bool ended_ = false;
  lzma_stream stream_ = LZMA_STREAM_INIT;
};

}  // namespace

compression compression_by_name(std::string_view path) noexcept {
  if (path.ends_with(".gz")) return compression::gzip;
  if (path.ends_with(".zst")) return compression::zstd;
  if (path.ends_with(".xz")) return compression::xz;
  return compression::none;
}

compression compression_of(const mapped_file& file) {
  using namespace std::string_view_literals;
  const auto text = file.text();
  auto found = compression::none;
  if (text.starts_with("\x1f\x8b"sv)) found = compression::gzip;
  if (text.starts_with("\x28\xb5\x2f\xfd"sv)) found = compression::zstd;
  if (text.starts_with("\xfd"
                       "7zXZ\0"sv)) {
    found = compression::xz;
  }
  // A skippable frame may come first in a zstd file.
  if (text.size() >= 4 && (text[0] & 0xf0) == 0x50 && text.substr(1, 3) == "\x2a\x4d\x18"sv) {
    found = compression::zstd;
  }
  const auto named = compression_by_name(file.path());
  if (named != compression::none && named != found) {
    const char* const kind = named == compression::gzip   ? "gzip"
                             : named == compression::zstd ? "zstd"
                                                          : "xz";
    throw input_error::at_byte(file.path(), 0,
                               std::string("the name indicates ") + kind +
                                   ", but the file does not start with the " + kind + " signature");
  }
  return found;
}

std::unique_ptr<byte_source> decompress(const mapped_file& file) {
  switch (compression_of(file)) {
    case compression::gzip:
      return std::make_unique<gzip_source>(file);
    case compression::zstd:
      return std::make_unique<zstd_source>(file);
    case compression::xz:
      return std::make_unique<xz_source>(file);
    case compression::none:
      break;
  }
  return std::make_unique<plain_source>(file);
}

}  // namespace cairn::graph::io
