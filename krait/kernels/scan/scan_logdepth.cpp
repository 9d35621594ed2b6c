// The selective scan in log depth (Hillis-Steele): time on partitions, pairs (channel, state) as
// columns. A pair (a, b) stands for h -> a h + b; round s combines every token with the one s
// earlier:
//   a', b' = a, b shifted down by s tokens (a filled with 1, b with 0);   b = a b' + b;   a = a a'
// Every shift is a product with a constant 0/1 shift matrix on TensorE (f32: exact; bf16: the
// shifted values are rounded to 8 bits). After log2(T) rounds b is the scan of a chunk of T <= 128
// tokens, and h = b + a h_in with the state of the chunk before. Depth is log T, but every round
// touches all columns: 5 VectorE cycles a column and round on v2, 35 for 128 tokens, against 4 of
// the hardware scan. Bound: VectorE. Inputs come in with channels on partitions and are transposed
// on TensorE.

#include <algorithm>
#include <array>
#include <map>
#include <utility>
#include <vector>

#include "krait/kernels/scan/scan.hpp"

namespace krait::kernels {
namespace {

constexpr std::int64_t kTokens = 128;  // time lies on partitions

class LogDepth {
 public:
  LogDepth(KernelBuilder& kb, const ScanIo& io, DType shift_dtype)
      : kb_(kb), io_(io), shift_dtype_(shift_dtype) {}

  void run() {
    make_constants();
    kb_.loop(io_.batch, [&](const Affine& batch) {
      batch_ = batch;
      kb_.loop(io_.groups, [&](const Affine& group) {
        group_ = group;
        kb_.tiles(io_.channels_per_group(), channel_tile(),
                  [&](const Affine&, const Affine& start, std::int64_t p) {
                    channels(group * io_.channels_per_group() + start, p);
                  });
      });
    });
  }

 private:
  // Channels of one tile: their carried states are one row of one partition, 32 KiB at most.
  [[nodiscard]] std::int64_t channel_tile() const {
    return std::clamp<std::int64_t>(8192 / io_.d_state, 1, 128);
  }
  // Columns of one block: channels x states that fill a bank.
  [[nodiscard]] std::int64_t states_together() const {
    return std::min<std::int64_t>(io_.d_state, 128);
  }
  [[nodiscard]] std::int64_t channels_together() const {
    return std::max<std::int64_t>(1, kBankColumns / states_together());
  }

  void make_constants() {
    identity_ = shifted_identity(kb_, DType::kF32, 0);
    ones_ = kb_.sbuf("ones", DType::kF32, 1, {128});
    kb_.emit(isa::Memset{.dst = ones_, .value = 1});
    const std::int64_t longest = std::min(io_.length, kTokens);
    for (std::int64_t s = 1; s < longest; s *= 2) {
      Round round{s, shifted_identity(kb_, shift_dtype_, s),
                  kb_.sbuf("fill", DType::kF32, 128, {1})};
      // 1 on the first s partitions: what a shifted decay is filled with. v(p) = s - 1 - p >= 0.
      isa::IotaPattern pattern;
      pattern.offset = static_cast<std::int32_t>(s - 1);
      pattern.multiplier = -1;
      pattern.dims[0] = {1, 1};
      kb_.emit(isa::Memset{.dst = round.fill, .value = 1, .engine = isa::Engine::kGpSimd});
      kb_.emit(isa::AffineSelect{.dst = round.fill,
                                 .on_true = round.fill,
                                 .pattern = pattern,
                                 .cmp = isa::AluOp::kGreaterEqual});
      rounds_.push_back(round);
    }
  }

