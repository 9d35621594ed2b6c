#include "apps/krait/params_view.hpp"

#include "apps/krait/output.hpp"
#include "krait/base/text.hpp"

namespace krait::app {
namespace {

const char* kind_name(ParamKind kind) {
  switch (kind) {
    case ParamKind::kInt:
      return "integer";
    case ParamKind::kReal:
      return "real";
    case ParamKind::kFlag:
      return "flag";
    case ParamKind::kChoice:
      return "choice";
    case ParamKind::kText:
      return "text";
  }
  return "";
}

bool is_number(const ParamSpec& spec) {
  return spec.kind == ParamKind::kInt || spec.kind == ParamKind::kReal;
}

std::string range_text(const ParamSpec& spec) {
  if (is_number(spec)) return cat(bound_text(spec, spec.min), " .. ", bound_text(spec, spec.max));
  if (spec.kind == ParamKind::kText) return "text";
  return spec.kind == ParamKind::kFlag ? "0, 1" : join(spec.choices, ", ");
}

}  // namespace

Json params_json(std::span<const ParamSpec> specs) {
  Json list = Json::array();
  for (const ParamSpec& spec : specs) {
    Json json;
    json["name"] = spec.name;
    json["kind"] = kind_name(spec.kind);
    json["default"] = spec.default_value;
    if (is_number(spec)) json["min"] = spec.min, json["max"] = spec.max;
    if (spec.kind == ParamKind::kChoice) json["choices"] = spec.choices;
    json["help"] = spec.help;
    list.push_back(std::move(json));
  }
  return list;
}

std::string params_text(std::span<const ParamSpec> specs) {
  TextTable table({"parameter", "default", "range", "what it is"});
  for (const ParamSpec& spec : specs)
    table.add({spec.name, spec.default_value, range_text(spec), spec.help});
  return table.text();
}

Json values_json(const Params& params) {
  Json json = Json::object();
  for (const ParamSpec& spec : params.specs()) {
    switch (spec.kind) {
      case ParamKind::kInt:
        json[spec.name] = params.integer(spec.name);
        break;
      case ParamKind::kReal:
        json[spec.name] = params.real(spec.name);
        break;
      case ParamKind::kFlag:
        json[spec.name] = params.flag(spec.name);
        break;
      case ParamKind::kChoice:
      case ParamKind::kText:
        json[spec.name] = params.text(spec.name);
        break;
    }
  }
  return json;
}

}  // namespace krait::app
