// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include <cairn/net/mpi.hpp>
#include <cairn/net/ring.hpp>
#include <cairn/net/transport.hpp>

namespace cairn::net {

/// The machine of each rank, and the ranks that share this rank's cores.
struct machine_map {
  std::vector<int> machine_of;  ///< by rank; machines are numbered by their lowest rank
  int sharers = 1;  ///< ranks of this machine that may use this rank's cores, including itself
  int place = 0;    ///< how many of them are lower ranks

  /// Gathers every rank's host name, boot id and allowed cores. Collective.
  ///
  /// pretended   n > 0: places rank r on machine r mod n instead
  [[nodiscard]] static machine_map gather(mpi_process& process, int pretended = 0);

  /// The ranks on the machine of `rank`, ascending.
  [[nodiscard]] std::vector<rank_t> neighbors(rank_t rank) const;
};

/// Rings for the ranks of each machine, set up through MPI: the lowest rank of a machine creates
/// the memory and the others open it. Collective.
///
/// Returns   this rank's rings, whose ranks are positions in map.neighbors(self); null if some
///           rank of this machine could not open the memory, or if the rank is alone
[[nodiscard]] std::unique_ptr<transport> make_machine_rings(mpi_process& process,
                                                            const machine_map& map);

/// Sends packets to local peers by one transport and to the others by another.
///
/// max_packet() is the smaller of the two. best_packet() is that of the remote transport and
/// best_packet_to() that of the rank's transport, both limited by max_packet(). steps_to() is that
/// of the rank's transport.
class mixed_transport final : public transport {
 public:
  /// local    among neighbors only: its rank i is neighbors[i]; its self() is this rank
  /// remote   among all ranks
  mixed_transport(std::unique_ptr<transport> local, std::vector<rank_t> neighbors,
                  std::unique_ptr<transport> remote);

  [[nodiscard]] rank_t self() const noexcept override { return remote_->self(); }
  [[nodiscard]] rank_t size() const noexcept override { return remote_->size(); }
  [[nodiscard]] std::size_t max_packet() const noexcept override;
  [[nodiscard]] std::size_t best_packet() const noexcept override;
  [[nodiscard]] std::size_t best_packet_to(rank_t to) const noexcept override;
  [[nodiscard]] std::size_t packet_cost() const noexcept override;
  [[nodiscard]] std::size_t packet_cost_to(rank_t to) const noexcept override;
  [[nodiscard]] const packet_steps& steps_to(rank_t to) const noexcept override;
  [[nodiscard]] bool send(rank_t to, std::span<const std::byte> packet) override;
  std::size_t poll(const sink& deliver) override;
  [[nodiscard]] bool flushed() override { return local_->flushed() && remote_->flushed(); }

 private:
  [[nodiscard]] const transport& towards(rank_t to) const noexcept;

  std::unique_ptr<transport> local_, remote_;
  std::vector<rank_t> neighbors_;
  std::vector<rank_t> local_rank_;  // by rank; -1: remote
};

}  // namespace cairn::net
