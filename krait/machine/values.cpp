#include "krait/machine/values.hpp"

#include <array>
#include <charconv>
#include <concepts>
#include <system_error>
#include <type_traits>

#include "krait/base/error.hpp"
#include "krait/base/text.hpp"

namespace krait {
namespace {

double number_of(Clock clock) {
  return clock.ghz;
}
double number_of(Cycles cycles) {
  return cycles.value;
}
template <class T>
requires std::is_arithmetic_v<T>
double number_of(T value) {
  return static_cast<double>(value);
}

std::string text_of(bool value) {
  return value ? "yes" : "no";
}
std::string text_of(std::integral auto value) {
  return std::to_string(value);
}
// Shortest decimal that reads back as the same double: independent of locale and library.
std::string text_of(double value) {
  std::array<char, 32> buffer;
  const auto [end, status] = std::to_chars(buffer.data(), buffer.data() + buffer.size(), value);
  KRAIT_ASSERT(status == std::errc{});
  return {buffer.data(), end};
}
std::string text_of(Clock clock) {
  return text_of(clock.ghz);
}
std::string text_of(Cycles cycles) {
  return text_of(cycles.value);
}

void change(bool& value) {
  value = !value;
}
void change(Clock& clock) {
  clock.ghz = 2 * clock.ghz + 1;
}
void change(Cycles& cycles) {
  cycles.value = 2 * cycles.value + 1;
}
template <class T>
requires std::is_arithmetic_v<T>
void change(T& value) {
  value = static_cast<T>(2 * value + 1);
}

template <class T>
ValueRow row_of(std::string_view group, std::string_view name, const Val<T>& val,
                std::string_view unit, std::string_view help) {
  return {.name = cat(group, '.', name),
          .text = text_of(val.value),
          .number = number_of(val.value),
          .unit = unit,
          .help = help,
          .source = val.source};
}

// The list holds every member because the same macro declares the members; the members hold
// nothing else because each struct is exactly as large as its list.
// NOLINTBEGIN(bugprone-macro-parentheses): the macros are terms of a sum.
#define KRAIT_SIZE_OF_VALUE(type, name, unit, help) +sizeof(Val<type>)
#define KRAIT_CHECK_GROUP(type, member, values) \
  static_assert(sizeof(type) == 0 values(KRAIT_SIZE_OF_VALUE));
KRAIT_MACHINE_GROUPS(KRAIT_CHECK_GROUP)
#define KRAIT_SIZE_OF_GROUP(type, member, values) +sizeof(type)
static_assert(sizeof(MachineSpec) == sizeof(Identity) KRAIT_MACHINE_GROUPS(KRAIT_SIZE_OF_GROUP));
// NOLINTEND(bugprone-macro-parentheses)

class Fnv1a {
 public:
  void add(std::string_view text) {
    for (const char c : text) step(static_cast<unsigned char>(c));
    step(0);  // ends the field, so that "ab","c" and "a","bc" differ
  }
  [[nodiscard]] std::uint64_t value() const { return state_; }

 private:
  void step(unsigned char byte) { state_ = (state_ ^ byte) * 0x100000001b3u; }
  std::uint64_t state_ = 0xcbf29ce484222325u;
};

}  // namespace

std::vector<ValueRow> list_values(const MachineSpec& machine) {
  std::vector<ValueRow> rows;
  const auto add_group = [&rows](std::string_view group, auto&& add_values) {
    add_values([&rows, group](std::string_view name, const auto& val, std::string_view unit,
                              std::string_view help) {
      rows.push_back(row_of(group, name, val, unit, help));
    });
  };
#define KRAIT_ADD_VALUE(type, name, unit, help) add(#name, from.name, unit, help);
#define KRAIT_ADD_GROUP(type, member, values) \
  add_group(#member, [&from = machine.member](auto&& add) { values(KRAIT_ADD_VALUE) });
  KRAIT_MACHINE_GROUPS(KRAIT_ADD_GROUP)
  return rows;
}

MachineSpec with_another_value(const MachineSpec& machine, std::size_t index) {
  MachineSpec out = machine;
  std::size_t row = 0;
#define KRAIT_CHANGE_VALUE(type, name, unit, help) \
  if (row++ == index) change(group.name.value);
#define KRAIT_CHANGE_GROUP(type, member, values) \
  [&row, index](auto& group) { values(KRAIT_CHANGE_VALUE) }(out.member);
  KRAIT_MACHINE_GROUPS(KRAIT_CHANGE_GROUP)
  KRAIT_ASSERT(index < row);
  return out;
}

std::uint64_t table_hash(const MachineSpec& machine) {
  Fnv1a hash;
  hash.add(machine.identity.name);
  for_each_value(machine, [&hash](const ValueRow& row) {
    hash.add(row.name);
    hash.add(row.unit);
    hash.add(row.text);
    const char evidence = letter(row.source.evidence);
    hash.add({&evidence, 1});
  });
  return hash.value();
}

}  // namespace krait
