// Do the definitions and the native forms reproduce the vectors that the public reference code
// made? Metric and tolerances are the sidecars', per tensor:
//   max|got - want| <= atol + rtol * max|want|

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>

#include "krait/cpu/ref/rmsnorm.hpp"
#include "krait/cpu/scan_problem_test.hpp"
#include "krait/numerics/cpu_target.hpp"
#include "krait/tensor/safetensors.hpp"

namespace krait {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using test::ScanProblem;

struct Case {
  std::string name;
  json attributes, tolerance;
  TensorMap tensors;

  /// An input, or nothing if the case has none of that name.
  [[nodiscard]] std::vector<float> input(const std::string& key) const {
    const auto it = tensors.find("in." + key);
    if (it == tensors.end()) return {};
    const auto values = it->second.values<float>();
    return {values.begin(), values.end()};
  }
  [[nodiscard]] std::vector<double> output(const std::string& key) const {
    return tensors.at("out." + key).to_f64();
  }
  [[nodiscard]] const Shape& shape(const std::string& key) const { return tensors.at(key).shape(); }
  /// Largest error as a share of what the sidecar allows for this precision.
  template <class T>
  [[nodiscard]] double share(const std::vector<T>& got, const std::vector<double>& want) const {
    const json& t = tolerance.at(sizeof(T) == 8 ? "float64" : "float32");
    const double rtol = t.contains("rtol") ? t.at("rtol") : t.at("rtol_out");
    double error = got.size() == want.size() ? 0.0 : INFINITY, largest = 0;
    for (std::size_t i = 0; i < std::min(got.size(), want.size()); ++i) {
      const double e = std::abs(static_cast<double>(got[i]) - want[i]);
      error = e <= error ? error : e;  // NaN is taken
      largest = std::max(largest, std::abs(want[i]));
    }
    return error / (t.at("atol").get<double>() + rtol * largest);
  }
};

std::vector<Case> cases(const std::string& group) {
  const fs::path folder = fs::path(KRAIT_SOURCE_DIR) / "tests" / "golden" / group;
  std::set<fs::path> sidecars;
  for (const auto& entry : fs::directory_iterator(folder))
    if (entry.path().extension() == ".json") sidecars.insert(entry.path());
  std::vector<Case> out;
  for (const fs::path& path : sidecars) {
    const json sidecar = json::parse(std::ifstream(path));
    fs::path data = path;
    data.replace_extension(".safetensors");
    out.push_back({sidecar.at("name"), sidecar.at("attributes"), sidecar.at("tolerance"),
                   read_safetensors(data).tensors});
  }
  return out;
}

ScanProblem<float> scan_problem(const Case& c) {
  const json& a = c.attributes;
  test::ScanShape s{.batch = a.at("batch"), .dim = a.at("dim"), .d_state = a.at("d_state")};
  s.length = a.at("seqlen"), s.groups = a.at("groups"), s.softplus = a.at("delta_softplus");
  s.b_kind = a.at("B_kind") == "const" ? BcKind::kConstant : BcKind::kPerToken;
  s.c_kind = a.at("C_kind") == "const" ? BcKind::kConstant : BcKind::kPerToken;
  ScanProblem<float> p{.shape = s};
  p.u = c.input("u"), p.delta = c.input("delta"), p.a = c.input("A"), p.b = c.input("B");
  p.c = c.input("C"), p.d = c.input("D"), p.z = c.input("z"), p.bias = c.input("delta_bias");
  p.initial = c.input("initial_state");
  p.poison();
  return p;
}

TEST(GoldenSelectiveScan, TheDefinitionInF64) {
  const std::vector<Case> all = cases("selective_scan");
  EXPECT_EQ(all.size(), 9U);
  for (const Case& c : all) {
    ScanProblem<double> p = scan_problem(c).as<double>();
    ref::selective_scan(p.args());
    EXPECT_LE(c.share(p.out, c.output("out")), 1) << c.name;
    EXPECT_LE(c.share(p.last, c.output("last_state")), 1) << c.name;
  }
}

TEST(GoldenSelectiveScan, EveryFormInF32OnEveryTarget) {
  ThreadPool pool(2);
  for (const std::string& target : available_cpu_targets()) {
    const ScopedCpuTarget forced(target);
    for (const Case& c : cases("selective_scan")) {
      ScanProblem<float> p = scan_problem(c);
      for (const test::ScanForm& form : test::scan_forms()) {
        SCOPED_TRACE(c.name + " " + form.name + " " + target);
        p.poison();
        form.run(p.args(), pool);
        EXPECT_LE(c.share(p.out, c.output("out")), 1);
        EXPECT_LE(c.share(p.last, c.output("last_state")), 1);
      }
    }
  }
}

template <class T>
std::vector<T> run_norm(const Case& c, const std::function<void(const RmsNormArgs<T>&)>& run) {
  const auto as = [](const std::vector<float>& v) { return std::vector<T>(v.begin(), v.end()); };
  const std::vector<T> x = as(c.input("x")), weight = as(c.input("weight")), z = as(c.input("z"));
  std::vector<T> out(x.size(), std::numeric_limits<T>::quiet_NaN());
  const std::int64_t width = c.shape("in.x").back();
  RmsNormArgs<T> s{.rows = static_cast<std::int64_t>(x.size()) / width, .width = width};
  s.group_size = c.attributes.at("group_size").is_null()
                     ? width
                     : c.attributes.at("group_size").get<std::int64_t>();
  s.eps = static_cast<T>(c.attributes.at("eps").get<double>());
  s.norm_before_gate = c.attributes.at("norm_before_gate");
  s.x = x.data(), s.weight = weight.data(), s.z = z.empty() ? nullptr : z.data();
  s.out = out.data();
  run(s);
  return out;
}

TEST(GoldenRmsNorm, TheDefinitionInF64) {
  const std::vector<Case> all = cases("gated_rmsnorm");
  EXPECT_EQ(all.size(), 4U);
  for (const Case& c : all) {
    const auto got = run_norm<double>(c, [](const auto& s) { ref::rmsnorm(s); });
    EXPECT_LE(c.share(got, c.output("out")), 1) << c.name;
  }
}

TEST(GoldenRmsNorm, EveryFormInF32OnEveryTarget) {
  ThreadPool pool(2);
  using Args = RmsNormArgs<float>;
  const auto naive = [&](const Args& s) {
    std::vector<float> scratch(rmsnorm_naive_scratch(s));
    rmsnorm_naive(s, pool, scratch.data());
  };
  for (const std::string& target : available_cpu_targets()) {
    const ScopedCpuTarget forced(target);
    for (const Case& c : cases("gated_rmsnorm")) {
      const auto check = [&](const char* form, const std::function<void(const Args&)>& run) {
        EXPECT_LE(c.share(run_norm<float>(c, run), c.output("out")), 1)
            << c.name << " " << form << " " << target;
      };
      check("ref", [](const Args& s) { ref::rmsnorm(s); });
      check("naive", naive);
      check("compiled", [&](const Args& s) { rmsnorm_compiled(s, pool); });
      check("custom", [&](const Args& s) { rmsnorm(s, pool); });
    }
  }
}

}  // namespace
}  // namespace krait
