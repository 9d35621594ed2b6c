// The selective scan on the hardware scan instruction: channels on partitions, time along the free axis.
//
// A block is as many states as fit one PSUM bank with the chunk's tokens (512 columns): for a short
// chunk one scan instruction covers several states, one segment each. Between segments the decay is set
// to 0, after the carried state has been folded into the input, so nothing leaks across.
//   ScalarE  exp(dt A[:,n]) per state; softplus; silu
//   TensorE  spreads B and C rows over partitions (a product with a repeated identity column), sums
//            C_n h_n over states and adds D u (products with the identity and with diag(D))
//   VectorE  du B (N cycles, B in PSUM), scan (2N), h C (N)
// Bound: VectorE, 4 cycles a (channel tile, token, state) on v2. TensorE and ScalarE stay below it, so
// the order of emission keeps them ahead: the broadcasts of block j + 1 come before the sums of block j,
// and the last block already spreads the next tile's first (the same rows for every channel tile).
// Rejected: summing over states on VectorE (2N more), B and C in SBUF (N more each on v2).

#include <algorithm>
#include <array>
#include <vector>

#include "krait/kernels/scan/scan.hpp"

namespace krait::kernels {
namespace {

constexpr std::int64_t kBankColumns = 512;
constexpr std::int64_t kStateGroup = 128;  // states of B and C that one tile holds, on partitions

struct Block {
  std::int64_t first = 0, states = 0;  // of d_state
};

// Channels [start, start + size) of a group, one tile a 128.
struct Span {
  Affine group;
  std::int64_t start = 0, size = 0;
};

class Hardware {
 public:
  Hardware(KernelBuilder& kb, const ScanIo& io, std::int64_t chunk)
      : kb_(kb), io_(io), chunk_(std::min({chunk, io.length, kBankColumns})) {}

  void run() {
    identity_ = shifted_identity(kb_, DType::kF32, 0);
    zeros_ = kb_.sbuf("zeros", DType::kF32, 128, {std::min(io_.d_state, kBankColumns)});
    kb_.emit(isa::Memset{.dst = zeros_});
    kb_.loop(io_.batch, [&](const Affine& batch) {
      batch_ = batch;
      kb_.loop(io_.groups, [&](const Affine& group) {
        // Per-channel parameters and carried states of a span stay in SBUF; a span is cut so that
        // they take at most a third of it.
        const std::int64_t budget = kb_.machine().sbuf_usable_bytes_per_partition() / 3;
        const std::int64_t per_tile = (io_.d_state * (2 + extra_matrices()) + 2) * 4;
        const std::int64_t limit = std::max<std::int64_t>(1, budget / per_tile) * 128;
        for (std::int64_t at = 0; at < io_.channels_per_group(); at += limit)
          kb_.scope([&] { span({group, at, std::min(limit, io_.channels_per_group() - at)}); });
      });
    });
  }

 private:
  [[nodiscard]] int extra_matrices() const { return (io_.b.constant ? 1 : 0) + (io_.c.constant ? 1 : 0); }
  [[nodiscard]] bool has_carry(bool first_chunk) const {
    return !first_chunk || io_.initial_state.present();
  }

  // First channel of tile `index` of a span.
  [[nodiscard]] Affine channel(const Span& s, const Affine& start) const {
    return s.group * io_.channels_per_group() + Affine(s.start) + start;
  }

  // [channels, states] of every tile of the span, side by side: [128, tiles, d_state].
  Ref resident(const char* name, const Span& s) {
    return kb_.sbuf(name, DType::kF32, 128, {(s.size + 127) / 128, io_.d_state});
  }
  template <class Source>
  void load_tiles(const Ref& dst, const Span& s, Source source) {
    kb_.tiles(s.size, 128, [&](const Affine& index, const Affine& start, std::int64_t p) {
      load(kb_, tile_of(dst, index, p), source(channel(s, start), p));
    });
  }
  static Ref tile_of(const Ref& tiles, const Affine& index, std::int64_t p) {
    return tiles.partitions(0, p).slice(0, index, 1);
  }

