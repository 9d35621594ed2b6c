#pragma once

// A job: one variant of one operator on one machine, and everything that determines its result.

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

namespace krait::study {

/// A prediction comes from the simulator, a measurement from the clock of real hardware.
enum class JobKind : std::uint8_t { kPredict, kMeasure };
/// Its place in the map. A probe answers a question of its own and takes part in no verdict.
enum class Role : std::uint8_t { kNaive, kCompiler, kCustom, kProbe };

[[nodiscard]] std::string_view name(JobKind kind);
[[nodiscard]] std::string_view name(Role role);
/// @throws UserError for another word
[[nodiscard]] JobKind parse_kind(std::string_view text);
[[nodiscard]] Role parse_role(std::string_view text);

/// Parameter values by name, as text.
using ParamMap = std::map<std::string, std::string>;

struct JobSpec {
  JobKind kind = JobKind::kPredict;
  std::string op;  // "rmsnorm"
  std::string context = "alone";
  std::string machine;  // "trn2"; "cpu" for this host
  std::string variant;  // kernel; on the CPU "naive", "compiler", "custom"
  Role role = Role::kCustom;
  ParamMap shape;          // parameters of the operator that differ from its defaults
  ParamMap tuning;         // parameters of the kernel that differ from its defaults
  bool rounding = true;    // false: 16-bit floats keep f32 values
  std::uint64_t seed = 0;  // of the random inputs; below 2^63, so that every tool can read it
  std::string table_hash;  // of the machine's table, 16 hex digits; empty on the CPU
  std::string host;        // processor and threads of a measured job; empty if predicted
  std::string version;     // program version

  bool operator==(const JobSpec&) const = default;
};

/// "rmsnorm rows=512 width=4096", "scan_stepwise columns=4": a name with its parameters.
[[nodiscard]] std::string label(std::string_view name, const ParamMap& params);
/// Variant with its tuning, and "no rounding" if so.
[[nodiscard]] std::string variant_label(const JobSpec& spec);

/// One line of text that spells every field but the role: equal texts, equal jobs.
[[nodiscard]] std::string canonical_text(const JobSpec& spec);
/// 16 hex digits: 64-bit FNV-1a of canonical_text. The same on every host and in every release.
[[nodiscard]] std::string job_key(const JobSpec& spec);
/// 64-bit FNV-1a as 16 hex digits.
[[nodiscard]] std::string hash_text(std::string_view text);
/// 16 hex digits of a number.
[[nodiscard]] std::string hex16(std::uint64_t value);

/// The command line that makes this result again.
[[nodiscard]] std::string command_of(const JobSpec& spec);

}  // namespace krait::study
