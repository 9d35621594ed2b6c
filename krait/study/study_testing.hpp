#pragma once

// What the tests of the study share: jobs with results made by hand, and a folder of their own.

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <functional>
#include <string>

#include "krait/base/error.hpp"
#include "krait/study/database.hpp"

namespace krait::study::testing {

/// A new folder, removed at the end.
class TempDir {
 public:
  TempDir() {
    std::string name = (std::filesystem::temp_directory_path() / "krait_study_XXXXXX").string();
    path_ = mkdtemp(name.data());
  }
  ~TempDir() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  TempDir(const TempDir&) = delete;
  TempDir& operator=(const TempDir&) = delete;
  [[nodiscard]] std::filesystem::path operator/(const std::string& name) const {
    return path_ / name;
  }

 private:
  std::filesystem::path path_;
};

inline JobSpec predicted_spec(const std::string& variant, Role role) {
  return {.op = "rmsnorm",
          .machine = "trn1",
          .variant = variant,
          .role = role,
          .shape = {{"rows", "512"}, {"width", "4096"}},
          .seed = 1,
          .table_hash = "0123456789abcdef",
          .version = "test"};
}

inline JobResult predicted_result(double time_ns) {
  JobResult r;
  r.time_ns = time_ns;
  r.max_rel_error = 1e-7;
  r.within_tolerance = true;
  r.counts = {.flops = 1e6, .exps = 0, .min_bytes = 1e6};
  r.busy_ns = {{"DMA", time_ns / 2}, {"VectorE", time_ns / 4}};
  r.path_ns = {{"DMA transfer", time_ns * 0.8}, {"VectorE", time_ns * 0.2}};
  r.work = {{"VectorE", 1000}};
  r.instructions = {{"DMA", 10}, {"VectorE", 10}};
  r.hbm_read_bytes = 500;
  r.hbm_write_bytes = 500;
  r.depth = 10;
  r.bound_by = "DMA transfer";
  return r;
}

inline JobRow row_of(const JobSpec& spec, const JobResult& result) {
  return {.key = job_key(spec),
          .spec = spec,
          .command = command_of(spec),
          .commit = "abc",
          .status = result.done() ? JobStatus::kDone : JobStatus::kFailed,
          .result_json = to_json(result),
          .created = "2026-01-01T00:00:00Z",
          .finished = "2026-01-01T00:00:01Z"};
}

inline Campaign campaign_of(const std::string& preset = "quick") {
  return {.preset = preset,
          .machines = "trn1",
          .version = "test",
          .commit = "abc",
          .cpu = "some CPU",
          .started = "2026-01-01T00:00:00Z"};
}

/// The text of the UserError that this throws; a failure if it throws none.
inline std::string refusal(const std::function<void()>& act) {
  try {
    act();
  } catch (const UserError& e) {
    return e.what();
  }
  ADD_FAILURE() << "no UserError";
  return {};
}

}  // namespace krait::study::testing
