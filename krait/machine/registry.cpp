#include "krait/machine/registry.hpp"

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "krait/base/error.hpp"
#include "krait/base/text.hpp"
#include "krait/machine/tables/tables.hpp"

namespace krait {
namespace {

struct Alias {
  std::string_view alias;
  std::string_view name;
};

// gen2 is the toolchain's word for NeuronCore-v2, hence trn1; it does not mean trn2.
constexpr Alias kAliases[] = {
    {"inf2", "trn1"},          {"inferentia2", "trn1"}, {"trn1n", "trn1"},
    {"trainium1", "trn1"},     {"gen2", "trn1"},        {"v2", "trn1"},
    {"neuroncore-v2", "trn1"}, {"trainium2", "trn2"},   {"trn2u", "trn2"},
    {"gen3", "trn2"},          {"v3", "trn2"},          {"neuroncore-v3", "trn2"},
    {"trainium3", "trn3"},     {"gen4", "trn3"},        {"v4", "trn3"},
    {"neuroncore-v4", "trn3"},
};

std::string lowered(std::string_view text) {
  std::string out(text);
  for (char& c : out)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return out;
}

[[noreturn]] void unknown_machine(std::string_view name) {
  std::vector<std::string> known;
  for (const MachineSpec* machine : machines()) known.emplace_back(machine->name());
  const std::string all = join(known, ", ");
  for (const Alias& entry : kAliases) known.emplace_back(entry.alias);

  constexpr std::size_t kShown = 40;  // a name from a file may be anything
  const std::string shown(name.substr(0, kShown));
  const bool cut = name.size() > kShown;
  std::string fix = "machines: " + all;
  if (!cut && !nearest(lowered(name), known).empty())
    fix = suggest(lowered(name), known) + " " + fix;
  throw UserError(Report{.what = "unknown machine",
                         .where = "machine name",
                         .got = "'" + shown + (cut ? "...'" : "'"),
                         .fix = fix});
}

}  // namespace

std::span<const MachineSpec* const> machines() {
  static const std::array<MachineSpec, 3> specs = {tables::trn1(), tables::trn2(), tables::trn3()};
  static const std::array<const MachineSpec*, 3> list = {&specs[0], &specs[1], &specs[2]};
  return list;
}

const MachineSpec& find_machine(std::string_view name) {
  std::string wanted = lowered(name);
  for (const Alias& entry : kAliases)
    if (entry.alias == wanted) wanted = entry.name;
  for (const MachineSpec* machine : machines())
    if (machine->name() == wanted) return *machine;
  unknown_machine(name);
}

}  // namespace krait
