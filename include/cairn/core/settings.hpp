// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <cairn/core/cluster_costs.hpp>
#include <cairn/core/world.hpp>
#include <cairn/net/mpi.hpp>
#include <cairn/task/pool.hpp>

namespace cairn {

/// The transport of packets to a peer: rings within a machine and MPI between machines, or one of
/// them for all peers.
enum class transport_kind { automatic, ring, mpi };

/// All settings of the runtime. Each has one row in setting::all(), which also defines its option,
/// its environment variable and its unit.
struct settings {
  int threads = 0;               ///< workers per rank; 0: the allowed cores / ranks that share them
  int ranks = 0;                 ///< 0: the launcher's number, else 1
  std::uint64_t timeout_ms = 0;  ///< after which the run is cancelled; 0: never
  std::uint64_t watchdog_ms = 0;  ///< a rank without progress for this long reports; 0: never
  task::pinning pin = task::pinning::automatic;
  transport_kind transport = transport_kind::automatic;
  net::mpi_kind mpi = net::mpi_kind::automatic;
  std::string plugins;             ///< folder of the MPI plugins; empty: found relative to Cairn
  int machines = 0;                ///< n > 0: treats rank r as if on machine r mod n
  std::size_t coalesce_bytes = 0;  ///< 0: the transport chooses
  std::uint64_t coalesce_age_us = 200;
  cairn::routing routing = cairn::routing::automatic;
  cairn::delivery deliver = delivery::any;
  unsigned frequency = 0;  ///< batches between two looks for messages; 0: the runtime chooses
  std::optional<unsigned> lead = {};  ///< as in world_options
  progress_style progress = progress_style::poll;
  int helpers = 0;                      ///< of the style specialised; 0: the runtime chooses
  std::size_t command_block_bytes = 0;  ///< of that style; 0: as large as a message buffer
  std::uint64_t queue_age_us = 0;       ///< of that style
  std::size_t channel_blocks = 0;       ///< of that style; 0: the runtime chooses
  std::size_t pending_bytes = 64u << 20;
  std::size_t prefetching = 0;  ///< tasks of a worker that wait for cache lines; 0: it chooses
  std::size_t loop_tasks = 0;   ///< tasks of a worker at once; 0: the default of the loop
  bool share_gets = false;      ///< as in world_options
  std::size_t filter_entries = 1u << 20;
  bool filter_is_chosen = true;    ///< online: a sent-filter that drops little is left out
  std::string mechanism = "auto";  ///< a name that activity::parse_mechanism accepts
  std::size_t grain = 0;           ///< 0: the runtime chooses
  std::string costs;               ///< file of fitted costs; "none"; empty: those in the cache
  std::string retry = "rtm";       ///< a name that tm::parse_retry accepts
  bool trace = false;              ///< the world may record; no row
  /// A rank that a launcher started runs in a child process, whose parent names the rank if a
  /// signal ends it. Then run() does not return in the child, so what the body changes is lost.
  /// This setting has no row.
  bool supervised = false;
  /// Folder for what Cairn has measured of this machine: $XDG_CACHE_HOME/cairn, else
  /// $HOME/.cache/cairn. Empty: none. This setting has no row.
  std::string cache_folder;
  std::string sim;                         ///< e.g. "ranks=128,seed=7"; empty: a real cluster
  std::optional<cluster_costs> sim_costs;  ///< from the file that sim names by clock=FILE; no row

  /// The defaults, changed by the variables that `variable` (such as std::getenv) finds.
  /// Throws    usage_error naming the invalid variable
  [[nodiscard]] static settings from_environment(
      const std::function<const char*(const char*)>& variable);
  /// The same, from this process's environment.
  [[nodiscard]] static settings from_environment();

  /// Changes the setting whose row has this name.
  /// Throws    usage_error that says what was expected
  void set(std::string_view name, std::string_view value);
  /// The same, from "name=value".
  void set(std::string_view assignment);

  /// A setting's value in the form that set() accepts.
  [[nodiscard]] std::string text(std::string_view name) const;

  /// Applies and removes every `--name value` and `--name=value` that is a setting, up to a "--".
  /// Returns the other arguments in order.
  /// Throws    usage_error, also for a setting without a value
  [[nodiscard]] std::vector<std::string> take_options(std::span<const std::string> arguments);

  /// The settings that a world needs.
  [[nodiscard]] world_options for_world() const;
};

/// One row of the table of settings.
struct setting {
  std::string_view name;      ///< as an option: --name
  std::string_view variable;  ///< of the environment
  std::string_view values;    ///< what set() accepts, for the user: "auto|N"
  std::string_view unit;      ///< of a number; may be empty
  std::string_view help;      ///< one line
  std::string_view gmt;       ///< what GMT [GMT14, table IV] calls this or its equivalent; or empty
  /// Returns false if the value is invalid.
  bool (*apply)(settings& to, std::string_view value);
  std::string (*show)(const settings& from);

  /// All rows, in the order of display.
  [[nodiscard]] static std::span<const setting> all() noexcept;
  /// Throws    usage_error if there is no setting of that name
  [[nodiscard]] static const setting& named(std::string_view name);
};

}  // namespace cairn
