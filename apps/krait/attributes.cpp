#include "apps/krait/attributes.hpp"

#include <algorithm>

#include "krait/base/error.hpp"
#include "krait/base/file.hpp"
#include "krait/base/text.hpp"
#include "krait/tensor/tensor.hpp"

namespace krait::app {
namespace {

bool is_shape(const Json& value) {
  return value.is_array() && std::all_of(value.begin(), value.end(),
                                         [](const Json& item) { return item.is_number_integer(); });
}

Attr parse_attribute(const std::string& name, const Json& value, const std::string& where) {
  if (value.is_boolean()) return value.get<bool>();
  if (value.is_number_integer()) return value.get<std::int64_t>();
  if (value.is_number_float()) return value.get<double>();
  if (value.is_string()) return value.get<std::string>();
  if (is_shape(value)) return krait::to_string(value.get<Shape>());
  throw UserError(
      Report{cat("attribute ", name, " has a value of a kind that attributes cannot have"), where,
             value.type_name(), "use true, false, a number, a text or null"});
}

}  // namespace

Json read_json(const std::filesystem::path& path) {
  const std::string text = read_file(path);
  try {
    return Json::parse(text);
  } catch (const Json::parse_error& error) {
    // "[json.exception.parse_error.101] parse error at line 1, column 2: ..."
    const std::string message = error.what();
    const auto start = message.find("] ");
    throw UserError(Report{"not a JSON file", path.string(),
                           start == std::string::npos ? message : message.substr(start + 2),
                           "correct the file at that place"});
  }
}

Attrs parse_attributes(const Json& object, const std::string& where) {
  if (!object.is_object())
    throw UserError(Report{"attributes must be a JSON object", where, object.type_name(),
                           "e.g. {\"delta_softplus\": true}"});
  Attrs out;
  for (const auto& [name, value] : object.items())
    if (!value.is_null()) out[name] = parse_attribute(name, value, where);
  return out;
}

}  // namespace krait::app
