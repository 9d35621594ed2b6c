#include "apps/krait/attributes.hpp"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <optional>
#include <set>
#include <vector>

#include "krait/base/error.hpp"
#include "krait/base/file.hpp"
#include "krait/base/text.hpp"
#include "krait/tensor/tensor.hpp"

namespace krait::app {
namespace {

/// JSON integers reach 2^64 - 1; ours end at 2^63 - 1.
std::optional<std::int64_t> whole_number(const Json& value) {
  if (value.is_number_unsigned() &&
      value.get<std::uint64_t>() > std::numeric_limits<std::int64_t>::max())
    return std::nullopt;
  return value.get<std::int64_t>();
}

bool is_shape(const Json& value) {
  return value.is_array() && std::all_of(value.begin(), value.end(), [](const Json& item) {
           return item.is_number_integer() && whole_number(item);
         });
}

Attr parse_attribute(const std::string& name, const Json& value, const std::string& where) {
  if (value.is_boolean()) return value.get<bool>();
  if (value.is_number_integer()) {
    if (const auto number = whole_number(value)) return *number;
    throw UserError(Report{cat("attribute ", name, " is too large"), where, value.dump(),
                           "integers go up to 2^63 - 1"});
  }
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
  std::vector<std::set<std::string>> open_objects;  // the keys of each so far
  const auto no_duplicates = [&](int, Json::parse_event_t event, const Json& value) {
    if (event == Json::parse_event_t::object_start) open_objects.emplace_back();
    if (event == Json::parse_event_t::object_end) open_objects.pop_back();
    if (event == Json::parse_event_t::key &&
        !open_objects.back().insert(value.get<std::string>()).second)
      throw UserError(Report{cat("the key ", value.dump(), " is given twice"),
                             path.string(),
                             {},
                             "keep one of the two"});
    return true;
  };
  try {
    return Json::parse(text, no_duplicates);
  } catch (const Json::exception& error) {  // syntax, or a number such as 1e999
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
