#include "apps/krait/sim_view.hpp"

#include <algorithm>
#include <cstdio>
#include <utility>
#include <vector>

#include "apps/krait/output.hpp"
#include "apps/krait/params_view.hpp"
#include "krait/base/text.hpp"
#include "krait/ir/text.hpp"

namespace krait::app {
namespace {

constexpr int kBarWidth = 20;

std::string percent(double share) {
  char buffer[16];
  std::snprintf(buffer, sizeof buffer, "%5.1f %%", share * 100);
  return buffer;
}

double share_of(Ps part, Ps whole) {
  return whole.value > 0 ? part.ns() / whole.ns() : 0;
}

Json nanoseconds(const std::map<std::string, Ps>& times) {
  Json json = Json::object();
  for (const auto& [name, time] : times) json[name] = time.ns();
  return json;
}

Json findings_json(const std::vector<sim::Finding>& findings) {
  Json list = Json::array();
  for (const sim::Finding& f : findings)
    list.push_back({{"kind", f.kind}, {"what", f.what}, {"where", f.where}, {"fix", f.fix}});
  return list;
}

/// What the critical path consists of, largest first.
std::string path_text(const sim::Result& r) {
  std::vector<std::pair<std::string, Ps>> parts(r.path.begin(), r.path.end());
  std::stable_sort(parts.begin(), parts.end(),
                   [](const auto& a, const auto& b) { return b.second < a.second; });
  std::string out;
  for (const auto& [name, time] : parts)
    if (time.value > 0)
      out += cat(out.empty() ? "" : ", ", name, " ", human_time(time.ns()), " (",
                 short_number(share_of(time, r.time) * 100), " %)");
  return out;
}

std::string accuracy_text(const std::optional<Accuracy>& accuracy) {
  if (!accuracy) return "error      not computed (no data)\n";
  const std::string error =
      cat("error      ", short_number(accuracy->max_rel_error), " of the largest output, allowed ",
          short_number(accuracy->limit), "\n");
  return accuracy->wrong.empty() ? error : cat(error, labelled("WRONG", accuracy->wrong));
}

std::string findings_text(const std::vector<sim::Finding>& findings) {
  if (findings.empty()) return "findings   none\n";
  std::string out = cat("findings   ", findings.size(), "\n");
  for (const sim::Finding& f : findings)
    out += cat(wrapped(cat(f.kind, ": ", f.what), 2, output_width()), "  where    ", f.where, "\n",
               labelled("  fix", f.fix));
  return out;
}

std::string evidence_text(const std::vector<std::string>& evidence) {
  if (evidence.empty()) return {};
  std::string out = "rests on values that no document gives:\n";
  for (const std::string& item : evidence) out += wrapped(item, 2, output_width());
  return out;
}

std::string memory_text(const SimOutcome& o) {
  const auto& g = o.machine.geometry;
  return cat("on chip    SBUF ", human_bytes(static_cast<std::uint64_t>(o.result.sbuf_bytes)),
             " of ", human_bytes(g.sbuf_bytes_per_partition.value), ", PSUM ",
             human_bytes(static_cast<std::uint64_t>(o.result.psum_bytes)), " of ",
             human_bytes(g.psum_bytes_per_partition.value), " a partition\n");
}

}  // namespace

std::string busy_text(const sim::Result& r) {
  TextTable table({"engine", "busy", "share of the time", "", "work", "instructions"});
  for (const auto& [name, busy] : r.busy) {
    const double share = share_of(busy, r.time);
    const auto work = r.work.find(name);
    const auto instructions = r.instructions.find(name);
    table.add({name, human_time(busy.ns()), bar(share, kBarWidth), percent(share),
               work == r.work.end() ? "" : cat(work->second, name == "TensorE" ? " MACs" : ""),
               instructions == r.instructions.end() ? "" : cat(instructions->second)});
  }
  return table.text();
}

std::string labelled(std::string_view label, std::string_view text) {
  constexpr int kIndent = 11;
  std::string out = wrapped(text, kIndent, output_width());
  if (out.empty()) return cat(label, "\n");
  return out.replace(0, label.size(), label);
}

Reply program_reply(const ir::Program& program, const Context& context) {
  const std::string text = ir::print(program);
  if (!context.json) return {text, 0};
  Json json;
  json["kernel"] = program.name;
  json["machine"] = program.machine;
  json["program"] = text;
  return {document(json), 0};
}

Json sim_json(const SimOutcome& o) {
  const sim::Result& r = o.result;
  Json json;
  json["kernel"] = o.kernel;
  json["machine"] = o.machine.name();
  json["params"] = values_json(o.params);
  json["time_ns"] = r.time.ns();
  json["band"] = nullptr;
  json["band_note"] = kBandNote;
  json["engines"] = nanoseconds(r.busy);
  json["dma_bytes"] = {{"read", r.hbm_read_bytes}, {"write", r.hbm_write_bytes}};
  json["work"] = r.work;
  json["instructions"] = r.instructions;
  json["depth"] = r.depth;
  json["bound_by"] = r.bound_by;
  json["path"] = nanoseconds(r.path);
  json["sbuf_bytes_per_partition"] = r.sbuf_bytes;
  json["psum_bytes_per_partition"] = r.psum_bytes;
  json["max_rel_error"] = o.accuracy ? Json(o.accuracy->max_rel_error) : Json();
  json["allowed_rel_error"] = o.accuracy ? Json(o.accuracy->limit) : Json();
  json["correct"] = o.accuracy ? Json(o.accuracy->wrong.empty()) : Json();
  json["wrong"] = o.accuracy && !o.accuracy->wrong.empty() ? Json(o.accuracy->wrong) : Json();
  json["findings"] = findings_json(r.findings);
  json["evidence"] = r.evidence;
  return json;
}

std::string sim_text(const SimOutcome& o) {
  const sim::Result& r = o.result;
  return cat(o.kernel, " on ", o.machine.name(), ": ", human_time(r.time.ns()), " predicted\n",
             labelled("error band", kBandNote), "\n", busy_text(r), "\nbound by   ", r.bound_by,
             "\n", labelled("path", path_text(r)), "HBM        ",
             human_bytes(static_cast<std::uint64_t>(r.hbm_read_bytes)), " read, ",
             human_bytes(static_cast<std::uint64_t>(r.hbm_write_bytes)), " written\n",
             memory_text(o), "depth      ", r.depth, " dependent instructions\n",
             accuracy_text(o.accuracy), findings_text(r.findings), evidence_text(r.evidence));
}

}  // namespace krait::app
