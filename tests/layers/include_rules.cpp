#include "tests/layers/include_rules.hpp"

#include "krait/base/text.hpp"

namespace krait::testing_support {
namespace {

void add_with_dependencies(const std::string& layer, std::set<std::string>& out) {
  if (!out.insert(layer).second) return;
  for (const std::string& next : layer_table().at(layer)) add_with_dependencies(next, out);
}

void skip_blanks(std::string_view& text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
}

/// The path of an #include "..." line, with blanks wherever the preprocessor allows them, or empty.
std::string quoted_include(std::string_view line) {
  skip_blanks(line);
  if (!line.starts_with('#')) return {};
  line.remove_prefix(1);
  skip_blanks(line);
  constexpr std::string_view kWord = "include";
  if (!line.starts_with(kWord)) return {};
  line.remove_prefix(kWord.size());
  skip_blanks(line);
  if (!line.starts_with('"')) return {};
  line.remove_prefix(1);
  return std::string(line.substr(0, line.find('"')));
}

/// Why a file of `layer` may not include `include`; empty if it may.
std::string objection(const std::string& layer, const std::string& include) {
  if (include.starts_with("../") || include.find("/../") != std::string::npos)
    return "climbs out of its folder; write the path from the root";
  const std::string target = layer_of(include);
  if (target.empty()) {
    const bool ours = include.starts_with("tests/") || include.starts_with("bench/") ||
                      include.starts_with("examples/");
    return ours ? "is not part of the library" : "";
  }
  if (!layer_table().contains(target)) return "names a layer that the table does not know";
  return allowed_layers(layer).contains(target) ? "" : "points up the layers";
}

}  // namespace

// clang-format off
const LayerTable& layer_table() {
  static const LayerTable table{
      {"base", {}},
      {"numerics", {"base"}},
      {"tensor", {"numerics"}},
      {"linalg", {"tensor"}},
      {"machine", {"base"}},
      {"isa", {"machine", "linalg"}},  // linalg: nc_matmul executes as a fixed-order product
      {"ir", {"isa"}},
      {"dsl", {"ir"}},
      {"sim", {"ir", "linalg"}},
      {"kernels", {"dsl"}},
      {"cpu", {"linalg"}},
      {"ops", {"cpu", "kernels", "sim"}},
      {"study", {"ops"}},
      {"apps/krait", {"study"}},
  };
  // clang-format on
  return table;
}

std::set<std::string> allowed_layers(const std::string& layer) {
  std::set<std::string> out;
  if (layer_table().contains(layer)) add_with_dependencies(layer, out);
  return out;
}

std::string layer_of(std::string_view path) {
  const std::vector<std::string> parts = split(path, '/');
  if (parts.size() >= 3 && parts[0] == "krait") return parts[1];
  if (parts.size() >= 3 && parts[0] == "apps") return parts[0] + "/" + parts[1];
  return {};
}

std::vector<std::string> include_violations(const std::string& path, std::string_view text) {
  std::vector<std::string> out;
  const std::string layer = layer_of(path);
  if (!layer_table().contains(layer)) return {path + ": its folder is not in the layer table"};
  const std::set<std::string> allowed = allowed_layers(layer);
  const std::string list = join(std::vector<std::string>(allowed.begin(), allowed.end()), ", ");
  int number = 0;
  for (const std::string& line : split(text, '\n')) {
    ++number;
    const std::string include = quoted_include(line);
    if (include.empty()) continue;
    const std::string why = objection(layer, include);
    if (why.empty()) continue;
    out.push_back(
        cat(path, ":", number, ": \"", include, "\" ", why, "; ", layer, " may include: ", list));
  }
  return out;
}

}  // namespace krait::testing_support
