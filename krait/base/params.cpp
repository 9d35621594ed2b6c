#include "krait/base/params.hpp"

#include <algorithm>
#include <cmath>
#include <set>

#include "krait/base/error.hpp"
#include "krait/base/text.hpp"

namespace krait {
namespace {

[[noreturn]] void bad_value(const ParamSpec& spec, std::string_view value,
                            const std::string& wanted) {
  const bool near = !nearest(value, spec.choices).empty();
  throw UserError(Report{
      cat("parameter ", spec.name, " must be ", wanted), spec.help, cat(spec.name, "=", value),
      near ? suggest(value, spec.choices) : cat("e.g. ", spec.name, "=", spec.default_value)});
}

void check(const ParamSpec& spec, std::string_view value) {
  const auto range = cat(" from ", bound_text(spec, spec.min), " to ", bound_text(spec, spec.max));
  switch (spec.kind) {
    case ParamKind::kInt: {
      const auto number = parse_int(value);
      if (!number || static_cast<double>(*number) < spec.min ||
          static_cast<double>(*number) > spec.max)
        bad_value(spec, value, "an integer" + range);
      return;
    }
    case ParamKind::kReal: {
      const auto number = parse_double(value);
      if (!number || !(*number >= spec.min && *number <= spec.max))
        bad_value(spec, value, "a number" + range);
      return;
    }
    case ParamKind::kFlag:
      if (value != "0" && value != "1") bad_value(spec, value, "0 or 1");
      return;
    case ParamKind::kChoice:
      if (std::find(spec.choices.begin(), spec.choices.end(), value) == spec.choices.end())
        bad_value(spec, value, "one of " + join(spec.choices, ", "));
      return;
    case ParamKind::kText:
      return;
  }
}

template <class T>
T attr_as(const Attrs& attrs, std::string_view name, T fallback, const char* wanted) {
  const auto found = attrs.find(name);
  if (found == attrs.end()) return fallback;
  if (const T* value = std::get_if<T>(&found->second)) return *value;
  throw UserError(Report{cat("attribute ", name, " must be ", wanted),
                         "operator attributes",
                         {},
                         cat("give ", name, " as ", wanted)});
}

}  // namespace

std::string bound_text(const ParamSpec& spec, double bound) {
  if (spec.kind == ParamKind::kInt &&
      std::abs(bound) <= 0x1p53)  // exact; cat would show 1.67772e+07
    return std::to_string(static_cast<std::int64_t>(bound));
  return cat(bound);
}

Params::Params(std::vector<ParamSpec> specs) {
  for (ParamSpec& s : specs) {
    if (values_.contains(s.name)) continue;
    values_[s.name] = s.default_value;
    specs_.push_back(std::move(s));
  }
}

const ParamSpec& Params::spec(std::string_view name) const {
  std::vector<std::string> names;
  for (const ParamSpec& s : specs_) {
    if (s.name == name) return s;
    names.push_back(s.name);
  }
  throw UserError(Report{cat("no parameter is called '", name, "'"), {}, {}, suggest(name, names)});
}

void Params::set(std::string_view name, std::string_view value) {
  const ParamSpec& s = spec(name);
  check(s, value);
  values_[s.name] = std::string(value);
}

void Params::set_assignment(std::string_view assignment) {
  const auto equals = assignment.find('=');
  if (equals == std::string_view::npos)
    throw UserError(Report{"a parameter is given as name=value", "--set", std::string(assignment),
                           cat("write --set ", assignment, "=VALUE")});
  set(assignment.substr(0, equals), assignment.substr(equals + 1));
}

void Params::set_assignments(std::span<const std::string> assignments) {
  std::set<std::string, std::less<>> given;
  for (const std::string& assignment : assignments) {
    set_assignment(assignment);
    const std::string name = assignment.substr(0, assignment.find('='));
    if (!given.insert(name).second)
      throw UserError(Report{cat("parameter ", name, " is given twice"), "--set", assignment,
                             "keep one value"});
  }
}

bool Params::has(std::string_view name) const {
  return values_.find(name) != values_.end();
}

const std::string& Params::text(std::string_view name) const {
  const auto found = values_.find(name);
  KRAIT_ASSERT(found != values_.end());
  return found->second;
}

std::int64_t Params::integer(std::string_view name) const {
  const auto value = parse_int(text(name));
  KRAIT_ASSERT(value.has_value());
  return *value;
}

double Params::real(std::string_view name) const {
  const auto value = parse_double(text(name));
  KRAIT_ASSERT(value.has_value());
  return *value;
}

bool Params::flag(std::string_view name) const {
  return text(name) == "1";
}

bool attr_flag(const Attrs& attrs, std::string_view name, bool fallback) {
  return attr_as<bool>(attrs, name, fallback, "true or false");
}

std::int64_t attr_int(const Attrs& attrs, std::string_view name, std::int64_t fallback) {
  return attr_as<std::int64_t>(attrs, name, fallback, "an integer");
}

double attr_real(const Attrs& attrs, std::string_view name, double fallback) {
  const auto found = attrs.find(name);
  if (found != attrs.end())
    if (const auto* whole = std::get_if<std::int64_t>(&found->second))
      return static_cast<double>(*whole);
  return attr_as<double>(attrs, name, fallback, "a number");
}

}  // namespace krait
