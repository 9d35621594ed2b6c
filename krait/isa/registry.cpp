#include <array>
#include <string>
#include <vector>

#include "krait/base/error.hpp"
#include "krait/base/text.hpp"
#include "krait/isa/insn.hpp"
#include "krait/isa/insns.hpp"

namespace krait::isa {
namespace {

const std::vector<const InsnDef*>& registry() {
  static const auto kDefs = [] {
    static const std::array kStorage{
#define KRAIT_INSN(type, header) make_def<type>(),
#include "krait/isa/insn_list.inc"
#undef KRAIT_INSN
    };
    std::vector<const InsnDef*> out;
    out.reserve(kStorage.size());
    for (const InsnDef& def : kStorage) out.push_back(&def);
    return out;
  }();
  return kDefs;
}

}  // namespace

std::span<const InsnDef* const> instructions() {
  return registry();
}

const InsnDef& find_instruction(std::string_view name) {
  std::vector<std::string> names;
  for (const InsnDef* def : registry()) {
    if (def->info.name == name) return *def;
    names.emplace_back(def->info.name);
  }
  throw UserError(
      Report{cat("no instruction is called '", name, "'"), {}, {}, suggest(name, names)});
}

std::vector<Violation> check(const InsnDef& def, const void* self, const MachineSpec& machine) {
  Checker checker(machine);
  bool usable = true;
  for_each_tile(def, self, [&](const FieldInfo& field, const Tile& tile) {
    usable = checker.tile(field.name, tile, def.info.by_dma, def.info.packed) && usable;
  });
  if (usable) def.check(self, checker);
  return checker.violations();
}

}  // namespace krait::isa
