#include "krait/base/file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <sstream>

#include "krait/base/error.hpp"

namespace krait {
namespace {

[[noreturn]] void fail(const std::filesystem::path& path, const char* verb, int error) {
  throw UserError(Report{std::string("cannot ") + verb + " " + path.string(),
                         {},
                         std::strerror(error),
                         "check the path, its folder and the permissions"});
}

bool write_all(int fd, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t n = ::write(fd, bytes.data(), bytes.size());
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return false;
    bytes.remove_prefix(static_cast<std::size_t>(n));
  }
  return true;
}

bool write_parts(int fd, std::span<const std::string_view> parts) {
  for (const std::string_view part : parts)
    if (!write_all(fd, part)) return false;
  return true;
}

/// A device or a pipe (/dev/stdout, /dev/full, a FIFO) is written in place: a rename over it would
/// put a regular file where the device was.
void write_stream(const std::filesystem::path& path, std::span<const std::string_view> parts) {
  const int fd = ::open(path.c_str(), O_WRONLY | O_CLOEXEC);
  if (fd < 0) fail(path, "write", errno);
  const bool written = write_parts(fd, parts);
  const int error = errno;
  ::close(fd);
  if (!written) fail(path, "write", error);
}

/// The file that a link names, so that the link stays one; a path that is no link stays as it is.
std::filesystem::path link_target(const std::filesystem::path& path) {
  std::error_code ec;
  if (!std::filesystem::is_symlink(path, ec)) return path;
  const std::filesystem::path target = std::filesystem::weakly_canonical(path, ec);
  return ec ? path : target;
}

/// A device or pipe, which is written in place. @throws UserError for a directory
bool is_stream(const std::filesystem::path& path) {
  std::error_code ec;
  const auto status = std::filesystem::status(path, ec);  // follows links
  if (std::filesystem::is_directory(status)) fail(path, "write", EISDIR);
  return std::filesystem::exists(status) && !std::filesystem::is_regular_file(status);
}

struct Temporary {
  std::string target;  // what will be replaced
  std::string name;    // beside it
  int fd;
};

Temporary make_temporary(const std::filesystem::path& path) {
  Temporary out{.target = link_target(path).string(), .name = {}, .fd = -1};
  out.name = out.target + ".XXXXXX";
  out.fd = ::mkstemp(out.name.data());
  if (out.fd < 0) fail(path, "write", errno);
  return out;
}

}  // namespace

std::string read_file(const std::filesystem::path& path) {
  std::error_code status;
  if (std::filesystem::is_directory(path, status)) fail(path, "read", EISDIR);
  errno = 0;
  std::ifstream in(path, std::ios::binary);
  if (!in) fail(path, "read", errno != 0 ? errno : EIO);
  std::ostringstream out;
  out << in.rdbuf();
  if (in.bad()) fail(path, "read", EIO);
  return std::move(out).str();
}

void write_file_atomically(const std::filesystem::path& path, std::string_view bytes) {
  write_file_atomically(path, std::span<const std::string_view>(&bytes, 1));
}

void write_file_atomically(const std::filesystem::path& path,
                           std::span<const std::string_view> parts) {
  if (is_stream(path)) return write_stream(path, parts);
  const Temporary temporary = make_temporary(path);
  ::fchmod(temporary.fd, 0644);
  const bool written = write_parts(temporary.fd, parts) && ::fsync(temporary.fd) == 0;
  const int error = errno;
  ::close(temporary.fd);
  if (written && ::rename(temporary.name.c_str(), temporary.target.c_str()) == 0) return;
  const int reason = written ? errno : error;
  ::unlink(temporary.name.c_str());
  fail(path, "write", reason);
}

void check_can_write(const std::filesystem::path& path) {
  if (is_stream(path)) {  // opening a pipe would end it for its reader
    if (::access(path.c_str(), W_OK) != 0) fail(path, "write", errno);
    return;
  }
  const Temporary temporary = make_temporary(path);
  ::close(temporary.fd);
  ::unlink(temporary.name.c_str());
}

}  // namespace krait
