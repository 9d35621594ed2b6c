// The selective scan one time step after another, the state kept on chip: channels on partitions,
// the pairs (channel tile, state) as columns. A step is h = decay_t * h, h = h + input_t on
// VectorE, written into a history so that C and the sum over states run over many tokens at once.
//
// `columns` is how many columns one instruction covers. Few columns: the smallest initiation
// interval (64 cycles) is paid for every instruction. All columns: each step waits for the last
// one's result (about 150 cycles of latency, twice a step). In between, groups of columns take
// turns and hide it. Bound: VectorE, 4 cycles a (column, token) for the steps on v2 and 3 for
// input, C and the sum.

#include <algorithm>
#include <vector>

#include "krait/kernels/scan/scan.hpp"

namespace krait::kernels {
namespace {

// Columns of all tiles that take part in one pass of steps.
constexpr std::int64_t kMostColumns = 512;
// (token, column) pairs of one history buffer.
constexpr std::int64_t kMostElements = 4096;

// States [first, first + count) of d_state; one bank holds their B for at least one token.
struct States {
  std::int64_t first = 0, count = 0;
};

class Stepwise {
 public:
  Stepwise(KernelBuilder& kb, const ScanIo& io, std::int64_t columns)
      : kb_(kb), io_(io), columns_(columns) {}

  void run() {
    identity_ = shifted_identity(kb_, DType::kF32, 0);
    kb_.loop(io_.batch, [&](const Affine& batch) {
      batch_ = batch;
      kb_.loop(io_.groups, [&](const Affine& group) {
        group_ = group;
        const std::int64_t channels = io_.channels_per_group();
        // Whole tiles of 128 in passes of several, then the ragged tile alone.
        const std::int64_t whole = channels / 128, together = tiles_together();
        kb_.tiles(whole, together, [&](const Affine&, const Affine& first, std::int64_t tiles) {
          pass(first * 128, tiles, 128);
        });
        if (channels % 128 != 0) kb_.scope([&] { pass(Affine(whole * 128), 1, channels % 128); });
      });
    });
  }

 private:
  // States of one block: a bank holds at least one token of them all; B's rows fit partitions.
  [[nodiscard]] std::int64_t states_together() const {
    return std::min<std::int64_t>(io_.d_state, 128);
  }
  [[nodiscard]] std::int64_t tiles_together() const {
    return std::max<std::int64_t>(1, kMostColumns / states_together());
  }
  // Tokens of one chunk: B's bank and the histories (three pools of two) set the limits.
  [[nodiscard]] std::int64_t tokens_together() const {
    const std::int64_t by_bank = kBankColumns / states_.count;
    const std::int64_t by_sbuf = kMostElements / (tiles_ * states_.count);
    return std::min(io_.length, std::max<std::int64_t>(1, std::min(by_bank, by_sbuf)));
  }

  [[nodiscard]] Affine channel(const Affine& start) const {
    return group_ * io_.channels_per_group() + start;
  }

  // `tiles` channel tiles of p channels each, from channel `start` of the group.
  void pass(const Affine& start, std::int64_t tiles, std::int64_t p) {
    for (std::int64_t first = 0; first < io_.d_state; first += states_together()) {
      const std::int64_t count = std::min(states_together(), io_.d_state - first);
      kb_.scope([&] {
        state_block(start, tiles, p, {first, count}, first + count == io_.d_state);
      });
    }
  }

  // All tokens for a block of states. With several blocks, y is summed through HBM: every block but
  // the first adds to what `out` holds; the last one applies skip and gate.
  void state_block(const Affine& start, std::int64_t tiles, std::int64_t p, const States& s,
                   bool last) {
    tiles_ = tiles, p_ = p, states_ = s, last_block_ = last;
    start_ = start;
    load_parameters();
    carried_ = kb_.sbuf("carried", DType::kF32, p, {tiles * s.count});
    if (io_.initial_state.present())
      load(kb_, carried_.split(tiles, s.count), states_view(io_.initial_state));
    else
      kb_.emit(isa::Memset{.dst = carried_});
    kb_.tiles(io_.length, tokens_together(),
              [&](const Affine&, const Affine& t, std::int64_t n) { tokens(t, n); });
    store(kb_, states_view(io_.last_state), carried_.split(tiles, s.count));
  }

  // [p, tiles, states] of a [batch, d_inner, d_state] tensor.
  Ref states_view(const Hbm& x) const {
    return x.view(x.at({batch_, channel(start_), Affine(states_.first)}), io_.d_state, p_,
                  {{128 * io_.d_state, tiles_}, {1, states_.count}});
  }
  // [p, tiles, states] of a [d_inner, d_state] tensor.
  Ref matrix_view(const Hbm& x) const {
    return x.view(x.at({channel(start_), Affine(states_.first)}), io_.d_state, p_,
                  {{128 * io_.d_state, tiles_}, {1, states_.count}});
  }
  // [p, tiles, n] of a [batch, d_inner, length] tensor.
  Ref token_view(const Hbm& x, const Affine& t, std::int64_t n) const {
    return x.view(x.at({batch_, channel(start_), t}), io_.length, p_,
                  {{128 * io_.length, tiles_}, {1, n}});
  }

