// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <optional>
#include <random>
#include <tuple>
#include <utility>

#include <climits>

#include <cairn/base/error.hpp>
#include <cairn/graph/io/output_file.hpp>

namespace cairn::graph::io {
namespace {

namespace fs = std::filesystem;

constexpr int max_links = 40;                // the kernel's limit
constexpr std::size_t max_name_bytes = 200;  // of `path` in the new file's name
constexpr int max_tries = 100;               // to find a free name for the new file
constexpr mode_t new_file_mode = 0666;       // before the umask applies
constexpr mode_t permission_bits = 07777;    // of st_mode
constexpr int check_interval_ms = 20;        // while a pipe makes this process wait

usage_error unwritable(const std::string& path, int error) {
  return usage_error(path + ": cannot be written (" + std::strerror(error) + ")");
}

fs::path folder_of(const fs::path& path) {
  return path.has_parent_path() ? path.parent_path() : fs::path(".");
}

/// The error with which rename() would refuse to replace a file; 0: none.
int error_of_replacing(const fs::path& path, const struct stat& file) {
  struct stat folder {};
  if (stat(folder_of(path).c_str(), &folder) != 0) return errno;
  const auto user = geteuid();
  const bool owns = user == 0 || user == folder.st_uid || user == file.st_uid;
  if ((folder.st_mode & S_ISVTX) != 0 && !owns) return EPERM;
  struct statx entry {};
  const bool known = statx(AT_FDCWD, path.c_str(), 0, 0, &entry) == 0;
  return known && (entry.stx_attributes & STATX_ATTR_MOUNT_ROOT) != 0 ? EBUSY : 0;
}

/// The descriptor that a name in /proc/self/fd denotes; /dev/fd and /dev/stdout link there.
std::optional<int> descriptor_of(const fs::path& path) {
  std::error_code unknown;
  if (!fs::equivalent(path.parent_path(), "/proc/self/fd", unknown)) return std::nullopt;
  const auto name = path.filename().string();
  int fd = -1;
  const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), fd);
  if (error != std::errc() || end != name.data() + name.size()) return std::nullopt;
  return fd;
}

/// What a path refers to.
struct destination {
  std::string path;                     // with symbolic links resolved
  std::optional<int> descriptor;        // of this process
  std::optional<struct stat> existing;  // the existing file, if any

  [[nodiscard]] bool direct() const {
    return descriptor || (existing && !S_ISREG(existing->st_mode) && !S_ISDIR(existing->st_mode));
  }
};

destination destination_of(const std::string& path) {
  fs::path at(path);
  for (int links = 0; links <= max_links; ++links) {
    if (const auto fd = descriptor_of(at)) return {path, fd, std::nullopt};
    std::error_code no_link;
    const auto target = fs::read_symlink(at, no_link);
    if (!no_link) {
      at = target.is_absolute() ? target : at.parent_path() / target;
      continue;
    }
    destination found{at.string(), std::nullopt, std::nullopt};
    struct stat info {};
    if (stat(at.c_str(), &info) == 0) {
      found.existing = info;
    } else if (errno != ENOENT) {  // such as a name that is too long
      throw unwritable(path, errno);
    }
    if (!at.has_filename()) throw unwritable(path, ENOENT);
    // A folder cannot be replaced, and a file without write permission must not be.
    if (found.existing && S_ISDIR(info.st_mode)) throw unwritable(path, EISDIR);
    if (found.existing && access(at.c_str(), W_OK) != 0) throw unwritable(path, errno);
    if (found.existing && S_ISREG(info.st_mode)) {
      if (const int error = error_of_replacing(at, info)) throw unwritable(path, error);
    }
    return found;
  }
  throw unwritable(path, ELOOP);
}

/// Finds a name beside `path` for which make(name) succeeds. Returns the name and the result of
/// make(): -1 and errno if it failed.
template <class Make>
std::pair<std::string, int> make_temporary(const fs::path& path, Make&& make) {
  std::random_device draw;
  const auto name = path.filename().string().substr(0, max_name_bytes);
  std::string part;
  int made = -1;
  for (int tries = 0; tries < max_tries; ++tries) {
    part = path.parent_path() / (name + ".part-" + std::to_string(draw()));
    made = make(part.c_str());
    if (made >= 0 || errno != EEXIST) break;
  }
  return {part, made};
}
std::pair<std::string, int> create_temporary(const fs::path& path) {
  return make_temporary(path, [](const char* name) {
    return open(name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, new_file_mode);
  });
}

