#include "krait/tensor/safetensors.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cerrno>
#include <cstring>
#include <span>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "krait/base/error.hpp"
#include "krait/base/file.hpp"
#include "krait/base/text.hpp"
#include "krait/tensor/safetensors_header.hpp"

namespace krait {
namespace {

using detail::Header;
using detail::HeaderEntry;

static_assert(std::endian::native == std::endian::little, "the format's data is little-endian");

constexpr std::size_t kLengthBytes = 8;
constexpr std::uint64_t kMaxHeaderBytes = 100'000'000;
constexpr const char* kDamaged = "the file is damaged or incomplete; get or write it again";

// --- reading ---

[[noreturn]] void cannot_read(const std::filesystem::path& path, int error) {
  throw UserError(Report{"cannot read " + path.string(),
                         {},
                         std::strerror(error),
                         "check the path, its folder and the permissions"});
}

/// An open file descriptor, closed at the end of the scope.
class Descriptor {
 public:
  // O_NONBLOCK: opening a named pipe must not wait for a writer; it is refused below.
  explicit Descriptor(const std::filesystem::path& path)
      : fd_(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)) {
    if (fd_ < 0) cannot_read(path, errno);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  ~Descriptor() { ::close(fd_); }
  [[nodiscard]] int get() const { return fd_; }

 private:
  int fd_;
};

/// Maps a regular file privately; the pointer unmaps it. An empty file gives a null pointer.
std::pair<std::shared_ptr<std::byte>, std::size_t> map_file(const std::filesystem::path& path) {
  const Descriptor file(path);
  struct stat status {};
  if (::fstat(file.get(), &status) != 0) cannot_read(path, errno);
  if (S_ISDIR(status.st_mode)) cannot_read(path, EISDIR);
  if (!S_ISREG(status.st_mode))
    throw UserError(Report{"cannot read " + path.string(),
                           {},
                           "a device or a pipe",
                           "give a regular file; it is mapped, not read through"});
  const auto size = static_cast<std::size_t>(status.st_size);
  if (size == 0) return {};
  // Writable and private: a caller may change a tensor; the file never sees it.
  void* start = ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE, file.get(), 0);
  if (start == MAP_FAILED) cannot_read(path, errno);
  const auto unmap = [size](std::byte* p) { ::munmap(p, size); };
  return {std::shared_ptr<std::byte>(static_cast<std::byte*>(start), unmap), size};
}

/// The bytes of the header, checked against the size of the file.
std::uint64_t header_length(const std::byte* bytes, std::size_t size, const std::string& source) {
  std::uint64_t length = 0;
  if (size < kLengthBytes) {
    throw UserError(Report{"a safetensors file starts with the 8 bytes of its header's length",
                           source, cat("a file of ", size, " bytes"), kDamaged});
  }
  std::memcpy(&length, bytes, kLengthBytes);
  const std::string got = cat("header of ", length, " bytes in a file of ", size, " bytes");
  if (length > kMaxHeaderBytes) {
    throw UserError(Report{cat("a safetensors header may have at most ", kMaxHeaderBytes, " bytes"),
                           source, got, "check that this is a safetensors file"});
  }
  if (length > size - kLengthBytes)
    throw UserError(
        Report{"the safetensors header reaches past the end of the file", source, got, kDamaged});
  return length;
}

[[noreturn]] void reject(const std::string& what, const std::string& source,
                         const HeaderEntry& entry, const std::string& got) {
  throw UserError(Report{what, detail::tensor_place(source, entry.name), got, kDamaged});
}

std::string range_text(const HeaderEntry& entry) {
  return cat("data_offsets [", entry.begin(), ", ", entry.end(), "]");
}

[[noreturn]] void reject_dtype(const std::string& source, const HeaderEntry& entry) {
  std::vector<std::string> known;
  for (const DTypeInfo& row : dtypes())
    if (!row.safetensors.empty()) known.emplace_back(row.safetensors);
  // Suggestions cost the product of the lengths: a hostile name is cut.
  throw UserError(Report{"unknown dtype in a safetensors file",
                         detail::tensor_place(source, entry.name), detail::printable(entry.dtype),
                         suggest(entry.dtype.substr(0, 32), known)});
}

DType dtype_of(const HeaderEntry& entry, const std::string& source) {
  for (const DTypeInfo& row : dtypes())
    if (!row.safetensors.empty() && row.safetensors == entry.dtype) return row.dtype;
  reject_dtype(source, entry);
}

void check_range(const HeaderEntry& entry, DType dtype, std::uint64_t data_bytes,
                 const std::string& source) {
  if (entry.begin() > entry.end()) {
    reject("a tensor's data ends before it begins", source, entry, range_text(entry));
  }
  if (entry.end() > data_bytes) {
    reject("a tensor's data reaches past the end of the file", source, entry,
           cat(range_text(entry), " in ", data_bytes, " bytes of data"));
  }
  const auto needed = checked_bytes(dtype, entry.shape);
  if (!needed) {
    reject("a tensor's shape is too large", source, entry,
           cat(entry.dtype, " ", to_string(entry.shape), ", over 2^63 - 1 bytes"));
  }
  if (*needed != entry.end() - entry.begin()) {
    reject("a tensor's data does not fit its shape", source, entry,
           cat(range_text(entry), ", ", entry.end() - entry.begin(), " bytes; ", entry.dtype, " ",
               to_string(entry.shape), " needs ", *needed));
  }
}

/// The ranges in order of their offsets must follow each other without gap, from 0 to the end.
void check_tiling(const std::vector<HeaderEntry>& entries, std::uint64_t data_bytes,
                  const std::string& source) {
  std::vector<const HeaderEntry*> order;
  order.reserve(entries.size());
  for (const HeaderEntry& entry : entries) order.push_back(&entry);
  std::sort(order.begin(), order.end(), [](const HeaderEntry* a, const HeaderEntry* b) {
    return std::tie(a->offsets, a->name) < std::tie(b->offsets, b->name);
  });
  std::uint64_t covered = 0;
  const HeaderEntry* previous = nullptr;
  for (const HeaderEntry* entry : order) {
    if (entry->begin() < covered) {
      reject("two tensors overlap", source, *entry,
             cat(range_text(*entry), " and ", range_text(*previous), " of ",
                 detail::printable(previous->name)));
    }
    if (entry->begin() > covered) {
      reject("bytes before a tensor belong to no tensor", source, *entry,
             cat(range_text(*entry), "; bytes ", covered, " to ", entry->begin(), " are unused"));
    }
    covered = entry->end();
    previous = entry;
  }
  if (covered == data_bytes) return;
  throw UserError(Report{"bytes at the end of a safetensors file belong to no tensor", source,
                         cat("tensors end at byte ", covered, " of ", data_bytes, " bytes of data"),
                         kDamaged});
}

// --- writing ---

[[noreturn]] void cannot_write(const std::string& what, const std::string& target,
                               const std::string& name, const std::string& got,
                               const std::string& fix) {
  throw UserError(Report{what, detail::tensor_place(target, name), got, fix});
}

void check_writable(const std::string& name, const Tensor& tensor, const std::string& target) {
  if (name == "__metadata__") {
    cannot_write("a tensor cannot be named __metadata__ in a safetensors file", target, name, {},
                 "rename the tensor");
  }
  if (info(tensor.dtype()).safetensors.empty()) {
    cannot_write("the safetensors format has no such dtype", target, name,
                 std::string(krait::name(tensor.dtype())), "cast() the tensor, for example to f32");
  }
  if (tensor.count() != element_count(tensor.shape())) {
    cannot_write("a tensor without shape and data cannot be written", target, name,
                 "a default-constructed tensor", "give the tensor a shape");
  }
}

using NamedTensor = TensorMap::value_type;

/// Larger elements first, so that with a padded header every tensor is aligned; then by name.
std::vector<const NamedTensor*> file_order(const TensorMap& tensors) {
  std::vector<const NamedTensor*> order;
  for (const NamedTensor& item : tensors) order.push_back(&item);
  std::stable_sort(order.begin(), order.end(), [](const NamedTensor* a, const NamedTensor* b) {
    return size_of(a->second.dtype()) > size_of(b->second.dtype());
  });
  return order;
}

std::string header_text(std::span<const NamedTensor* const> order,
                        const std::map<std::string, std::string>& metadata,
                        const std::string& target) {
  Header header;
  header.metadata = metadata;
  std::uint64_t offset = 0;
  for (const NamedTensor* item : order) {
    const Tensor& tensor = item->second;
    header.entries.push_back({.name = item->first,
                              .dtype = std::string(info(tensor.dtype()).safetensors),
                              .shape = tensor.shape(),
                              .offsets = {offset, offset + tensor.bytes()}});
    offset += tensor.bytes();
  }
  std::string text = detail::format_header(header, target);
  text.resize((text.size() + 7) / 8 * 8, ' ');
  return text;
}

template <class T>
std::string_view as_text(const T* data, std::size_t bytes) {
  return {reinterpret_cast<const char*>(data), bytes};
}

}  // namespace