  // All tokens of channels [e, e + p).
  void channels(const Affine& e, std::int64_t p) {
    e_ = e, p_ = p;
    const auto column = [&](const char* name, const Hbm& x) {
      if (!x.present()) return Ref{};
      Ref out = kb_.sbuf(name, DType::kF32, p, {1}, 2);
      load(kb_, out, ScanIo::per_channel(x, e, p));
      return out;
    };
    bias_ = column("delta_bias", io_.delta_bias);
    d_ = column("D", io_.d);
    // The last token's states of the chunk before, as one row of columns in channel-major order.
    carried_ = kb_.sbuf("carried", DType::kF32, 1, {p * io_.d_state});
    if (io_.initial_state.present())
      load(kb_, carried_,
           io_.initial_state.view(io_.initial_state.at({batch_, e, Affine(0)}), 0, 1,
                                  {{1, p * io_.d_state}}));
    kb_.scope([&] { chunk(0, std::min(io_.length, kTokens), !io_.initial_state.present()); });
    const std::int64_t rest = std::max<std::int64_t>(0, io_.length - kTokens);
    kb_.tiles(rest, kTokens, [&](const Affine&, const Affine& t, std::int64_t n) {
      chunk(t + Affine(kTokens), n, false);
    });
    store(kb_,
          io_.last_state.view(io_.last_state.at({batch_, e, Affine(0)}), 0, 1,
                              {{1, p * io_.d_state}}),
          carried_);
  }

  // Tokens [t, t + n); zero_state: the entering state is 0.
  void chunk(const Affine& t, std::int64_t n, bool zero_state) {
    n_ = n;
    zero_state_ = zero_state;
    const Ref u = kb_.sbuf("u", DType::kF32, p_, {n}, 2);
    const Ref dt = kb_.sbuf("dt", DType::kF32, p_, {n}, 2);
    const Ref du = kb_.sbuf("du", DType::kF32, p_, {n}, 2);
    load(kb_, dt, io_.tokens(io_.delta, batch_, e_, p_, t, n));
    load(kb_, u, io_.tokens(io_.u, batch_, e_, p_, t, n));
    if (io_.softplus || bias_.present()) emit_dt(kb_, io_, dt, dt, bias_);
    kb_.emit(isa::TensorTensor{.dst = du, .a = dt, .b = u, .op = isa::AluOp::kMultiply});
    const Ref dt_t = transposed("dt_t", dt), du_t = transposed("du_t", du);  // [n, p]

    const Ref y_t = kb_.sbuf("y_t", DType::kF32, n, {p_}, 2);
    for (std::int64_t s = 0; s < io_.d_state; s += states_together()) {
      const std::int64_t states = std::min(states_together(), io_.d_state - s);
      kb_.scope([&] { state_block(dt_t, du_t, y_t, t, s, states); });
    }
    finish(y_t, u, t);
  }

  // [rows, columns] -> [columns, rows] through PSUM.
  Ref transposed(const char* name, const Ref& x) {
    Ref out = kb_.sbuf(name, DType::kF32, x.free_size(), {x.partitions()}, 2);
    kb_.scope([&] {
      const Ref bank = kb_.psum(name, DType::kF32, x.free_size(), {x.partitions()});
      kb_.emit(isa::NcTranspose{.dst = bank, .src = x});
      scalar_copy(kb_, out, bank);
    });
    return out;
  }

  // States [s, s + states) of all channels of the tile.
  void state_block(const Ref& dt_t, const Ref& du_t, const Ref& y_t, const Affine& t,
                   std::int64_t s, std::int64_t states) {
    const auto rows = [&](const char* name, const ScanMatrix& m) {
      if (m.constant) return Ref{};
      const Ref in = kb_.sbuf(name, DType::kF32, states, {n_});
      load(kb_, in, io_.states(m, batch_, group_, s, states, t, n_));
      return transposed(name, in);  // [n, states]
    };
    const Ref b_t = rows("B_t", io_.b), c_t = rows("C_t", io_.c);
    const std::int64_t per_block = std::min(channels_together(), p_);
    kb_.tiles(p_, per_block, [&](const Affine&, const Affine& from, std::int64_t channels) {
      block({from, channels, s, states}, dt_t, du_t, y_t, b_t, c_t);
    });
  }

  // A block of columns: channels [from, from + channels) of the tile x states [s, s + states).
  struct Columns {
    Affine from;
    std::int64_t channels, s, states;
    [[nodiscard]] std::int64_t count() const { return channels * states; }
  };

