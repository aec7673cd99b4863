// SPDX-License-Identifier: Apache-2.0
// What one rank does in the tests under mpiexec and in those of faults. Its first argument that
// is not a setting says what:
//
//   packets MPI [MACHINES]   every pair exchanges packets over the plugin, rings and both
//   world                    collectives over the transport that launch chose
//   pieces                   64 MiB from each rank to the next, with 1 MiB of memory on each
//   machines N               memory that the ranks of each of N machines share
//   transactions             transfers among accounts of all ranks
//   arrays                   tasks that change global arrays and a hash map
//   agree | throw | status   end badly: all with one sentence, rank 1 alone, or silently with 7
//   backlog SECONDS          rank 0 fails behind unsent messages, rank 1 does not receive so long
//   flood                    rank 0 fails while the others send to it
//   wait                     print "rank R is process P" and wait for ever
//   interrupt                wait for ever, but rank 1 gets SIGINT
//   spoil RANK HOW ...       any of these with a rank that fails before it: see spoil.hpp

#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <numeric>
#include <span>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include <cairn/am/channel.hpp>
#include <cairn/am/epoch.hpp>
#include <cairn/am/piece_channel.hpp>
#include <cairn/base/error.hpp>
#include <cairn/core/launch.hpp>
#include <cairn/net/mixed.hpp>
#include <cairn/pgas/global_view.hpp>
#include <cairn/pgas/hash_map.hpp>
#include <cairn/task/when_all.hpp>

#include "net/all_pairs.hpp"
#include "spoil.hpp"
#include "support/shared_words.hpp"
#include "support/transfers.hpp"

