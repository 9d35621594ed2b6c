// The selective scan on the hardware scan instruction: channels on partitions, time along the
// free axis.
//
// A block is as many states as fit one PSUM bank with the chunk's tokens (512 columns): for a short
// chunk one scan instruction covers several states, one segment each. Between segments the decay is
// set to 0, after the carried state has been folded into the input, so nothing leaks across.
//   ScalarE  exp(dt A[:,n]) per state; softplus; silu
//   TensorE  spreads B and C rows over partitions (a product with a repeated identity column), sums
//            C_n h_n over states and adds D u (products with the identity and with diag(D))
//   VectorE  du B (N cycles, B in PSUM), scan (2N), h C (N)
// Bound: VectorE, 4 cycles a (channel tile, token, state). TensorE and ScalarE stay below it; the
// order of emission keeps them ahead of it and hides VectorE's own latency:
//   VectorE  scan j, input j+1, read j: no instruction needs the result of the one before it
//   TensorE  B rows of j+2, C rows of j+1, sums of j
//   ScalarE  decays of j+2; softplus and silu of four tiles together, while four others run
// where j+1 and j+2 run on into the next tile. Rejected: summing over states on VectorE (2N more),
// B and C in SBUF (N more each on v2), one tile's softplus at a time (two table loads a tile, on
// the path).

#include <algorithm>
#include <array>
#include <vector>

#include "krait/kernels/scan/scan.hpp"

