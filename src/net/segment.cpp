// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <string>
#include <utility>

#include <cairn/base/error.hpp>
#include <cairn/net/segment.hpp>

namespace cairn::net {
namespace {

constexpr std::size_t front_page = 4096;

[[noreturn]] void fail(const std::string& failure) {
  throw system_failure(failure + ": " + std::strerror(errno));
}

void* map(std::size_t bytes, int flags, int descriptor) {
  void* const base = mmap(nullptr, front_page + bytes, PROT_READ | PROT_WRITE,
                          flags | MAP_NORESERVE, descriptor, 0);
  if (base == MAP_FAILED) fail("cannot map " + std::to_string(bytes) + " bytes between ranks");
  return base;
}

/// Closes a descriptor unless it is released.
struct open_file {
  explicit open_file(int opened) : number(opened) {}
  ~open_file() {
    if (number >= 0) close(number);
  }
  open_file(const open_file&) = delete;
  open_file& operator=(const open_file&) = delete;
  int release() noexcept { return std::exchange(number, -1); }
  int number;
};

}  // namespace

std::shared_ptr<segment> segment::on_heap(std::size_t bytes) {
  void* const base = map(bytes, MAP_PRIVATE | MAP_ANONYMOUS, -1);
  return std::shared_ptr<segment>(new segment(base, bytes, -1));
}

std::shared_ptr<segment> segment::shared(std::size_t bytes) {
  open_file file(memfd_create("cairn", MFD_CLOEXEC));
  if (file.number < 0) fail("cannot create memory to share between ranks");
  if (ftruncate(file.number, static_cast<off_t>(front_page + bytes)) != 0) {
    fail("cannot reserve " + std::to_string(bytes) + " bytes to share between ranks");
  }
  void* const base = map(bytes, MAP_SHARED, file.number);
  std::shared_ptr<segment> made(new segment(base, bytes, file.release()));
  if (getrandom(base, sizeof(address::token), 0) != sizeof(address::token)) {
    fail("cannot draw random bytes");
  }
  return made;
}

std::shared_ptr<segment> segment::open(const address& where) {
  const auto path =
      "/proc/" + std::to_string(where.process) + "/fd/" + std::to_string(where.descriptor);
  const open_file file(::open(path.c_str(), O_RDWR | O_CLOEXEC));
  if (file.number < 0) fail("cannot open the memory of process " + std::to_string(where.process));
  // Accesses beyond a smaller file would raise SIGBUS.
  struct stat found {};
  if (fstat(file.number, &found) != 0 || !S_ISREG(found.st_mode) ||
      static_cast<std::uint64_t>(found.st_size) != front_page + where.bytes) {
    throw system_failure(path + " is not the memory of a rank of this job");
  }
  void* const base = map(where.bytes, MAP_SHARED, file.number);
  std::shared_ptr<segment> opened(new segment(base, where.bytes, -1));
  if (std::memcmp(base, where.token, sizeof where.token) != 0) {
    throw system_failure(path + " is not the memory of a rank of this job");
  }
  return opened;
}

segment::~segment() {
  close_descriptor();
  munmap(base_, front_page + bytes_);
}

std::byte* segment::data() const noexcept { return static_cast<std::byte*>(base_) + front_page; }

segment::address segment::where() const noexcept {
  address a{.process = getpid(), .descriptor = descriptor_, .bytes = bytes_, .token = {}};
  std::memcpy(a.token, base_, sizeof a.token);
  return a;
}

void segment::close_descriptor() noexcept {
  if (descriptor_ >= 0) close(std::exchange(descriptor_, -1));
}

}  // namespace cairn::net
