// krait insn [NAME]: the instructions; or one with its formula, fields, rules and costs.

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <memory>
#include <string>
#include <vector>

#include "apps/krait/command.hpp"
#include "apps/krait/insn_sample.hpp"
#include "apps/krait/json.hpp"
#include "apps/krait/output.hpp"
#include "krait/base/text.hpp"
#include "krait/isa/insn.hpp"
#include "krait/machine/registry.hpp"

namespace krait::app {
namespace {

using isa::Engine;
using isa::InsnDef;

struct Options {
  std::string name;  // empty: list
};

constexpr std::array<std::int64_t, 4> kSampleSizes{1, 64, 128, 512};

const char* role_name(isa::Role role) {
  switch (role) {
    case isa::Role::kOut:
      return "output tile";
    case isa::Role::kIn:
      return "input tile";
    case isa::Role::kOperand:
      return "constant, or a tile of one element a partition";
    case isa::Role::kAttr:
      return "attribute";
  }
  return "";
}

std::string default_of(const isa::FieldInfo& field, const isa::Sample& fresh) {
  if (field.text == nullptr) return {};
  return field.text(static_cast<const char*>(fresh.self()) + field.offset);
}

/// What a legal instruction of n elements a partition costs.
struct SampleCost {
  std::int64_t n;
  isa::Timing timing;
};

std::vector<SampleCost> costs(const InsnDef& def, const MachineSpec& machine) {
  std::vector<SampleCost> out;
  for (const std::int64_t n : kSampleSizes)
    if (const auto sample = legal_sample(def, machine, n)) {
      const isa::Timing timing = def.time(sample->self(), machine);
      // Not every size is legal: the sample may be a little larger.
      const std::int64_t size = timing.elements > 0 ? timing.elements : n;
      if (out.empty() || out.back().n != size) out.push_back({size, timing});
    }
  return out;
}

Json cost_json(const SampleCost& cost) {
  Json json;
  json["n"] = cost.n;
  json["occupancy_cycles"] = cost.timing.occupancy.value;
  json["latency_cycles"] = cost.timing.latency.value;
  if (cost.timing.dma.partitions > 0) {
    json["dma_rows"] = cost.timing.dma.partitions;
    json["dma_descriptors_per_row"] = cost.timing.dma.runs;
    json["dma_descriptor_bytes"] = cost.timing.dma.run_bytes;
    json["issue_ns"] = cost.timing.issue.ns();
  }
  return json;
}

Json fields_json(const InsnDef& def) {
  const isa::Sample fresh(def);
  Json list = Json::array();
  for (const isa::FieldInfo& field : def.fields) {
    Json json;
    json["name"] = field.name;
    json["role"] = role_name(field.role);
    if (field.text != nullptr) json["default"] = default_of(field, fresh);
    list.push_back(std::move(json));
  }
  return list;
}

/// A rule and the operands that broken samples met it for.
struct Rule {
  isa::Violation violation;
  std::vector<std::string> operands;  // empty: `what` names what it is about
};

/// Splits "dst lies in HBM" into the operand and the rest, so that equal rules become one line.
Rule split_operand(const InsnDef& def, isa::Violation violation) {
  for (const isa::FieldInfo& field : def.fields) {
    const std::string prefix = cat(field.name, " ");
    if (violation.what.starts_with(prefix) && !violation.what.starts_with(prefix + "and ")) {
      violation.what.erase(0, prefix.size());
      return {std::move(violation), {std::string(field.name)}};
    }
  }
  return {std::move(violation), {}};
}

void merge(std::vector<Rule>& rules, Rule rule) {
  for (Rule& known : rules) {
    if (known.violation.rule != rule.violation.rule || known.violation.what != rule.violation.what)
      continue;
    for (const std::string& operand : rule.operands)
      if (std::find(known.operands.begin(), known.operands.end(), operand) == known.operands.end())
        known.operands.push_back(operand);
    return;
  }
  rules.push_back(std::move(rule));
}

/// Of all machines.
std::vector<Rule> all_rules(const InsnDef& def) {
  std::vector<Rule> out;
  for (const MachineSpec* machine : machines())
    for (isa::Violation& v : rules(def, *machine)) merge(out, split_operand(def, std::move(v)));
  return out;
}

Json rules_json(const InsnDef& def) {
  Json list = Json::array();
  for (const Rule& rule : all_rules(def))
    list.push_back({{"rule", rule.violation.rule},
                    {"operands", rule.operands},
                    {"what", rule.violation.what},
                    {"fix", rule.violation.fix}});
  return list;
}

Json summary_json(const InsnDef& def) {
  Json json;
  json["name"] = def.info.name;
  json["engine"] = isa::name(def.info.engine);
  json["summary"] = def.info.summary;
  json["formula"] = def.info.formula;
  json["cost_evidence"] = std::string(1, letter(def.info.cost_source.evidence));
  json["cost_source"] = def.info.cost_source.text;
  return json;
}

Json insn_json(const InsnDef& def) {
  Json json = summary_json(def);
  json["fields"] = fields_json(def);
  Json& by_machine = json["costs"] = Json::object();
  for (const MachineSpec* machine : machines()) {
    Json& list = by_machine[std::string(machine->name())] = Json::array();
    for (const SampleCost& cost : costs(def, *machine)) list.push_back(cost_json(cost));
  }
  json["rules"] = rules_json(def);
  return json;
}

Json list_json() {
  Json json;
  Json& list = json["instructions"] = Json::array();
  for (const InsnDef* def : isa::instructions()) list.push_back(summary_json(*def));
  return json;
}

std::string list_text() {
  TextTable table({"instruction", "engine", "what it does"});
  for (const InsnDef* def : isa::instructions())
    table.add({std::string(def->info.name), std::string(isa::name(def->info.engine)),
               std::string(def->info.summary)});
  return table.text();
}

std::string fields_text(const InsnDef& def) {
  const isa::Sample fresh(def);
  TextTable table({"field", "default", "what it is"});
  for (const isa::FieldInfo& field : def.fields)
    table.add({std::string(field.name), default_of(field, fresh), role_name(field.role)});
  return table.text();
}

std::string costs_text(const InsnDef& def) {
  const bool dma = !costs(def, *machines().front()).empty() &&
                   costs(def, *machines().front()).front().timing.dma.partitions > 0;
  TextTable table(dma ? std::vector<std::string>{"machine", "N", "rows", "descriptors a row",
                                                 "bytes each", "issue"}
                      : std::vector<std::string>{"machine", "N", "occupies", "visible after"});
  for (const MachineSpec* machine : machines()) {
    for (const auto& [n, t] : costs(def, *machine)) {
      if (dma)
        table.add({std::string(machine->name()), cat(n), cat(t.dma.partitions), cat(t.dma.runs),
                   cat(t.dma.run_bytes), human_time(t.issue.ns())});
      else
        table.add({std::string(machine->name()), cat(n), cat(t.occupancy.value, " cycles"),
                   cat("+ ", t.latency.value, " cycles")});
    }
  }
  return table.text();
}

std::string rules_text(const InsnDef& def) {
  std::string out;
  for (const Rule& rule : all_rules(def)) {
    const std::string operands = join(rule.operands, ", ");
    out += wrapped(
        cat(rule.violation.rule, ": ", operands, operands.empty() ? "" : " ", rule.violation.what),
        2, output_width());
    out += wrapped(cat("fix: ", rule.violation.fix), 6, output_width());
  }
  return out;
}

std::string insn_text(const InsnDef& def) {
  const auto& info = def.info;
  const int width = output_width();
  return cat(
      wrapped(cat(info.name, " (", isa::name(info.engine), "): ", info.summary), 0, width),
      wrapped(info.formula, 2, width), "\n", fields_text(def),
      "\ncosts of a sample with 128 partitions x N elements, f32\n", costs_text(def),
      wrapped(cat("source: ", letter(info.cost_source.evidence), "  ", info.cost_source.text), 0,
              width),
      "\nrules that broken samples met\n", rules_text(def));
}

Reply run(const Options& options, const Context& context) {
  if (options.name.empty()) return {context.json ? document(list_json()) : list_text(), 0};
  const InsnDef& def = isa::find_instruction(options.name);
  return {context.json ? document(insn_json(def)) : insn_text(def), 0};
}

}  // namespace

Action declare_insn(CLI::App& app) {
  auto options = std::make_shared<Options>();
  app.add_option("name", options->name, "show this instruction")->type_name("[INSTRUCTION]");
  return [options](const Context& context) { return run(*options, context); };
}

}  // namespace krait::app
