#include <fmt/format.h>

#include <algorithm>

#include "krait/base/text.hpp"
#include "krait/study/format.hpp"
#include "krait/study/report/sections.hpp"
#include "krait/study/text.hpp"

namespace krait::study::report {
namespace {

constexpr std::string_view kEngines[] = {"TensorE", "VectorE", "ScalarE", "GpSimdE", "DMA"};

std::string share_cell(std::string_view engine, double share) {
  const double width = std::clamp(share, 0.0, 1.0) * 100;
  return fmt::format("<td class=\"share {}\"><span style=\"width:{:.1f}%\"></span><b>{}</b></td>",
                     engine, width, percent_text(share));
}

std::string engine_row(const Entry& e, const VariantResult& v) {
  std::string out =
      cat("<tr><th scope=\"row\"><b>", escape(e.machine), "</b> ", job_link(v.key, v.name),
          "</th><td class=\"number\">", human_time(v.result.time_ns), "</td>");
  for (const std::string_view engine : kEngines)
    out += share_cell(engine, v.result.busy_share(engine));
  return out + cat("<td>", escape(v.result.bound_by), "</td></tr>\n");
}

std::string engine_table(const Map& map, const std::string& title, bool open) {
  std::string rows;
  for (const Entry& e : map.entries) {
    if (e.measured || e.title() != title) continue;
    for (const VariantResult& v : e.variants)
      if (v.result.done() && !v.result.busy_ns.empty()) rows += engine_row(e, v);
  }
  if (rows.empty()) return {};
  std::string head;
  for (const std::string_view engine : kEngines) head += cat("<th scope=\"col\">", engine, "</th>");
  return cat("<details", open ? " open" : "", "><summary>", escape(title),
             "</summary>\n<div class=\"scroll\"><table class=\"engines\">\n<thead><tr>"
             "<th scope=\"col\">kernel</th><th scope=\"col\">time</th>",
             head, "<th scope=\"col\">bound by</th></tr></thead>\n<tbody>\n", rows,
             "</tbody></table></div></details>\n");
}

std::string job_row(const JobRow& job) {
  std::string time = "-", error = "-";
  if (job.status != JobStatus::kPending) {
    const JobResult r = job.result();
    if (r.done()) time = human_time(r.time_ns);
    if (r.max_rel_error) error = short_number(*r.max_rel_error);
  }
  const JobSpec& s = job.spec;
  const std::string_view origin = s.kind == JobKind::kMeasure ? "measured" : "predicted";
  return cat("<tr id=\"job-", escape(job.key), "\"><th scope=\"row\"><code>",
             escape(job.key.substr(0, 8)), "</code></th><td>", escape(s.machine), " <i class=\"",
             origin, "\">", origin, "</i></td><td>", escape(label(s.op, s.shape)), "</td><td>",
             escape(variant_label(s)), "</td><td class=\"number\">", escape(time),
             "</td><td class=\"number\">", escape(error), "</td><td>", name(job.status),
             "</td><td><details><summary>evidence</summary><code class=\"command\">",
             escape(job.command), "</code><pre>", escape(job_json(job)),
             "</pre></details></td></tr>\n");
}

}  // namespace

std::string engines_section(const Map& map) {
  std::string tables, last_op;
  for (const std::string& title : titles(map)) {
    const std::string op = title.substr(0, title.find(' '));
    const std::string table = engine_table(map, title, op != last_op);
    if (!table.empty()) last_op = op;
    tables += table;
  }
  if (tables.empty()) tables = "<p>No predicted jobs in this map.</p>\n";
  return cat(
      "<section id=\"engines\">\n<h2>How busy the engines are</h2>\n<p>Predicted share of the "
      "kernel's time in which an engine works; DMA is the mean of its engines.</p>\n",
      tables, "</section>\n");
}

std::string published_section(const Map& map) {
  std::string out = "<section id=\"published\">\n<h2>Published figures beside ours</h2>\n";
  if (map.published.empty())
    return out +
           "<p>Run <code>krait map --preset seed</code> for the published experiments.</p>\n"
           "</section>\n";
  out += "<div class=\"cards\">\n";
  for (const Published& p : map.published) {
    out +=
        cat("<article class=\"published\"><h3>", escape(p.what), "</h3><dl><dt>published</dt><dd>",
            escape(p.published), "</dd><dt>ours</dt><dd>", escape(p.ours), "</dd>");
    if (!p.reason.empty()) out += cat("<dt>why</dt><dd>", escape(p.reason), "</dd>");
    out += "</dl><p class=\"jobs\">jobs";
    for (const std::string& key : p.jobs) out += cat(" ", job_link(key));
    out += "</p></article>\n";
  }
  return out + "</div>\n</section>\n";
}

std::string jobs_section(const Map& map) {
  std::string out =
      "<section id=\"jobs\">\n<h2>Jobs</h2>\n<p>Every figure above is one of these rows of the job "
      "database. <code>krait jobs rerun KEY</code> makes it again and compares.</p>\n<div "
      "class=\"scroll\"><table class=\"jobs\">\n<thead><tr><th scope=\"col\">job</th><th "
      "scope=\"col\">machine</th><th scope=\"col\">operator</th><th scope=\"col\">variant</th><th "
      "scope=\"col\">time</th><th scope=\"col\">error</th><th scope=\"col\">status</th><th "
      "scope=\"col\">evidence</th></tr></thead>\n<tbody>\n";
  for (const JobRow& job : map.jobs) out += job_row(job);
  return out + "</tbody></table></div>\n</section>\n";
}

}  // namespace krait::study::report
