#pragma once

#include <cmath>

#include "krait/isa/cost.hpp"
#include "krait/isa/insn.hpp"

namespace krait::isa {

/// t = op0(data, operand0) (swapped if reverse0);  dst = op1(t, operand1) (swapped if reverse1);
/// op1 = bypass leaves t. f32 arithmetic, rounded once. Operands are constants or [P, 1] f32.
/// Bit operators (both, or op0 alone) work on the bits of integers of one dtype; operands are then
/// constants of integral value or [P, 1] of that dtype. VectorE only.
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
    const bool bits = is_bitwise(op0) || is_bitwise(op1);
    if (bits) {
      check_bits(c);
    } else {
      c.vector_operand("operand0", operand0, dst);
      c.vector_operand("operand1", operand1, dst);
    }
    c.require(engine == Engine::kVector || engine == Engine::kScalar || engine == Engine::kGpSimd,
              "engine", "tensor_scalar runs on VectorE, ScalarE or GpSimdE", attr_text(engine),
              "use VectorE");
    if (engine == Engine::kScalar) check_scalar(c);
    if (engine == Engine::kGpSimd) {
      c.require(op0 == AluOp::kRsqrt && op1 == AluOp::kBypass, "engine-op",
                "GpSimdE runs tensor_scalar with op0 = rsqrt only", attr_text(op0), "use VectorE");
      c.in_sbuf("dst", dst), c.in_sbuf("data", data);
    }
    if (engine == Engine::kVector && !bits) c.vector_op("op0", op0), c.vector_op("op1", op1, false);
  }

  [[nodiscard]] Engine engine_of() const { return engine; }

  void execute(Memory& m) const {
    if (is_bitwise(op0)) return execute_bits(m);
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
  void check_bits(Checker& c) const {
    c.require(is_bitwise(op0) && (is_bitwise(op1) || op1 == AluOp::kBypass), "alu-class",
              "bit and arithmetic operators do not mix", attr_text(op0) + ", " + attr_text(op1),
              "use two instructions");
    c.require(engine == Engine::kVector, "engine-op", "bit operators run on VectorE only",
              attr_text(engine), "use VectorE");
    c.integers("dst", dst, "data", data);
    for (const Operand* operand : {&operand0, &operand1}) {
      const std::string_view name = operand == &operand0 ? "operand0" : "operand1";
      if (operand->is_tile()) {
        c.per_partition(name, operand->tile, dst);
        c.integers(name, operand->tile, "data", data);
      }
      c.require(operand->is_tile() || (operand->value == std::floor(operand->value) &&
                                       operand->value >= -0x1p31F && operand->value < 0x1p32F),
                "bit-operand", "a constant of a bit operator must be an integer of 32 bits",
                describe(*operand), "pass other patterns as a [P, 1] tile");
    }
  }
  [[nodiscard]] static std::uint32_t word(Memory& m, const Operand& operand, int p, int width) {
    std::uint32_t out = 0;
    if (operand.is_tile())
      m.load_words(operand.tile, p, {&out, 1});
    else
      out = static_cast<std::uint32_t>(static_cast<std::int64_t>(operand.value));
    return apply_bits(AluOp::kBitwiseAnd, out, 0xFFFFFFFFU >> (32 - width), width);
  }
  void execute_bits(Memory& m) const {
    std::vector<std::uint32_t> x(static_cast<std::size_t>(dst.free_size()));
    const int width = static_cast<int>(8 * dst.element_bytes());
    const auto step = [width](AluOp op, std::uint32_t t, std::uint32_t s, bool reverse) {
      return reverse && !is_unary(op) ? apply_bits(op, s, t, width) : apply_bits(op, t, s, width);
    };
    for (int p = 0; p < dst.partitions; ++p) {
      m.load_words(data, p, x);
      const std::uint32_t s0 = word(m, operand0, p, width), s1 = word(m, operand1, p, width);
      for (std::uint32_t& v : x) v = step(op1, step(op0, v, s0, reverse0), s1, reverse1);
      m.store_words(dst, p, x);
    }
  }
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
