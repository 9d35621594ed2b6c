// krait COMMAND [options]: dispatch, help and exit codes; docs/cli.md states the contract.
//   0   success
//   1   the user's mistake, a failed check, a broken rule of the simulated machine, or unwritable
//   output 70  our bug (EX_SOFTWARE)

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <exception>
#include <new>
#include <stdexcept>
#include <string>
#include <vector>

#include "apps/krait/command.hpp"
#include "apps/krait/output.hpp"
#include "apps/krait/version.hpp"
#include "krait/base/error.hpp"
#include "krait/base/text.hpp"

namespace krait::app {
namespace {

constexpr int kFailure = 1;
constexpr int kInternal = 70;

std::string overview() {
  std::string out =
      "krait: state-space models on CPUs, NeuronCore kernels on a simulator, and where they pay\n\n"
      "usage: krait COMMAND [options]      krait COMMAND --help\n\n";
  TextTable table({"command", "what it does"});
  for (const Command& command : commands())
    table.add({std::string(command.name), std::string(command.summary)});
  return out + table.text() + "\nexample: " + std::string(commands().front().example) + "\n";
}

std::string help_of(const Command& command, const CLI::App& app) {
  std::string out = app.help();
  out += "\nExample:\n";
  for (const std::string& line : split(command.example, '\n')) out += "  " + line + "\n";
  return out;
}

[[noreturn]] void unknown_option(const Command& command, const CLI::App& app,
                                 const std::string& word) {
  const bool option = word.starts_with("-") && word.size() > 1;
  std::vector<std::string> names{"--help"};
  for (const CLI::Option* known : app.get_options())
    if (!known->get_lnames().empty()) names.push_back("--" + known->get_lnames().front());
  const std::string fix = option ? suggest(word.substr(0, word.find('=')), names)
                                 : cat("krait ", command.name, " --help shows what it takes");
  throw UserError(Report{.what = option ? cat("no option is called '", word, "'")
                                        : cat("unexpected argument '", word, "'"),
                         .where = cat("krait ", command.name),
                         .got = {},
                         .fix = fix});
}

/// Parses the words behind the command's name. @return whether help was asked for
bool parse(const Command& command, CLI::App& app, std::vector<std::string> words) {
  app.allow_extras();
  std::reverse(words.begin(), words.end());  // CLI11 takes them from the back
  try {
    app.parse(words);
  } catch (const CLI::CallForHelp&) {
    return true;
  } catch (const CLI::ParseError& error) {
    // A misspelled option often shows up as another one missing; name the cause.
    const auto left = app.remaining();
    if (!left.empty()) unknown_option(command, app, left.front());
    throw UserError(Report{.what = error.what(),
                           .where = cat("krait ", command.name),
                           .got = {},
                           .fix = cat("e.g. ", split(command.example, '\n').front())});
  }
  const auto left = app.remaining();
  if (!left.empty()) unknown_option(command, app, left.front());
  return false;
}

const Command& find_command(const std::string& name) {
  std::vector<std::string> names;
  for (const Command& command : commands()) {
    if (command.name == name) return command;
    names.emplace_back(command.name);
  }
  throw UserError(
      Report{cat("krait has no command '", name, "'"), "command line", {}, suggest(name, names)});
}

Reply dispatch(const std::vector<std::string>& words) {
  if (words.empty() || words[0] == "--help" || words[0] == "-h" || words[0] == "help") {
    if (words.empty())
      throw UserError(Report{"no command given", "command line", {}, "krait --help lists them"});
    return {overview(), 0};
  }
  if (words[0] == "--version") return {cat("krait ", kVersion, "\n"), 0};
  const Command& command = find_command(words[0]);
  CLI::App app{std::string(command.summary), cat("krait ", command.name)};
  Context context;
  app.add_flag("--json", context.json, "one JSON object on standard output, nothing else");
  const Action action = command.declare(app);
  if (parse(command, app, {words.begin() + 1, words.end()})) return {help_of(command, app), 0};
  return action(context);
}

int report(std::string_view text, int status) {
  std::fprintf(stderr, "krait: %.*s\n", static_cast<int>(text.size()), text.data());
  return status;
}

int deliver(const Reply& reply) {
  switch (write_stdout(reply.text)) {
    case Written::kAll:
      return reply.status;
    case Written::kPipeClosed:  // whoever read it has seen enough; nothing is wrong to report
      return kFailure;
    case Written::kFailed:
      break;
  }
  return report(cat("cannot write to standard output: ", std::strerror(errno)), kFailure);
}

int run(const std::vector<std::string>& words) {
  try {
    return deliver(dispatch(words));
  } catch (const InternalError& error) {
    return report(cat("internal error: ", error.what()), kInternal);
  } catch (const Error& error) {
    return report(error.what(), kFailure);
  } catch (const std::bad_alloc&) {
    return report("not enough memory for this request\n  fix    choose smaller sizes", kFailure);
  } catch (const std::exception& error) {
    return report(cat("internal error: ", error.what()), kInternal);
  } catch (...) {
    return report("internal error: unknown exception", kInternal);
  }
}

}  // namespace
}  // namespace krait::app

int main(int argc, char** argv) {
  std::signal(SIGPIPE, SIG_IGN);  // a closed pipe is an error code of write, not a death
  return krait::app::run({argv + 1, argv + argc});
}
