// krait machines [M]: the generations, or every value of one with unit, evidence mark and source.

#include <CLI/CLI.hpp>
#include <cstdio>
#include <memory>
#include <string>

#include "apps/krait/command.hpp"
#include "apps/krait/json.hpp"
#include "apps/krait/output.hpp"
#include "krait/base/text.hpp"
#include "krait/machine/registry.hpp"
#include "krait/machine/values.hpp"

namespace krait::app {
namespace {

struct Options {
  std::string machine;  // empty: list
};

std::string hash_text(const MachineSpec& machine) {
  char buffer[20];
  std::snprintf(buffer, sizeof buffer, "%016llx",
                static_cast<unsigned long long>(table_hash(machine)));
  return buffer;
}

Json summary_json(const MachineSpec& machine) {
  Json json;
  json["name"] = machine.name();
  json["table_hash"] = hash_text(machine);
  return json;
}

Json values_json(const MachineSpec& machine) {
  Json json = summary_json(machine);
  Json& values = json["values"] = Json::array();
  for_each_value(machine, [&values](const ValueRow& row) {
    Json value;
    value["name"] = row.name;
    value["value"] = row.number;
    value["text"] = row.text;
    value["unit"] = row.unit;
    value["evidence"] = std::string(1, letter(row.source.evidence));
    value["source"] = row.source.text;
    value["help"] = row.help;
    values.push_back(std::move(value));
  });
  return json;
}

Json list_json() {
  Json json;
  Json& list = json["machines"] = Json::array();
  for (const MachineSpec* machine : machines()) list.push_back(summary_json(*machine));
  return json;
}

std::string list_text() {
  TextTable table({"machine", "values", "assumed", "table hash"});
  for (const MachineSpec* machine : machines()) {
    int values = 0, assumed = 0;
    for_each_value(*machine, [&](const ValueRow& row) {
      ++values;
      if (row.source.evidence == Evidence::kAssumed) ++assumed;
    });
    table.add({std::string(machine->name()), std::to_string(values), std::to_string(assumed),
               hash_text(*machine)});
  }
  return table.text();
}

std::string values_text(const MachineSpec& machine) {
  std::string rows;
  for_each_value(machine, [&rows](const ValueRow& row) {
    const bool counts = row.unit == "1" || row.unit == "count";
    rows += wrapped(cat(row.name, " = ", row.text, counts ? "" : cat(" ", row.unit)), 0,
                    output_width());
    rows += wrapped(row.help, 4, output_width());
    rows += wrapped(cat(letter(row.source.evidence), "  ", row.source.text), 4, output_width());
  });
  return cat(machine.name(), ", table ", hash_text(machine), "\n",
             wrapped("marks: D documented, R derived, M measured, T third party, U assumed; the "
                     "source keys are explained in docs/sources.md",
                     0, output_width()),
             "\n", rows);
}

Reply run(const Options& options, const Context& context) {
  if (options.machine.empty()) return {context.json ? document(list_json()) : list_text(), 0};
  const MachineSpec& machine = find_machine(options.machine);
  return {context.json ? document(values_json(machine)) : values_text(machine), 0};
}

}  // namespace

Action declare_machines(CLI::App& app) {
  auto options = std::make_shared<Options>();
  app.add_option("machine", options->machine, "show the values of this machine")
      ->type_name("[MACHINE]");
  return [options](const Context& context) { return run(*options, context); };
}

}  // namespace krait::app
