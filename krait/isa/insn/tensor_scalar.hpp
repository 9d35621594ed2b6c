#pragma once

#include "krait/isa/cost.hpp"
#include "krait/isa/insn.hpp"

namespace krait::isa {

/// t = op0(data, operand0) (swapped if reverse0);  dst = op1(t, operand1) (swapped if reverse1);
/// op1 = bypass leaves t. f32 arithmetic, rounded once. Operands are constants or [P, 1] f32.
/// Source: ISA32. ScalarE takes (multiply), (add), (multiply, add) from v3 on; GpSimdE rsqrt only.
struct TensorScalar {
  Tile dst, data;  // [P, F]
  Operand operand0, operand1;
  AluOp op0 = AluOp::kMultiply;
  AluOp op1 = AluOp::kBypass;
  bool reverse0 = false;
  bool reverse1 = false;
  Engine engine = Engine::kVector;

  static constexpr InsnInfo info{
      .name = "tensor_scalar",
      .engine = Engine::kVector,
      .summary = "one or two operations with per-partition scalars",
      .formula = "dst[p,i] = op1(op0(data[p,i], operand0[p]), operand1[p])",
      .cost_source = {
          Evidence::kDocumented,
          "ISA26: max(MIN_II, N), two ops cost as one; fast modes A3; GpSimdE rsqrt derived"}};

  static constexpr auto fields() {
    using T = TensorScalar;
    return std::tuple{out("dst", &T::dst),
                      in("data", &T::data),
                      operand("operand0", &T::operand0),
                      operand("operand1", &T::operand1),
                      attr("op0", &T::op0),
                      attr("op1", &T::op1),
                      attr("reverse0", &T::reverse0),
                      attr("reverse1", &T::reverse1),
                      attr("engine", &T::engine)};
  }

  void check(Checker& c) const {
    c.present("dst", dst), c.present("data", data);
    c.on_chip("dst", dst), c.on_chip("data", data);
    c.same_shape("dst", dst, "data", data);
    c.vector_operand("operand0", operand0, dst);
    c.vector_operand("operand1", operand1, dst);
    c.require(engine == Engine::kVector || engine == Engine::kScalar || engine == Engine::kGpSimd,
              "engine", "tensor_scalar runs on VectorE, ScalarE or GpSimdE", attr_text(engine),
              "use VectorE");
    if (engine == Engine::kScalar) check_scalar(c);
    if (engine == Engine::kGpSimd) {
      c.require(op0 == AluOp::kRsqrt && op1 == AluOp::kBypass, "engine-op",
                "GpSimdE runs tensor_scalar with op0 = rsqrt only", attr_text(op0), "use VectorE");
      c.in_sbuf("dst", dst), c.in_sbuf("data", data);
    }
    if (engine == Engine::kVector) c.vector_op("op0", op0), c.vector_op("op1", op1, false);
  }

  [[nodiscard]] Engine engine_of() const { return engine; }

  void execute(Memory& m) const {
    for (int p = 0; p < dst.partitions; ++p) {
      m.begin_row();
      const auto x = m.load(data, p);
      const float s0 = m.load(operand0, p);
      const float s1 = m.load(operand1, p);
      const auto row = m.stage(dst, p);
      apply_row_scalar(op0, x, s0, reverse0, row);
      if (op1 != AluOp::kBypass) apply_row_scalar(op1, row, s1, reverse1, row);
      m.store(dst, p, row);
    }
  }

  [[nodiscard]] Timing time(const MachineSpec& s) const {
    const std::int64_t n = dst.free_size();
    if (engine == Engine::kGpSimd) return gpsimd_time(s, n, s.gpsimd.rsqrt_rate);
    if (engine == Engine::kScalar) {
      const bool narrow = is_16bit(dst.dtype, s) && is_16bit(data.dtype, s);
      return scalar_time(s, n, narrow ? s.scalar_rates.copy_16bit_rate : s.scalar_rates.base_rate,
                         {&dst, &data});
    }
    return vector_time(s, n, vector_copy_rate(s, dst, data), {&dst, &data});
  }

 private:
  void check_scalar(Checker& c) const {
    c.require(c.machine().isa.scalar_tensor_scalar, "engine",
              "ScalarE has no tensor_scalar before v3", std::string(c.machine().name()),
              "use VectorE, or activation with scale and bias");
    const bool legal = (op0 == AluOp::kMultiply && (op1 == AluOp::kAdd || op1 == AluOp::kBypass)) ||
                       (op0 == AluOp::kAdd && op1 == AluOp::kBypass);
    c.require(legal && !reverse0 && !reverse1, "engine-op",
              "ScalarE runs tensor_scalar as (multiply), (add) or (multiply, add) only",
              attr_text(op0) + ", " + attr_text(op1), "use VectorE");
  }
};

}  // namespace krait::isa
