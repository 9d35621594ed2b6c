#pragma once

// What a number came from, beyond its job: program and host.

#include <string>
#include <string_view>

namespace krait::study {

/// "0.1.0+3f2a9c01b7de": the release and a hash of the library's sources. Equal versions give equal
/// predictions; it is part of every job's key.
[[nodiscard]] std::string_view program_version();
/// Short git commit of the build, "-dirty" if the tree had changes, "unknown" without git.
[[nodiscard]] std::string_view build_commit();

/// The processor's name as the system gives it, e.g. "Intel(R) Xeon(R) CPU @ 2.20GHz".
[[nodiscard]] std::string cpu_model();
/// Now, UTC: "2026-03-01T12:00:00Z".
[[nodiscard]] std::string utc_now();

}  // namespace krait::study
