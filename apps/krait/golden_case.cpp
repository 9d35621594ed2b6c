#include "apps/krait/golden_case.hpp"

#include <algorithm>
#include <array>
#include <set>
#include <system_error>

#include "apps/krait/attributes.hpp"
#include "apps/krait/json.hpp"
#include "krait/base/error.hpp"
#include "krait/base/file.hpp"
#include "krait/base/sha256.hpp"
#include "krait/base/text.hpp"
#include "krait/tensor/safetensors.hpp"

namespace krait::app {
namespace {

namespace fs = std::filesystem;

constexpr const char* kData = ".safetensors";
constexpr const char* kSidecar = ".json";

/// A member of a sidecar. @throws UserError if it is missing
const Json& member(const Json& object, const char* key, const std::string& where) {
  if (!object.is_object() || !object.contains(key))
    throw UserError(
        Report{cat("the sidecar has no ", key), where, {}, cat("add the key \"", key, "\"")});
  return object.at(key);
}

std::string text_member(const Json& object, const char* key, const std::string& where) {
  const Json& value = member(object, key, where);
  if (!value.is_string())
    throw UserError(
        Report{cat(key, " must be a text"), where, value.type_name(), "put it in quotes"});
  return value.get<std::string>();
}

double bound(const Json& object, const char* key, const std::string& where) {
  const Json& value = member(object, key, where);
  if (!value.is_number() || !(value.get<double>() >= 0))
    throw UserError(Report{cat("tolerance ", key, " must be a number of at least 0"), where,
                           value.dump(-1, ' ', false, Json::error_handler_t::replace),
                           "e.g. 1e-6"});
  return value.get<double>();
}

ops::Tolerance tolerance(const Json& sidecar, const char* precision, const char* rtol,
                         const std::string& where) {
  const Json& bounds = member(member(sidecar, "tolerance", where), precision, where);
  return {.rtol = bound(bounds, rtol, where), .atol = bound(bounds, "atol", where)};
}

void check_identity(const Json& sidecar, const fs::path& data, const std::string& where) {
  if (!sidecar.contains("sha256") && !sidecar.contains("bytes")) return;
  const std::string bytes = read_file(data);
  if (sidecar.contains("bytes") && sidecar["bytes"] != bytes.size())
    throw UserError(Report{cat(data.filename().string(), " has another size than its sidecar says"),
                           where, cat(bytes.size(), " bytes, the sidecar says ", sidecar["bytes"]),
                           "fetch the data again"});
  if (!sidecar.contains("sha256")) return;
  const std::string wanted = text_member(sidecar, "sha256", where), got = sha256_hex(bytes);
  if (wanted != got)
    throw UserError(
        Report{cat(data.filename().string(), " has another SHA-256 than its sidecar says"), where,
               cat(got, ", the sidecar says ", wanted), "fetch the data again"});
}

/// Attributes that the operator does not know describe something it cannot check.
Attrs known_attributes(const ops::Operator& op, const Attrs& all) {
  Attrs out;
  for (const ops::AttrSpec& spec : op.attributes)
    if (const auto found = all.find(spec.name); found != all.end()) out.insert(*found);
  return out;
}

void sort_tensors(const TensorMap& tensors, const std::string& where, GoldenCase& out) {
  for (const auto& [name, tensor] : tensors) {
    const auto [prefix, rest] = split_prefix(name);
    const std::string key(rest);
    if (prefix.empty())
      throw UserError(Report{cat("tensor ", name, " has no known prefix"),
                             where,
                             {},
                             "use in., param., out., gout. or grad."});
    if (prefix == "out") out.expected.emplace(key, tensor);
    if (prefix != "in" && prefix != "param") continue;
    if (!out.call.inputs.emplace(key, tensor).second)
      throw UserError(
          Report{cat("input ", key, " is given twice"), where, {}, "keep one of in. and param."});
  }
}

void check_expected(const GoldenCase& c, const std::string& where) {
  if (c.expected.empty())
    throw UserError(
        Report{"the data has no expected outputs", where, {}, "add tensors named out.*"});
  const auto shapes = c.op->output_shapes(ops::problem_of(c.call));
  std::vector<std::string> known;
  known.reserve(shapes.size());
  for (const auto& [name, shape] : shapes) known.push_back(name);
  for (const auto& [name, shape] : shapes)
    if (!c.expected.contains(name))
      throw UserError(Report{cat("the data has no expected output out.", name),
                             where,
                             {},
                             cat("add it, else ", name, " would pass unchecked")});
  for (const auto& [name, tensor] : c.expected)
    if (!shapes.contains(name))
      throw UserError(Report{
          cat(c.op->name, " has no output called '", name, "'"), where, {}, suggest(name, known)});
}

}  // namespace

PrefixedName split_prefix(std::string_view name) {
  for (const std::string_view prefix : {"in", "param", "out", "gout", "grad"})
    if (name.size() > prefix.size() + 1 && name.starts_with(prefix) && name[prefix.size()] == '.')
      return {prefix, name.substr(prefix.size() + 1)};
  return {"", name};
}

std::vector<fs::path> find_sidecars(const fs::path& path) {
  std::error_code error;
  const fs::file_status status = fs::status(path, error);
  if (!fs::exists(status))
    throw UserError(Report{"no such file or folder", path.string(), {}, "check the path"});
  if (!fs::is_directory(status)) return {fs::path(path).replace_extension(kSidecar)};
  std::set<fs::path> out;
  for (fs::recursive_directory_iterator it(path, error), end; !error && it != end;
       it.increment(error)) {
    const fs::path file = it->path();
    const bool sidecar = file.extension() == kSidecar && file.filename() != "index.json";
    if (sidecar || file.extension() == kData)
      out.insert(fs::path(file).replace_extension(kSidecar));
  }
  if (error)
    throw UserError(Report{"cannot read the folder", path.string(), error.message(),
                           "make it readable, or name the cases one by one"});
  if (out.empty())
    throw UserError(Report{"no golden cases in this folder",
                           path.string(),
                           {},
                           "a case is a .json beside a .safetensors of the same name"});
  return {out.begin(), out.end()};
}

GoldenCase load_case(const fs::path& sidecar_path) {
  const std::string where = sidecar_path.string();
  const Json sidecar = read_json(sidecar_path);
  GoldenCase out;
  out.name = text_member(sidecar, "name", where);
  out.group = text_member(sidecar, "group", where);
  out.op = ops::operator_of_group(out.group);
  if (out.op == nullptr) return out;
  out.f64 = tolerance(sidecar, "float64", "rtol", where);
  out.f32 = tolerance(sidecar, "float32", "rtol_out", where);
  const fs::path data = fs::path(sidecar_path).replace_extension(kData);
  check_identity(sidecar, data, where);
  sort_tensors(read_safetensors(data).tensors, data.string(), out);
  out.call.attrs =
      known_attributes(*out.op, parse_attributes(member(sidecar, "attributes", where), where));
  ops::validate(*out.op, out.call);
  check_expected(out, data.string());
  return out;
}

}  // namespace krait::app