  void block(const Columns& c, const Ref& dt_t, const Ref& du_t, const Ref& y_t, const Ref& b_t,
             const Ref& c_t) {
    const std::int64_t width = c.count();
    const auto over_states = [&](const Ref& x) {
      return x.cols(c.from, c.channels).broadcast(1, c.states);
    };
    const auto grid = [&](const Ref& x) { return x.split(c.channels, c.states); };
    const Ref a = kb_.sbuf("a", DType::kF32, n_, {width}, 2),
              b = kb_.sbuf("b", DType::kF32, n_, {width}, 2);

    const Ref row_a = row_on_tokens(io_.a, c);
    kb_.emit(isa::TensorTensor{
        .dst = grid(a), .a = over_states(dt_t), .b = grid(row_a), .op = isa::AluOp::kMultiply});
    kb_.emit(isa::Activation{.dst = a, .data = a, .fn = UnaryFn::kExp});
    const Ref factor_b =
        io_.b.constant ? grid(row_on_tokens(io_.b.tensor, c)) : b_t.broadcast(0, c.channels);
    kb_.emit(isa::TensorTensor{
        .dst = grid(b), .a = over_states(du_t), .b = factor_b, .op = isa::AluOp::kMultiply});

    for (std::size_t r = 0; r < rounds_.size() && rounds_[r].shift < n_; ++r)
      combine(rounds_[r], a, b, width, rounds_[r].shift * 2 >= n_ && zero_state_);
    if (!zero_state_) add_entering(c, a, b);
    keep_last(c, b);

    const Ref read = kb_.sbuf("read", DType::kF32, n_, {width}, 2);
    const Ref factor_c =
        io_.c.constant ? grid(row_on_tokens(io_.c.tensor, c)) : c_t.broadcast(0, c.channels);
    kb_.emit(isa::TensorTensor{
        .dst = grid(read), .a = grid(b), .b = factor_c, .op = isa::AluOp::kMultiply});
    const Ref y = y_t.cols(c.from, c.channels);
    if (c.s == 0) {
      kb_.emit(isa::TensorReduce{.dst = y, .data = grid(read), .op = isa::AluOp::kAdd});
      return;
    }
    const Ref part = kb_.sbuf("part", DType::kF32, n_, {c.channels}, 2);
    kb_.emit(isa::TensorReduce{.dst = part, .data = grid(read), .op = isa::AluOp::kAdd});
    kb_.emit(isa::TensorTensor{.dst = y, .a = y, .b = part, .op = isa::AluOp::kAdd});
  }

  // A [d_inner, d_state] tensor's columns of a block as one row, on all n tokens, in PSUM.
  Ref row_on_tokens(const Hbm& x, const Columns& c) {
    const Ref row = kb_.sbuf("row", DType::kF32, 1, {c.channels, c.states}, 2);
    load(
        kb_, row,
        x.view(x.at({e_ + c.from, Affine(c.s)}), 0, 1, {{io_.d_state, c.channels}, {1, c.states}}));
    return on_tokens(row.merge(0));
  }
  Ref on_tokens(const Ref& row) {
    Ref bank = kb_.psum("row_spread", DType::kF32, n_, {row.free_size()});
    kb_.emit(isa::NcMatmul{
        .dst = bank, .stationary = ones_.cols(0, n_), .moving = row, .onezero = true});
    return bank;
  }

  struct Round {
    std::int64_t shift;
    Ref matrix, fill;
  };

  // dst (PSUM) = x shifted down by the round's distance, zeros above.
  Ref shifted(const Round& round, const char* name, const Ref& x, std::int64_t width) {
    Ref bank = kb_.psum(name, DType::kF32, n_, {width});
    Ref moving = x;
    if (shift_dtype_ != DType::kF32) {
      moving = kb_.sbuf("narrow", shift_dtype_, n_, {width}, 2);
      scalar_copy(kb_, moving, x);
    }
    const Ref matrix = round.matrix.partitions(0, n_).cols(0, n_);
    kb_.emit(isa::NcMatmul{.dst = bank, .stationary = matrix, .moving = moving, .onezero = true});
    return bank;
  }

