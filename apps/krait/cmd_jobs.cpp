// krait jobs: the job database. Lists, shows and reruns jobs; moves them between machines.

#include <CLI/CLI.hpp>
#include <memory>
#include <string>
#include <vector>

#include "apps/krait/command.hpp"
#include "apps/krait/json.hpp"
#include "apps/krait/output.hpp"
#include "krait/base/error.hpp"
#include "krait/base/file.hpp"
#include "krait/base/text.hpp"
#include "krait/study/archive.hpp"
#include "krait/study/database.hpp"
#include "krait/study/execute.hpp"
#include "krait/study/text.hpp"

namespace krait::app {
namespace {

using study::Database;
using study::JobRow;

struct Options {
  std::string action = "list", argument;
  std::string db = "krait-map.sqlite";
};

[[nodiscard]] Database open(const Options& options) {
  return Database(options.db, Database::Mode::kExisting);
}

const std::string& need(const Options& options, std::string_view what) {
  if (options.argument.empty())
    throw UserError(Report{cat("krait jobs ", options.action, " needs ", what),
                           "krait jobs",
                           {},
                           cat("krait jobs ", options.action, " ", what)});
  return options.argument;
}

/// A time, or the word for why there is none.
std::string time_of(const JobRow& job) {
  if (job.status == study::JobStatus::kDone) return human_time(job.result().time_ns);
  return std::string(name(job.status));
}

/// Where the time is from: predicted is the rule on a generation, measured on this CPU.
std::string machine_of(const JobRow& job) {
  const bool device = job.spec.kind == study::JobKind::kMeasure && job.spec.machine != "cpu";
  return job.spec.machine + (device ? " device" : "");
}

/// A heading for each run of jobs of one operator and shape, so that a row fits 80 columns.
std::string list_text(const std::vector<JobRow>& jobs) {
  TextTable table({"  id", "key", "machine", "variant", "time"});
  for (const JobRow& job : jobs)
    table.add({cat("  ", job.id), job.key, machine_of(job), study::variant_label(job.spec),
               time_of(job)});
  const std::vector<std::string> lines = split(table.text(), '\n');
  std::string out = lines.front() + "\n", last;
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    const std::string title = study::label(jobs[i].spec.op, jobs[i].spec.shape);
    if (title != last) out += cat('\n', title, '\n');
    out += lines[i + 1] + "\n";
    last = title;
  }
  return out + "\ncpu and device: measured; others: predicted by simulation\n";
}

Reply list(const Options& options, const Context& context) {
  Database database = open(options);
  const std::vector<JobRow> jobs = database.jobs();
  if (!context.json) return {list_text(jobs), 0};
  Json out;
  out["jobs"] = Json::array();
  for (const JobRow& job : jobs) out["jobs"].push_back(Json::parse(study::job_json(job)));
  return {document(out), 0};
}

Reply show(const Options& options) {
  Database database = open(options);
  return {study::job_json(database.find(need(options, "ID"))), 0};
}

std::string rerun_text(const JobRow& job, const study::Rerun& rerun) {
  std::string out = cat("job ", job.key, ": ", rerun.same ? "same" : "different", "\n");
  if (!rerun.note.empty()) out += cat("  ", rerun.note, "\n");
  for (const std::string& line : rerun.differences) out += cat("  ", line, "\n");
  return out;
}

Reply rerun(const Options& options, const Context& context) {
  Database database = open(options);
  const JobRow job = database.find(need(options, "ID"));
  const Progress progress(cat("running job ", job.key));
  const study::Rerun rerun = study::rerun(job, study::make_executor());
  const int status = rerun.same ? 0 : 1;
  if (!context.json) return {rerun_text(job, rerun), status};
  Json out;
  out["key"] = job.key;
  out["same"] = rerun.same;
  out["note"] = rerun.note;
  out["differences"] = rerun.differences;
  out["result"] = Json::parse(study::to_json(rerun.fresh));
  return {document(out), status};
}

Reply export_jobs(const Options& options, const Context& context) {
  const std::string& file = need(options, "FILE");
  Database database = open(options);
  const std::string archive = study::archive_json(database.jobs());
  write_file_atomically(file, archive);
  const std::size_t count = Json::parse(archive).at("jobs").size();
  if (context.json) return {document(Json{{"file", file}, {"jobs", count}}), 0};
  return {cat(count, " jobs in ", file, "\n"), 0};
}

Reply import_jobs(const Options& options, const Context& context) {
  const std::string& file = need(options, "FILE");
  (void)read_file(file);  // before a database is made for nothing
  Database database(options.db, Database::Mode::kCreate);
  const study::Imported done = study::import_archive(database, file);
  if (context.json)
    return {document(Json{{"file", file}, {"read", done.read}, {"added", done.added}}), 0};
  return {cat(done.read, " jobs read, ", done.added, " new in ", options.db, "\n"), 0};
}

Reply run(const Options& options, const Context& context) {
  if (options.action == "list") return list(options, context);
  if (options.action == "show") return show(options);
  if (options.action == "rerun") return rerun(options, context);
  if (options.action == "export") return export_jobs(options, context);
  if (options.action == "import") return import_jobs(options, context);
  const std::vector<std::string> known{"list", "show", "rerun", "export", "import"};
  throw UserError(Report{cat("krait jobs has no action '", options.action, "'"),
                         "krait jobs",
                         {},
                         suggest(options.action, known)});
}

}  // namespace

Action declare_jobs(CLI::App& app) {
  auto options = std::make_shared<Options>();
  app.add_option("action", options->action, "list (default), show, rerun, export or import")
      ->type_name("[ACTION]");
  app.add_option("argument", options->argument, "show, rerun: a job's id or key; else a file")
      ->type_name("[ID|FILE]");
  app.add_option("--db", options->db, "the job database (default krait-map.sqlite)")
      ->type_name("FILE");
  return [options](const Context& context) { return run(*options, context); };
}

}  // namespace krait::app
