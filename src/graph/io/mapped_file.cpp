// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include <cairn/base/error.hpp>
#include <cairn/graph/io/mapped_file.hpp>

namespace cairn::graph::io {
namespace {

struct descriptor {
  int fd;
  ~descriptor() {
    if (fd >= 0) close(fd);
  }
};

input_error cannot(const std::string& path, const char* problem, int error) {
  return input_error::in_file(path, std::string(problem) + " (" + std::strerror(error) + ")");
}

/// The size of the file's pages plus one page of zeros. The memory is reserved first, and the file
/// is mapped over it.
std::size_t mapped_bytes(std::size_t size) {
  const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  return (size + page - 1) / page * page + page;
}

}  // namespace

mapped_file::mapped_file(std::string path) : path_(std::move(path)) {
  // O_NONBLOCK: opening a pipe without a writer must not block before it is rejected.
  const descriptor file{open(path_.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)};
  if (file.fd < 0) throw cannot(path_, "cannot be opened", errno);
  struct stat info {};
  if (fstat(file.fd, &info) != 0) throw cannot(path_, "cannot be examined", errno);
  if (S_ISDIR(info.st_mode)) throw input_error::in_file(path_, "is a directory, not a file");
  if (!S_ISREG(info.st_mode)) throw input_error::in_file(path_, "is not a regular file");
  if (info.st_size == 0) throw input_error::in_file(path_, "is empty");

  const auto size = static_cast<std::size_t>(info.st_size);
  void* const room = mmap(nullptr, mapped_bytes(size), PROT_READ,
                          MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (room == MAP_FAILED) throw cannot(path_, "cannot be mapped", errno);
  if (mmap(room, size, PROT_READ, MAP_PRIVATE | MAP_FIXED, file.fd, 0) == MAP_FAILED) {
    const int error = errno;
    munmap(room, mapped_bytes(size));
    throw cannot(path_, "cannot be mapped", error);
  }
  data_ = static_cast<char*>(room);
  size_ = size;
}

mapped_file::~mapped_file() {
  if (data_ != nullptr) munmap(data_, mapped_bytes(size_));
}

}  // namespace cairn::graph::io
