#include "krait/ir/program.hpp"

#include <algorithm>
#include <cctype>
#include <limits>

#include "krait/base/error.hpp"
#include "krait/base/text.hpp"

namespace krait::ir {
namespace {

constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();

std::int64_t high_water(const Program& program, isa::Space space) {
  std::int64_t high = 0;
  for (const Buffer& b : program.buffers)
    if (b.space == space) high = std::max(high, b.address + b.bytes * b.rotations);
  return high;
}

std::int64_t count(const Program& program, const Block& block) {
  std::int64_t n = 0;
  for (const Node& node : block) {
    std::int64_t here = 1;
    if (const Loop* loop = node.loop())
      if (__builtin_mul_overflow(program.extents[loop->id], count(program, loop->body), &here))
        return kMost;
    if (__builtin_add_overflow(n, here, &n)) return kMost;
  }
  return n;
}

}  // namespace

std::int64_t Program::sbuf_bytes() const {
  return high_water(*this, isa::Space::kSbuf);
}
std::int64_t Program::psum_bytes() const {
  return high_water(*this, isa::Space::kPsum);
}
std::int64_t Program::instruction_count() const {
  return count(*this, body);
}

std::uint32_t Program::find_buffer(std::string_view wanted) const {
  std::vector<std::string> names;
  for (std::size_t i = 0; i < buffers.size(); ++i) {
    if (buffers[i].name == wanted) return static_cast<std::uint32_t>(i);
    names.push_back(buffers[i].name);
  }
  throw UserError(Report{
      cat("program ", name, " has no buffer '", wanted, "'"), {}, {}, suggest(wanted, names)});
}

bool is_name(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 ||
           std::string_view("_.-+/:%#@").find(c) != std::string_view::npos;
  });
}

std::uint32_t intern(Program& program, const Offset& offset) {
  const auto found = std::find(program.exprs.begin() + 1, program.exprs.end(), offset);
  if (found != program.exprs.end())
    return static_cast<std::uint32_t>(found - program.exprs.begin());
  program.exprs.push_back(offset);
  return static_cast<std::uint32_t>(program.exprs.size() - 1);
}

std::int64_t on_chip_bytes(isa::Space space, std::int64_t bytes) {
  const std::int64_t grain = space == isa::Space::kPsum ? isa::kPsumBankBytes : 64;
  return (bytes + grain - 1) / grain * grain;
}

}  // namespace krait::ir
