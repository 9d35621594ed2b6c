#include "apps/krait/arguments.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>

#include "krait/base/error.hpp"
#include "krait/base/text.hpp"

namespace krait::app {
namespace {

[[noreturn]] void fail(const Command& command, std::string what, std::string fix) {
  throw UserError(Report{std::move(what), cat("krait ", command.name), {}, std::move(fix)});
}

std::string example(const Command& command) {
  return cat("e.g. ", split(command.example, '\n').front());
}

[[noreturn]] void unknown_option(const Command& command, const CLI::App& app,
                                 const std::string& word) {
  const std::string help = cat("krait ", command.name, " --help shows what it takes");
  if (word.size() < 2 || word[0] != '-')
    fail(command, cat("unexpected argument '", word, "'"), help);
  std::vector<std::string> names;
  for (const CLI::Option* known : app.get_options())
    if (!known->get_lnames().empty()) names.push_back("--" + known->get_lnames().front());
  fail(command, cat("no option is called '", word, "'"),
       suggest(word.substr(0, word.find('=')), names));
}

/// "--trace" or "--trace=F", however often.
long times_given(const std::string& option, const std::vector<std::string>& words) {
  return std::count_if(words.begin(), words.end(), [&option](const std::string& word) {
    return word == option || word.starts_with(option + "=");
  });
}

/// CLI11 reports a second value, a missing one and a flag's value in texts of its own: "--trace: 1
/// required TEXT missing", "json was given a disallowed flag override".
[[noreturn]] void wrong_count(const Command& command, const CLI::App& app,
                              const std::vector<std::string>& words, const std::string& message) {
  for (const CLI::Option* option : app.get_options()) {
    if (option->get_lnames().empty()) continue;
    const std::string bare = option->get_lnames().front(), name = "--" + bare;
    if (message.starts_with(bare + " ") && option->get_items_expected_max() == 0)
      fail(command, cat(name, " takes no value"), cat("write ", name, " alone"));
    if (!message.starts_with(name + ":")) continue;
    if (times_given(name, words) > 1)
      fail(command, cat(name, " is given more than once"), "keep one of them");
    fail(command, cat(name, " needs a value"), example(command));
  }
  fail(command, message, example(command));
}

/// CLI11 would read --json=false and --json=3.
void make_flags_plain(CLI::App& app) {
  for (CLI::Option* option : app.get_options())
    if (option->get_items_expected_max() == 0) option->disable_flag_override();
}

}  // namespace

bool parse_arguments(const Command& command, CLI::App& app, std::vector<std::string> words) {
  app.allow_extras();
  make_flags_plain(app);
  std::vector<std::string> reversed(words.rbegin(), words.rend());  // CLI11 takes from the back
  try {
    app.parse(reversed);
  } catch (const CLI::CallForHelp&) {
    return true;
  } catch (const CLI::ParseError& error) {
    // A misspelled option often shows up as another one missing; name the cause.
    const auto left = app.remaining();
    if (!left.empty()) unknown_option(command, app, left.front());
    wrong_count(command, app, words, error.what());
  }
  const auto left = app.remaining();
  if (!left.empty()) unknown_option(command, app, left.front());
  return false;
}

}  // namespace krait::app
