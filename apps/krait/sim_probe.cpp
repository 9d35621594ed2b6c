#include "apps/krait/sim_probe.hpp"

#include <algorithm>
#include <vector>

#include "apps/krait/output.hpp"
#include "apps/krait/sim_view.hpp"
#include "krait/base/file.hpp"
#include "krait/base/text.hpp"
#include "krait/study/fidelity/probe_run.hpp"

namespace krait::app {
namespace {

using study::Reading;

struct Readings {
  std::string_view what;  // the instruction
  double interval_ns, occupancy_ns, latency_ns;
  std::optional<double> bytes_per_ns, share_of_peak;  // of transfers
  std::int64_t bytes = 0;
  std::vector<ValueRow> values;
};

/// What moves the time of one in a row or of one alone, in table order.
std::vector<ValueRow> values_of(const study::ProbeRun& run, const MachineSpec& machine) {
  const std::vector<ValueRow> slope = run.values_behind(Reading::kSlope),
                              alone = run.values_behind(Reading::kDuration);
  const auto holds = [](const std::vector<ValueRow>& rows, const std::string& name) {
    return std::any_of(rows.begin(), rows.end(), [&](const auto& row) { return row.name == name; });
  };
  std::vector<ValueRow> out;
  for (ValueRow& row : list_values(machine))
    if (holds(slope, row.name) || holds(alone, row.name)) out.push_back(std::move(row));
  return out;
}

Readings readings_of(const study::ProbeRun& run, const MachineSpec& machine) {
  Readings out{};
  out.what = kernels::repeated_insn(run.program()).def->info.name;
  out.interval_ns = run.read(Reading::kSlope);
  out.occupancy_ns = run.read(Reading::kOccupancy);
  out.latency_ns = run.read(Reading::kDuration) - out.occupancy_ns;
  out.bytes = run.bytes();
  if (out.bytes > 0) {
    const double peak = machine.dma.practical_bytes_per_ns * machine.dma.engines.value;
    out.bytes_per_ns = static_cast<double>(out.bytes) / out.interval_ns;
    out.share_of_peak = *out.bytes_per_ns / peak;
  }
  out.values = values_of(run, machine);
  return out;
}

/// Parameters that were given or have a default; operands that the sample decides stay out.
Params shown(const Params& params) {
  std::vector<ParamSpec> specs;
  for (const ParamSpec& spec : params.specs())
    if (!params.text(spec.name).empty()) specs.push_back(spec);
  Params out(specs);
  for (const ParamSpec& spec : specs) out.set(spec.name, params.text(spec.name));
  return out;
}

Json optional_json(std::optional<double> value) {
  return value ? Json(*value) : Json();
}

Json values_json(const std::vector<ValueRow>& values) {
  Json list = Json::array();
  for (const ValueRow& row : values)
    list.push_back({{"name", row.name},
                    {"text", row.text},
                    {"unit", row.unit},
                    {"evidence", std::string(1, letter(row.source.evidence))},
                    {"source", row.source.text}});
  return list;
}

std::string probe_json(const SimOutcome& outcome, const Readings& r) {
  Json json = sim_json(outcome);
  json["instruction"] = r.what;
  json["interval_ns"] = r.interval_ns;
  json["occupancy_ns"] = r.occupancy_ns;
  json["latency_ns"] = r.latency_ns;
  json["bytes"] = r.bytes;
  json["bytes_per_ns"] = optional_json(r.bytes_per_ns);
  json["share_of_peak"] = optional_json(r.share_of_peak);
  json["values"] = values_json(r.values);
  return document(json);
}

std::string bandwidth_text(const Readings& r) {
  if (r.bytes == 0) return {};
  return labelled("moves", cat(human_bytes(static_cast<std::uint64_t>(r.bytes)),
                               " each: ", short_number(*r.bytes_per_ns), " B/ns, ",
                               short_number(*r.share_of_peak * 100),
                               " % of the practical peak of all engines"));
}

std::string values_text(const std::vector<ValueRow>& values) {
  std::string out;
  for (const ValueRow& row : values) {
    const bool bare = row.unit == "1" || row.unit == "flag";
    out += wrapped(cat(row.name, " = ", row.text, bare ? "" : cat(" ", row.unit), " (",
                       letter(row.source.evidence), ": ", row.source.text, ")"),
                   2, output_width());
  }
  return out;
}

std::string probe_text(const SimOutcome& o, const Readings& r, const kernels::Probe& probe) {
  const std::string& repeat = o.params.text("repeat");
  const bool transfer = r.bytes > 0;
  return cat(
      o.kernel, " of ", r.what, " on ", o.machine.name(), ": ", human_time(r.interval_ns), " each",
      transfer ? cat(", ", short_number(*r.bytes_per_ns), " B/ns") : "", ", predicted\n",
      labelled("error band", kBandNote),
      labelled("slope", cat("between ", o.params.text("short"), " and ", repeat, " ", probe.unit,
                            "s; ", repeat, " take ", human_time(o.result.time.ns()))),
      labelled("occupancy", cat(human_time(r.occupancy_ns),
                                transfer ? ": the sequencer may trigger the next then"
                                         : ": the engine may start the next independent one then")),
      labelled("latency",
               cat(human_time(r.latency_ns), " more until the result of one is visible")),
      bandwidth_text(r), labelled("bound by", o.result.bound_by), "\n", busy_text(o.result),
      "\nvalues of the table that move these times\n", values_text(r.values));
}

}  // namespace

Reply simulate_probe(const ProbeRequest& request, const Context& context) {
  const Progress progress(cat("simulating ", request.probe.name));
  const study::ProbeRun run(request.probe, request.machine, request.params);
  if (request.print) return program_reply(run.program(), context);
  if (request.trace) check_can_write(*request.trace);
  sim::TraceSink trace;
  const SimOutcome outcome{
      .kernel = std::string(request.probe.name),
      .machine = request.machine,
      .params = shown(request.params),
      .result = sim::run(run.program(), request.machine, {},
                         {.data = false, .trace = request.trace ? &trace : nullptr}),
      .accuracy = {}};
  if (request.trace)
    write_file_atomically(*request.trace, sim::trace_json(trace, cat(outcome.kernel, " on ",
                                                                     request.machine.name())));
  const Readings readings = readings_of(run, request.machine);
  return {
      context.json ? probe_json(outcome, readings) : probe_text(outcome, readings, request.probe),
      0};
}

}  // namespace krait::app