  void load_parameters() {
    const auto matrix = [&](const char* name, const Hbm& x) {
      Ref out = kb_.sbuf(name, DType::kF32, p_, {tiles_, states_.count});
      load(kb_, out, matrix_view(x));
      return out;
    };
    const auto column = [&](const char* name, const Hbm& x) {
      if (!x.present()) return Ref{};
      Ref out = kb_.sbuf(name, DType::kF32, p_, {tiles_, 1});
      load(kb_, out, x.view(channel(start_), 1, p_, {{128, tiles_}, {1, 1}}));
      return out;
    };
    a_ = matrix("A", io_.a);
    if (io_.b.constant) constant_b_ = matrix("B", io_.b.tensor);
    if (io_.c.constant) constant_c_ = matrix("C", io_.c.tensor);
    bias_ = column("delta_bias", io_.delta_bias);
    d_ = column("D", io_.d);
  }

  // Tokens [t, t + n): inputs, steps, outputs.
  void tokens(const Affine& t, std::int64_t n) {
    const std::int64_t width = tiles_ * states_.count;
    const Ref u = kb_.sbuf("u", DType::kF32, p_, {tiles_, n}, 2);
    const Ref dt = kb_.sbuf("dt", DType::kF32, p_, {tiles_, n}, 2);
    const Ref du = kb_.sbuf("du", DType::kF32, p_, {tiles_, n}, 2);
    load(kb_, dt, token_view(io_.delta, t, n));
    load(kb_, u, token_view(io_.u, t, n));
    for (std::int64_t k = 0; k < tiles_ && (io_.softplus || bias_.present()); ++k) {
      const Ref one = dt.slice(0, k, 1);
      emit_dt(kb_, io_, one, one, bias_.present() ? bias_.slice(0, k, 1) : Ref{});
    }
    kb_.emit(isa::TensorTensor{.dst = du, .a = dt, .b = u, .op = isa::AluOp::kMultiply});

    // [token, tile, state], so that a step is contiguous.
    const Ref decay = kb_.sbuf("decay", DType::kF32, p_, {n, tiles_, states_.count}, 2);
    const Ref input = kb_.sbuf("input", DType::kF32, p_, {n, tiles_, states_.count}, 2);
    const Ref history = kb_.sbuf("history", DType::kF32, p_, {n, tiles_, states_.count}, 2);
    make_decay(decay, dt);
    make_input(input, du, t, n);
    steps(decay.merge(1), input.merge(1), history.merge(1), n, width);
    read_out(history, u, t, n);
  }

  void make_decay(const Ref& decay, const Ref& dt) {
    for (std::int64_t k = 0; k < tiles_; ++k)
      for (std::int64_t s = 0; s < states_.count; ++s)
        kb_.emit(isa::Activation{.dst = decay.slice(1, k, 1).slice(2, s, 1),
                                 .data = dt.slice(0, k, 1),
                                 .scale = a_.slice(0, k, 1).slice(1, s, 1),
                                 .fn = UnaryFn::kExp});
  }

  // Rows of B or C of this block's states, on all partitions: PSUM [128, n, states].
  Ref spread(const char* name, const ScanMatrix& m, const Affine& t, std::int64_t n) {
    const Ref rows = kb_.sbuf(name, DType::kF32, states_.count, {n}, 2);
    load(kb_, rows, io_.states(m, batch_, group_, states_.first, states_.count, t, n));
    const Ref bank = kb_.psum(name, DType::kF32, 128, {n, states_.count}, 2);
    for (std::int64_t s = 0; s < states_.count; ++s)
      broadcast_row(kb_, bank.slice(1, s, 1), identity_, rows, s);
    return bank.partitions(0, p_);
  }

  void make_input(const Ref& input, const Ref& du, const Affine& t, std::int64_t n) {
    Ref b;
    if (!io_.b.constant) b = spread("B", io_.b, t, n);
    for (std::int64_t k = 0; k < tiles_; ++k) {
      const Ref factor = io_.b.constant ? constant_b_.slice(0, k, 1).broadcast(0, n) : b;
      kb_.emit(isa::TensorTensor{.dst = input.slice(1, k, 1),
                                 .a = du.slice(0, k, 1).broadcast(2, states_.count),
                                 .b = factor,
                                 .op = isa::AluOp::kMultiply});
    }
  }

