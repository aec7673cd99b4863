// SPDX-License-Identifier: Apache-2.0
#include <vector>

#include <lzma.h>
#include <zlib.h>
#include <zstd.h>

#include <cairn/graph/io/compressed.hpp>
#include <cairn/graph/io/output_file.hpp>

namespace cairn::graph::io {
namespace {

// A user waits while results are written, so the levels prefer speed to size.
constexpr int gzip_level = 4;
constexpr int zstd_level = 3;
constexpr std::uint32_t xz_preset = 1;
constexpr std::size_t unpacked_bytes = std::size_t{256} << 10;

class plain_sink final : public byte_sink {
 public:
  plain_sink(const std::string& path, const write_check& check) : file_(path, check) {
    buffer_.reserve(unpacked_bytes);
  }

  void write(std::string_view bytes) override {
    if (buffer_.size() + bytes.size() > unpacked_bytes) flush();
    if (bytes.size() >= unpacked_bytes) {
      file_.write(bytes.data(), bytes.size());
    } else {
      buffer_.append(bytes);
    }
  }
  void finish() override {
    flush();
    file_.finish();
  }

 private:
  void flush() {
    file_.write(buffer_.data(), buffer_.size());
    buffer_.clear();
  }
  output_file file_;
  std::string buffer_;
};

class gzip_sink final : public byte_sink {
 public:
  gzip_sink(const std::string& path, const write_check& check)
      : file_(path, check), buffer_(unpacked_bytes) {
    if (deflateInit2(&stream_, gzip_level, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY) != Z_OK) {
      throw std::bad_alloc();
    }
  }
  ~gzip_sink() override { deflateEnd(&stream_); }

  void write(std::string_view bytes) override {
    while (!bytes.empty()) {
      const auto part = bytes.substr(0, std::size_t{1} << 30);
      stream_.next_in = reinterpret_cast<unsigned char*>(const_cast<char*>(part.data()));
      stream_.avail_in = static_cast<unsigned>(part.size());
      run(Z_NO_FLUSH);
      bytes.remove_prefix(part.size());
    }
  }
  void finish() override {
    run(Z_FINISH);
    file_.finish();
  }

 private:
  void run(int flush) {
    do {
      stream_.next_out = buffer_.data();
      stream_.avail_out = static_cast<unsigned>(buffer_.size());
      deflate(&stream_, flush);
      file_.write(reinterpret_cast<const char*>(buffer_.data()),
                  buffer_.size() - stream_.avail_out);
    } while (stream_.avail_out == 0);
  }
  output_file file_;
  std::vector<unsigned char> buffer_;
  z_stream stream_{};
};

class zstd_sink final : public byte_sink {
 public:
  zstd_sink(const std::string& path, const write_check& check)
      : file_(path, check), buffer_(unpacked_bytes), stream_(ZSTD_createCCtx()) {
    if (stream_ == nullptr) throw std::bad_alloc();
    ZSTD_CCtx_setParameter(stream_, ZSTD_c_compressionLevel, zstd_level);
    ZSTD_CCtx_setParameter(stream_, ZSTD_c_checksumFlag, 1);
  }
  ~zstd_sink() override { ZSTD_freeCCtx(stream_); }

  void write(std::string_view bytes) override { run(bytes, ZSTD_e_continue); }
  void finish() override {
    run({}, ZSTD_e_end);
    file_.finish();
  }

 private:
  void run(std::string_view bytes, ZSTD_EndDirective directive) {
    ZSTD_inBuffer from{bytes.data(), bytes.size(), 0};
    for (;;) {
      ZSTD_outBuffer to{buffer_.data(), buffer_.size(), 0};
      const auto left = ZSTD_compressStream2(stream_, &to, &from, directive);
      if (ZSTD_isError(left) != 0) throw std::bad_alloc();  // the parameters are valid
      file_.write(buffer_.data(), to.pos);
      if (directive == ZSTD_e_end ? left == 0 : from.pos == from.size) return;
    }
  }
  output_file file_;
  std::vector<char> buffer_;
  ZSTD_CCtx* stream_;
};

class xz_sink final : public byte_sink {
 public:
  xz_sink(const std::string& path, const write_check& check)
      : file_(path, check), buffer_(unpacked_bytes) {
    if (lzma_easy_encoder(&stream_, xz_preset, LZMA_CHECK_CRC64) != LZMA_OK) {
      throw std::bad_alloc();
    }
  }
  ~xz_sink() override { lzma_end(&stream_); }

  void write(std::string_view bytes) override {
    stream_.next_in = reinterpret_cast<const std::uint8_t*>(bytes.data());
    stream_.avail_in = bytes.size();
    while (stream_.avail_in != 0) run(LZMA_RUN);
  }
  void finish() override {
    while (run(LZMA_FINISH) != LZMA_STREAM_END) {
    }
    file_.finish();
  }

 private:
  lzma_ret run(lzma_action action) {
    stream_.next_out = buffer_.data();
    stream_.avail_out = buffer_.size();
    const auto status = lzma_code(&stream_, action);
    if (status != LZMA_OK && status != LZMA_STREAM_END) throw std::bad_alloc();
    file_.write(reinterpret_cast<const char*>(buffer_.data()), buffer_.size() - stream_.avail_out);
    return status;
  }
  output_file file_;
  std::vector<std::uint8_t> buffer_;
  lzma_stream stream_ = LZMA_STREAM_INIT;
};

}  // namespace

std::unique_ptr<byte_sink> create_file(const std::string& path, const write_check& check) {
  switch (compression_by_name(path)) {
    case compression::gzip:
      return std::make_unique<gzip_sink>(path, check);
    case compression::zstd:
      return std::make_unique<zstd_sink>(path, check);
    case compression::xz:
      return std::make_unique<xz_sink>(path, check);
    case compression::none:
      break;
  }
  return std::make_unique<plain_sink>(path, check);
}

}  // namespace cairn::graph::io
