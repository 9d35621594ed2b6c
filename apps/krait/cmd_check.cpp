// krait check PATH...: golden cases against a backend.

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "apps/krait/command.hpp"
#include "apps/krait/golden_case.hpp"
#include "apps/krait/json.hpp"
#include "apps/krait/output.hpp"
#include "krait/base/error.hpp"
#include "krait/base/text.hpp"
#include "krait/ops/backend.hpp"

namespace krait::app {
namespace {

namespace fs = std::filesystem;

enum class Status : std::uint8_t { kPassed, kFailed, kRefused };

const char* name(Status status) {
  return status == Status::kPassed ? "passed" : status == Status::kFailed ? "failed" : "refused";
}

struct Part {
  std::string part;
  Status status = Status::kRefused;
  std::string worst_tensor;
  double error = 0;      // max|got - expected| of the worst tensor
  double tolerance = 0;  // what it may be
};

struct CaseResult {
  std::string name, group, path;
  Status status = Status::kRefused;
  std::vector<Part> parts;
  std::string ran;     // what computed it
  std::string reason;  // why it did not pass
};

struct Options {
  std::vector<std::string> paths;
  std::string backend = "ref";
  std::string only = "forward";
  bool strict = false;
};

/// The difference that comes nearest to its limit, or goes furthest beyond it.
Part judge(const std::vector<ops::Difference>& differences, const ops::Tolerance& tolerance) {
  Part out{.part = "forward", .status = Status::kPassed};
  double worst = -1;
  for (const ops::Difference& d : differences) {
    const double limit = tolerance.atol + tolerance.rtol * d.max_expected;
    const double use = d.max_abs == 0 ? 0 : d.max_abs / limit;  // limit 0: infinite
    if (!d.within(tolerance)) out.status = Status::kFailed;
    if (use <= worst) continue;
    worst = use;
    out.worst_tensor = d.tensor, out.error = d.max_abs, out.tolerance = limit;
  }
  return out;
}

void refuse(CaseResult& result, std::string reason) {
  result.status = Status::kRefused;
  result.reason = std::move(reason);
}

void fail(CaseResult& result, std::string reason) {
  result.status = Status::kFailed;
  result.reason = std::move(reason);
}

void run_forward(const GoldenCase& c, ops::Backend& backend, CaseResult& result) {
  TensorMap outputs;
  try {
    outputs = backend.run(*c.op, c.call);
  } catch (const UserError& error) {
    // The case is sound (it was checked), so the backend cannot run it.
    result.parts.push_back({.part = "forward"});
    return refuse(result, error.what());
  } catch (const MachineFault& error) {
    result.parts.push_back({.part = "forward", .status = Status::kFailed});
    return fail(result, error.what());
  }
  result.ran = backend.ran();
  const bool exact = backend.precision() == "float64";
  const Part part = judge(ops::compare(outputs, c.expected), exact ? c.f64 : c.f32);
  result.parts.push_back(part);
  result.status = part.status;
  if (part.status == Status::kFailed)
    result.reason = cat("forward: ", part.worst_tensor, " is off by ", short_number(part.error),
                        ", allowed are ", short_number(part.tolerance));
}

CaseResult check_case(const fs::path& sidecar, const Options& options, ops::Backend& backend) {
  CaseResult result{.name = sidecar.stem().string(), .path = sidecar.string()};
  try {
    const GoldenCase c = load_case(sidecar);
    result.name = c.name;
    result.group = c.group;
    if (c.op == nullptr) {
      refuse(result, cat("no operator for group '", c.group, "' yet"));
    } else if (options.only != "forward") {
      result.parts.push_back({.part = options.only});
      refuse(result,
             cat(options.only, ": ", c.op->name, " has none yet; --only forward can be checked"));
    } else {
      run_forward(c, backend, result);
    }
  } catch (const UserError& error) {
    fail(result, error.what());
  }
  return result;
}

Json part_json(const Part& part) {
  Json json;
  json["part"] = part.part;
  json["status"] = name(part.status);
  const bool ran = !part.worst_tensor.empty();
  json["worst_tensor"] = ran ? Json(part.worst_tensor) : Json();
  json["error"] = ran ? Json(part.error) : Json();
  json["tolerance"] = ran ? Json(part.tolerance) : Json();
  return json;
}

Json case_json(const CaseResult& result) {
  Json json;
  json["name"] = result.name;
  json["group"] = result.group;
  json["path"] = result.path;
  json["status"] = name(result.status);
  json["ran"] = result.ran.empty() ? Json() : Json(result.ran);
  json["parts"] = Json::array();
  for (const Part& part : result.parts) json["parts"].push_back(part_json(part));
  json["reason"] = result.reason.empty() ? Json() : Json(result.reason);
  return json;
}

struct Totals {
  int passed = 0, failed = 0, refused = 0;
};

Totals count(const std::vector<CaseResult>& results) {
  Totals out;
  for (const CaseResult& result : results)
    ++(result.status == Status::kPassed   ? out.passed
       : result.status == Status::kFailed ? out.failed
                                          : out.refused);
  return out;
}

std::string as_json(const std::vector<CaseResult>& results, const Totals& totals,
                    const ops::Backend& backend) {
  Json json;
  json["backend"] = backend.name();
  json["cases"] = Json::array();
  for (const CaseResult& result : results) json["cases"].push_back(case_json(result));
  json["passed"] = totals.passed;
  json["failed"] = totals.failed;
  json["refused"] = totals.refused;
  return document(json);
}

/// Where all cases ran, if that is one place; the column for it is then left out.
std::optional<std::string> only_place(const std::vector<CaseResult>& results) {
  std::optional<std::string> out;
  for (const CaseResult& r : results) {
    if (r.ran.empty()) continue;
    if (out && *out != r.ran) return std::nullopt;
    out = r.ran;
  }
  return out ? out : std::optional<std::string>("");
}

std::string table_text(const std::vector<CaseResult>& results, bool places) {
  std::vector<std::string> header{"case", "part", "status", "worst", "error", "allowed"};
  if (places) header.emplace_back("ran on");
  TextTable table(std::move(header));
  const std::string* group = nullptr;  // a line of its own, so that the cases fit
  for (const CaseResult& r : results) {
    if (group == nullptr || *group != r.group)
      table.add({r.group.empty() ? "-:" : cat(r.group, ":")});
    group = &r.group;
    const Part part = r.parts.empty() ? Part{} : r.parts.front();
    const bool ran = !part.worst_tensor.empty();
    std::vector<std::string> row{r.name,
                                 part.part,
                                 name(r.status),
                                 part.worst_tensor,
                                 ran ? short_number(part.error) : "",
                                 ran ? short_number(part.tolerance) : ""};
    if (places) row.push_back(r.ran.substr(r.ran.find('/') + 1));  // the kernel
    table.add(std::move(row));
  }
  return table.text();
}

/// A message's lines keep their breaks; each is wrapped.
std::string indented(const std::string& message) {
  std::string out;
  for (const std::string& line : split(message, '\n')) {
    const bool part = line.starts_with("  ");  // "  where  ..."
    out += part ? cat("  ", line, "\n") : wrapped(line, 2, output_width());
  }
  return out;
}

/// The reasons, each once with the cases that it holds for.
std::string reasons_text(const std::vector<CaseResult>& results) {
  std::vector<std::pair<std::string, std::vector<std::string>>> reasons;
  for (const CaseResult& r : results) {
    if (r.reason.empty()) continue;
    const std::string key = cat(name(r.status), "\n", r.reason);
    auto found = std::find_if(reasons.begin(), reasons.end(),
                              [&key](const auto& item) { return item.first == key; });
    if (found == reasons.end()) found = reasons.insert(found, {key, {}});
    found->second.push_back(r.name);
  }
  std::string out;
  for (const auto& [key, cases] : reasons) {
    const std::size_t end = key.find('\n');
    out += "\n" + wrapped(cat(key.substr(0, end), " ", join(cases, ", "), ":"), 0, output_width());
    out += indented(key.substr(end + 1));
  }
  return out;
}

std::string as_text(const std::vector<CaseResult>& results, const Totals& totals) {
  const std::optional<std::string> place = only_place(results);
  const std::string on = place && !place->empty() ? cat(", on ", *place) : "";
  return cat(table_text(results, !place), reasons_text(results), "\n", totals.passed, " passed, ",
             totals.failed, " failed, ", totals.refused, " refused", on, "\n");
}

void require_part(const std::string& part) {
  const std::vector<std::string> known{"forward", "step", "grad"};
  if (std::find(known.begin(), known.end(), part) == known.end())
    throw UserError(Report{
        cat("no part is called '", part, "'"), "krait check --only", {}, suggest(part, known)});
}

Reply run(const Options& options, const Context& context) {
  if (options.paths.empty())
    throw UserError(Report{"no path given", "krait check", {}, "e.g. krait check tests/golden"});
  require_part(options.only);
  const auto backend = ops::make_backend(options.backend);
  std::vector<fs::path> sidecars;
  for (const std::string& path : options.paths)
    for (fs::path& sidecar : find_sidecars(path)) sidecars.push_back(std::move(sidecar));
  Progress progress("checking");
  std::vector<CaseResult> results;
  for (const fs::path& sidecar : sidecars) {
    progress.update(cat("checking ", results.size() + 1, " of ", sidecars.size(), ": ",
                        sidecar.stem().string()));
    results.push_back(check_case(sidecar, options, *backend));
  }
  const Totals totals = count(results);
  const bool refusal_fails = totals.refused > 0 && (options.strict || totals.passed == 0);
  return {context.json ? as_json(results, totals, *backend) : as_text(results, totals),
          totals.failed > 0 || refusal_fails ? 1 : 0};
}

}  // namespace

Action declare_check(CLI::App& app) {
  auto options = std::make_shared<Options>();
  app.add_option("path", options->paths, "cases, or folders of cases")->type_name("PATH");
  app.add_option("--backend", options->backend,
                 "ref (default), cpu, cpu:naive, cpu:compiler, neuron:MACHINE or "
                 "neuron:MACHINE/KERNEL")
      ->type_name("NAME");
  app.add_option("--only", options->only, "forward (default), step or grad")->type_name("PART");
  app.add_flag("--strict", options->strict, "a refused case is a failure");
  return [options](const Context& context) { return run(*options, context); };
}

}  // namespace krait::app
