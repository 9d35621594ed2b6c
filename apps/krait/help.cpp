#include "apps/krait/help.hpp"

#include <CLI/CLI.hpp>
#include <vector>

#include "apps/krait/output.hpp"
#include "krait/base/text.hpp"

namespace krait::app {
namespace {

std::string examples(const Command& command) {
  std::string out = "\nexamples\n";
  for (const std::string& line : split(command.example, '\n')) out += "  " + line + "\n";
  return out;
}

/// "--machine NAME", "-h, --help", "KERNEL".
std::string spelling(const CLI::Option& option) {
  if (option.get_positional()) return option.get_type_name();
  std::vector<std::string> names;
  for (const std::string& name : option.get_snames()) names.push_back("-" + name);
  for (const std::string& name : option.get_lnames()) names.push_back("--" + name);
  const bool value = option.get_items_expected_max() > 0;
  return join(names, ", ") + (value ? " " + option.get_type_name() : "");
}

std::string usage(const Command& command, const CLI::App& app) {
  std::string out = cat("usage: krait ", command.name);
  for (const CLI::Option* option : app.get_options())
    if (option->get_positional())
      out += cat(" ", option->get_type_name(), option->get_items_expected_max() > 1 ? "..." : "");
  return out + " [options]\n";
}

}  // namespace

std::string overview() {
  std::string out = wrapped(
      "krait: state-space models on CPUs, NeuronCore kernels on a simulator, and where they pay", 0,
      output_width());
  out += "\nusage: krait COMMAND [options]\n\n";
  TextTable table({"command", "what it does"});
  for (const Command& command : commands())
    table.add({std::string(command.name), std::string(command.summary)});
  out += table.text(output_width());
  return out +
         "\nkrait COMMAND --help shows a command's options and examples,\n"
         "krait --version the version.\n" +
         examples(commands().front());
}

std::string help_of(const Command& command, const CLI::App& app) {
  TextTable table({"argument", "what it is"});
  for (const CLI::Option* option : app.get_options())
    table.add({spelling(*option), option->get_description()});
  return cat(wrapped(cat("krait ", command.name, ": ", command.summary), 0, output_width()), "\n",
             usage(command, app), "\n", table.text(output_width()), examples(command));
}

}  // namespace krait::app