SafetensorsFile parse_safetensors(const std::shared_ptr<std::byte>& bytes, std::size_t size,
                                  const std::string& source) {
  const std::uint64_t length = header_length(bytes.get(), size, source);
  Header header = detail::parse_header(as_text(bytes.get() + kLengthBytes, length), source);
  const std::uint64_t data_start = kLengthBytes + length;
  const std::uint64_t data_bytes = size - data_start;
  SafetensorsFile out;
  for (const HeaderEntry& entry : header.entries)
    check_range(entry, dtype_of(entry, source), data_bytes, source);
  check_tiling(header.entries, data_bytes, source);
  for (HeaderEntry& entry : header.entries) {
    const DType dtype = dtype_of(entry, source);
    std::byte* first = bytes.get() + data_start + entry.begin();
    out.tensors.try_emplace(std::move(entry.name), dtype, std::move(entry.shape),
                            std::shared_ptr<std::byte>(bytes, first));
  }
  out.metadata = std::move(header.metadata);
  return out;
}

SafetensorsFile read_safetensors(const std::filesystem::path& path) {
  const auto [bytes, size] = map_file(path);
  return parse_safetensors(bytes, size, path.string());
}

void write_safetensors(const std::filesystem::path& path, const TensorMap& tensors,
                       const std::map<std::string, std::string>& metadata) {
  const std::string target = path.string();
  for (const auto& [name, tensor] : tensors) check_writable(name, tensor, target);
  const std::vector<const NamedTensor*> order = file_order(tensors);
  const std::string header = header_text(order, metadata, target);
  const std::uint64_t length = header.size();
  if (length > kMaxHeaderBytes) {
    throw UserError(Report{"the names and metadata do not fit a safetensors header", target,
                           cat(length, " bytes; at most ", kMaxHeaderBytes),
                           "shorten them or split the file"});
  }
  std::vector<std::string_view> parts{as_text(&length, sizeof length), header};
  for (const NamedTensor* item : order)
    parts.push_back(as_text(item->second.data(), item->second.bytes()));
  write_file_atomically(path, parts);
}

}  // namespace krait
