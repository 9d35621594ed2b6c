#pragma once

// Jobs that travel: one JSON file that another machine can read, compare and run again.
//
//   {"format": "krait-jobs", "format_version": 1, "version": .., "commit": ..,
//    "tables": {"trn2": {"hash": .., "values": {"vector.min_ii": {"text", "unit", "evidence"}}}},
//    "jobs": [{specification, command, status, result}]}
//
// Inputs are not in it: a job's seed and shape make them again, bit for bit.
//
// Times measured on a real device come in a file of the same kind:
//
//   {"format": "krait-device-times", "format_version": 1,
//    "source": {"device": "trn2", "instance": "trn2.48xlarge", "sdk": "2.32",
//               "statistic": "median of 100"},
//    "times": [{"operator", "variant", "role", "shape": {..}, "tuning": {..}, "time_ns",
//               "samples_ns"}]}

#include <cstddef>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "krait/study/database.hpp"
#include "krait/study/runner.hpp"

namespace krait::study {

/// The archive of these jobs: the newest finished one of each key. Equal jobs give equal bytes: it
/// holds no date of its own.
[[nodiscard]] std::string archive_json(std::span<const JobRow> jobs);

struct Imported {
  std::size_t read = 0, added = 0;
};
/// Adds the jobs of an archive, or times measured on a device, to the database.
/// @throws UserError naming the entry and key that is wrong; nothing is added then
Imported import_archive(Database& database, const std::filesystem::path& file);

/// A job run again and compared.
struct Rerun {
  bool same = false;
  std::vector<std::string> differences;  // "time_ns: stored 1, now 2"
  std::string note;  // other version, table or processor; how times were compared
  JobResult fresh;
};
/// A prediction is the same if every field is; a measurement if the medians differ by no more than
/// the spreads of both and the result is still right.
/// @throws UserError for a pending job, or one measured on a device that is not here
[[nodiscard]] Rerun rerun(const JobRow& job, const Executor& executor);

}  // namespace krait::study
