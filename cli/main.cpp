// SPDX-License-Identifier: Apache-2.0
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <string>
#include <string_view>

#include <cairn/base/error.hpp>
#include <cairn/core/launch.hpp>
#include <cairn/core/simulation.hpp>

#include "cli/cli.hpp"
#include "cli/costs.hpp"

namespace cairn::cli {

namespace {

// The error in a command line, as one sentence.
std::string sentence_of(const CLI::App& app, const CLI::ParseError& wrong) {
  const auto* command = &app;
  std::string path;
  while (!command->get_subcommands().empty()) {
    command = command->get_subcommands().front();
    path += command->get_name() + " ";
  }
  const auto help = " (cairn " + path + "--help lists what there is)";
  if (dynamic_cast<const CLI::ArgumentMismatch*>(&wrong) != nullptr) {
    const std::string text = wrong.what();
    const auto option = text.substr(0, text.find(':'));
    if (text.ends_with("flag override")) {
      const auto flag = text.substr(0, text.find(' '));
      return (flag.size() == 1 ? "-" : "--") + flag + " takes no value" + help;
    }
    if (text.ends_with(" missing")) return option + " needs a value" + help;
    if (text.find("At Most 1 required") != std::string::npos)
      return option + " is given twice" + help;
  }
  if (command->get_require_subcommand_min() == 0) {  // CLI11 lists the rest in reverse order
    const auto rest = app.remaining(true);           // also what precedes the command
    return (rest.empty() ? wrong.what() : "unexpected argument: " + rest.front()) + help;
  }
  const auto rest = command->remaining();
  if (rest.empty() || rest.front().starts_with('-')) {
    return "cairn " + path + "takes a command" + help;
  }
  const auto word = rest.front();
  return "there is no command '" + path + word + "'" + help;
}

// Whether the command has an option.
bool takes(const CLI::App& app, const std::string& option) {
  const auto* command = &app;
  while (!command->get_subcommands().empty()) command = command->get_subcommands().front();
  return command->get_option_no_throw(option) != nullptr;
}

// An option makes a variable that contradicts it void.
void drop_void_variables(const CLI::App& app, common& c) {
  const bool ranks_given = c.given.contains("ranks"), sim_given = c.given.contains("sim");
  if (!takes(app, "--sim") || (ranks_given && !sim_given)) c.settings.sim.clear();
  if (!c.settings.sim.empty() && !ranks_given) c.settings.ranks = 0;
}

// Reads what --sim or its variable names, and calls a wrong one by its name.
void read_simulation(common& c) {
  try {
    read_costs_of_clock(c);
    if (c.settings.sim.empty() || c.given.contains("sim")) return;
    static_cast<void>(parse_simulation(c.settings.sim, c.settings.sim_costs));
  } catch (const usage_error& e) {
    const std::string text = e.what();
    if (c.given.contains("sim") || !text.starts_with("--sim")) throw;
    throw usage_error("CAIRN_SIM" + text.substr(std::string_view("--sim").size()));
  }
}

int run(int argc, char** argv) {
  CLI::App app("Cairn: irregular computations on threads, transactions and clusters", "cairn");
  app.require_subcommand(1);
  app.set_version_flag("--version", CAIRN_VERSION);
  app.get_formatter()->column_width(34);
  app.option_defaults()->disable_flag_override();
  common c;
  std::exception_ptr wrong_variable;
  try {
    c.settings = settings::from_environment();
  } catch (const usage_error&) {
    wrong_variable = std::current_exception();
  }
  c.settings.supervised = true;
  action chosen;
  add_algorithms(app, c, chosen);
  add_hashmap(app, c, chosen);
  add_info(app, c, chosen);
  add_verify(app, c, chosen);
  add_generate(app, c, chosen);
  add_convert(app, c, chosen);
  add_graphalytics(app, c, chosen);
  add_bench(app, c, chosen);
  add_machine(app, c, chosen);
  add_settings(app, c, chosen);
  try {
    app.parse(argc, argv);
  } catch (const CLI::Success& success) {  // --help, --version
    return is_first_process() ? app.exit(success) : 0;
  } catch (const CLI::ParseError& wrong) {
    return refuse(sentence_of(app, wrong), say);
  }
  if (wrong_variable) std::rethrow_exception(wrong_variable);
  drop_void_variables(app, c);
  read_simulation(c);
  return chosen();
}

// The exit status, after everything that was printed has been written.
int written(int status) {
  const auto fault = output_fault();
  if (fault.empty()) return status;
  say(fault);
  return status == 0 ? 1 : status;
}

}  // namespace
}  // namespace cairn::cli

int main(int argc, char** argv) {
  // Then a write beyond the limit of a file's size fails, and the error is reported.
  std::signal(SIGXFSZ, SIG_IGN);
  try {
    return cairn::cli::written(cairn::cli::run(argc, argv));
  } catch (const cairn::usage_error& e) {
    return cairn::refuse(e.what(), cairn::cli::say);
  } catch (const cairn::input_error& e) {  // before the ranks run
    return cairn::refuse(e.what(), cairn::cli::say);
  } catch (const std::exception& e) {
    cairn::cli::say(e.what());
    return cairn::cli::written(1);
  }
}