  void combine(const Round& round, const Ref& a, const Ref& b, std::int64_t width, bool last) {
    kb_.scope([&] {
      const Ref earlier_b = shifted(round, "earlier_b", b, width);
      const Ref scaled = kb_.sbuf("scaled", DType::kF32, n_, {width});
      const Ref earlier_a = last ? Ref{} : shifted(round, "earlier_a", a, width);
      kb_.emit(
          isa::TensorTensor{.dst = scaled, .a = a, .b = earlier_b, .op = isa::AluOp::kMultiply});
      kb_.emit(isa::TensorTensor{.dst = b, .a = b, .b = scaled, .op = isa::AluOp::kAdd});
      if (last) return;  // the decays are not needed any more
      kb_.emit(isa::ScalarTensorTensor{.dst = a,
                                       .data = earlier_a,
                                       .other = a,
                                       .operand0 = round.fill.partitions(0, n_),
                                       .op0 = isa::AluOp::kAdd,
                                       .op1 = isa::AluOp::kMultiply});
    });
  }

  [[nodiscard]] Ref carried_columns(const Columns& c) const {
    return carried_.split(p_, io_.d_state).slice(0, c.from, c.channels).slice(1, c.s, c.states);
  }

  // h = b + a h_in
  void add_entering(const Columns& c, const Ref& a, const Ref& b) {
    kb_.scope([&] {
      const Ref row = kb_.sbuf("entering", DType::kF32, 1, {c.count()});
      scalar_copy(kb_, row.split(c.channels, c.states), carried_columns(c));
      const Ref entering = on_tokens(row);
      const Ref scaled = kb_.sbuf("scaled", DType::kF32, n_, {c.count()});
      kb_.emit(
          isa::TensorTensor{.dst = scaled, .a = a, .b = entering, .op = isa::AluOp::kMultiply});
      kb_.emit(isa::TensorTensor{.dst = b, .a = b, .b = scaled, .op = isa::AluOp::kAdd});
    });
  }

  // The last token's row moves to partition 0 as the product with the identity's last column.
  void keep_last(const Columns& c, const Ref& b) {
    kb_.scope([&] {
      const Ref row = kb_.psum("last", DType::kF32, 1, {c.count()});
      kb_.emit(isa::NcMatmul{.dst = row,
                             .stationary = identity_.partitions(0, n_).col(n_ - 1),
                             .moving = b,
                             .onezero = true});
      scalar_copy(kb_, carried_columns(c), row.split(c.channels, c.states));
    });
  }

  // Back to channels on partitions; skip and gate.
  void finish(const Ref& y_t, const Ref& u, const Affine& t) {
    const Ref y = transposed("y", y_t);
    if (d_.present())
      kb_.emit(isa::ScalarTensorTensor{.dst = y,
                                       .data = u,
                                       .other = y,
                                       .operand0 = d_,
                                       .op0 = isa::AluOp::kMultiply,
                                       .op1 = isa::AluOp::kAdd});
    if (io_.z.present()) {
      const Ref gate = kb_.sbuf("gate", DType::kF32, p_, {n_}, 2);
      load(kb_, gate, io_.tokens(io_.z, batch_, e_, p_, t, n_));
      kb_.emit(isa::Activation{.dst = gate, .data = gate, .fn = UnaryFn::kSilu});
      kb_.emit(isa::TensorTensor{.dst = y, .a = y, .b = gate, .op = isa::AluOp::kMultiply});
    }
    store(kb_, io_.tokens(io_.out, batch_, e_, p_, t, n_), y);
  }

  KernelBuilder& kb_;
  const ScanIo& io_;
  DType shift_dtype_;
  Affine batch_, group_, e_;
  std::int64_t p_ = 0, n_ = 0;
  bool zero_state_ = true;
  Ref identity_, ones_, bias_, d_;
  Ref carried_;  // [1, p * d_state]
  std::vector<Round> rounds_;
};

ir::Program build(const MachineSpec& machine, const Problem& problem, const Params& params) {
  KernelBuilder kb("scan_logdepth", machine);
  const ScanIo io = declare_scan(kb, problem);
  kb.param("dtype", params.text("dtype"));
  LogDepth(kb, io, params.text("dtype") == "bf16" ? DType::kBf16 : DType::kF32).run();
  return kb.finish();
}

}  // namespace

Kernel scan_logdepth() {
  return {"scan_logdepth",
          "selective_scan",
          Form::kCustom,
          "Hillis-Steele over tokens on partitions, every shift a TensorE product; VectorE-bound",
          {{"dtype",
            ParamKind::kChoice,
            "f32",
            0,
            0,
            {"f32", "bf16"},
            "element type of the shift products"}},
          build};
}

}  // namespace krait::kernels
