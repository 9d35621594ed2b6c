// krait COMMAND [options]: dispatch, help and exit codes; docs/cli.md states the contract.
//   0   success
//   1   the user's mistake, a failed check, a broken rule of the simulated machine, or output that
//       cannot be written
//   70  our bug (EX_SOFTWARE)

#include <fcntl.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <exception>
#include <new>
#include <stdexcept>
#include <string>
#include <vector>

#include "apps/krait/arguments.hpp"
#include "apps/krait/command.hpp"
#include "apps/krait/help.hpp"
#include "apps/krait/output.hpp"
#include "apps/krait/version.hpp"
#include "krait/base/error.hpp"
#include "krait/base/text.hpp"

namespace krait::app {
namespace {

constexpr int kFailure = 1;
constexpr int kInternal = 70;

const Command& find_command(const std::string& name) {
  std::vector<std::string> names;
  for (const Command& command : commands()) {
    if (command.name == name) return command;
    names.emplace_back(command.name);
  }
  throw UserError(
      Report{cat("krait has no command '", name, "'"), "command line", {}, suggest(name, names)});
}

Reply run_command(const Command& command, const std::vector<std::string>& words) {
  CLI::App app{std::string(command.summary), cat("krait ", command.name)};
  Context context;
  app.set_help_flag("-h,--help", "this text");
  app.add_flag("--json", context.json, "one JSON object on standard output, nothing else");
  const Action action = command.declare(app);
  if (parse_arguments(command, app, words)) return {help_of(command, app), 0};
  return action(context);
}

[[noreturn]] void unknown_global_option(const std::string& word) {
  const std::vector<std::string> names{"--help", "--version"};
  throw UserError(
      Report{cat("krait has no option '", word, "'"), "command line", {}, suggest(word, names)});
}

Reply dispatch(const std::vector<std::string>& words) {
  if (words.empty()) return {overview(), 0};
  const std::string& first = words[0];
  if (first == "--help" || first == "-h" || first == "help") {
    if (words.size() == 1) return {overview(), 0};
    return run_command(find_command(words[1]), {"--help"});  // krait help sim
  }
  if (first == "--version") return {cat("krait ", kVersion, "\n"), 0};
  if (first.starts_with("-")) unknown_global_option(first);
  return run_command(find_command(first), {words.begin() + 1, words.end()});
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

/// A program started with a standard stream closed would get its number for the first file it
/// opens, and write the reply into that file. Read-only, so that writing still fails.
void occupy_standard_streams() {
  for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO})
    if (::fcntl(stream, F_GETFD) == -1) (void)::open("/dev/null", O_RDONLY);
}

}  // namespace
}  // namespace krait::app

int main(int argc, char** argv) {
  krait::app::occupy_standard_streams();
  std::signal(SIGPIPE, SIG_IGN);  // a closed pipe is an error code of write, not a death
  return krait::app::run({argv + 1, argv + argc});
}