  void span(const Span& s) {
    load_parameters(s);
    carried_ = resident("carried", s);
    if (io_.initial_state.present())
      load_tiles(carried_, s, [&](const Affine& e, std::int64_t p) {
        return io_.batch_states(io_.initial_state, batch_, e, p, 0, io_.d_state);
      });
    // The first chunk is apart: its carried state may be zero.
    kb_.scope([&] { chunk(s, 0, std::min(chunk_, io_.length), true); });
    const std::int64_t rest = io_.length - std::min(chunk_, io_.length);
    kb_.tiles(rest, chunk_, [&](const Affine&, const Affine& start, std::int64_t n) {
      chunk(s, start + Affine(chunk_), n, false);
    });
    kb_.tiles(s.size, 128, [&](const Affine& index, const Affine& start, std::int64_t p) {
      store(kb_, io_.batch_states(io_.last_state, batch_, channel(s, start), p, 0, io_.d_state),
            tile_of(carried_, index, p));
    });
  }

  void load_parameters(const Span& s) {
    const auto matrix = [&](const char* name, const Hbm& tensor) {
      const Ref out = resident(name, s);
      load_tiles(out, s, [&](const Affine& e, std::int64_t p) {
        return io_.channel_states(tensor, e, p, 0, io_.d_state);
      });
      return out;
    };
    const auto column = [&](const char* name, const Hbm& tensor) {
      if (!tensor.present()) return Ref{};
      const Ref out = kb_.sbuf(name, DType::kF32, 128, {(s.size + 127) / 128, 1});
      load_tiles(out, s, [&](const Affine& e, std::int64_t p) { return ScanIo::per_channel(tensor, e, p); });
      return out;
    };
    a_ = matrix("A", io_.a);
    if (io_.b.constant) constant_b_ = matrix("B", io_.b.tensor);
    if (io_.c.constant) constant_c_ = matrix("C", io_.c.tensor);
    bias_ = column("delta_bias", io_.delta_bias);
    d_ = column("D", io_.d);
  }

  // Tokens [t, t + n) of all channels of the span.
  void chunk(const Span& s, const Affine& t, std::int64_t n, bool first) {
    blocks_ = cut_states(n);
    for (std::int64_t from = 0; from < io_.d_state; from += kStateGroup) {
      const std::int64_t count = std::min(kStateGroup, io_.d_state - from);
      if (from == 0) rows_b_.clear(), rows_c_.clear();
      const auto rows = [&](const char* name, const ScanMatrix& m) {
        if (m.constant) return Ref{};
        const Ref out = kb_.sbuf(name, DType::kF32, count, {n});
        load(kb_, out, io_.states(m, batch_, s.group, from, count, t, n));
        return out;
      };
      rows_b_.push_back(rows("B_rows", io_.b));
      rows_c_.push_back(rows("C_rows", io_.c));
    }
    for (std::size_t i = 0; i < 2; ++i) {
      if (!io_.b.constant) spread_b_[i] = kb_.psum("B_spread", DType::kF32, 128, {kBankColumns});
      if (!io_.c.constant) spread_c_[i] = kb_.psum("C_spread", DType::kF32, 128, {kBankColumns});
    }
    // A fixed number of partitions, whatever the tile: every tile can use the same spread rows.
    spread(0, n);
    kb_.tiles(s.size, 128, [&](const Affine& index, const Affine& start, std::int64_t p) {
      tile(channel(s, start), index, p, t, n, first);
    });
  }

  // Blocks of states that fill a bank, never across a group of kStateGroup.
  [[nodiscard]] std::vector<Block> cut_states(std::int64_t n) const {
    const std::int64_t per_block = std::max<std::int64_t>(1, kBankColumns / n);
    std::vector<Block> out;
    for (std::int64_t from = 0; from < io_.d_state;) {
      const std::int64_t group_end = std::min(io_.d_state, (from / kStateGroup + 1) * kStateGroup);
      const std::int64_t states = std::min(per_block, group_end - from);
      out.push_back({from, states});
      from += states;
    }
    return out;
  }

  // B and C rows of block j on all partitions, in PSUM.
  void spread(std::size_t j, std::int64_t n) {
    const Block& block = blocks_[j];
    const auto rows = [&](const std::vector<Ref>& groups, const Ref& bank) {
      for (std::int64_t i = 0; i < block.states; ++i) {
        const std::int64_t state = block.first + i;
        broadcast_row(kb_, bank.cols(i * n, n), identity_,
                      groups[static_cast<std::size_t>(state / kStateGroup)], state % kStateGroup);
      }
    };
    if (!io_.b.constant) rows(rows_b_, spread_b_[j % 2]);
    if (!io_.c.constant) rows(rows_c_, spread_c_[j % 2]);
  }

