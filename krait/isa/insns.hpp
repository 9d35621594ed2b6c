#pragma once

// Every instruction of insn_list.inc, for builders and tests.

#include "krait/isa/insn/activation.hpp"
#include "krait/isa/insn/affine_select.hpp"
#include "krait/isa/insn/dma_copy.hpp"
#include "krait/isa/insn/iota.hpp"
#include "krait/isa/insn/memset.hpp"
#include "krait/isa/insn/nc_matmul.hpp"
#include "krait/isa/insn/nc_transpose.hpp"
#include "krait/isa/insn/reciprocal.hpp"
#include "krait/isa/insn/scalar_tensor_tensor.hpp"
#include "krait/isa/insn/tensor_copy.hpp"
#include "krait/isa/insn/tensor_copy_predicated.hpp"
#include "krait/isa/insn/tensor_reduce.hpp"
#include "krait/isa/insn/tensor_scalar.hpp"
#include "krait/isa/insn/tensor_tensor.hpp"
#include "krait/isa/insn/tensor_tensor_scan.hpp"
