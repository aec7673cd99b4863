// SPDX-License-Identifier: Apache-2.0
#include <dlfcn.h>
#include <link.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <exception>
#include <filesystem>
#include <span>
#include <string>
#include <utility>

#include <cairn/base/contract.hpp>
#include <cairn/base/error.hpp>
#include <cairn/net/mpi.hpp>
#include <cairn/net/step_probe.hpp>

extern "C" {
#include "net/mpi_plugin.h"
}

namespace cairn::net {
namespace {

// Between machines, packets of 32 to 64 KiB reach ten times the bandwidth of 4 KiB.
constexpr std::size_t max_packet_bytes = 64u << 10;

// Random updates of two hosts with a link of 50 us are 1.4 times as fast by buffers of 16 KiB as of
// 32 KiB under MPICH; under Open MPI they take 5 % longer.
constexpr std::size_t best_packet_of(mpi_kind kind) {
  return (kind == mpi_kind::mpich ? 16u : 32u) << 10;
}

constexpr std::uint64_t probing_ns = 10'000'000;

constexpr int packets_per_poll = 32;

/// Calls a function of the table whose last argument receives the error text.
template <class... Parameters, class... Arguments>
int checked(int (*function)(Parameters...), Arguments... arguments) {
  std::array<char, CAIRN_MPI_TEXT> why{};
  const int result = function(arguments..., why.data());
  if (result < 0) throw system_failure(why.data());
  return result;
}

std::string file_of(mpi_kind kind) {
  return kind == mpi_kind::mpich ? "libcairn_mpi_mpich.so" : "libcairn_mpi_openmpi.so";
}

/// A communicator with its buffers.
class port {
 public:
  port(const cairn_mpi_table& mpi, std::size_t max_packet) : mpi_(mpi) {
    checked(mpi.open, &raw_, max_packet);
  }
  ~port() { mpi_.close(raw_); }
  port(const port&) = delete;
  port& operator=(const port&) = delete;

  cairn_mpi_port* raw() noexcept { return raw_; }

 private:
  const cairn_mpi_table& mpi_;
  cairn_mpi_port* raw_ = nullptr;
};

class mpi_transport final : public transport {
 public:
  mpi_transport(std::shared_ptr<mpi_process> process, mpi_kind kind, const cairn_mpi_table& mpi)
      : process_(std::move(process)), kind_(kind), mpi_(mpi), port_(mpi, max_packet_bytes) {}

  rank_t self() const noexcept override { return process_->self(); }
  rank_t size() const noexcept override { return process_->size(); }
  std::size_t max_packet() const noexcept override { return max_packet_bytes; }
  std::size_t best_packet() const noexcept override { return best_packet_of(kind_); }
  const packet_steps& steps_to(rank_t) const noexcept override { return steps_; }
  void set_steps(packet_steps steps) noexcept { steps_ = std::move(steps); }

  bool send(rank_t to, std::span<const std::byte> packet) override {
    CAIRN_EXPECTS(packet.size() <= max_packet_bytes);
    return checked(mpi_.send, port_.raw(), int{to}, packet.data(), packet.size()) != 0;
  }

  std::size_t poll(const sink& deliver) override {
    int packets = 0;
    for (; packets < packets_per_poll; ++packets) {
      int from = 0;
      const void* bytes = nullptr;
      std::size_t size = 0;
      if (checked(mpi_.receive, port_.raw(), &from, &bytes, &size) == 0) break;
      try {
        deliver(from, {static_cast<const std::byte*>(bytes), size});
      } catch (...) {
        checked(mpi_.release, port_.raw());  // reposts its receive
        throw;
      }
      checked(mpi_.release, port_.raw());
    }
    return static_cast<std::size_t>(packets);
  }

  bool flushed() override { return checked(mpi_.unsent, port_.raw()) == 0; }