  void tile(const Affine& e, const Affine& index, std::int64_t p, const Affine& t, std::int64_t n,
            bool first) {
    const auto column = [&](const Ref& r) {
      return r.present() ? r.partitions(0, p).slice(0, index, 1) : Ref{};
    };
    const Ref u = kb_.sbuf("u", DType::kF32, p, {n}, 3);
    const Ref dt = kb_.sbuf("dt", DType::kF32, p, {n}, 3);
    const Ref du = kb_.sbuf("du", DType::kF32, p, {n}, 2);
    load(kb_, dt, io_.tokens(io_.delta, batch_, e, p, t, n));
    load(kb_, u, io_.tokens(io_.u, batch_, e, p, t, n));
    Ref gate;
    if (io_.z.present()) {
      gate = kb_.sbuf("gate", DType::kF32, p, {n}, 3);
      load(kb_, gate, io_.tokens(io_.z, batch_, e, p, t, n));
      kb_.emit(isa::Activation{.dst = gate, .data = gate, .fn = UnaryFn::kSilu});
    }
    if (io_.softplus || bias_.present()) emit_dt(kb_, io_, dt, dt, column(bias_));
    kb_.emit(isa::TensorTensor{.dst = du, .a = dt, .b = u, .op = isa::AluOp::kMultiply});

    const Ref y = kb_.psum("y", DType::kF32, p, {n}, 2);
    const bool skip = d_.present();
    if (skip) {
      const Ref diagonal = kb_.sbuf("diag_D", DType::kF32, p, {p}, 2);
      kb_.emit(isa::Activation{
          .dst = diagonal, .data = identity_.partitions(0, p).cols(0, p), .scale = column(d_)});
      kb_.emit(isa::NcMatmul{.dst = y, .stationary = diagonal, .moving = u});
    }
    make_buffers(p, n);
    for (std::size_t j = 0; j < blocks_.size(); ++j) {
      decay(j, index, p, n, dt);
      spread(j + 1 < blocks_.size() ? j + 1 : 0, n);
      recur(j, index, p, n, du, first);
      sum_states(j, y, p, n, skip);
    }
    finish(e, p, t, n, y, gate);
  }

  void make_buffers(std::int64_t p, std::int64_t n) {
    const std::int64_t columns = blocks_.front().states * n;
    for (Ref& r : decay_) r = kb_.sbuf("decay", DType::kF32, p, {columns});
    for (std::size_t i = 0; i < 2; ++i) {
      input_[i] = kb_.sbuf("input", DType::kF32, p, {columns});
      state_[i] = kb_.sbuf("state", DType::kF32, p, {columns});
      read_[i] = kb_.sbuf("read", DType::kF32, p, {columns});
    }
  }

  [[nodiscard]] Ref state_column(const Ref& tiles, const Affine& index, std::int64_t p,
                                 std::int64_t state) const {
    return tiles.partitions(0, p).slice(0, index, 1).slice(1, state, 1);
  }

  // exp(dt A[:, n]) for every state of block j.
  void decay(std::size_t j, const Affine& index, std::int64_t p, std::int64_t n, const Ref& dt) {
    for (std::int64_t i = 0; i < blocks_[j].states; ++i)
      kb_.emit(isa::Activation{.dst = decay_[j % decay_.size()].cols(i * n, n),
                               .data = dt,
                               .scale = state_column(a_, index, p, blocks_[j].first + i),
                               .fn = UnaryFn::kExp});
  }

  // input = du B, scan, read = h C, and the carried states.
  void recur(std::size_t j, const Affine& index, std::int64_t p, std::int64_t n, const Ref& du, bool first) {
    const Block& block = blocks_[j];
    const std::int64_t columns = block.states * n;
    const Ref a = decay_[j % decay_.size()].cols(0, columns), in = input_[j % 2].cols(0, columns),
              h = state_[j % 2].cols(0, columns), read = read_[j % 2].cols(0, columns);
    if (io_.b.constant) {
      for (std::int64_t i = 0; i < block.states; ++i)
        kb_.emit(isa::Activation{.dst = in.cols(i * n, n),
                                 .data = du,
                                 .scale = state_column(constant_b_, index, p, block.first + i)});
    } else {
      kb_.emit(isa::TensorTensor{.dst = in.split(block.states, n),
                                 .a = du.broadcast(0, block.states),
                                 .b = spread_b_[j % 2].partitions(0, p).cols(0, columns).split(block.states, n),
                                 .op = isa::AluOp::kMultiply});
    }
    const Ref carried = tile_of(carried_, index, p).slice(1, block.first, block.states);
    const bool carry = has_carry(first);
    if (block.states > 1) part_segments(a, in, carried, block.states, n, carry);
    isa::TensorTensorScan scan{.dst = h, .a = a, .b = in};
    if (carry) scan.init = carried.slice(1, 0, 1);
    kb_.emit(scan);
    scalar_copy(kb_, carried, h.split(block.states, n).slice(1, n - 1, 1));
    if (io_.c.constant) {
      for (std::int64_t i = 0; i < block.states; ++i)
        kb_.emit(isa::Activation{.dst = read.cols(i * n, n),
                                 .data = h.cols(i * n, n),
                                 .scale = state_column(constant_c_, index, p, block.first + i)});
    } else {
      kb_.emit(isa::TensorTensor{.dst = read,
                                 .a = h,
                                 .b = spread_c_[j % 2].partitions(0, p).cols(0, columns),
                                 .op = isa::AluOp::kMultiply});
    }
  }

