#include "krait/study/preset.hpp"

#include <algorithm>
#include <array>
#include <thread>

#include "krait/base/error.hpp"
#include "krait/base/text.hpp"
#include "krait/kernels/kernel.hpp"
#include "krait/machine/registry.hpp"
#include "krait/machine/values.hpp"
#include "krait/study/provenance.hpp"

namespace krait::study {
namespace {

constexpr std::array kPresets{
    Preset{"quick", "one shape an operator on every machine; under a minute"},
    Preset{"seed", "the published experiments, ours beside theirs"},
    Preset{"full", "sweeps over the shapes of both operators"},
};
constexpr std::uint64_t kSeed = 1;

/// A kernel with parameters of its own that a preset adds to the plain use of every kernel.
struct Extra {
  std::string kernel;
  ParamMap tuning;
  bool rounding = true;
  Role role = Role::kProbe;
};

/// An operator at one shape.
struct Cell {
  std::string op;
  ParamMap shape;
  std::vector<Extra> extras{};
  bool on_cpu = true;
};

Cell norm(const std::string& rows, const std::string& width, const std::string& dtype = "f32") {
  Cell cell{.op = "rmsnorm", .shape = {{"rows", rows}, {"width", width}}};
  if (dtype != "f32") {
    cell.shape["dtype"] = dtype;
    cell.on_cpu = false;  // the CPU forms compute in f32; another type would time its conversion
  }
  return cell;
}

Cell scan(const std::string& length, const std::string& d_inner, const std::string& d_state) {
  return {.op = "selective_scan",
          .shape = {{"length", length}, {"d_inner", d_inner}, {"d_state", d_state}}};
}

/// The layouts of the step-by-step kernel: every power of four that its parameter allows, and its
/// largest useful one for 1536 channels in tiles of 128 with 16 states.
std::vector<Extra> stepwise_layouts() {
  std::vector<Extra> out;
  for (const char* columns : {"1", "4", "16", "32", "64", "192"})
    out.push_back({"scan_stepwise", {{"columns", columns}}, true, Role::kNaive});
  return out;
}

std::vector<Cell> seed_cells() {
  std::vector<Cell> cells;
  for (const char* dtype : {"f32", "bf16"})
    for (const char* rows : {"128", "256", "512", "1024", "2048", "4096"})
      cells.push_back(norm(rows, "4096", dtype));
  Cell seed = scan("128", "1536", "16");
  seed.extras = stepwise_layouts();
  seed.extras.push_back({"scan_logdepth", {{"dtype", "bf16"}}, true});
  seed.extras.push_back({"scan_logdepth", {{"dtype", "bf16"}}, false});
  cells.push_back(std::move(seed));
  return cells;
}

std::vector<Cell> full_cells() {
  std::vector<Cell> cells;
  for (const char* width : {"1024", "2048", "4096", "8192"})
    for (const char* rows : {"128", "512", "2048"}) cells.push_back(norm(rows, width));
  for (const char* width : {"1024", "4096"}) cells.push_back(norm("512", width, "bf16"));
  for (const char* d_inner : {"256", "1536", "4096"})
    for (const char* length : {"128", "512"}) cells.push_back(scan(length, d_inner, "16"));
  cells.push_back(scan("2048", "256", "16"));
  cells.push_back(scan("128", "1536", "64"));
  return cells;
}

std::vector<Cell> cells_of(std::string_view preset) {
  if (preset == "quick") return {norm("512", "4096"), scan("128", "1536", "16")};
  if (preset == "seed") return seed_cells();
  if (preset == "full") return full_cells();
  std::vector<std::string> names;
  for (const Preset& p : presets()) names.emplace_back(p.name);
  throw UserError(
      Report{cat("no preset is called '", preset, "'"), "--preset", {}, suggest(preset, names)});
}

JobSpec base_spec(const Cell& cell, const std::string& machine) {
  return {.kind = machine == "cpu" ? JobKind::kMeasure : JobKind::kPredict,
          .op = cell.op,
          .machine = machine,
          .shape = cell.shape,
          .seed = kSeed};
}

void add_measured(std::vector<JobSpec>& out, const Cell& cell) {
  if (!cell.on_cpu) return;
  for (const Role role : {Role::kNaive, Role::kCompiler, Role::kCustom}) {
    JobSpec spec = base_spec(cell, "cpu");
    spec.variant = name(role);
    spec.role = role;
    out.push_back(here(std::move(spec)));
  }
}

void add_predicted(std::vector<JobSpec>& out, const Cell& cell, const std::string& machine) {
  for (const kernels::Kernel& kernel : kernels::kernels()) {
    if (kernel.op != cell.op) continue;
    JobSpec spec = base_spec(cell, machine);
    spec.variant = kernel.name;
    spec.role = kernel.form == kernels::Form::kNaive ? Role::kNaive : Role::kCustom;
    out.push_back(here(std::move(spec)));
  }
  for (const Extra& extra : cell.extras) {
    JobSpec spec = base_spec(cell, machine);
    spec.variant = extra.kernel;
    spec.role = extra.role;
    spec.tuning = extra.tuning;
    spec.rounding = extra.rounding;
    out.push_back(here(std::move(spec)));
  }
}

}  // namespace

std::span<const Preset> presets() {
  return kPresets;
}

std::vector<std::string> resolve_machines(std::span<const std::string> names) {
  std::vector<std::string> known{"cpu"};
  for (const MachineSpec* machine : machines()) known.emplace_back(machine->name());
  if (names.empty()) return known;
  std::vector<std::string> wanted;
  for (const std::string& name : names)
    wanted.emplace_back(name == "cpu" ? "cpu" : std::string(find_machine(name).name()));
  std::erase_if(known, [&](const std::string& name) {
    return std::find(wanted.begin(), wanted.end(), name) == wanted.end();
  });
  return known;
}

std::vector<JobSpec> plan(std::string_view preset, std::span<const std::string> machines) {
  std::vector<JobSpec> out;
  for (const Cell& cell : cells_of(preset))
    for (const std::string& machine : machines) {
      if (machine == "cpu")
        add_measured(out, cell);
      else
        add_predicted(out, cell, machine);
    }
  return out;
}

JobSpec here(JobSpec spec) {
  spec.version = program_version();
  spec.table_hash.clear();
  spec.host.clear();
  if (spec.kind == JobKind::kPredict)
    spec.table_hash = hex16(table_hash(find_machine(spec.machine)));
  else if (spec.machine == "cpu")
    spec.host = cat(cpu_model(), ", ", std::thread::hardware_concurrency(), " threads");
  return spec;
}

}  // namespace krait::study
