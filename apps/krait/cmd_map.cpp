// krait map: the study. Runs the jobs of a preset, prints the map and writes the report.

#include <CLI/CLI.hpp>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "apps/krait/command.hpp"
#include "apps/krait/output.hpp"
#include "krait/base/file.hpp"
#include "krait/base/text.hpp"
#include "krait/study/database.hpp"
#include "krait/study/execute.hpp"
#include "krait/study/lock.hpp"
#include "krait/study/map.hpp"
#include "krait/study/preset.hpp"
#include "krait/study/provenance.hpp"
#include "krait/study/report/report.hpp"
#include "krait/study/runner.hpp"
#include "krait/study/text.hpp"

namespace krait::app {
namespace {

struct Options {
  std::string preset = "quick";
  std::vector<std::string> machines;
  std::string db = "krait-map.sqlite", html = "krait-map.html";
  bool resume = false;
};

study::Campaign new_campaign(const Options& options, const std::vector<std::string>& machines) {
  return {.preset = options.preset,
          .machines = join(machines, ","),
          .version = std::string(study::program_version()),
          .commit = std::string(study::build_commit()),
          .cpu = study::cpu_model(),
          .started = study::utc_now()};
}

study::Map run_map(const Options& options) {
  const std::vector<std::string> machines = study::resolve_machines(options.machines);
  const std::vector<study::JobSpec> jobs = study::plan(options.preset, machines);
  const study::StudyLock lock(options.db);
  study::Database database(options.db, study::Database::Mode::kCreate);
  Progress progress(cat("running ", jobs.size(), " jobs"));
  study::RunOptions run_options{.resume = options.resume};
  run_options.progress = [&progress](std::size_t done, std::size_t total, const std::string& what) {
    progress.update(cat("job ", done, " of ", total, ": ", what));
  };
  const std::int64_t campaign = study::run_study(database, new_campaign(options, machines), jobs,
                                                 study::make_executor(), run_options);
  return study::make_map(database, campaign);
}

Reply run(const Options& options, const Context& context) {
  check_can_write(options.html);
  const study::Map map = run_map(options);
  write_file_atomically(options.html, study::report_html(map));
  if (context.json) return {study::map_json(map), 0};
  return {cat(study::map_text(map, output_width()), "\nreport    ",
              std::filesystem::absolute(options.html).string(), "\ndatabase  ",
              std::filesystem::absolute(options.db).string(), "\n"),
          0};
}

}  // namespace

Action declare_map(CLI::App& app) {
  auto options = std::make_shared<Options>();
  std::string presets;
  for (const study::Preset& preset : study::presets())
    presets += cat(presets.empty() ? "" : "; ", preset.name, ": ", preset.help);
  app.add_option("--preset", options->preset, presets)->type_name("NAME");
  app.add_option("--machine", options->machines, "cpu, trn1, trn2 or trn3; repeatable; default all")
      ->allow_extra_args(false)
      ->type_name("NAME");
  app.add_option("--db", options->db, "the job database (default krait-map.sqlite)")
      ->type_name("FILE");
  app.add_option("--html", options->html, "the report (default krait-map.html)")->type_name("FILE");
  app.add_flag("--resume", options->resume, "continue the last run of the same study");
  return [options](const Context& context) { return run(*options, context); };
}

}  // namespace krait::app
