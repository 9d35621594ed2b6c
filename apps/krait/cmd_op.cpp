// krait op NAME --in F --out F: one operator on the user's data.

#include <CLI/CLI.hpp>
#include <memory>
#include <string>

#include "apps/krait/attributes.hpp"
#include "apps/krait/command.hpp"
#include "apps/krait/golden_case.hpp"
#include "apps/krait/json.hpp"
#include "apps/krait/output.hpp"
#include "krait/base/error.hpp"
#include "krait/base/file.hpp"
#include "krait/base/text.hpp"
#include "krait/ops/backend.hpp"
#include "krait/tensor/safetensors.hpp"

namespace krait::app {
namespace {

struct Options {
  std::string name, in, attrs, out;
  std::string backend = "cpu";
  bool grad = false;
};

void require(const std::string& value, const char* option) {
  if (value.empty())
    throw UserError(Report{cat(option, " is missing"),
                           "krait op",
                           {},
                           "krait op NAME --in F.safetensors --out G.safetensors"});
}

/// Inputs with or without "in." or "param."; what a golden file holds besides is left out.
TensorMap read_inputs(const std::string& path) {
  TensorMap out;
  for (const auto& [name, tensor] : read_safetensors(path).tensors) {
    const auto [prefix, rest] = split_prefix(name);
    if (prefix == "out" || prefix == "gout" || prefix == "grad") continue;
    if (!out.emplace(std::string(rest), tensor).second)
      throw UserError(
          Report{cat("input ", rest, " is given twice"), path, {}, "keep one of the two tensors"});
  }
  return out;
}

/// The file is the object of attributes, or a sidecar that has one.
Attrs read_attributes(const std::string& path) {
  if (path.empty()) return {};
  const Json json = read_json(path);
  const bool sidecar = json.is_object() && json.contains("attributes");
  return parse_attributes(sidecar ? json["attributes"] : json, path);
}

std::string as_json(const Options& options, const ops::Operator& op, const ops::Backend& backend,
                    const TensorMap& outputs) {
  Json json;
  json["operator"] = op.name;
  json["backend"] = backend.name();
  json["ran"] = backend.ran();
  json["out"] = options.out;
  json["outputs"] = Json::array();
  for (const auto& [name, tensor] : outputs)
    json["outputs"].push_back(
        {{"name", name}, {"dtype", krait::name(tensor.dtype())}, {"shape", tensor.shape()}});
  return document(json);
}

std::string as_text(const Options& options, const ops::Operator& op, const ops::Backend& backend,
                    const TensorMap& outputs) {
  TextTable table({"output", "dtype", "shape"});
  for (const auto& [name, tensor] : outputs)
    table.add({name, std::string(krait::name(tensor.dtype())), to_string(tensor.shape())});
  return cat(op.name, " on ", backend.ran(), ", written to ", options.out, "\n\n", table.text());
}

Reply run(const Options& options, const Context& context) {
  require(options.name, "the operator's name");
  const ops::Operator& op = ops::find_operator(options.name);
  if (options.grad)
    throw UserError(Report{cat("gradients of ", op.name, " are not available yet"),
                           "krait op --grad",
                           {},
                           "run without --grad for the forward result"});
  require(options.in, "--in");
  require(options.out, "--out");
  check_can_write(options.out);
  const auto backend = ops::make_backend(options.backend);
  const ops::Call call{.inputs = read_inputs(options.in), .attrs = read_attributes(options.attrs)};
  ops::validate(op, call);
  const Progress progress(cat("running ", op.name, " on ", backend->name()));
  const TensorMap outputs = backend->run(op, call);
  write_safetensors(options.out, outputs,
                    {{"operator", std::string(op.name)}, {"ran", backend->ran()}});
  return {context.json ? as_json(options, op, *backend, outputs)
                       : as_text(options, op, *backend, outputs),
          0};
}

}  // namespace

Action declare_op(CLI::App& app) {
  auto options = std::make_shared<Options>();
  app.add_option("name", options->name, "an operator: selective_scan or rmsnorm")
      ->type_name("NAME");
  app.add_option("--in", options->in, "inputs, safetensors")->type_name("FILE");
  app.add_option("--attrs", options->attrs,
                 "attributes: a JSON object, or a sidecar that holds one")
      ->type_name("FILE");
  app.add_option("--out", options->out, "outputs, safetensors; replaced as a whole")
      ->type_name("FILE");
  app.add_option("--backend", options->backend,
                 "ref, cpu (default), cpu:naive, cpu:compiler, neuron:MACHINE or "
                 "neuron:MACHINE/KERNEL")
      ->type_name("NAME");
  app.add_flag("--grad", options->grad, "gradients (not available yet)");
  return [options](const Context& context) { return run(*options, context); };
}

}  // namespace krait::app
