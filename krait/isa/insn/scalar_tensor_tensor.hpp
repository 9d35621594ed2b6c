#pragma once

#include "krait/isa/cost.hpp"
#include "krait/isa/insn.hpp"

namespace krait::isa {

/// dst = op1(op0(data, operand0), other), each step swapped if reversed. operand0 is a constant or
/// [P, 1] f32, other a tile. f32 arithmetic, rounded once. Source: ISA32.
struct ScalarTensorTensor {
  Tile dst, data, other;  // [P, F]
  Operand operand0;
  AluOp op0 = AluOp::kMultiply;
  AluOp op1 = AluOp::kAdd;
  bool reverse0 = false;
  bool reverse1 = false;

  static constexpr InsnInfo info{
      .name = "scalar_tensor_tensor",
      .engine = Engine::kVector,
      .summary = "a scalar operation, then one with a second tile",
      .formula = "dst[p,i] = op1(op0(data[p,i], operand0[p]), other[p,i])",
      .cost_source = {
          Evidence::kDocumented,
          "ISA26: N for bf16 subtract-multiply, else 2N (v2); later generations derived"}};

  static constexpr auto fields() {
    using T = ScalarTensorTensor;
    return std::tuple{out("dst", &T::dst),
                      in("data", &T::data),
                      in("other", &T::other),
                      operand("operand0", &T::operand0),
                      attr("op0", &T::op0),
                      attr("op1", &T::op1),
                      attr("reverse0", &T::reverse0),
                      attr("reverse1", &T::reverse1)};
  }

  void check(Checker& c) const {
    c.present("dst", dst), c.present("data", data), c.present("other", other);
    c.on_chip("dst", dst), c.on_chip("data", data), c.on_chip("other", other);
    c.same_shape("dst", dst, "data", data);
    c.same_shape("data", data, "other", other);
    c.not_both_psum("data", data, "other", other);
    c.vector_operand("operand0", operand0, dst);
    c.vector_op("op0", op0), c.vector_op("op1", op1, false);
  }

  void execute(Memory& m) const {
    for (int p = 0; p < dst.partitions; ++p) {
      m.begin_row();
      const auto x = m.load(data, p), y = m.load(other, p);
      const float s = m.load(operand0, p);
      const auto t = m.scratch(x.size());
      apply_row_scalar(op0, x, s, reverse0, t);
      const auto row = m.stage(dst, p);
      if (reverse1)
        apply_rows(op1, y, t, row);
      else
        apply_rows(op1, t, y, row);
      m.store(dst, p, row);
    }
  }

  [[nodiscard]] Timing time(const MachineSpec& s) const {
    const auto& r = s.vector_rates;
    bool narrow = is_16bit(data.dtype, s) && is_16bit(other.dtype, s);
    if (r.scalar_tensor_tensor_16bit_needs_sub_mul)
      narrow = data.dtype == DType::kBf16 && other.dtype == DType::kBf16 &&
               op0 == AluOp::kSubtract && op1 == AluOp::kMultiply && dst.free_size() % 2 == 0;
    else
      narrow = narrow && is_16bit(dst.dtype, s);
    const double rate = narrow ? r.scalar_tensor_tensor_16bit : r.scalar_tensor_tensor;
    return vector_time(s, dst.free_size(), rate, {&dst, &data, &other});
  }
};

}  // namespace krait::isa
