#pragma once

#include "krait/isa/cost.hpp"
#include "krait/isa/insn.hpp"

namespace krait::isa {

/// dst[p,i] = op(a[p,i], b[p,i]); f32 arithmetic, rounded once to dst's dtype, or bits of integers
/// of one dtype. Source: ISA32.
struct TensorTensor {
  Tile dst, a, b;  // [P, F]
  AluOp op = AluOp::kAdd;

  static constexpr InsnInfo info{
      .name = "tensor_tensor",
      .engine = Engine::kVector,
      .summary = "element-wise operation of two tiles",
      .formula = "dst[p,i] = op(a[p,i], b[p,i])",
      .cost_source = {
          Evidence::kDocumented,
          "ISA26: max(MIN_II, N) with one input in PSUM or bf16 arithmetic, else 2N (v2); "
          "rates of later generations A3, derived where it prints none"}};

  static constexpr auto fields() {
    using T = TensorTensor;
    return std::tuple{out("dst", &T::dst), in("a", &T::a), in("b", &T::b), attr("op", &T::op)};
  }

  void check(Checker& c) const {
    c.present("dst", dst), c.present("a", a), c.present("b", b);
    c.on_chip("dst", dst), c.on_chip("a", a), c.on_chip("b", b);
    c.same_shape("dst", dst, "a", a);
    c.same_shape("a", a, "b", b);
    c.not_both_psum("a", a, "b", b);
    c.require(!is_unary(op), "alu-op", "tensor_tensor needs a binary operator", attr_text(op),
              "use tensor_scalar or tensor_copy for unary operators");
    if (is_bitwise(op))
      c.integers("dst", dst, "a", a), c.integers("a", a, "b", b);
    else if (!is_unary(op))
      c.vector_op("op", op);
  }

  void execute(Memory& m) const {
    if (is_bitwise(op)) return execute_bits(m);
    for (int p = 0; p < dst.partitions; ++p) {
      m.begin_row();
      const auto x = m.load(a, p), y = m.load(b, p);
      const auto row = m.stage(dst, p);
      apply_rows(op, x, y, row);
      m.store(dst, p, row);
    }
  }

  [[nodiscard]] Timing time(const MachineSpec& s) const {
    return vector_time(s, dst.free_size(), rate(s), {&dst, &a, &b});
  }

 private:
  void execute_bits(Memory& m) const {
    std::vector<std::uint32_t> x(static_cast<std::size_t>(dst.free_size())), y(x.size());
    const int width = static_cast<int>(8 * dst.element_bytes());
    for (int p = 0; p < dst.partitions; ++p) {
      m.load_words(a, p, x), m.load_words(b, p, y);
      for (std::size_t i = 0; i < x.size(); ++i) x[i] = apply_bits(op, x[i], y[i], width);
      m.store_words(dst, p, x);
    }
  }
  [[nodiscard]] double rate(const MachineSpec& s) const {
    const auto& r = s.vector_rates;
    if (a.in_psum() || b.in_psum()) return r.tensor_tensor_one_psum;
    const bool all_16 = is_16bit(dst.dtype, s) && is_16bit(a.dtype, s) && is_16bit(b.dtype, s);
    if (!all_16) return r.tensor_tensor_sbuf;
    if (!r.tensor_tensor_16bit_needs_bf16_arith) return r.tensor_tensor_sbuf_16bit;
    const bool bf16 =
        dst.dtype == DType::kBf16 && a.dtype == DType::kBf16 && b.dtype == DType::kBf16;
    const bool arith = op == AluOp::kAdd || op == AluOp::kSubtract || op == AluOp::kMultiply;
    const bool dense = dst.inner_step() == 1 && a.inner_step() == 1 && b.inner_step() == 1;
    return bf16 && arith && dense ? r.tensor_tensor_sbuf_16bit.value : r.tensor_tensor_sbuf.value;
  }
};

}  // namespace krait::isa
