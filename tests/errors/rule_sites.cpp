#include "tests/errors/rule_sites.hpp"

#include <cctype>
#include <filesystem>

#include "krait/base/file.hpp"

namespace krait::errors {
namespace {

void skip_spaces(std::string_view& text) {
  while (!text.empty() && std::isspace(static_cast<unsigned char>(text.front())) != 0)
    text.remove_prefix(1);
}

// Drops one argument and its comma: up to the first comma outside brackets and string literals.
bool skip_argument(std::string_view& text) {
  int depth = 0;
  bool quoted = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (quoted && c == '\\') ++i;
    if (c == '"') quoted = !quoted;
    if (quoted) continue;
    if (c == '(' || c == '{' || c == '[') ++depth;
    if (c == ')' || c == '}' || c == ']') --depth;
    if (depth < 0) return false;
    if (c != ',' || depth > 0) continue;
    text.remove_prefix(i + 1);
    return true;
  }
  return false;
}

// The string literal that the text starts with, empty if there is none.
std::string literal(std::string_view text) {
  skip_spaces(text);
  if (!text.starts_with('"')) return {};
  text.remove_prefix(1);
  return std::string(text.substr(0, text.find('"')));
}

void collect(std::string_view source, std::string_view call, int argument,
             std::set<std::string>& out) {
  for (std::size_t at = source.find(call); at != std::string_view::npos;
       at = source.find(call, at + 1)) {
    std::string_view rest = source.substr(at + call.size());
    bool there = true;
    for (int i = 0; i < argument; ++i) there = there && skip_argument(rest);
    if (const std::string rule = literal(rest); there && !rule.empty()) out.insert(rule);
  }
}

// Line breaks and runs of spaces as one space: "push_back(\n      {" and "push_back( {" alike.
std::string flattened(std::string_view source) {
  std::string flat;
  for (const char c : source)
    if (c != '\n' && (c != ' ' || flat.empty() || flat.back() != ' ')) flat += c;
  return flat;
}

// What `find` gives for every source of a folder of the tree, tests aside.
std::set<std::string> over_folder(const std::string& folder,
                                  std::set<std::string> (*find)(std::string_view)) {
  std::set<std::string> out;
  const auto root = std::filesystem::path(KRAIT_SOURCE_DIR) / folder;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(root)) {
    const std::string name = entry.path().filename().string();
    const bool source = name.ends_with(".hpp") || name.ends_with(".cpp");
    if (source && name.find("_test") == std::string::npos) out.merge(find(read_file(entry.path())));
  }
  return out;
}

}  // namespace

std::set<std::string> rules_in(std::string_view source) {
  std::string flat = flattened(source);
  for (std::size_t at = 0; (at = flat.find("push_back( {", at)) != std::string::npos;)
    flat.erase(at + 10, 1);
  std::set<std::string> out;
  collect(flat, "require(", 1, out);
  for (const char* call : {"bad(", "push_back({", "add({"}) collect(flat, call, 0, out);
  return out;
}

std::set<std::string> rules_of_folder(const std::string& folder) {
  return over_folder(folder, rules_in);
}

std::set<std::string> untested_rules() {
  const auto folder = std::filesystem::path(KRAIT_SOURCE_DIR) / "krait/isa/insn";
  std::set<std::string> out;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    std::string name = entry.path().stem().string();
    if (name.ends_with("_test")) continue;
    const std::string tests = read_file(folder / (name + "_test.cpp"));
    for (const std::string& rule : rules_in(read_file(entry.path())))
      if (tests.find("\"" + rule + "\"") == std::string::npos) out.insert(name + ": " + rule);
  }
  return out;
}

std::set<std::string> without_remedy(std::string_view source) {
  const std::string flat = flattened(source);
  std::set<std::string> out;
  for (std::size_t at = flat.find("Report{"); at != std::string::npos;
       at = flat.find("Report{", at + 1)) {
    const std::string before = flat.substr(at < 15 ? 0 : at - 15, at < 15 ? at : 15);
    if (before.find("UserError(") == std::string::npos &&
        before.find("MachineFault(") == std::string::npos)
      continue;
    std::string_view rest = std::string_view(flat).substr(at + 7);
    const std::string what(rest.substr(0, 40));
    bool there = true;
    for (int i = 0; i < 3; ++i) there = there && skip_argument(rest);
    skip_spaces(rest);
    if (!there || rest.starts_with("{}") || rest.starts_with("\"\"")) out.insert(what);
  }
  return out;
}

std::set<std::string> without_remedy_in_folder(const std::string& folder) {
  return over_folder(folder, without_remedy);
}

}  // namespace krait::errors