  // The first token of every segment but the first: input += decay * carried, decay = 0.
  void part_segments(const Ref& a, const Ref& in, const Ref& carried, std::int64_t states, std::int64_t n,
                     bool carry) {
    const Ref first_a = a.split(states, n).slice(0, 1, states - 1).slice(1, 0, 1);
    const Ref first_in = in.split(states, n).slice(0, 1, states - 1).slice(1, 0, 1);
    if (carry) {
      const Ref folded = kb_.sbuf("folded", DType::kF32, a.partitions(), {states - 1});
      kb_.emit(isa::TensorTensor{.dst = folded,
                                 .a = first_a,
                                 .b = carried.slice(1, 1, states - 1),
                                 .op = isa::AluOp::kMultiply});
      kb_.emit(isa::TensorTensor{.dst = first_in, .a = first_in, .b = folded, .op = isa::AluOp::kAdd});
    }
    scalar_copy(kb_, first_a, zeros_.partitions(0, a.partitions()).cols(0, states - 1));
  }

  // y += C_n h_n over the states of block j.
  void sum_states(std::size_t j, const Ref& y, std::int64_t p, std::int64_t n, bool started) {
    const Ref eye = identity_.partitions(0, p).cols(0, p);
    for (std::int64_t i = 0; i < blocks_[j].states; ++i)
      kb_.emit(isa::NcMatmul{.dst = y,
                             .stationary = eye,
                             .moving = read_[j % 2].cols(i * n, n),
                             .accumulate = started || j > 0 || i > 0,
                             .onezero = true});
  }

  void finish(const Affine& e, std::int64_t p, const Affine& t, std::int64_t n, const Ref& y,
              const Ref& gate) {
    const Ref out = kb_.sbuf("out", DType::kF32, p, {n}, 2);
    if (gate.present())
      kb_.emit(isa::TensorTensor{.dst = out, .a = y, .b = gate, .op = isa::AluOp::kMultiply});
    else
      kb_.emit(isa::TensorCopy{.dst = out, .src = y});
    store(kb_, io_.tokens(io_.out, batch_, e, p, t, n), out);
  }

  KernelBuilder& kb_;
  const ScanIo& io_;
  std::int64_t chunk_;
  Affine batch_;
  std::vector<Block> blocks_;
  Ref identity_, zeros_;
  Ref a_, constant_b_, constant_c_, bias_, d_, carried_;  // [128, tiles, d_state or 1]
  std::vector<Ref> rows_b_, rows_c_;                      // per state group: [states, n]
  std::array<Ref, 2> spread_b_, spread_c_;                // PSUM [128, 512]
  std::array<Ref, 3> decay_;                              // ScalarE may run ahead of VectorE
  std::array<Ref, 2> input_, state_, read_;
};

ir::Program build(const MachineSpec& machine, const Problem& problem, const Params& params) {
  KernelBuilder kb("scan_hardware", machine);
  const ScanIo io = declare_scan(kb, problem);
  const std::int64_t chunk = params.integer("chunk");
  kb.param("chunk", std::to_string(chunk));
  Hardware(kb, io, chunk).run();
  return kb.finish();
}

}  // namespace

Kernel scan_hardware() {
  return {"scan_hardware",
          "selective_scan",
          Form::kCustom,
          "the scan instruction along the free axis, chunks with carried state; VectorE-bound",
          {{"chunk", ParamKind::kInt, "512", 1, 512, {}, "tokens of one chunk"}},
          build};
}

}  // namespace krait::kernels
