#pragma once

// One study at a time on a database. SQLite serialises single transactions; two studies that fill
// the same file would each run every job.

#include <filesystem>

namespace krait::study {

/// Holds `<path>-lock` exclusively until destroyed; the system releases it if the process dies.
class StudyLock {
 public:
  /// Waits up to `wait_seconds` for another process. @throws UserError naming that process
  explicit StudyLock(const std::filesystem::path& database, double wait_seconds = 2);
  ~StudyLock();
  StudyLock(StudyLock&& other) noexcept;
  StudyLock& operator=(StudyLock&&) = delete;

 private:
  std::filesystem::path path_;
  int fd_ = -1;
};

}  // namespace krait::study
