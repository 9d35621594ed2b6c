#pragma once

// The text form of a Program. It holds everything but the source locations, and parses back to a
// program that prints the same.
//
//   program NAME machine M
//     param chunk = 128
//     buffer 0 hbm input u f32 [1, 256, 512]
//     buffer 1 sbuf du f32 [128, 512] @1024 x2
//     loop i0 4 {
//       dma_copy dst=sbuf.1[0+128]@(1024 + 2048*((0 + 1*i0) mod 2)):f32{512*1} src=... ring=sync
//     }
//   end

#include <string>
#include <string_view>

#include "krait/ir/program.hpp"

namespace krait::ir {

[[nodiscard]] std::string print(const Program& program);
/// @throws UserError with the line number, the line and what was expected
[[nodiscard]] Program parse(std::string_view text);

}  // namespace krait::ir
