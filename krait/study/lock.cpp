#include "krait/study/lock.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstring>
#include <string>
#include <thread>
#include <utility>

#include "krait/base/error.hpp"
#include "krait/base/text.hpp"

namespace krait::study {
namespace {

// The holder removes the file when it lets go, so a lock on a file that is no longer at its path
// holds nothing: open again.
bool is_at_path(int fd, const std::filesystem::path& path) {
  struct stat held {
  }, named{};
  return fstat(fd, &held) == 0 && stat(path.c_str(), &named) == 0 && held.st_ino == named.st_ino &&
         held.st_dev == named.st_dev;
}

int try_lock(const std::filesystem::path& path) {
  const int fd = open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644);
  if (fd < 0)
    throw UserError(Report{"cannot write beside the job database: " + path.string(),
                           {},
                           std::strerror(errno),
                           "check the folder and its permissions"});
  if (flock(fd, LOCK_EX | LOCK_NB) == 0 && is_at_path(fd, path)) return fd;
  close(fd);
  return -1;
}

std::string holder(const std::filesystem::path& path) {
  const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return "unknown";
  char text[32] = {};
  const ssize_t n = read(fd, text, sizeof text - 1);
  close(fd);
  return n > 0 ? std::string(text, static_cast<std::size_t>(n)) : "unknown";
}

}  // namespace

StudyLock::StudyLock(const std::filesystem::path& database, double wait_seconds)
    : path_(database.string() + "-lock") {
  using Clock = std::chrono::steady_clock;
  const auto end = Clock::now() + std::chrono::duration<double>(wait_seconds);
  while ((fd_ = try_lock(path_)) < 0) {
    if (Clock::now() >= end)
      throw UserError(Report{"another study is writing " + database.string(),
                             {},
                             "process " + holder(path_),
                             "wait until it ends, or use another file with --db"});
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }
  const std::string pid = std::to_string(getpid());
  if (ftruncate(fd_, 0) != 0 || write(fd_, pid.data(), pid.size()) < 0) {
    // The number only helps the message of a process that finds the lock taken.
  }
}

StudyLock::StudyLock(StudyLock&& other) noexcept
    : path_(std::move(other.path_)), fd_(std::exchange(other.fd_, -1)) {}

StudyLock::~StudyLock() {
  if (fd_ < 0) return;
  unlink(path_.c_str());
  close(fd_);
}

}  // namespace krait::study
