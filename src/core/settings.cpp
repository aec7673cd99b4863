// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <cstdlib>
#include <optional>

#include <cairn/base/error.hpp>
#include <cairn/core/max_grain.hpp>
#include <cairn/core/settings.hpp>

#include "core/setting_values.hpp"

namespace cairn {
namespace {

using namespace setting_values;

constexpr int max_ranks = 1 << 16;
constexpr int max_threads = 4096;
constexpr std::size_t max_block_bytes = std::size_t{1} << 30;

constexpr std::array<choice<transport_kind>, 3> transports{{{"auto", transport_kind::automatic},
                                                            {"ring", transport_kind::ring},
                                                            {"mpi", transport_kind::mpi}}};
constexpr std::array<choice<net::mpi_kind>, 3> mpis{{{"auto", net::mpi_kind::automatic},
                                                     {"mpich", net::mpi_kind::mpich},
                                                     {"openmpi", net::mpi_kind::openmpi}}};
constexpr std::array<choice<routing>, 5> routings{{{"auto", routing::automatic},
                                                   {"direct", routing::direct},
                                                   {"grid", routing::grid},
                                                   {"hypercube", routing::hypercube},
                                                   {"machine", routing::machine}}};
constexpr std::array<choice<delivery>, 2> deliveries{
    {{"any", delivery::any}, {"owner", delivery::owner}}};
constexpr std::array<choice<progress_style>, 4> styles{
    {{"auto", progress_style::automatic},
     {"poll", progress_style::poll},
     {"thread", progress_style::thread},
     {"specialised", progress_style::specialised}}};
constexpr std::array<choice<task::pinning>, 3> pinnings{
    {{"auto", task::pinning::automatic}, {"on", task::pinning::on}, {"off", task::pinning::off}}};
constexpr std::array<choice<std::string_view>, 7> mechanisms{{{"auto", "auto"},
                                                              {"plain", "plain"},
                                                              {"atomics", "atomics"},
                                                              {"htm", "htm"},
                                                              {"locks", "locks"},
                                                              {"one-lock", "one-lock"},
                                                              {"stm", "stm"}}};
constexpr std::array<choice<bool>, 2> switches{{{"off", false}, {"on", true}}};
constexpr std::array<choice<std::string_view>, 3> retries{
    {{"rtm", "rtm"}, {"hle", "hle"}, {"bgq", "bgq"}}};

using text_view = std::string_view;

constexpr std::array<setting, 30> rows{{
    {"threads", "CAIRN_THREADS", "auto|1..4096", "workers",
     "workers per rank; auto: the allowed cores divided by the ranks that share them",
     "NUM_WORKERS",
     [](settings& s, text_view v) {
       return store_or_auto(s.threads, v, number(v, 1, max_threads));
     },
     [](const settings& s) { return auto_or(s.threads); }},
    {"ranks", "CAIRN_RANKS", "auto|1..65536", "ranks",
     "local processes to start; auto: the number that mpiexec started, else one", "",
     [](settings& s, text_view v) { return store_or_auto(s.ranks, v, number(v, 1, max_ranks)); },
     [](const settings& s) { return auto_or(s.ranks); }},
    {"timeout", "CAIRN_TIMEOUT", "off|0.001..1000000000", "seconds",
     "cancel the command after it has run for this long", "",
     [](settings& s, text_view v) { return store(s.timeout_ms, milliseconds_or_off(v)); },
     [](const settings& s) { return seconds_or_off(s.timeout_ms); }},
    {"watchdog", "CAIRN_WATCHDOG", "off|0.001..1000000000", "seconds",
     "report on standard error what a rank waits for when it has made no progress for this long",
     "", [](settings& s, text_view v) { return store(s.watchdog_ms, milliseconds_or_off(v)); },
     [](const settings& s) { return seconds_or_off(s.watchdog_ms); }},
    {"pin", "CAIRN_PIN", "auto|on|off", "",
     "bind each worker to one of the allowed cores; auto: keep workers on different cores where "
     "each may have one; off: leave them to the system",
     "", [](settings& s, text_view v) { return choose(s.pin, v, pinnings); },
     [](const settings& s) { return chosen(s.pin, pinnings); }},
    {"mechanism", "CAIRN_MECHANISM", "auto|plain|atomics|htm|locks|one-lock|stm", "",
     "the mechanism that makes operators atomic", "",
     [](settings& s, text_view v) {
       text_view known;
       if (!choose(known, v, mechanisms)) return false;
       s.mechanism = known;
       return true;
     },
     [](const settings& s) { return s.mechanism; }},
    {"grain", "CAIRN_GRAIN", "auto|1..512", "operators", "operators in one activity", "",
     [](settings& s, text_view v) {
       return store_or_auto(s.grain, v, number<std::size_t>(v, 1, max_grain));
     },
     [](const settings& s) { return auto_or(s.grain); }},
    {"retry", "CAIRN_RETRY", "rtm|hle|bgq", "",
     "retry policy of aborted transactions: by cause, like lock elision, or like Blue Gene/Q", "",
     [](settings& s, text_view v) {
       text_view known;
       if (!choose(known, v, retries)) return false;
       s.retry = known;
       return true;
     },
     [](const settings& s) { return s.retry; }},
    {"costs", "CAIRN_COSTS", "auto|none|FILE", "",
     "costs measured by bench model, with which the choice of mechanism and grain starts; auto: "
     "those saved on this machine",
     "",
     [](settings& s, text_view v) {
       s.costs = v == "auto" ? text_view() : v;
       return !v.empty();
     },
     [](const settings& s) { return s.costs.empty() ? "auto" : s.costs; }},
    {"coalesce", "CAIRN_COALESCE", "auto|BYTES[K|M|G] up to 1G", "bytes",
     "size of a message buffer; auto: it grows in a burst of messages, up to the best size of the "
     "transport",
     "SIZE_BUFFERS",
     [](settings& s, text_view v) {
       return store_or_auto(s.coalesce_bytes, v, amount(v, max_block_bytes));
     },
     [](const settings& s) { return auto_or(s.coalesce_bytes); }},
    {"coalesce-age", "CAIRN_COALESCE_AGE", "0..1000000000", "microseconds",
     "maximum age of a message buffer before it is sent, full or not", "the age of a command block",
     [](settings& s, text_view v) {
       return store(s.coalesce_age_us, number<std::uint64_t>(v, 0, 1'000'000'000));
     },
     [](const settings& s) { return std::to_string(s.coalesce_age_us); }},
    {"routing", "CAIRN_ROUTING", "auto|direct|grid|hypercube|machine", "",
     "how messages are routed; auto: directly to the owner, and from 16 ranks on several machines "
     "part-filled buffers through a grid of ranks where that is cheaper",
     "", [](settings& s, text_view v) { return choose(s.routing, v, routings); },
     [](const settings& s) { return chosen(s.routing, routings); }},
    {"deliver", "CAIRN_DELIVER", "any|owner", "",
     "which worker runs an operator of one element: any, or the one that owns the element, without "
     "atomics",
     "", [](settings& s, text_view v) { return choose(s.deliver, v, deliveries); },
     [](const settings& s) { return chosen(s.deliver, deliveries); }},
    {"frequency", "CAIRN_FREQUENCY", "auto|1..1048576", "chunks",
     "chunks of its priority queue that a busy worker processes between two polls; auto: 1, and it "
     "tests for the end of the epoch every 16 chunks",
     "",
     [](settings& s, text_view v) {
       return store_or_auto(s.frequency, v, number(v, 1u, 1u << 20));
     },
     [](const settings& s) { return auto_or(s.frequency); }},
    {"lead", "CAIRN_LEAD", "auto|any|0..1048576", "buckets",
     "buckets of its priority queue by which a worker may be ahead of others on its machine; auto: "
     "0 if workers share cores, else any",
     "",
     [](settings& s, text_view v) {
       if (v == "auto") return s.lead.reset(), true;
       s.lead = v == "any" ? world_options::any_lead : number(v, 0u, 1u << 20);
       return s.lead.has_value();
     },
     [](const settings& s) {
       if (s.lead == world_options::any_lead) return std::string("any");
       return s.lead ? std::to_string(*s.lead) : std::string("auto");
     }},
    {"progress", "CAIRN_PROGRESS", "auto|poll|thread|specialised", "",
     "who moves messages while workers compute: the workers between chunks, or also a thread; "
     "auto: a thread that acts only if workers rarely poll; specialised: helpers and a "
     "communication server, as in GMT",
     "specialised: workers, helpers, communication server",
     [](settings& s, text_view v) { return choose(s.progress, v, styles); },
     [](const settings& s) { return chosen(s.progress, styles); }},
    {"helpers", "CAIRN_HELPERS", "auto|1..4096", "threads",
     "with --progress specialised: threads of a rank that answer messages; auto: 1", "NUM_HELPERS",
     [](settings& s, text_view v) {
       return store_or_auto(s.helpers, v, number(v, 1, max_threads));
     },
     [](const settings& s) { return auto_or(s.helpers); }},
    {"command-block", "CAIRN_COMMAND_BLOCK", "auto|BYTES[K|M|G] up to 1G", "bytes",
     "with --progress specialised: size of a thread's block, of which several leave in one message "
     "buffer; auto: as large as the buffer",
     "the size of a command block",
     [](settings& s, text_view v) {
       return store_or_auto(s.command_block_bytes, v, amount(v, max_block_bytes));
     },
     [](const settings& s) { return auto_or(s.command_block_bytes); }},
    {"queue-age", "CAIRN_QUEUE_AGE", "0..1000000000", "microseconds",
     "with --progress specialised: how long blocks wait for others to fill a message buffer",
     "the age of an aggregation queue",
     [](settings& s, text_view v) {
       return store(s.queue_age_us, number<std::uint64_t>(v, 0, 1'000'000'000));
     },
     [](const settings& s) { return std::to_string(s.queue_age_us); }},
    {"channel-blocks", "CAIRN_CHANNEL_BLOCKS", "auto|1..1048576", "blocks",
     "with --progress specialised: blocks that a thread may have handed to the communication "
     "server before it waits; auto: 64",
     "NUM_BUF_PER_CHANNEL",
     [](settings& s, text_view v) {
       return store_or_auto(s.channel_blocks, v, number<std::size_t>(v, 1, 1u << 20));
     },
     [](const settings& s) { return auto_or(s.channel_blocks); }},
    {"pending", "CAIRN_PENDING", "BYTES[K|M|G]", "bytes",
     "bound on the messages that a rank holds, unsent or not handled; above it the body waits "
     "between "
     "chunks, and the rank runs handlers before it receives more",
     "", [](settings& s, text_view v) { return store(s.pending_bytes, amount(v)); },
     [](const settings& s) { return std::to_string(s.pending_bytes); }},
    {"loop-tasks", "CAIRN_LOOP_TASKS", "auto|1..1048576", "tasks",
     "tasks of a worker at once, at most; auto: 256 in a parallel loop whose body awaits, 16384 in "
     "hashmap",
     "MAX_NUM_TASKS_PER_WORKER",
     [](settings& s, text_view v) {
       return store_or_auto(s.loop_tasks, v, number<std::size_t>(v, 1, 1u << 20));
     },
     [](const settings& s) { return auto_or(s.loop_tasks); }},
    {"prefetching", "CAIRN_PREFETCHING", "auto|1..1048576", "tasks",
     "tasks of a worker that wait for cache lines at once, at most; auto: chosen from measured "
     "cost",
     "",
     [](settings& s, text_view v) {
       return store_or_auto(s.prefetching, v, number<std::size_t>(v, 1, 1u << 20));
     },
     [](const settings& s) { return auto_or(s.prefetching); }},
    {"share-gets", "CAIRN_SHARE_GETS", "off|on", "",
     "gets of one element of a global array by tasks of a worker share a request in flight, if it "
     "has at most 8 bytes",
     "", [](settings& s, text_view v) { return choose(s.share_gets, v, switches); },
     [](const settings& s) { return chosen(s.share_gets, switches); }},
    {"filter", "CAIRN_FILTER", "auto|N", "entries",
     "entries of each worker's sent-filter and combining table, which reduce messages; 0: none; "
     "auto: at most 1M, and left out while they reduce little",
     "",
     [](settings& s, text_view v) {
       s.filter_is_chosen = v == "auto";
       return store(s.filter_entries, s.filter_is_chosen ? settings().filter_entries : amount(v));
     },
     [](const settings& s) {
       return s.filter_is_chosen ? "auto" : std::to_string(s.filter_entries);
     }},
    {"transport", "CAIRN_TRANSPORT", "auto|ring|mpi", "",
     "transport of packets; auto: rings within a machine, MPI between machines", "",
     [](settings& s, text_view v) { return choose(s.transport, v, transports); },
     [](const settings& s) { return chosen(s.transport, transports); }},
    {"mpi", "CAIRN_MPI", "auto|mpich|openmpi", "",
     "the MPI to load; auto: the one whose mpiexec started this process", "",
     [](settings& s, text_view v) { return choose(s.mpi, v, mpis); },
     [](const settings& s) { return chosen(s.mpi, mpis); }},
    {"plugins", "CAIRN_PLUGINS", "auto|FOLDER", "", "folder of the MPI plugins", "",
     [](settings& s, text_view v) {
       s.plugins = v == "auto" ? text_view() : v;
       return !v.empty();
     },
     [](const settings& s) { return s.plugins.empty() ? "auto" : s.plugins; }},
    {"machines", "CAIRN_MACHINES", "auto|1..65536", "machines",
     "under mpiexec, treat rank r as if it ran on machine r mod N", "",
     [](settings& s, text_view v) { return store_or_auto(s.machines, v, number(v, 1, max_ranks)); },
     [](const settings& s) { return auto_or(s.machines); }},
    {"sim", "CAIRN_SIM", "off|SPEC", "", "a simulated cluster, such as ranks=8,seed=1", "",
     [](settings& s, text_view v) {
       s.sim = v == "off" ? text_view() : v;
       return !v.empty();
     },
     [](const settings& s) { return s.sim.empty() ? "off" : s.sim; }},
}};

/// Sets `row`; the error message names `source`, an option or a variable.
void set_as(settings& s, const setting& row, const std::string& source, text_view value) {
  if (row.apply(s, value)) return;
  throw usage_error(source + " is '" + std::string(value) + "', expected " +
                    std::string(row.values));
}

const setting* find(text_view name) {
  const auto* const row =
      std::find_if(rows.begin(), rows.end(), [&](const setting& r) { return r.name == name; });
  return row == rows.end() ? nullptr : row;
}

}  // namespace

std::span<const setting> setting::all() noexcept { return rows; }

const setting& setting::named(std::string_view name) {
  if (const auto* const row = find(name)) return *row;
  throw usage_error("there is no setting '" + std::string(name) + "'");
}

settings settings::from_environment(const std::function<const char*(const char*)>& variable) {
  settings s;
  for (const auto& row : rows) {
    const std::string name(row.variable);
    if (const char* const value = variable(name.c_str())) set_as(s, row, name, value);
  }
  const auto folder = [&](const char* name, const char* below) {
    const char* const value = variable(name);
    const bool named = value != nullptr && *value == '/';  // XDG: relative paths are ignored
    if (named && s.cache_folder.empty()) s.cache_folder = std::string(value) + below;
  };
  folder("XDG_CACHE_HOME", "/cairn");
  folder("HOME", "/.cache/cairn");
  return s;
}

settings settings::from_environment() {
  return from_environment([](const char* name) -> const char* { return std::getenv(name); });
}

void settings::set(std::string_view name, std::string_view value) {
  set_as(*this, setting::named(name), "--" + std::string(name), value);
}

void settings::set(std::string_view assignment) {
  const auto equals = assignment.find('=');
  if (equals == std::string_view::npos) {
    throw usage_error("expected a setting as name=value, found '" + std::string(assignment) + "'");
  }
  set(assignment.substr(0, equals), assignment.substr(equals + 1));
}

std::string settings::text(std::string_view name) const { return setting::named(name).show(*this); }

std::vector<std::string> settings::take_options(std::span<const std::string> arguments) {
  std::vector<std::string> others;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const auto& argument = arguments[i];
    const std::string_view whole = argument;  // g++ 12 warns of std::string's operator== here
    if (whole == "--") {
      others.insert(others.end(), arguments.begin() + static_cast<std::ptrdiff_t>(i),
                    arguments.end());
      break;
    }
    const auto option = whole.substr(0, whole.find('='));
    const auto* const row = option.starts_with("--") ? find(option.substr(2)) : nullptr;
    if (row == nullptr) {
      others.push_back(argument);
    } else if (option.size() < whole.size()) {
      set_as(*this, *row, std::string(option), whole.substr(option.size() + 1));
    } else if (++i < arguments.size()) {
      set_as(*this, *row, argument, arguments[i]);
    } else {
      throw usage_error(argument + " requires a value: " + std::string(row->values));
    }
  }
  return others;
}

world_options settings::for_world() const {
  specialised_options specialised{.command_block_bytes = command_block_bytes,
                                  .queue_age_ns = queue_age_us * 1000};
  if (channel_blocks != 0) specialised.channel_blocks = channel_blocks;
  if (helpers != 0) specialised.helpers = helpers;
  return {.coalesce_bytes = coalesce_bytes,
          .coalesce_age_ns = coalesce_age_us * 1000,
          .pending_bytes = pending_bytes,
          .filter_entries = filter_entries,
          .frequency = frequency,
          .lead = lead,
          .small_work_alone = true,
          .filter_is_chosen = filter_is_chosen,
          .routing = routing,
          .deliver = deliver,
          .progress = progress,
          .specialised = specialised,
          .prefetching = prefetching,
          .loop_tasks = loop_tasks == 0 ? world_options().loop_tasks : loop_tasks,
          .share_gets = share_gets,
          .mechanism = mechanism,
          .grain = grain,
          .retry = retry,
          .trace = trace};
}

}  // namespace cairn
