#include "krait/kernels/probes/operand_form.hpp"

#include <array>
#include <string>
#include <vector>

#include "krait/base/error.hpp"
#include "krait/base/text.hpp"

namespace krait::kernels {
namespace {

using isa::Space;

constexpr std::array kSpaces{Space::kSbuf, Space::kPsum, Space::kHbm};

std::optional<Space> parse_space(std::string_view text) {
  for (const Space space : kSpaces)
    if (isa::name(space) == text) return space;
  return std::nullopt;
}

std::vector<std::string> words() {
  std::vector<std::string> out;
  for (const Space space : kSpaces) out.emplace_back(isa::name(space));
  out.emplace_back("tile"), out.emplace_back("none");
  for (const DTypeInfo& type : dtypes()) out.emplace_back(type.name);
  return out;
}

}  // namespace

OperandForm parse_operand_form(std::string_view name, std::string_view text) {
  OperandForm out;
  for (const std::string& word : split(text, ':')) {
    if (const auto space = parse_space(word)) {
      out.space = space;
    } else if (const auto dtype = parse_dtype(word)) {
      out.dtype = dtype;
    } else if (word == "none") {
      out.absent = true;
    } else if (word != "tile") {
      throw UserError(Report{cat("'", word, "' is no form of an operand"), "--set",
                             cat(name, "=", text),
                             cat(suggest(word, words()), " (e.g. ", name, "=sbuf:bf16)")});
    }
  }
  return out;
}

void apply_form(const OperandForm& form, std::int64_t partitions, isa::Tile& tile) {
  if (form.absent) {
    tile = {};
    return;
  }
  if (!tile.present()) tile = isa::sample_tile(Space::kSbuf, DType::kF32, partitions, 1);
  if (form.space) {
    tile.space = *form.space;
    tile.partition_step = tile.in_hbm() ? tile.free_size() : 0;
  }
  if (form.dtype) tile.dtype = *form.dtype;
}

}  // namespace krait::kernels