/// Creates a file without a name in path's folder, so that nothing remains if this process is
/// killed. Returns -1 if the file system does not support it.
int create_nameless(const fs::path& path) {
  if (access("/proc/self/fd", X_OK) != 0) return -1;  // needed by finish() to name the file
  return open(folder_of(path).c_str(), O_WRONLY | O_TMPFILE | O_CLOEXEC, new_file_mode);
}

/// As write(), but a pipe without a reader is only an error (EPIPE), not also a signal. The mask is
/// that of this thread.
ssize_t write_without_signal(int fd, const char* from, std::size_t bytes) {
  sigset_t sigpipe, before;
  sigemptyset(&sigpipe);
  sigaddset(&sigpipe, SIGPIPE);
  sigprocmask(SIG_BLOCK, &sigpipe, &before);
  const auto n = ::write(fd, from, bytes);
  const int error = errno;
  if (n < 0 && error == EPIPE) {
    const timespec now{};
    sigtimedwait(&sigpipe, nullptr, &now);
  }
  sigprocmask(SIG_SETMASK, &before, nullptr);
  errno = error;
  return n;
}

}  // namespace

output_file::output_file(const std::string& path, write_check check)
    : path_(path), check_(std::move(check)) {
  const auto to = destination_of(path);
  if (to.direct()) {
    own_pipe_ = to.existing && S_ISFIFO(to.existing->st_mode);
    fd_ = to.descriptor ? fcntl(*to.descriptor, F_DUPFD_CLOEXEC, 0) : open_direct(to.path);
    struct stat what {};
    if (fd_ < 0 || fstat(fd_, &what) != 0) throw unwritable(path, errno);
    may_wait_ = S_ISFIFO(what.st_mode) || S_ISSOCK(what.st_mode) || S_ISCHR(what.st_mode);
    return;
  }
  final_ = to.path;
  fd_ = create_nameless(final_);
  if (fd_ < 0) std::tie(part_, fd_) = create_temporary(final_);
  if (fd_ < 0) throw unwritable(path, errno);
  if (!to.existing) return;
  // Most processes may not change the owner; that is not a failure.
  if (fchown(fd_, to.existing->st_uid, to.existing->st_gid) != 0) errno = 0;
  fchmod(fd_, to.existing->st_mode & permission_bits);
}

output_file::~output_file() {
  if (fd_ >= 0) close(fd_);
  if (!part_.empty()) unlink(part_.c_str());
}

/// Opens a device, or a pipe once it has a reader.
int output_file::open_direct(const std::string& path) const {
  for (;;) {
    const int fd = open(path.c_str(), O_WRONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd >= 0 || errno != ENXIO || !own_pipe_) return fd;
    check();
    poll(nullptr, 0, check_interval_ms);
  }
}

/// Returns when a pipe has room for PIPE_BUF bytes or has no reader.
void output_file::wait_until_writable() const {
  pollfd to{fd_, POLLOUT, 0};
  while (poll(&to, 1, check_interval_ms) <= 0) check();
}

void output_file::write(const char* from, std::size_t bytes) {
  check();
  while (bytes != 0) {
    if (may_wait_) wait_until_writable();
    const auto part = may_wait_ ? std::min<std::size_t>(bytes, PIPE_BUF) : bytes;
    const auto n = own_pipe_ ? write_without_signal(fd_, from, part) : ::write(fd_, from, part);
    if (n < 0 && errno != EINTR && errno != EAGAIN) fail(errno);
    if (n < 0) continue;
    from += n;
    bytes -= static_cast<std::size_t>(n);
  }
}

void output_file::finish() {
  check();
  if (part_.empty() && !final_.empty()) {
    const auto nameless = "/proc/self/fd/" + std::to_string(fd_);
    const auto link = [&](const char* name) {
      return linkat(AT_FDCWD, nameless.c_str(), AT_FDCWD, name, AT_SYMLINK_FOLLOW);
    };
    auto [part, linked] = make_temporary(final_, link);
    if (linked < 0) fail(errno);
    part_ = std::move(part);
  }
  if (close(std::exchange(fd_, -1)) != 0) fail(errno);
  if (part_.empty()) return;
  if (std::rename(part_.c_str(), final_.c_str()) != 0) fail(errno);
  part_.clear();
}

void output_file::fail(int error) const {
  throw system_failure(path_ + ": cannot be written (" + std::strerror(error) + ")");
}

void expect_writable(const std::string& path) {
  const auto to = destination_of(path);
  if (to.direct()) return;
  const auto [part, fd] = create_temporary(to.path);
  if (fd < 0) throw unwritable(path, errno);
  close(fd);
  unlink(part.c_str());
}

}  // namespace cairn::graph::io