 private:
  std::shared_ptr<mpi_process> process_;
  mpi_kind kind_;
  const cairn_mpi_table& mpi_;
  port port_;
  packet_steps steps_;
};

class loaded_process final : public mpi_process,
                             public std::enable_shared_from_this<loaded_process> {
 public:
  loaded_process(mpi_kind kind, const cairn_mpi_table& mpi)
      : kind_(kind),
        mpi_(mpi),
        started_here_(checked(mpi.start) == 1),
        self_(mpi.rank()),
        size_(mpi.size()) {
    setup_ = std::make_unique<port>(mpi, 0);
  }

  ~loaded_process() override {
    setup_.reset();
    std::array<char, CAIRN_MPI_TEXT> why{};
    if (started_here_) mpi_.finish(why.data());
  }

  rank_t self() const noexcept override { return self_; }
  rank_t size() const noexcept override { return size_; }

  void abort(int status) override { mpi_.abort(status); }

  std::vector<std::byte> all_gather(std::span<const std::byte> mine) override {
    std::vector<std::byte> all(mine.size() * static_cast<std::size_t>(size_));
    checked(mpi_.all_gather, setup_->raw(), mine.data(), all.data(), static_cast<int>(mine.size()));
    return all;
  }

  std::unique_ptr<transport> open(rank_t responder) override {
    std::unique_ptr<mpi_transport> opened;
    agree([&] {
      opened = std::make_unique<mpi_transport>(shared_from_this(), kind_, mpi_);
      return 0u;
    });
    if (responder == 0) return opened;
    const auto steps = agree([&] { return probe_steps(*opened, 0, responder, probing_ns); });
    opened->set_steps(packet_steps(step_probe::largest_before(steps)));
    return opened;
  }

 private:
  // What f returned on rank 0, on all ranks; or a failure on all ranks if f threw on one.
  template <class F>
  std::uint32_t agree(F&& f) {
    struct answer {
      std::uint32_t failed = 0, found = 0;
    } mine;
    std::string fault;
    try {
      mine.found = f();
    } catch (const std::exception& e) {
      fault = e.what();
      mine.failed = 1;
    }
    const auto bytes = all_gather(std::as_bytes(std::span(&mine, 1)));
    if (!fault.empty()) throw system_failure(fault);
    std::vector<answer> all(static_cast<std::size_t>(size_));
    std::memcpy(all.data(), bytes.data(), bytes.size());
    const auto failed = std::ranges::find(all, 1u, &answer::failed);
    if (failed == all.end()) return all.front().found;
    throw system_failure("rank " + std::to_string(failed - all.begin()) +
                         " cannot exchange messages by MPI");
  }

  mpi_kind kind_;
  const cairn_mpi_table& mpi_;
  bool started_here_;
  rank_t self_, size_;
  std::unique_ptr<port> setup_;
};

const cairn_mpi_table& load(const std::string& file) {
  // Local symbols, because two MPIs define the same names. The library is never unloaded, because
  // an MPI does not survive that.
  void* const library = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) throw usage_error("cannot use " + file + ": " + dlerror());
  const auto* const table = static_cast<const cairn_mpi_table*>(dlsym(library, CAIRN_MPI_SYMBOL));
  if (table == nullptr || table->version != CAIRN_MPI_VERSION) {
    throw usage_error(file + " belongs to another version of Cairn: its interface is " +
                      (table == nullptr ? "unknown" : std::to_string(table->version)) +
                      ", expected " + std::to_string(CAIRN_MPI_VERSION));
  }
  return *table;
}

}  // namespace

std::string_view name(mpi_kind kind) noexcept {
  switch (kind) {
    case mpi_kind::mpich:
      return "MPICH";
    case mpi_kind::openmpi:
      return "Open MPI";
    case mpi_kind::automatic:
      break;
  }
  return "MPI";
}

std::optional<mpi_kind> mpi_of_library(std::string_view file) noexcept {
  // Debian renames MPICH's library; elsewhere its ABI has the number 12.
  for (const auto* const mpich : {"libmpich.so", "libmpi.so.12"}) {
    if (file.starts_with(mpich)) return mpi_kind::mpich;
  }
  if (file.starts_with("libmpi.so")) return mpi_kind::openmpi;
  return std::nullopt;
}

std::optional<mpi_kind> mpi_in_process() {
  std::optional<mpi_kind> found;
  dl_iterate_phdr(
      [](dl_phdr_info* library, std::size_t, void* result) {
        const auto file = std::filesystem::path(library->dlpi_name).filename().string();
        auto& kind = *static_cast<std::optional<mpi_kind>*>(result);
        kind = mpi_of_library(file);
        return kind ? 1 : 0;
      },
      &found);
  return found;
}

std::vector<std::string> plugin_folders() {
  namespace fs = std::filesystem;
  std::vector<std::string> folders;
  std::error_code ignored;
  const auto add_around = [&](const fs::path& file) {
    const auto folder = file.parent_path();
    for (const char* near : {".", "cairn", "../lib", "../lib/cairn"}) {
      const auto path = fs::weakly_canonical(folder / near, ignored).string();
      const auto known = std::ranges::find(folders, path) != folders.end();
      if (!path.empty() && !known) folders.push_back(path);
    }
  };
  Dl_info here{};
  if (dladdr(reinterpret_cast<const void*>(&plugin_folders), &here) != 0 && here.dli_fname) {
    const auto file = fs::canonical(here.dli_fname, ignored);
    if (!file.empty()) add_around(file);
  }
  const auto program = fs::read_symlink("/proc/self/exe", ignored);
  if (!program.empty()) add_around(program);
#ifdef CAIRN_PLUGIN_FOLDER
  folders.emplace_back(CAIRN_PLUGIN_FOLDER);
#endif
  return folders;
}

std::shared_ptr<mpi_process> mpi_process::start(mpi_kind kind,
                                                std::span<const std::string> folders) {
  CAIRN_EXPECTS(kind != mpi_kind::automatic);
  std::string looked_in;
  for (const auto& folder : folders) {
    const auto file = folder + "/" + file_of(kind);
    std::error_code ignored;
    if (std::filesystem::exists(file, ignored)) {
      return std::make_shared<loaded_process>(kind, load(file));
    }
    looked_in += (looked_in.empty() ? "" : ", ") + folder;
  }
  throw usage_error("this Cairn has no plugin for " + std::string(name(kind)) + ": " +
                    file_of(kind) + " is not in " + looked_in);
}

}  // namespace cairn::net
