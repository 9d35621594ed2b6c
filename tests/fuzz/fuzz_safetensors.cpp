// Any bytes as a safetensors file: the reader either refuses them with a UserError or returns
// tensors whose bytes tile the data section, can be read to the last one, and survive writing and
// reading back.

#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <memory>
#include <string>

#include "krait/base/error.hpp"
#include "krait/tensor/safetensors.hpp"

namespace {

/// Ends the run; libFuzzer then keeps the input.
void require(bool condition) {
  if (!condition) std::abort();
}

/// In memory where the system has a file system there; removed at exit.
const std::filesystem::path& scratch_file() {
  static const struct Scratch {
    std::filesystem::path path;
    Scratch() {
      const std::filesystem::path memory = "/dev/shm";
      path = (std::filesystem::is_directory(memory) ? memory
                                                    : std::filesystem::temp_directory_path()) /
             ("krait_fuzz_" + std::to_string(::getpid()) + ".safetensors");
    }
    Scratch(const Scratch&) = delete;
    Scratch& operator=(const Scratch&) = delete;
    ~Scratch() {
      std::error_code ignored;
      std::filesystem::remove(path, ignored);
    }
  } scratch;
  return scratch.path;
}

bool same_bytes(const krait::Tensor& a, const krait::Tensor& b) {
  return a.bytes() == b.bytes() &&
         (a.bytes() == 0 || std::memcmp(a.data(), b.data(), a.bytes()) == 0);
}

void check_round_trip(const krait::SafetensorsFile& file) {
  krait::write_safetensors(scratch_file(), file.tensors, file.metadata);
  const krait::SafetensorsFile again = krait::read_safetensors(scratch_file());
  require(again.metadata == file.metadata);
  require(again.tensors.size() == file.tensors.size());
  for (const auto& [name, tensor] : file.tensors) {
    const auto found = again.tensors.find(name);
    require(found != again.tensors.end());
    require(found->second.dtype() == tensor.dtype() && found->second.shape() == tensor.shape());
    require(same_bytes(found->second, tensor));
  }
}

void check_parsed(const krait::SafetensorsFile& file, std::size_t size) {
  std::size_t bytes = 0;
  for (const auto& [name, tensor] : file.tensors) {
    require(reinterpret_cast<std::uintptr_t>(tensor.data()) % krait::size_of(tensor.dtype()) == 0);
    bytes += tensor.clone().bytes();  // reads every byte
  }
  require(bytes <= size);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  // A copy of exactly this size, so that the address sanitizer sees any access past it.
  const std::shared_ptr<std::byte> bytes(new std::byte[size], std::default_delete<std::byte[]>());
  if (size != 0) std::memcpy(bytes.get(), data, size);
  try {
    const krait::SafetensorsFile file = krait::parse_safetensors(bytes, size, "input");
    check_parsed(file, size);
    // Files cost a system call or ten: one accepted input in 16 goes through, chosen by its size.
    if (size % 16 == 0) check_round_trip(file);
  } catch (const krait::UserError&) {
  }
  return 0;
}
