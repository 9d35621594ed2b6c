// krait kernels [NAME]: the device kernels and probes; or one with its parameters.

#include <CLI/CLI.hpp>
#include <memory>
#include <string>

#include "apps/krait/command.hpp"
#include "apps/krait/json.hpp"
#include "apps/krait/output.hpp"
#include "apps/krait/params_view.hpp"
#include "krait/base/text.hpp"
#include "krait/kernels/kernel.hpp"
#include "krait/kernels/probes/probe.hpp"
#include "krait/ops/operator.hpp"

namespace krait::app {
namespace {

struct Options {
  std::string name;  // empty: list
};

const char* form_name(kernels::Form form) {
  return form == kernels::Form::kNaive ? "naive" : "custom";
}

Json summary_json(const kernels::Kernel& kernel) {
  Json json;
  json["name"] = kernel.name;
  json["operator"] = kernel.op;
  json["form"] = form_name(kernel.form);
  json["summary"] = kernel.summary;
  return json;
}

Json kernel_json(const kernels::Kernel& kernel) {
  Json json = summary_json(kernel);
  json["params"] = params_json(kernel.params);
  json["operator_params"] = params_json(ops::find_operator(kernel.op).params);
  return json;
}

Json probe_json(const kernels::Probe& probe) {
  Json json;
  json["name"] = probe.name;
  json["form"] = "probe";
  json["summary"] = probe.summary;
  json["params"] = params_json(probe.params({}).specs());
  return json;
}

Json list_json() {
  Json json;
  json["kernels"] = Json::array();
  for (const kernels::Kernel& kernel : kernels::kernels())
    json["kernels"].push_back(summary_json(kernel));
  json["probes"] = Json::array();
  for (const kernels::Probe& probe : kernels::probes())
    json["probes"].push_back({{"name", probe.name}, {"summary", probe.summary}});
  return json;
}

std::string kernel_text(const kernels::Kernel& kernel) {
  const ops::Operator& op = ops::find_operator(kernel.op);
  return cat(kernel.name, " (", form_name(kernel.form), ", ", kernel.op, ")\n",
             wrapped(kernel.summary, 2, output_width()), "\nof the kernel\n",
             params_text(kernel.params), "\nof the operator\n", params_text(op.params),
             "\nexample: krait sim ", kernel.name, " --set ", op.params.front().name, "=",
             op.params.front().default_value, "\n");
}

std::string probe_text(const kernels::Probe& probe) {
  return cat(probe.name, " (probe)\n", wrapped(probe.summary, 2, output_width()), "\n",
             params_text(probe.params({}).specs()), "\nexample: krait sim ", probe.name,
             " --machine trn1\n");
}

std::string list_text() {
  TextTable table({"kernel", "operator", "form", "what it does"});
  for (const kernels::Kernel& kernel : kernels::kernels())
    table.add({std::string(kernel.name), std::string(kernel.op), form_name(kernel.form),
               std::string(kernel.summary)});
  TextTable more({"probe", "what it does"});
  for (const kernels::Probe& probe : kernels::probes())
    more.add({std::string(probe.name), std::string(probe.summary)});
  return cat(table.text(), "\n", more.text());
}

Reply run(const Options& options, const Context& context) {
  if (options.name.empty()) return {context.json ? document(list_json()) : list_text(), 0};
  if (const kernels::Probe* probe = kernels::find_probe(options.name))
    return {context.json ? document(probe_json(*probe)) : probe_text(*probe), 0};
  const kernels::Kernel& kernel = kernels::find_kernel(options.name);
  return {context.json ? document(kernel_json(kernel)) : kernel_text(kernel), 0};
}

}  // namespace

Action declare_kernels(CLI::App& app) {
  auto options = std::make_shared<Options>();
  app.add_option("name", options->name, "show this kernel and its parameters")
      ->type_name("[KERNEL]");
  return [options](const Context& context) { return run(*options, context); };
}

}  // namespace krait::app
