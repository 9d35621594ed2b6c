#pragma once

// A subcommand of `krait`: one file cmd_<name>.cpp and one line in commands.cpp.
//
// declare() adds the command's options to its CLI11 app and returns the action that runs it;
// options live in a struct that the action owns:
//
//   Action declare_kernels(CLI::App& app) {
//     auto options = std::make_shared<Options>();
//     app.add_option("name", options->name, "a kernel");
//     return [options](const Context& context) { return run(*options, context); };
//   }
//
// An action prints nothing: it returns what goes to standard output, so that a command that fails
// leaves nothing there. --help and --json are added to every command. Leave required options to
// the action if CLI11's message would be unclear; throw UserError with a remedy.

#include <functional>
#include <span>
#include <string>
#include <string_view>

namespace CLI {
class App;
}  // namespace CLI

namespace krait::app {

struct Context {
  bool json = false;  // the reply is one JSON object (json.hpp), nothing else
};

struct Reply {
  std::string text;  // standard output
  int status = 0;    // exit code: 0 only on success, else 1
};

using Action = std::function<Reply(const Context&)>;

struct Command {
  std::string_view name;
  std::string_view summary;  // one line
  std::string_view example;  // whole command lines, one or more
  Action (*declare)(CLI::App& app);
};

/// All commands, in the order of `krait --help`.
[[nodiscard]] std::span<const Command> commands();

}  // namespace krait::app
