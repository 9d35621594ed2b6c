#pragma once

// What a job gives: raw numbers, units in the names. Stored as one JSON object.

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace krait::study {

enum class Outcome : std::uint8_t {
  kDone,
  kRefused,  ///< the kernel does not exist for this problem on this machine (capacity, a rule)
  kBroken,   ///< it ran and broke a rule or gave a wrong result; or our bug
};

/// Elements of an f32 result that differ from the float64 reference rounded to f32.
struct UlpCount {
  std::int64_t elements = 0, mismatches = 0, max_ulp = 0;
  bool operator==(const UlpCount&) const = default;
};

/// Arithmetic and least traffic of the operator for this shape, from its entry.
struct WorkCounts {
  double flops = 0, exps = 0, min_bytes = 0;
  bool operator==(const WorkCounts&) const = default;
};

/// What this CPU allows, measured beside the job. gbps: reads of memory beyond the caches;
/// set_gbps: reads of a buffer as large as the job's least traffic, from wherever that stays.
struct HostLimits {
  double gflops = 0, gbps = 0, set_gbps = 0, exp_per_s = 0;
  bool operator==(const HostLimits&) const = default;
};

/// Where a time measured on a real device comes from.
struct DeviceSource {
  std::string device, instance, sdk, statistic;
  bool operator==(const DeviceSource&) const = default;
};

struct JobResult {
  Outcome outcome = Outcome::kDone;
  std::string reason;  // why not done

  double time_ns = 0;                    // predicted, or the median of samples_ns
  std::optional<double> max_rel_error;   // largest over outputs: max|got - ref| / max|ref|
  std::optional<bool> within_tolerance;  // of that error, for the precision asked for
  std::optional<UlpCount> ulp;
  WorkCounts counts;

  // predicted
  std::map<std::string, double> busy_ns;             // by engine and "DMA"
  std::map<std::string, double> path_ns;             // where the critical path spends time_ns
  std::map<std::string, std::int64_t> work;          // elements; TensorE: multiply-accumulates
  std::map<std::string, std::int64_t> instructions;  // by engine and "DMA"
  std::int64_t hbm_read_bytes = 0, hbm_write_bytes = 0;
  std::int64_t sbuf_bytes = 0, psum_bytes = 0;  // high-water marks, per partition
  std::int64_t depth = 0;                       // longest chain of dependent instructions
  std::string bound_by;
  std::vector<std::string> findings, evidence;

  // measured
  std::vector<double> samples_ns;  // in the order they were taken
  std::string ran_on;              // instruction set or device
  std::optional<HostLimits> limits;
  std::optional<DeviceSource> source;

  bool operator==(const JobResult&) const = default;
  [[nodiscard]] bool done() const { return outcome == Outcome::kDone; }
  [[nodiscard]] std::int64_t instruction_count() const;
  [[nodiscard]] std::int64_t hbm_bytes() const { return hbm_read_bytes + hbm_write_bytes; }
  /// A share of time_ns; 0 for a name that does not occur.
  [[nodiscard]] double busy_share(std::string_view engine) const;
};

/// Equal results give equal bytes. Numbers survive the round trip exactly.
[[nodiscard]] std::string to_json(const JobResult& result);
/// @throws UserError naming the key that is missing or has another type
[[nodiscard]] JobResult result_from_json(std::string_view text);

/// "name": value lines for the fields in which two results differ; empty if they are equal.
[[nodiscard]] std::vector<std::string> differences(const JobResult& stored, const JobResult& fresh);

}  // namespace krait::study
