// SPDX-License-Identifier: Apache-2.0
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <string>

#include <cairn/base/error.hpp>
#include <cairn/core/launch.hpp>

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

int run(int argc, char** argv) {
  CLI::App app("Cairn: irregular computations on threads, transactions and clusters", "cairn");
  app.require_subcommand(1);
  app.set_version_flag("--version", CAIRN_VERSION);
  app.get_formatter()->column_width(34);
  common c;
  c.settings = settings::from_environment();
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
  if (!takes(app, "--sim")) c.settings.sim.clear();  // of a variable
  read_costs_of_clock(c);
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
