#include "krait/study/job.hpp"

#include <array>
#include <vector>

#include "krait/base/error.hpp"
#include "krait/base/text.hpp"

namespace krait::study {
namespace {

constexpr std::array<std::string_view, 2> kKindNames{"predict", "measure"};
constexpr std::array<std::string_view, 4> kRoleNames{"naive", "compiler", "custom", "probe"};

template <class Enum, std::size_t N>
Enum parse_name(const std::array<std::string_view, N>& names, std::string_view text,
                std::string_view what) {
  for (std::size_t i = 0; i < N; ++i)
    if (names[i] == text) return static_cast<Enum>(i);
  const std::vector<std::string> known(names.begin(), names.end());
  throw UserError(
      Report{cat("unknown ", what, " of a job"), {}, std::string(text), suggest(text, known)});
}

// Length first, so that no value can imitate the separator of another.
void append_field(std::string& out, std::string_view name, std::string_view value) {
  out += cat(name, '=', value.size(), ':', value, ' ');
}

void append_params(std::string& out, std::string_view name, const ParamMap& params) {
  out += cat(name, '=', params.size(), '{');
  for (const auto& [key, value] : params) append_field(out, key, value);
  out += "} ";
}

bool needs_quotes(std::string_view text) {
  constexpr std::string_view kPlain =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+=.,:/@%";
  return text.empty() || text.find_first_not_of(kPlain) != std::string_view::npos;
}

std::string shell_word(std::string_view text) {
  if (!needs_quotes(text)) return std::string(text);
  std::string out = "'";
  for (const char c : text) {
    if (c == '\'') out += "'\\'";
    out += c;
  }
  return out + "'";
}

void append_settings(std::string& out, const ParamMap& params) {
  for (const auto& [key, value] : params) out += cat(" --set ", shell_word(cat(key, '=', value)));
}

}  // namespace

std::string_view name(JobKind kind) {
  return kKindNames[static_cast<std::size_t>(kind)];
}
std::string_view name(Role role) {
  return kRoleNames[static_cast<std::size_t>(role)];
}
JobKind parse_kind(std::string_view text) {
  return parse_name<JobKind>(kKindNames, text, "kind");
}
Role parse_role(std::string_view text) {
  return parse_name<Role>(kRoleNames, text, "role");
}

std::string label(std::string_view name, const ParamMap& params) {
  std::string out(name);
  for (const auto& [key, value] : params) out += cat(' ', key, '=', value);
  return out;
}

std::string variant_label(const JobSpec& spec) {
  return label(spec.variant, spec.tuning) + (spec.rounding ? "" : ", no rounding");
}

std::string canonical_text(const JobSpec& spec) {
  std::string out;
  append_field(out, "kind", name(spec.kind));
  append_field(out, "operator", spec.op);
  append_field(out, "context", spec.context);
  append_field(out, "machine", spec.machine);
  append_field(out, "variant", spec.variant);
  append_params(out, "shape", spec.shape);
  append_params(out, "tuning", spec.tuning);
  append_field(out, "rounding", spec.rounding ? "on" : "off");
  append_field(out, "seed", std::to_string(spec.seed));
  append_field(out, "table", spec.table_hash);
  append_field(out, "host", spec.host);
  append_field(out, "version", spec.version);
  return out;
}

std::string hex16(std::uint64_t value) {
  std::string out(16, '0');
  for (std::size_t i = 0; i < 16; ++i) out[15 - i] = "0123456789abcdef"[(value >> (4 * i)) & 15];
  return out;
}

std::string hash_text(std::string_view text) {
  std::uint64_t hash = 0xCBF29CE484222325ULL;
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001B3ULL;
  return hex16(hash);
}

std::string job_key(const JobSpec& spec) {
  return hash_text(canonical_text(spec));
}

std::string command_of(const JobSpec& spec) {
  if (spec.kind == JobKind::kMeasure) return "krait jobs rerun " + job_key(spec);
  std::string out =
      cat("krait sim ", shell_word(spec.variant), " --machine ", shell_word(spec.machine));
  append_settings(out, spec.shape);
  append_settings(out, spec.tuning);
  out += cat(" --set seed=", spec.seed);
  if (!spec.rounding) out += " --no-rounding";
  return out + " --json";
}

}  // namespace krait::study