namespace krait::kernels {
namespace {

constexpr std::int64_t kStateGroup = 128;   // states of B and C that one tile holds, on partitions
constexpr std::int64_t kTilesTogether = 4;  // tiles whose softplus and silu are computed together

struct Block {
  std::int64_t first = 0, states = 0;  // of d_state
};

// Channels of a group: partition p of tile i holds channel start + p * tiles + i, so that what a
// partition needs of A, D and the states is contiguous in HBM.
struct Span {
  Affine first;  // channel
  std::int64_t partitions = 0, tiles = 0;
};

// A tile of the span. Group 0 holds one tile in its last place, the others are full but the last.
struct TileIndex {
  Affine group, within;
  [[nodiscard]] Affine linear() const {
    return group * kTilesTogether + within - Affine(kTilesTogether - 1);
  }
  [[nodiscard]] TileIndex plus(const Affine& step) const { return {group, within + step}; }
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
      kb_.loop(io_.groups, [&](const Affine& group) { channels(group); });
    });
  }

 private:
  // Whole tiles of 128 channels, in spans whose parameters and carried states take at most a
  // quarter of SBUF; then the ragged tile.
  void channels(const Affine& group) {
    group_ = group;
    const std::int64_t size = io_.channels_per_group(), whole = size / 128;
    const auto budget =
        static_cast<std::int64_t>(kb_.machine().sbuf_usable_bytes_per_partition() / 4);
    const std::int64_t matrices = 2 + (io_.b.constant ? 1 : 0) + (io_.c.constant ? 1 : 0);
    const std::int64_t most =
        std::max<std::int64_t>(1, budget / ((io_.d_state * matrices + 2) * 4));
    kb_.tiles(whole, most, [&](const Affine&, const Affine& first, std::int64_t tiles) {
      span({group * size + first * 128, 128, tiles});
    });
    if (size % 128 != 0)
      kb_.scope([&] { span({group * size + Affine(whole * 128), size % 128, 1}); });
  }

  void span(const Span& s) {
    s_ = s;
    const auto matrix = [&](const char* name, const Hbm& x, const Affine& start) {
      Ref out = kb_.sbuf(name, DType::kF32, s.partitions, {s.tiles, io_.d_state});
      if (x.present()) load(kb_, out.merge(0), rows_view(x, start));
      return out;
    };
    const auto column = [&](const char* name, const Hbm& x) {
      if (!x.present()) return Ref{};
      Ref out = kb_.sbuf(name, DType::kF32, s.partitions, {s.tiles, 1});
      load(kb_, out.merge(0), x.view(s.first, s.tiles, s.partitions, {{1, s.tiles}}));
      return out;
    };
    bias_ = column("delta_bias", io_.delta_bias);
    a_ = matrix("A", io_.a, s.first * io_.d_state);
    if (io_.b.constant) constant_b_ = matrix("B", io_.b.tensor, s.first * io_.d_state);
    if (io_.c.constant) constant_c_ = matrix("C", io_.c.tensor, s.first * io_.d_state);
    d_ = column("D", io_.d);
    carried_ = matrix("carried", io_.initial_state, batch_states_start());
    // The first chunk is apart: its carried state may be zero.
    kb_.scope([&] { chunk(0, std::min(chunk_, io_.length), true); });
    const std::int64_t rest = io_.length - std::min(chunk_, io_.length);
    kb_.tiles(rest, chunk_, [&](const Affine&, const Affine& start, std::int64_t n) {
      chunk(start + Affine(chunk_), n, false);
    });
    store(kb_, rows_view(io_.last_state, batch_states_start()), carried_.merge(0));
  }

  [[nodiscard]] Affine batch_states_start() const {
    return batch_ * (io_.d_inner * io_.d_state) + s_.first * io_.d_state;
  }
  // [partitions, tiles * d_state] of a tensor whose last axes are [d_inner, d_state].
  [[nodiscard]] Ref rows_view(const Hbm& x, const Affine& start) const {
    return x.view(start, s_.tiles * io_.d_state, s_.partitions, {{1, s_.tiles * io_.d_state}});
  }
  // Tokens [t, t + n) of tile i of u, delta, z or out.
  [[nodiscard]] Ref tokens(const Hbm& x, const Affine& i, const Affine& t, std::int64_t n) const {
    return x.view(x.at({batch_, s_.first + i, t}), s_.tiles * io_.length, s_.partitions, {{1, n}});
  }

  // Tokens [t, t + n) of all channels of the span.
  void chunk(const Affine& t, std::int64_t n, bool first) {
    t_ = t, n_ = n, carry_ = !first || io_.initial_state.present();
    blocks_ = cut_states();
    load_rows();
    make_buffers();
    // Group 0 is one tile, so that the first scan waits for its loads only; then groups of four,
    // the last one what is left. Group g runs while group g + 1 is prepared.
    const std::int64_t rest = s_.tiles - 1, groups = (rest + kTilesTogether - 1) / kTilesTogether;
    const auto size = [&](std::int64_t g) {
      return g > groups ? 0 : std::min(kTilesTogether, rest - (g - 1) * kTilesTogether);
    };
    const TileIndex start{0, kTilesTogether - 1};
    prepare(start, 1);
    spread_b(0), spread_c(0);
    if (blocks_.size() > 1) spread_b(1);
    begin_tile(start);
    kb_.scope([&] { tile_group(start, 1, size(1), true); });
    kb_.loop(groups - 2, [&](const Affine& g) {
      tile_group({g + Affine(1), 0}, kTilesTogether, kTilesTogether, false);
    });
    for (std::int64_t g = std::max<std::int64_t>(1, groups - 1); g <= groups; ++g)
      kb_.scope([&] { tile_group({Affine(g), 0}, size(g), size(g + 1), false); });
  }

  // Blocks of states that fill a bank, never across a group of kStateGroup.
  [[nodiscard]] std::vector<Block> cut_states() const {
    const std::int64_t per_block = std::max<std::int64_t>(1, kBankColumns / n_);
    std::vector<Block> out;
    for (std::int64_t from = 0; from < io_.d_state;) {
      const std::int64_t group_end = std::min(io_.d_state, (from / kStateGroup + 1) * kStateGroup);
      const std::int64_t states = std::min(per_block, group_end - from);
      out.push_back({from, states});
      from += states;
    }
    return out;
  }

  // B and C of the chunk, states on partitions.
  void load_rows() {
    const auto rows = [&](const char* name, const ScanMatrix& m, std::vector<Ref>& out) {
      out.clear();
      for (std::int64_t from = 0; from < io_.d_state && !m.constant; from += kStateGroup) {
        const std::int64_t count = std::min(kStateGroup, io_.d_state - from);
        out.push_back(kb_.sbuf(name, DType::kF32, count, {n_}));
        load(kb_, out.back(), io_.states(m, batch_, group_, from, count, t_, n_));
      }
    };
    rows("B_rows", io_.b, rows_b_);
    rows("C_rows", io_.c, rows_c_);
  }

  void make_buffers() {
    const std::int64_t p = s_.partitions, columns = blocks_.front().states * n_;
    const auto pool = [&](const char* name) {
      return kb_.sbuf(name, DType::kF32, p, {2, kTilesTogether, n_});
    };
    u_ = pool("u"), dt_ = pool("dt");
    gate_ = io_.z.present() ? pool("gate") : Ref{};
    for (Ref& r : decay_) r = kb_.sbuf("decay", DType::kF32, p, {columns});
    du_ = kb_.sbuf("du", DType::kF32, p, {2, n_});
    for (std::size_t i = 0; i < 2; ++i) {
      input_[i] = kb_.sbuf("input", DType::kF32, p, {columns});
      state_[i] = kb_.sbuf("state", DType::kF32, p, {columns});
      read_[i] = kb_.sbuf("read", DType::kF32, p, {columns});
    }
    out_ = kb_.sbuf("out", DType::kF32, p, {2, n_});
    if (d_.present()) diagonal_ = kb_.sbuf("diag_D", DType::kF32, p, {2, p});
    y_ = kb_.psum("y", DType::kF32, p, {2, kBankColumns});
    const std::size_t banks = blocks_.size() == 1 ? 1 : blocks_.size() % 2 == 0 ? 2 : 3;
    for (std::size_t i = 0; i < banks; ++i) {
      if (!io_.b.constant) spread_b_[i] = kb_.psum("B_spread", DType::kF32, 128, {kBankColumns});
      if (!io_.c.constant) spread_c_[i] = kb_.psum("C_spread", DType::kF32, 128, {kBankColumns});
    }
  }

  // Loads, dt and gate of `count` tiles from i on. Together, because every change between softplus,
  // silu and exp costs ScalarE a table load.
  void prepare(const TileIndex& from, std::int64_t count) {
    kb_.loop(count, [&](const Affine& step) {
      const TileIndex i = from.plus(step);
      const Affine tile = i.linear();
      const Ref dt = slot(dt_, i);
      load(kb_, dt, tokens(io_.delta, tile, t_, n_));
      load(kb_, slot(u_, i), tokens(io_.u, tile, t_, n_));
      if (io_.z.present()) load(kb_, slot(gate_, i), tokens(io_.z, tile, t_, n_));
      if (io_.softplus || bias_.present())
        emit_dt(kb_, io_, dt, dt, bias_.present() ? bias_.slice(0, tile, 1) : Ref{});
    });
    if (!io_.z.present()) return;
    kb_.loop(count, [&](const Affine& step) {
      const Ref gate = slot(gate_, from.plus(step));
      kb_.emit(isa::Activation{.dst = gate, .data = gate, .fn = UnaryFn::kSilu});
    });
  }

  // The tiles of a group from `from` on; count_next > 0: the next group is prepared meanwhile.
  void tile_group(const TileIndex& from, std::int64_t count, std::int64_t count_next,
                  bool very_first) {
    const TileIndex after{from.group + Affine(1), 0};
    const TileIndex before{from.group - Affine(1), kTilesTogether - 1};
    // A lone tile of one block begins the next group's first tile within that block: its loads come
    // first. (Such a group is the very first one; no tile before it still needs the slots.)
    const bool early = count == 1 && blocks_.size() == 1;
    if (early && count_next > 0) prepare(after, count_next);
    tile(from, count > 1 ? from.plus(1) : after, count > 1 || count_next > 0, [&] {
      if (!very_first) finish(before);
      if (!early && count_next > 0) prepare(after, count_next);
    });
    kb_.loop(count - 2, [&](const Affine& step) {
      tile(from.plus(step + Affine(1)), from.plus(step + Affine(2)), true,
           [&] { finish(from.plus(step)); });
    });
    if (count > 1)
      kb_.scope([&] {
        tile(from.plus(count - 1), after, count_next > 0, [&] { finish(from.plus(count - 2)); });
      });
    if (count_next == 0) finish(from.plus(count - 1));
  }

  // Which of three PSUM banks holds the rows of block j: never the one of its neighbour, the first
  // block of the next tile included.
  [[nodiscard]] std::size_t bank(std::size_t j) const {
    return j > 0 && j + 1 == blocks_.size() && j % 2 == 0 ? 2 : j % 2;
  }

  // Rows of block j on all partitions, in PSUM.
  void spread(const std::vector<Ref>& groups, const Ref& to, std::size_t j) {
    for (std::int64_t i = 0; i < blocks_[j].states; ++i) {
      const std::int64_t state = blocks_[j].first + i;
      broadcast_row(kb_, to.cols(i * n_, n_), identity_,
                    groups[static_cast<std::size_t>(state / kStateGroup)], state % kStateGroup);
    }
  }
  void spread_b(std::size_t j) {
    if (!io_.b.constant) spread(rows_b_, spread_b_[bank(j)], j);
  }
  void spread_c(std::size_t j) {
    if (!io_.c.constant) spread(rows_c_, spread_c_[bank(j)], j);
  }

  [[nodiscard]] static Ref slot(const Ref& pool, const TileIndex& i) {
    return pool.rotating(i.group).slice(0, i.within, 1);
  }
  [[nodiscard]] Ref du_of(const TileIndex& i) const { return du_.rotating(i.linear()); }

  // What comes before a tile's first scan.
  void begin_tile(const TileIndex& i) {
    make_du(i);
    decay(0, i);
    make_input(0, i);
  }
  void make_du(const TileIndex& i) {
    kb_.emit(isa::TensorTensor{
        .dst = du_of(i), .a = slot(dt_, i), .b = slot(u_, i), .op = isa::AluOp::kMultiply});
  }

  // One tile, from its first scan to its sums; `next` begins within it, `meanwhile` is emitted
  // after its first block.
  template <class Meanwhile>
  void tile(const TileIndex& i, const TileIndex& next, bool has_next, Meanwhile meanwhile) {
    const std::int64_t p = s_.partitions;
    const Ref y = y_.rotating(i.linear()).cols(0, n_);
    if (d_.present()) {
      const Ref diagonal = diagonal_.rotating(i.linear());
      kb_.emit(isa::Activation{.dst = diagonal,
                               .data = identity_.partitions(0, p).cols(0, p),
                               .scale = d_.slice(0, i.linear(), 1)});
      kb_.emit(isa::NcMatmul{.dst = y, .stationary = diagonal, .moving = slot(u_, i)});
    }
    const std::size_t count = blocks_.size();
    for (std::size_t j = 0; j < count; ++j) {
      const bool last = j + 1 == count;
      if (!last) decay(j + 1, i);
      if (count > 1) spread_b((j + 2) % count);
      if (last && has_next) make_du(next);
      scan(j, i);
      if (!last) make_input(j + 1, i);
      if (last && has_next) decay(0, next), make_input(0, next);
      if (count > 1) spread_c((j + 1) % count);
      read(j, i);
      sum_states(j, y);
      if (j == 0) meanwhile();
    }
  }

  // Gate and store of a tile whose sums are complete. Emitted within the next tile: neither VectorE
  // nor ScalarE then waits for TensorE's last sums.
  void finish(const TileIndex& i) {
    const Ref y = y_.rotating(i.linear()).cols(0, n_), out = out_.rotating(i.linear());
    if (io_.z.present())
      kb_.emit(
          isa::TensorTensor{.dst = out, .a = y, .b = slot(gate_, i), .op = isa::AluOp::kMultiply});
    else
      scalar_copy(kb_, out, y);
    store(kb_, tokens(io_.out, i.linear(), t_, n_), out);
  }

  // Columns [partitions, count] of states from `state` on of tile i.
  [[nodiscard]] static Ref column(const Ref& tiles, const TileIndex& i, std::int64_t state,
                                  std::int64_t count = 1) {
    return tiles.slice(0, i.linear(), 1).slice(1, state, count);
  }
  [[nodiscard]] Ref columns_of(const Ref& buffer, std::size_t j) const {
    return buffer.cols(0, blocks_[j].states * n_);
  }
  [[nodiscard]] Ref decay_of(std::size_t j) const {
    return columns_of(decay_[j % decay_.size()], j);
  }

  // exp(dt A[:, n]) for every state of block j.
  void decay(std::size_t j, const TileIndex& i) {
    for (std::int64_t k = 0; k < blocks_[j].states; ++k)
      kb_.emit(isa::Activation{.dst = decay_of(j).cols(k * n_, n_),
                               .data = slot(dt_, i),
                               .scale = column(a_, i, blocks_[j].first + k),
                               .fn = UnaryFn::kExp});
  }

  // input = dt u B; between segments the carried state is folded in and the decay set to 0.
  void make_input(std::size_t j, const TileIndex& i) {
    const std::int64_t states = blocks_[j].states;
    const Ref in = columns_of(input_[j % 2], j);
    for (std::int64_t k = 0; k < states && io_.b.constant; ++k)
      kb_.emit(isa::Activation{.dst = in.cols(k * n_, n_),
                               .data = du_of(i),
                               .scale = column(constant_b_, i, blocks_[j].first + k)});
    if (!io_.b.constant) {
      const Ref rows = columns_of(spread_b_[bank(j)].partitions(0, s_.partitions), j);
      kb_.emit(isa::TensorTensor{.dst = in.split(states, n_),
                                 .a = du_of(i).broadcast(0, states),
                                 .b = rows.split(states, n_),
                                 .op = isa::AluOp::kMultiply});
    }
    if (states > 1) part_segments(j, i, in);
  }

  void part_segments(std::size_t j, const TileIndex& i, const Ref& in) {
    const std::int64_t states = blocks_[j].states;
    const auto starts = [&](const Ref& x) {  // the first token of every segment but the first
      return x.split(states, n_).slice(0, 1, states - 1).slice(1, 0, 1);
    };
    if (carry_) {
      const Ref folded = kb_.sbuf("folded", DType::kF32, s_.partitions, {states - 1});
      kb_.emit(isa::TensorTensor{.dst = folded,
                                 .a = starts(decay_of(j)),
                                 .b = column(carried_, i, blocks_[j].first + 1, states - 1),
                                 .op = isa::AluOp::kMultiply});
      kb_.emit(isa::TensorTensor{
          .dst = starts(in), .a = starts(in), .b = folded, .op = isa::AluOp::kAdd});
    }
    scalar_copy(kb_, starts(decay_of(j)), zeros_.partitions(0, s_.partitions).cols(0, states - 1));
  }

  void scan(std::size_t j, const TileIndex& i) {
    const Block& block = blocks_[j];
    const Ref h = columns_of(state_[j % 2], j);
    isa::TensorTensorScan scan{.dst = h, .a = decay_of(j), .b = columns_of(input_[j % 2], j)};
    if (carry_) scan.init = column(carried_, i, block.first);
    kb_.emit(scan);
    // The last token's states. GpSimdE keeps ScalarE free to run ahead, unless it would hold
    // VectorE up.
    const Ref carried = column(carried_, i, block.first, block.states);
    const Ref end = h.split(block.states, n_).slice(1, n_ - 1, 1);
    if (kb_.machine().exclusions.vector_gpsimd_share_sbuf_port)
      scalar_copy(kb_, carried, end);
    else
      kb_.emit(isa::TensorCopy{.dst = carried, .src = end, .engine = isa::Engine::kGpSimd});
  }

  void read(std::size_t j, const TileIndex& i) {
    const Ref h = columns_of(state_[j % 2], j), out = columns_of(read_[j % 2], j);
    for (std::int64_t k = 0; k < blocks_[j].states && io_.c.constant; ++k)
      kb_.emit(isa::Activation{.dst = out.cols(k * n_, n_),
                               .data = h.cols(k * n_, n_),
                               .scale = column(constant_c_, i, blocks_[j].first + k)});
    if (io_.c.constant) return;
    const Ref rows = columns_of(spread_c_[bank(j)].partitions(0, s_.partitions), j);
    kb_.emit(isa::TensorTensor{.dst = out, .a = h, .b = rows, .op = isa::AluOp::kMultiply});
  }

  // y += C_n h_n over the states of block j.
  void sum_states(std::size_t j, const Ref& y) {
    const Ref eye = identity_.partitions(0, s_.partitions).cols(0, s_.partitions);
    for (std::int64_t i = 0; i < blocks_[j].states; ++i)
      kb_.emit(isa::NcMatmul{.dst = y,
                             .stationary = eye,
                             .moving = read_[j % 2].cols(i * n_, n_),
                             .accumulate = d_.present() || j > 0 || i > 0,
                             .onezero = true});
  }

  KernelBuilder& kb_;
  const ScanIo& io_;
  std::int64_t chunk_;
  // Where emission stands: batch, group, span, chunk (first token, tokens).
  Affine batch_, group_, t_;
  Span s_;
  std::int64_t n_ = 0;
  bool carry_ = false;  // the entering state may not be zero
  std::vector<Block> blocks_;
  Ref identity_, zeros_;
  Ref a_, constant_b_, constant_c_, bias_, d_, carried_;  // [partitions, tiles, d_state or 1]
  Ref u_, dt_, gate_;                                     // [partitions, slots, tiles together, n]
  Ref du_, out_, diagonal_, y_;                           // [partitions, 2, n], y in PSUM
  std::vector<Ref> rows_b_, rows_c_;                      // per state group: [states, n]
  std::array<Ref, 3> spread_b_, spread_c_;                // PSUM [128, 512]
  std::array<Ref, 6> decay_;                              // how far ScalarE may run ahead
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
