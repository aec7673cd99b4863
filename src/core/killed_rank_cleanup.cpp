// SPDX-License-Identifier: Apache-2.0
#include "core/killed_rank_cleanup.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstring>

// Everything here may run in a copy of a process that had other threads, one of which may have held
// the lock of malloc: only system calls and what works without memory of its own.
namespace cairn {
namespace {

constexpr int patience_ms = 1500;
constexpr int patience_after_request_ms = 700;

constexpr std::array<std::string_view, 4> prefixes{"open_mpi.", "vader_segment.", "mpich_shar_",
                                                   "ucx_shm_"};

bool belongs_to_an_mpi(std::string_view name) noexcept {
  for (const auto prefix : prefixes) {
    if (name.starts_with(prefix)) return true;
  }
  return false;
}

// A write lease is granted only if nobody else has the file open or mapped. Returns whether the
// file is in use.
bool remove_unless_used(int folder, const char* name) noexcept {
  struct stat info {};
  if (fstatat(folder, name, &info, AT_SYMLINK_NOFOLLOW) != 0) return false;
  if (!S_ISREG(info.st_mode) || info.st_uid != geteuid()) return false;
  const int file = openat(folder, name, O_RDWR | O_CLOEXEC | O_NOFOLLOW);
  if (file < 0) return false;
  const bool used = fcntl(file, F_SETLEASE, F_WRLCK) != 0;
  if (!used) unlinkat(folder, name, 0);
  close(file);
  return used;
}

struct entry {  // of getdents64
  std::uint64_t inode;
  std::int64_t offset;
  unsigned short length;
  unsigned char type;
  char name[1];
};

std::uintptr_t hexadecimal(const char*& at) noexcept {
  std::uintptr_t number = 0;
  for (;; ++at) {
    if (*at >= '0' && *at <= '9') {
      number = number * 16 + static_cast<std::uintptr_t>(*at - '0');
    } else if (*at >= 'a' && *at <= 'f') {
      number = number * 16 + static_cast<std::uintptr_t>(*at - 'a' + 10);
    } else {
      return number;
    }
  }
}

// A child of a rank inherits what the rank has mapped, and would itself keep it in use.
void unmap_segments() noexcept {
  const int maps = open("/proc/self/maps", O_RDONLY | O_CLOEXEC);
  if (maps < 0) return;
  std::array<char, 4096> text;  // more than a line
  std::size_t held = 0;
  for (;;) {
    const auto more = ::read(maps, text.data() + held, text.size() - 1 - held);
    if (more <= 0) break;
    held += static_cast<std::size_t>(more);
    text[held] = '\0';
    const char* line = text.data();
    for (const char* end = nullptr; (end = std::strchr(line, '\n')) != nullptr; line = end + 1) {
      const char* at = line;
      const auto first = hexadecimal(at);
      const auto last = hexadecimal(++at);
      const std::string_view of_file(at, end);
      if (of_file.find(" /dev/shm/") == of_file.npos) continue;
      munmap(reinterpret_cast<void*>(first), last - first);
    }
    held -= static_cast<std::size_t>(line - text.data());
    std::memmove(text.data(), line, held);
  }
  close(maps);
}

// Returns whether segments are in use.
bool remove_unused_segments() noexcept {
  const int folder = open("/dev/shm", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (folder < 0) return false;
  bool used = false;
  alignas(entry) std::array<char, 8192> entries;
  for (;;) {
    const auto bytes = syscall(SYS_getdents64, folder, entries.data(), entries.size());
    if (bytes <= 0) break;
    for (long at = 0; at < bytes;) {
      const char* const here = entries.data() + at;
      unsigned short length = 0;
      std::memcpy(&length, here + offsetof(entry, length), sizeof length);
      const char* const name = here + offsetof(entry, name);
      if (belongs_to_an_mpi(name)) used |= remove_unless_used(folder, name);
      at += length;
    }
  }
  close(folder);
  return used;
}

}  // namespace

killed_rank_cleanup::killed_rank_cleanup(const launcher& started_by) noexcept
    : launcher_(getppid()),
      may_be_stuck_(started_by.continues_before_end),
      launcher_end_(static_cast<int>(syscall(SYS_pidfd_open, launcher_, 0u))) {}

killed_rank_cleanup::~killed_rank_cleanup() {
  if (launcher_end_ >= 0) close(launcher_end_);
}

void killed_rank_cleanup::start(std::string_view sentence) const noexcept {
  if (launcher_end_ < 0) return;
  // Not fork(), whose handlers may wait for a lock that the interrupted code holds.
  if (syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0) == 0) clean_up(sentence);
}

bool killed_rank_cleanup::launcher_has_ended() const noexcept {
  pollfd ended{launcher_end_, POLLIN, 0};
  return launcher_end_ >= 0 && poll(&ended, 1, 0) == 1;
}

void killed_rank_cleanup::clean_up(std::string_view sentence) const noexcept {
  setsid();  // the launcher signals the process groups of its ranks
  std::array<char, 40> path{};
  std::snprintf(path.data(), path.size(), "/proc/%d/fd/2", static_cast<int>(launcher_));
  const int errors = open(path.data(), O_WRONLY | O_NOCTTY);
  // The launcher also waits for the ends of its pipes: no other descriptor stays open.
  if (errors >= 0) {
    dup2(errors, 1);
  } else {
    close(1);  // a socket cannot be opened in this way, nor what belongs to another user
  }
  dup2(launcher_end_, 0);
  syscall(SYS_close_range, 2u, ~0u, 0u);
  unmap_segments();
  pollfd ended{0, POLLIN, 0};
  if (poll(&ended, 1, patience_ms) == 0 && may_be_stuck_) {
    static_cast<void>(!write(1, sentence.data(), sentence.size()));
    syscall(SYS_pidfd_send_signal, 0, SIGTERM, nullptr, 0);
    if (poll(&ended, 1, patience_after_request_ms) == 0) {
      syscall(SYS_pidfd_send_signal, 0, SIGKILL, nullptr, 0);
    }
  }
  close(1);
  // Ranks that see half a second later that the launcher has ended may make segments until then.
  // What is in use at the last pass belongs to another job.
  constexpr int min_passes = 30, max_passes = 80;
  for (int pass = 0; pass < max_passes; ++pass) {
    if (!remove_unused_segments() && pass >= min_passes) break;
    constexpr timespec between_passes{0, 50'000'000};
    nanosleep(&between_passes, nullptr);
  }
  _exit(0);
}

}  // namespace cairn
