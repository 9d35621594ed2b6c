#pragma once

#include "krait/isa/cost.hpp"
#include "krait/isa/insn.hpp"

namespace krait::isa {

/// Where predicate[p,i] != 0 (== 0 if reversed), dst[p,i] = src[p,i]; elsewhere dst keeps its
/// value. Source: ISA32.
struct TensorCopyPredicated {
  Tile dst, src, predicate;  // [P, F]; predicate u8, u16 or u32
  bool reverse = false;

  static constexpr InsnInfo info{
      .name = "tensor_copy_predicated",
      .engine = Engine::kVector,
      .summary = "copy where a mask is set",
      .formula = "if (predicate[p,i] != 0) dst[p,i] = src[p,i]",
      .cost_source = {Evidence::kDocumented,
                      "ISA26: N if exactly one of src, predicate in PSUM, else 2N (v2)"}};

  static constexpr auto fields() {
    using T = TensorCopyPredicated;
    return std::tuple{out("dst", &T::dst), in("src", &T::src), in("predicate", &T::predicate),
                      attr("reverse", &T::reverse)};
  }

  static TensorCopyPredicated sample(const SampleShape& s) {
    return {.dst = s.out(), .src = s.in(), .predicate = s.other(s.n, DType::kU32)};
  }

  void check(Checker& c) const {
    c.present("dst", dst), c.present("src", src), c.present("predicate", predicate);
    c.on_chip("dst", dst), c.on_chip("src", src), c.on_chip("predicate", predicate);
    c.same_shape("dst", dst, "src", src);
    c.same_shape("dst", dst, "predicate", predicate);
    c.same_dtype("dst", dst, "src", src);
    c.not_both_psum("src", src, "predicate", predicate);
    const DType t = predicate.dtype;
    c.require(t == DType::kU8 || t == DType::kU16 || t == DType::kU32, "operand-dtype",
              "predicate must be u8, u16 or u32", describe(predicate),
              "write the mask as an unsigned tile");
  }

  [[nodiscard]] bool accumulates() const { return true; }  // dst's other elements are kept

  void execute(Memory& m) const {
    for (int p = 0; p < dst.partitions; ++p) {
      m.begin_row();
      const auto mask = m.load(predicate, p);
      for (std::size_t i = 0; i < mask.size(); ++i)
        if ((mask[i] != 0) != reverse) copy_element(m, p, static_cast<std::int64_t>(i));
    }
  }

  [[nodiscard]] Timing time(const MachineSpec& s) const {
    const bool one_psum = src.in_psum() != predicate.in_psum();
    const double rate =
        one_psum ? s.vector_rates.copy_predicated_one_psum : s.vector_rates.copy_predicated_sbuf;
    return vector_time(s, dst.free_size(), rate, {&dst, &src, &predicate});
  }

 private:
  static Tile element(Tile t, std::int64_t i) {
    std::int64_t offset = 0;
    for (std::size_t d = t.rank; d-- > 0;) {
      offset += i % t.dims[d].count * t.dims[d].step;
      i /= t.dims[d].count;
    }
    t.offset += offset * t.element_bytes();
    t.rank = 1;
    t.dims[0] = {1, 1};
    return t;
  }
  // The scratch row that holds the mask must survive, so elements go one by one as bits.
  void copy_element(Memory& m, int p, std::int64_t i) const {
    m.copy_bits(element(dst, i), p, element(src, i), p);
  }
};

}  // namespace krait::isa
