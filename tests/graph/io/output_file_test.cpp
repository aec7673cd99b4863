// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <stdexcept>
#include <string_view>
#include <thread>

#include <cairn/core/world.hpp>
#include <cairn/graph/io/native.hpp>
#include <cairn/graph/io/output_file.hpp>

#include "files.hpp"

namespace cairn::graph::io::output_file_test {
namespace {

namespace fs = std::filesystem;
using test::folder;

void write(const std::string& path, std::string_view text) {
  output_file file(path);
  file.write(text.data(), text.size());
  file.finish();
}

std::ptrdiff_t files_in(const folder& dir) {
  return std::distance(fs::directory_iterator(dir / ""), fs::directory_iterator());
}

TEST(OutputFile, TheOldContentStaysUntilTheNewOneIsFinished) {
  const folder dir;
  const auto path = dir.plain("a", "old");
  {
    output_file file(path);
    file.write("new", 3);
    EXPECT_EQ(test::bytes_of(path), "old");
    file.finish();
    EXPECT_EQ(test::bytes_of(path), "new");
  }
  { output_file(path).write("unfinished", 10); }
  EXPECT_EQ(test::bytes_of(path), "new");
  { output_file(dir / "b").write("unfinished", 10); }
  EXPECT_EQ(files_in(dir), 1) << "only a";
}

TEST(OutputFile, AGraphMayBeWrittenOverTheFileThatItIsAMappingOf) {
  const folder dir;
  world w(2);
  for (const std::string name : {"g.cairn", "g.cairn.gz"}) {
    std::vector<std::uint64_t> offsets{0};
    std::vector<std::uint32_t> targets;
    for (std::uint32_t v = 0; v < 10'000; ++v) {
      targets.push_back(v);
      offsets.push_back(targets.size());
    }
    const auto path = dir / name;
    write_native(w.pool(), path, {true, targets.size(), offsets, std::span(targets), {}, {}});
    const auto before = test::bytes_of(path);
    const auto graph = read_native(w, path);
    write_native(w.pool(), path, native_view(std::get<0>(graph)));
    EXPECT_TRUE(test::bytes_of(path) == before);
  }
}

TEST(OutputFile, AReplacedFileKeepsItsModeAndItsLinks) {
  const folder dir;
  const auto path = dir.plain("a", "old");
  fs::permissions(path, fs::perms(0640));
  fs::create_hard_link(path, dir / "hard");
  fs::create_symlink("a", dir / "soft");
  fs::create_symlink("none", dir / "dangling");
  write(dir / "soft", "new");
  EXPECT_TRUE(fs::is_symlink(dir / "soft"));
  EXPECT_EQ(test::bytes_of(path), "new");
  EXPECT_EQ(fs::status(path).permissions(), fs::perms(0640));
  EXPECT_EQ(test::bytes_of(dir / "hard"), "old") << "another name of the old file";
  write(dir / "dangling", "new");
  EXPECT_TRUE(fs::is_symlink(dir / "dangling"));
  EXPECT_EQ(test::bytes_of(dir / "none"), "new");
}

TEST(OutputFile, NamesOfAnyLengthThatTheSystemTakesWork) {
  const folder dir;
  const std::string longest(255, 'x');
  write(dir / longest, "1");
  write(dir / longest, "2");
  EXPECT_EQ(test::bytes_of(dir / longest), "2");
  EXPECT_EQ(files_in(dir), 1);
}

TEST(OutputFile, APipeIsWrittenDirectlyAndAskingDoesNotOpenIt) {
  const folder dir;
  const auto path = dir / "pipe";
  ASSERT_EQ(mkfifo(path.c_str(), 0600), 0);
  expect_writable(path);  // nobody reads yet
  std::string read;
  std::thread reader([&] { read = test::bytes_of(path); });
  write(path, "1 2\n");
  reader.join();
  EXPECT_EQ(read, "1 2\n");
  EXPECT_TRUE(fs::is_fifo(path));
}

/// A check that throws at its nth call.
write_check ends_at(int n) {
  return [n]() mutable {
    if (--n == 0) throw std::domain_error("ended");
  };
}

TEST(OutputFile, TheCheckEndsTheWaitForAReader) {
  const folder dir;
  const auto path = dir / "pipe";
  ASSERT_EQ(mkfifo(path.c_str(), 0600), 0);
  EXPECT_THROW(output_file(path, ends_at(3)), std::domain_error);
}

TEST(OutputFile, TheCheckEndsTheWaitForAReaderThatDoesNotRead) {
  const folder dir;
  const auto path = dir / "pipe";
  ASSERT_EQ(mkfifo(path.c_str(), 0600), 0);
  const int fd = open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
  const int writer = open(path.c_str(), O_WRONLY | O_CLOEXEC);
  const std::string text(1 << 20, 'x');
  for (const auto& name : {path, "/dev/fd/" + std::to_string(writer)}) {
    output_file file(name, ends_at(3));
    EXPECT_THROW(file.write(text.data(), text.size()), std::domain_error) << name;
  }
  close(writer);
  close(fd);
}

TEST(OutputFile, AReaderThatLeavesIsAFailureAndNoSignal) {
  const folder dir;
  const auto path = dir / "pipe";
  ASSERT_EQ(mkfifo(path.c_str(), 0600), 0);
  const int fd = open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
  output_file file(path);
  close(fd);
  try {
    file.write("x", 1);
    ADD_FAILURE() << "written for nobody";
  } catch (const system_failure& e) {
    EXPECT_EQ(e.what(), path + ": cannot be written (Broken pipe)");
  }
}

TEST(OutputFile, TheCheckLeavesTheOldContentAlsoAfterTheLastByte) {
  const folder dir;
  const auto path = dir.plain("a", "old");
  output_file file(path, ends_at(2));
  file.write("new", 3);
  EXPECT_THROW(file.finish(), std::domain_error);
  EXPECT_EQ(test::bytes_of(path), "old");
}

TEST(OutputFile, ADescriptorOfThisProcessIsWrittenWhereItStands) {
  const folder dir;
  const auto path = dir / "a";
  const int fd = open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  ASSERT_EQ(::write(fd, "before ", 7), 7);
  fs::create_symlink("/dev/fd/" + std::to_string(fd), dir / "link");
  expect_writable(dir / "link");
  write(dir / "link", "during ");
  write("/proc/self/fd/" + std::to_string(fd), "too ");
  ASSERT_EQ(::write(fd, "after", 5), 5);
  close(fd);
  EXPECT_EQ(test::bytes_of(path), "before during too after");
  EXPECT_EQ(files_in(dir), 2);
}

TEST(OutputFile, WhatCannotBeWrittenIsRefusedBeforeAndWhenItIsMade) {
  const folder dir;
  fs::create_directory(dir / "folder");
  fs::create_symlink("loop", dir / "loop");
  for (const std::string name : {"folder", "no/such/folder", "loop"}) {
    EXPECT_THROW(expect_writable(dir / name), usage_error) << name;
    EXPECT_THROW(output_file(dir / name), usage_error) << name;
  }
  EXPECT_THROW(expect_writable(""), usage_error);
  if (geteuid() == 0) return;  // who may do everything
  fs::permissions(dir.plain("read_only", "x"), fs::perms(0400));
  EXPECT_THROW(expect_writable(dir / "read_only"), usage_error);
  EXPECT_THROW(output_file(dir / "read_only"), usage_error);
}

TEST(OutputFile, AFileThatOnlyItsOwnerMayReplaceIsRefusedBeforeToOthers) {
  if (geteuid() != 0) GTEST_SKIP() << "only root may act as another user";
  const folder dir;
  const auto path = dir.plain("a", "old");
  ASSERT_EQ(chmod(path.c_str(), 0666), 0);
  ASSERT_EQ(chmod((dir / "").c_str(), 01777), 0);
  expect_writable(path);
  constexpr uid_t nobody = 65534;
  ASSERT_EQ(seteuid(nobody), 0);
  EXPECT_THROW(expect_writable(path), usage_error);
  expect_writable(dir / "new");
  ASSERT_EQ(seteuid(0), 0);
  ASSERT_EQ(chown(path.c_str(), nobody, nobody), 0);
  ASSERT_EQ(seteuid(nobody), 0);
  write(path, "new");
  ASSERT_EQ(seteuid(0), 0);
  EXPECT_EQ(test::bytes_of(path), "new");
}

TEST(OutputFile, AMountPointIsRefusedBefore) {
  const folder dir;
  const auto path = dir.plain("a", "old"), other = dir.plain("b", "other");
  if (mount(other.c_str(), path.c_str(), nullptr, MS_BIND, nullptr) != 0) {
    GTEST_SKIP() << "this process may not mount";
  }
  EXPECT_THROW(expect_writable(path), usage_error);
  expect_writable(other);
  EXPECT_EQ(umount(path.c_str()), 0);
  expect_writable(path);
}

TEST(OutputFile, AskingLeavesNothingBehindAndChangesNothing) {
  const folder dir;
  expect_writable(dir / "new");
  EXPECT_EQ(files_in(dir), 0);
  const auto path = dir.plain("old", "old");
  expect_writable(path);
  EXPECT_EQ(test::bytes_of(path), "old");
  EXPECT_EQ(files_in(dir), 1);
  expect_writable("/dev/null");
  write("/dev/null", "x");
}

}  // namespace
}  // namespace cairn::graph::io::output_file_test