  // The recurrence. Groups of columns take turns within a step.
  void steps(const Ref& decay, const Ref& input, const Ref& history, std::int64_t n,
             std::int64_t width) {
    const Ref scaled = kb_.sbuf("scaled", DType::kF32, p_, {width}, 1);
    const auto group_step = [&](const Affine& t, const Ref& before, std::int64_t from,
                                std::int64_t count) {
      const auto at = [&](const Ref& x) { return x.slice(0, t, 1).slice(1, from, count); };
      kb_.emit(isa::TensorTensor{.dst = scaled.cols(from, count),
                                 .a = at(decay),
                                 .b = before.cols(from, count),
                                 .op = isa::AluOp::kMultiply});
      kb_.emit(isa::TensorTensor{.dst = at(history),
                                 .a = scaled.cols(from, count),
                                 .b = at(input),
                                 .op = isa::AluOp::kAdd});
    };
    const auto step = [&](const Affine& t, const Ref& before) {
      for (std::int64_t from = 0; from < width; from += columns_)
        group_step(t, before, from, std::min(columns_, width - from));
    };
    step(0, carried_);
    kb_.loop(n - 1, [&](const Affine& i) { step(i + Affine(1), history.slice(0, i, 1)); });
    scalar_copy(kb_, carried_, history.slice(0, n - 1, 1));
  }

  // y = sum over states of C h, then skip and gate.
  void read_out(const Ref& history, const Ref& u, const Affine& t, std::int64_t n) {
    Ref c;
    if (!io_.c.constant) c = spread("C", io_.c, t, n);
    const Ref y = kb_.sbuf("y", DType::kF32, p_, {tiles_, n}, 2);
    const Ref read = kb_.sbuf("read", DType::kF32, p_, {n, states_.count}, 2);
    for (std::int64_t k = 0; k < tiles_; ++k) {
      const Ref factor = io_.c.constant ? constant_c_.slice(0, k, 1).broadcast(0, n) : c;
      kb_.emit(isa::TensorTensor{
          .dst = read, .a = history.slice(1, k, 1), .b = factor, .op = isa::AluOp::kMultiply});
      kb_.emit(isa::TensorReduce{.dst = y.slice(0, k, 1), .data = read, .op = isa::AluOp::kAdd});
    }
    if (states_.first > 0) add_earlier_blocks(y, t, n);
    if (last_block_) skip_and_gate(y, u, t, n);
    store(kb_, token_view(io_.out, t, n), y);
  }

  void add_earlier_blocks(const Ref& y, const Affine& t, std::int64_t n) {
    const Ref earlier = kb_.sbuf("earlier", DType::kF32, p_, {tiles_, n}, 2);
    load(kb_, earlier, token_view(io_.out, t, n));
    kb_.emit(isa::TensorTensor{.dst = y, .a = y, .b = earlier, .op = isa::AluOp::kAdd});
  }

  void skip_and_gate(const Ref& y, const Ref& u, const Affine& t, std::int64_t n) {
    for (std::int64_t k = 0; k < tiles_ && d_.present(); ++k)
      kb_.emit(isa::ScalarTensorTensor{.dst = y.slice(0, k, 1),
                                       .data = u.slice(0, k, 1),
                                       .other = y.slice(0, k, 1),
                                       .operand0 = d_.slice(0, k, 1),
                                       .op0 = isa::AluOp::kMultiply,
                                       .op1 = isa::AluOp::kAdd});
    if (!io_.z.present()) return;
    const Ref gate = kb_.sbuf("gate", DType::kF32, p_, {tiles_, n}, 2);
    load(kb_, gate, token_view(io_.z, t, n));
    kb_.emit(isa::Activation{.dst = gate, .data = gate, .fn = UnaryFn::kSilu});
    kb_.emit(isa::TensorTensor{.dst = y, .a = y, .b = gate, .op = isa::AluOp::kMultiply});
  }

  KernelBuilder& kb_;
  const ScanIo& io_;
  std::int64_t columns_;
  Affine batch_, group_, start_;
  std::int64_t tiles_ = 0, p_ = 0;
  States states_;
  bool last_block_ = false;
  Ref identity_, carried_;                      // carried: [p, tiles * states]
  Ref a_, constant_b_, constant_c_, bias_, d_;  // [p, tiles, states or 1]
};

ir::Program build(const MachineSpec& machine, const Problem& problem, const Params& params) {
  KernelBuilder kb("scan_stepwise", machine);
  const ScanIo io = declare_scan(kb, problem);
  kb.param("columns", params.text("columns"));
  Stepwise(kb, io, params.integer("columns")).run();
  return kb.finish();
}

}  // namespace

Kernel scan_stepwise() {
  return {"scan_stepwise",
          "selective_scan",
          Form::kNaive,
          "one time step after another, state on chip; VectorE-bound, by issue or by latency",
          {{"columns",
            ParamKind::kInt,
            "64",
            1,
            512,
            {},
            "(channel tile, state) columns that one step instruction covers"}},
          build};
}

}  // namespace krait::kernels
