#pragma once

// Named parameters of operators and kernels: what exists, its default, range and help; and a
// checked set of values. One vocabulary everywhere: batch, length, d_model, d_inner, d_state,
// d_conv, nheads, headdim, ngroups, chunk, rank, rows, width, dtype, lnc, seed; a kernel may add
// its own.

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace krait {

enum class ParamKind : std::uint8_t { kInt, kReal, kFlag, kChoice, kText };  // kText: any

struct ParamSpec {
  std::string name;
  ParamKind kind = ParamKind::kInt;
  std::string default_value;
  double min = 1, max = 1e15;        // numbers
  std::vector<std::string> choices;  // kChoice
  std::string help;
};

/// A bound of a spec's range as text; whole numbers in full.
[[nodiscard]] std::string bound_text(const ParamSpec& spec, double bound);

/// Values for a list of specs; every value is valid for its spec.
class Params {
 public:
  Params() = default;
  /// Defaults of every spec. A name that occurs twice keeps its first spec.
  explicit Params(std::vector<ParamSpec> specs);

  /// @throws UserError for an unknown name (with the nearest ones) or a value outside its range
  void set(std::string_view name, std::string_view value);
  /// "name=value". @throws UserError
  void set_assignment(std::string_view assignment);
  /// Several of them. @throws UserError also for a name given twice: which was meant nobody can say
  void set_assignments(std::span<const std::string> assignments);
  [[nodiscard]] bool has(std::string_view name) const;
  [[nodiscard]] std::int64_t integer(std::string_view name) const;
  [[nodiscard]] double real(std::string_view name) const;
  [[nodiscard]] bool flag(std::string_view name) const;
  [[nodiscard]] const std::string& text(std::string_view name) const;
  [[nodiscard]] const std::map<std::string, std::string, std::less<>>& values() const {
    return values_;
  }
  [[nodiscard]] const std::vector<ParamSpec>& specs() const { return specs_; }

 private:
  [[nodiscard]] const ParamSpec& spec(std::string_view name) const;
  std::vector<ParamSpec> specs_;
  std::map<std::string, std::string, std::less<>> values_;
};

/// An operator's attributes: delta_softplus, norm_before_gate, group_size, eps, ...
using Attr = std::variant<bool, std::int64_t, double, std::string>;
using Attrs = std::map<std::string, Attr, std::less<>>;

/// The attribute, or `fallback` if absent. Integers convert to reals.
/// @throws UserError on another type
[[nodiscard]] bool attr_flag(const Attrs& attrs, std::string_view name, bool fallback);
[[nodiscard]] std::int64_t attr_int(const Attrs& attrs, std::string_view name,
                                    std::int64_t fallback);
[[nodiscard]] double attr_real(const Attrs& attrs, std::string_view name, double fallback);

}  // namespace krait
