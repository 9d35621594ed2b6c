#pragma once

// The entries, one a file; operator.cpp lists them. Internal to ops/.

#include "krait/ops/operator.hpp"

namespace krait::ops {

[[nodiscard]] const Operator& selective_scan_operator();
[[nodiscard]] const Operator& rmsnorm_operator();

}  // namespace krait::ops
