// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <cairn/net/transport.hpp>

namespace cairn::net {

/// The MPIs that Cairn has a plugin for. `automatic` leaves the choice to the launcher.
enum class mpi_kind { automatic, mpich, openmpi };

/// "MPICH", "Open MPI"; "MPI" for automatic.
[[nodiscard]] std::string_view name(mpi_kind kind) noexcept;

/// The MPI whose library has this file name, if it is one of an MPI.
[[nodiscard]] std::optional<mpi_kind> mpi_of_library(std::string_view file) noexcept;

/// The supported MPI that this process has already loaded (for example by a Python extension
/// module), if any.
[[nodiscard]] std::optional<mpi_kind> mpi_in_process();

/// The folders in which plugins may be, in order of preference: relative to the program or library
/// that contains Cairn, in a build tree or an installation.
[[nodiscard]] std::vector<std::string> plugin_folders();

/// MPI in this process: loaded from a plugin, started, and ended with the object (unless other code
/// has started it).
///
/// Thread-safety: as its transports; at most one thread is in MPI at any time.
class mpi_process {
 public:
  /// kind      not automatic
  /// folders   searched in order for the plugin
  /// Throws    usage_error if no folder has a plugin that can be loaded; system_failure if MPI
  ///           does not start
  [[nodiscard]] static std::shared_ptr<mpi_process> start(mpi_kind kind,
                                                          std::span<const std::string> folders);
  virtual ~mpi_process() = default;

  [[nodiscard]] virtual rank_t self() const noexcept = 0;
  [[nodiscard]] virtual rank_t size() const noexcept = 0;

  /// Ends the processes of all ranks, including this one. For a rank that cannot continue while the
  /// others wait for it. The launcher's exit status is `status` if it passes it on.
  virtual void abort(int status) = 0;

  /// Every rank's bytes, concatenated by rank; all ranks pass the same number. Collective, before
  /// any packet is sent.
  [[nodiscard]] virtual std::vector<std::byte> all_gather(std::span<const std::byte> mine) = 0;

  /// A transport over a communicator of its own, which keeps the job alive. Collective.
  ///
  /// responder   a rank other than 0, the same on all ranks. Rank 0 and this rank measure the
  /// packet
  ///            steps between them (step_probe.hpp) for some milliseconds, and all ranks use the
  ///            result. 0: the steps remain unknown
  [[nodiscard]] virtual std::unique_ptr<transport> open(rank_t responder = 0) = 0;

 protected:
  mpi_process() = default;
};

}  // namespace cairn::net