namespace {

using namespace cairn;

void check(bool holds, const std::string& claim) {
  if (!holds) throw std::runtime_error(claim);
}

int exchange_packets(const std::string& mpi, int machines) {
  constexpr std::uint64_t packets = 300;
  const auto kind = mpi == "mpich" ? net::mpi_kind::mpich : net::mpi_kind::openmpi;
  const auto process = net::mpi_process::start(kind, net::plugin_folders());
  check(net::mpi_in_process() == kind, "the plugin loaded another MPI");
  const auto map = net::machine_map::gather(*process, machines);
  auto near = net::make_machine_rings(*process, map);
  const auto neighbors = map.neighbors(process->self());
  check((near != nullptr) == (neighbors.size() > 1), "this machine has no rings");
  std::string wrong;
  if (near && machines == 0) wrong += net::exchange_all_pairs(*near, packets);
  // Two ports at a time: neither takes the other's packets. Each exchange uses another port than
  // the one before, since a rank may be ahead of its peers by one.
  auto far = process->open();
  const auto other = process->open();
  wrong += net::exchange_all_pairs(*far, packets);
  wrong += net::exchange_all_pairs(*other, packets);
  if (near) {
    net::mixed_transport both(std::move(near), neighbors, std::move(far));
    wrong += net::exchange_all_pairs(both, packets);
  }
  if (!wrong.empty()) std::fprintf(stderr, "%s\n", wrong.c_str());
  return wrong.empty() ? 0 : 1;
}

void use_collectives(world& w) {
  const auto ranks = static_cast<std::uint64_t>(w.size());
  const auto self = static_cast<std::uint64_t>(w.rank());
  for (std::uint64_t i = 0; i < 200; ++i) {
    check(w.sum(i + self) == i * ranks + ranks * (ranks - 1) / 2, "a sum is wrong");
  }
  // Larger than any packet, and of another length on every rank.
  std::vector<std::uint64_t> mine(100'000 + self);
  std::iota(mine.begin(), mine.end(), self << 32);
  const auto all = w.all_gather_values<std::uint64_t>(mine);
  std::size_t at = 0;
  for (std::uint64_t r = 0; r < ranks; ++r) {
    for (std::uint64_t i = 0; i < 100'000 + r; ++i) {
      check(all.at(at++) == (r << 32) + i, "a gathered value is wrong");
    }
  }
  check(at == all.size(), "too many values were gathered");
}

void send_in_pieces(world& w) {
  constexpr std::size_t words = 8u << 20;
  std::vector<std::uint64_t> sent(words), received(words);
  const auto from = (w.rank() + w.size() - 1) % w.size();
  std::iota(sent.begin(), sent.end(), static_cast<std::uint64_t>(w.rank()) << 32);
  std::size_t held = 0;
  am::piece_channel channel(w, [&](worker_t, const am::piece& p) {
    std::memcpy(std::as_writable_bytes(std::span(received)).data() + p.offset, p.bytes.data(),
                p.bytes.size());
    held = std::max(held, w.messages().held_bytes());
  });
  am::epoch epoch(w);
  channel.send(main_worker, (w.rank() + 1) % w.size(), std::as_bytes(std::span(sent)));
  epoch.close();
  for (std::size_t i = 0; i < words; ++i) {
    check(received[i] == (static_cast<std::uint64_t>(from) << 32) + i, "a word is wrong");
  }
  check(held < 1u << 20, "a rank held " + std::to_string(held) + " bytes");
}

task::task<> change_words(pgas::global_memory* memory, pgas::hash_map<std::uint64_t, int>* map,
                          pgas::global_array<std::uint64_t> words, std::uint64_t first) {
  auto a = memory->view(words);
  for (std::uint64_t i = 0; i < words.size(); ++i) {
    co_await a.add((first + i) % words.size(), 1);
    static_cast<void>(co_await map->insert(i, 1));
  }
  const auto mine =
      co_await memory->alloc<std::uint64_t>(100, {.distribution = pgas::distribution::hashed});
  auto m = memory->view(mine);
  std::vector<std::uint64_t> numbers(100), copy(100);
  std::iota(numbers.begin(), numbers.end(), first);
  co_await m.put(0, std::span<const std::uint64_t>(numbers));
  co_await m.get(0, std::span(copy));
  check(copy == numbers, "a range is wrong");
  co_await memory->free(mine);
}
task::task<> change_by_many(pgas::global_memory* memory, pgas::hash_map<std::uint64_t, int>* map,
                            pgas::global_array<std::uint64_t> words) {
  std::vector<task::task<>> all;
  for (std::uint64_t t = 0; t < 20; ++t) all.push_back(change_words(memory, map, words, 13 * t));
  co_await task::when_all(std::move(all));
}
void change_arrays(world& w) {
  pgas::global_memory memory(w);
  pgas::hash_map<std::uint64_t, int> map(w);
  const auto words = memory.collective_alloc<std::uint64_t>(1'000);
  w.run(change_by_many(&memory, &map, words));
  w.barrier();
  for (const auto x : memory.view(words).local()) {
    check(x == 20u * static_cast<unsigned>(w.size()), "an addition is lost");
  }
  check(map.size() == 1'000, "the map has not one entry per key");
  check(w.sum(memory.live()) == 1, "an array was not freed");
}

void fail_behind_messages(world& w, double seconds) {
  std::uint64_t received = 0;
  am::channel<std::uint64_t> numbers(w, [&](worker_t, auto batch) { received += batch.size(); });
  w.barrier();
  am::epoch e(w);
  if (w.rank() == 0) {
    for (std::uint64_t i = 0; i < (1 << 20); ++i) numbers.send(main_worker, 1, i);
    throw std::runtime_error("the body threw");
  }
  std::this_thread::sleep_for(std::chrono::duration<double>(seconds));
  e.close();
}

void fail_under_messages(world& w) {
  std::uint64_t received = 0;
  am::channel<std::uint64_t> numbers(w, [&](worker_t, auto batch) { received += batch.size(); });
  w.barrier();
  am::epoch e(w);
  if (w.rank() == 0) throw std::runtime_error("the body threw");
  for (std::uint64_t i = 0; i < (1 << 20); ++i) numbers.send(main_worker, 0, i);
  e.close();
}

int body(world& w, std::span<const std::string> arguments) {
  const auto scenario = arguments.empty() ? std::string() : arguments.front();
  if (scenario == "world") {
    use_collectives(w);
  } else if (scenario == "pieces") {
    send_in_pieces(w);
  } else if (scenario == "machines") {
    check(w.machines().count() == std::stoi(arguments[1]), "the machines are not so many");
    const auto wrong = support::share_and_look(w);
    check(wrong.empty(), wrong);
  } else if (scenario == "transactions") {
    for (const auto mechanism : {activity::mechanism::automatic, activity::mechanism::stm}) {
      const auto wrong = support::transfer_everywhere(
          w, {.activity = {.mechanism = mechanism}, .transactions = 1'000});
      check(wrong.empty(), wrong);
    }
  } else if (scenario == "arrays") {
    change_arrays(w);
  } else if (scenario == "agree") {
    w.agree([] { throw input_error("the input is bad"); });
  } else if (scenario == "throw") {
    if (w.rank() == 1) throw std::runtime_error("the body threw");
    w.barrier();
  } else if (scenario == "backlog") {
    fail_behind_messages(w, std::stod(arguments[1]));
  } else if (scenario == "flood") {
    fail_under_messages(w);
  } else if (scenario == "status") {
    return 7;
  } else if (scenario == "wait") {
    std::printf("rank %d is process %d\n", w.rank(), static_cast<int>(getpid()));
    std::fflush(stdout);
    w.wait_until([] { return false; });
  } else if (scenario == "interrupt") {
    if (w.rank() == 1) raise(SIGINT);
    w.wait_until([] { return false; });
  } else {
    throw usage_error("no such test: '" + scenario + "'");
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc >= 3 && argv[1] == std::string("packets")) {
    try {
      return exchange_packets(argv[2], argc > 3 ? std::atoi(argv[3]) : 0);
    } catch (const std::exception& e) {
      std::fprintf(stderr, "%s\n", e.what());
      return 1;
    }
  }
  std::vector<std::string> arguments(argv, argv + argc);
  if (argc >= 5 && arguments[1] == "spoil") arguments = cairn::support::spoiled(arguments);
  std::vector<char*> words;
  for (auto& a : arguments) words.push_back(a.data());
  cairn::support::begin_to_count_news();
  return cairn::launch(static_cast<int>(words.size()), words.data(), body);
}
