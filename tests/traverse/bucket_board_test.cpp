// SPDX-License-Identifier: Apache-2.0
#include <cstdint>
#include <functional>
#include <memory>

#include <gtest/gtest.h>

#include <cairn/core/simulation.hpp>
#include <cairn/hw/clock.hpp>
#include <cairn/net/ring.hpp>
#include <cairn/task/pool.hpp>
#include <cairn/traverse/bucket_board.hpp>

#include <support/places.hpp>

namespace cairn::traverse::bucket_board_test {
namespace {

// Four ranks of two workers on two machines: ranks 0 and 2, ranks 1 and 3.
void on_two_machines(unsigned lead, const std::function<void(world&, bucket_board&)>& body) {
  run_simulated({.ranks = 4, .workers = 2, .seed = 1, .machines = 2}, {.lead = lead},
                [&](world& w) {
                  bucket_board board(w);
                  board.clear();
                  w.barrier();
                  body(w, board);
                  w.barrier();
                });
}

TEST(BucketBoard, ShowsTheWorkersOfAllRanksOfTheMachine) {
  on_two_machines(0, [](world& w, bucket_board& board) {
    EXPECT_FALSE(board.is_ahead(1'000)) << "nobody is in a bucket";
    w.barrier();
    if (w.rank() == 2) board.show(worker_t(1), 7);
    w.barrier();
    EXPECT_FALSE(board.is_ahead(7));
    EXPECT_EQ(board.is_ahead(8), w.rank() % 2 == 0);
    EXPECT_FALSE(board.is_ahead(bucket_board::none))
        << "without a bucket there is nothing to wait for";
  });
}

TEST(BucketBoard, AllowsALead) {
  on_two_machines(3, [](world& w, bucket_board& board) {
    if (w.rank() < 2) board.show(worker_t(0), 10);
    w.barrier();
    EXPECT_FALSE(board.is_ahead(13));
    EXPECT_TRUE(board.is_ahead(14));
  });
}

TEST(BucketBoard, HoldsNobodyBackIfAnyLeadIsAllowed) {
  on_two_machines(world_options::any_lead, [](world& w, bucket_board& board) {
    board.show(worker_t(0), 1);
    w.barrier();
    EXPECT_FALSE(board.is_ahead(1'000'000));
  });
  world alone;
  bucket_board of_one(alone);
  of_one.show(main_worker, 1);
  EXPECT_FALSE(of_one.is_ahead(2));
}

// By default workers wait for each other only if they share cores.
TEST(BucketBoard, WaitsByDefaultIfWorkersShareCores) {
  for (const bool shared : {false, true}) {
    const auto pool = task::make_threads({.workers = 2, .neighbors = shared ? 10'000 : -2});
    net::ring_transport net(std::make_shared<const net::ring_fabric>(1), 0);
    hw::steady_clock clock;
    world w(net, *pool, clock);
    EXPECT_EQ(w.machines().workers().share_cores, shared);
    EXPECT_EQ(w.machines().workers().max_per_rank, 2);
    bucket_board board(w);
    board.show(worker_t(0), 1);
    EXPECT_EQ(board.is_ahead(2), shared);
  }
  support::on_simulated_ranks(2, 2, 1,
                              [](world& w) { EXPECT_FALSE(w.machines().workers().share_cores); });
}

}  // namespace
}  // namespace cairn::traverse::bucket_board_test
