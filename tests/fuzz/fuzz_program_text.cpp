// Any bytes as the text of a Program: the parser either refuses them with a UserError or returns a
// program that the verifier can judge on every machine, and that prints to a text which parses to
// the same program again.

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <string>
#include <string_view>

#include "krait/base/error.hpp"
#include "krait/ir/text.hpp"
#include "krait/machine/registry.hpp"

namespace {

/// Ends the run; libFuzzer then keeps the input.
void require(bool condition) {
  if (!condition) std::abort();
}

void check_parsed(const krait::ir::Program& program) {
  const std::string text = krait::ir::print(program);
  const krait::ir::Program again = krait::ir::parse(text);  // may not throw: the text is ours
  require(krait::ir::print(again) == text);
  require(again.buffers == program.buffers && again.params == program.params);
  require(program.instruction_count() == again.instruction_count());
  for (const krait::MachineSpec* machine : krait::machines()) {
    const auto first = krait::ir::verify(program, *machine);
    const auto second = krait::ir::verify(again, *machine);
    require(first.size() == second.size());
    for (std::size_t i = 0; i < first.size(); ++i) {
      require(first[i].violation.rule == second[i].violation.rule);
      require(!first[i].violation.what.empty() && !first[i].violation.fix.empty());
    }
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  // A copy of exactly this size, so that the address sanitizer sees any access past it.
  const std::unique_ptr<char[]> copy(new char[size]);
  for (std::size_t i = 0; i < size; ++i) copy[i] = static_cast<char>(data[i]);
  krait::ir::Program program;
  try {
    program = krait::ir::parse(std::string_view(copy.get(), size));
  } catch (const krait::UserError&) {
    return 0;
  }
  check_parsed(program);
  return 0;
}
