// SPDX-License-Identifier: Apache-2.0
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <set>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include <cairn/base/random.hpp>
#include <cairn/task/frame_pool.hpp>

namespace cairn::task::frame_pool_test {
namespace {

struct frame {
  void* at;
  std::size_t bytes;
  unsigned char mark;
};

frame allocate(frame_pool& p, std::size_t bytes, unsigned char mark) {
  auto* const at = p.allocate(bytes);
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(at) % 16, 0u);
  std::memset(at, mark, bytes);
  return {at, bytes, mark};
}
void expect_unchanged(const frame& f) {
  for (std::size_t i = 0; i < f.bytes; ++i) {
    ASSERT_EQ(static_cast<const unsigned char*>(f.at)[i], f.mark);
  }
}

TEST(FramePool, FramesOfAllSizesAreDisjointAndReused) {
  frame_pool p;
  random64 random(5);
  std::vector<frame> live;
  std::size_t bytes_after_half = 0;
  for (int i = 0; i < 20'000; ++i) {
    if (live.size() < 200 && random.below(2) == 0) {
      live.push_back(allocate(p, 1 + random.below(3000), static_cast<unsigned char>(i)));
    } else if (!live.empty()) {
      std::swap(live[random.below(live.size())], live.back());
      expect_unchanged(live.back());
      frame_pool::release(live.back().at, live.back().bytes, &p);
      live.pop_back();
    }
    ASSERT_EQ(p.live(), live.size());
    if (i == 10'000) bytes_after_half = p.bytes();
  }
  EXPECT_LE(p.bytes(), 2 * bytes_after_half);
  for (const auto& f : live) frame_pool::release(f.at, f.bytes, &p);
  EXPECT_EQ(p.live(), 0u);
}

TEST(FramePool, FramesReleasedOnAnotherWorkerAreReused) {
  frame_pool mine, other;
  for (int round = 0; round < 50; ++round) {
    std::vector<frame> frames;
    for (std::size_t i = 0; i < 100; ++i) frames.push_back(allocate(mine, 40 + 25 * i, 7));
    std::thread([&] {
      for (const auto& f : frames) frame_pool::release(f.at, f.bytes, &other);
    }).join();
    EXPECT_EQ(mine.live(), 0u);
  }
  EXPECT_EQ(other.bytes(), 0u);
  EXPECT_LE(mine.bytes(), std::size_t{1} << 20);
}

TEST(FramePool, ManyThreadsReleaseWhileTheOwnerAllocates) {
  frame_pool mine;
  std::vector<std::vector<frame>> parts(3);
  for (int i = 0; i < 3000; ++i) {
    parts[static_cast<std::size_t>(i % 3)].push_back(allocate(mine, 100, 1));
  }
  std::vector<std::thread> threads;
  for (auto& part : parts) {
    threads.emplace_back([&part] {
      for (const auto& f : part) frame_pool::release(f.at, f.bytes, nullptr);
    });
  }
  std::vector<frame> more;
  for (int i = 0; i < 3000; ++i) more.push_back(allocate(mine, 100, 2));
  for (auto& t : threads) t.join();
  for (const auto& f : more) expect_unchanged(f);
  EXPECT_EQ(mine.live(), 3000u);
  for (const auto& f : more) frame_pool::release(f.at, f.bytes, &mine);
  EXPECT_EQ(mine.live(), 0u);
}

TEST(FramePool, FindsItsLiveRoots) {
  frame_pool p;
  std::vector<frame> all;
  std::set<void*> roots;
  for (std::size_t i = 0; i < 1000; ++i) {
    all.push_back(allocate(p, 1 + 5 * i % 4000, 3));
    if (i % 3 == 0) {
      p.mark_root(all.back().at, all.back().at);
      roots.insert(all.back().at);
    }
  }
  for (std::size_t i = 0; i < 1000; i += 2) {
    frame_pool::release(all[i].at, all[i].bytes, &p);
    roots.erase(all[i].at);
  }
  std::set<void*> found;
  p.for_each_root([&](void* at) {
    found.insert(at);
    for (const auto& f : all) {
      if (f.at == at) return frame_pool::release(f.at, f.bytes, &p);
    }
  });
  EXPECT_EQ(found, roots);
  p.for_each_root([](void*) { ADD_FAILURE(); });
  auto* const without = frame_pool::allocate_without_pool(50);
  p.mark_root(without, &p);
  EXPECT_EQ(p.live(), 500u - 167u + 1u);
  p.for_each_root([&](void* root) {
    EXPECT_EQ(root, &p);
    frame_pool::release(without, 50, &p);
  });
  p.for_each_root([](void*) { ADD_FAILURE(); });
}

TEST(FramePool, MemoryIsHeldUntilItsOwnerLooks) {
  frame_pool p;
  for (const std::size_t bytes : {40, 4000}) {
    const auto f = allocate(p, bytes, 9);
    EXPECT_FALSE(frame_pool::is_held(f.at));
    frame_pool::hold(f.at);
    EXPECT_FALSE(frame_pool::is_held(f.at));
    frame_pool::release(f.at, f.bytes, &p);
    EXPECT_TRUE(frame_pool::is_held(f.at));
    EXPECT_EQ(p.live(), 1u);
    frame_pool::release_held(f.at, &p);
    EXPECT_EQ(p.live(), 0u);
  }
}

}  // namespace
}  // namespace cairn::task::frame_pool_test
