// Many transfers of one form, their destinations going round a ring of buffers: the time of each
// and the bandwidth. What decides it in the model is the size of the contiguous pieces (one
// descriptor each), how many partitions and so engines take part, and what issues the triggers.

#include <iterator>
#include <numeric>
#include <vector>

#include "krait/base/error.hpp"
#include "krait/base/text.hpp"
#include "krait/dsl/builder.hpp"
#include "krait/kernels/probes/probe.hpp"

namespace krait::kernels {
namespace {

using dsl::Hbm;
using dsl::KernelBuilder;
using dsl::Ref;
using isa::DgeMode;
using isa::DmaRing;

Params dma_params(std::span<const std::string> assignments) {
  constexpr double kMostBytes = 1 << 24;
  std::vector<ParamSpec> specs{
      {"bytes_per_partition",
       ParamKind::kInt,
       "8192",
       1,
       kMostBytes,
       {},
       "bytes of one partition (row)"},
      {"partitions",
       ParamKind::kInt,
       "128",
       1,
       isa::kPartitions,
       {},
       "partitions (rows) of one transfer"},
      {"direction",
       ParamKind::kChoice,
       "load",
       0,
       0,
       {"load", "store", "copy"},
       "load: HBM to SBUF, store: SBUF to HBM, copy: HBM to HBM"},
      {"pattern",
       ParamKind::kChoice,
       "contiguous",
       0,
       0,
       {"contiguous", "strided", "gather", "scatter"},
       "of a row in HBM: in one piece, in pieces with gaps; gather, scatter: rows anywhere, by "
       "software descriptors"},
      {"piece_bytes",
       ParamKind::kInt,
       "512",
       1,
       kMostBytes,
       {},
       "bytes of a piece of a strided row"},
      {"dge",
       ParamKind::kChoice,
       "auto",
       0,
       0,
       {"auto", "static", "software", "hardware"},
       "what makes the descriptors; auto: static, for gather and scatter software"},
      {"queues", ParamKind::kInt, "1", 1, 5, {}, "triggering sequencers that take turns"},
      {"ring", ParamKind::kInt, "4", 1, 64, {}, "destinations that take turns"}};
  for (ParamSpec& spec : repeat_params("68", "4")) specs.push_back(std::move(spec));
  Params out(std::move(specs));
  out.set_assignments(assignments);
  return out;
}

[[noreturn]] void refuse(const std::string& what, const std::string& got, const std::string& fix) {
  throw UserError(Report{what, "--set", got, fix});
}

bool indirect(const Params& params) {
  return params.text("pattern") == "gather" || params.text("pattern") == "scatter";
}

void check(const Params& params) {
  const std::string &pattern = params.text("pattern"), &direction = params.text("direction"),
                    &dge = params.text("dge");
  const std::string wanted = pattern == "gather" ? "load" : "store";
  if (indirect(params) && direction != wanted)
    refuse(cat("a ", pattern, " is a ", wanted),
           cat("pattern=", pattern, ", direction=", direction), cat("use direction=", wanted));
  if (indirect(params) && dge != "auto" && dge != "software")
    refuse(cat("the rows of a ", pattern, " are found by software descriptors"), cat("dge=", dge),
           "use dge=auto");
  if (pattern == "strided" && params.integer("bytes_per_partition") % params.integer("piece_bytes"))
    refuse("bytes_per_partition must be a multiple of piece_bytes",
           cat("bytes_per_partition=", params.text("bytes_per_partition"),
               ", piece_bytes=", params.text("piece_bytes")),
           "choose whole pieces");
}

DgeMode mode_of(const Params& params) {
  const std::string& dge = params.text("dge");
  if (dge == "hardware") return DgeMode::kHardware;
  return dge == "software" || (dge == "auto" && indirect(params)) ? DgeMode::kSoftware
                                                                  : DgeMode::kStatic;
}

/// The rings that take turns: every sequencer can trigger prebuilt descriptors, two hardware ones,
/// one makes them in software.
std::vector<DmaRing> rings_of(const Params& params) {
  std::vector<DmaRing> all{DmaRing::kSync, DmaRing::kScalar, DmaRing::kGpSimd, DmaRing::kVector,
                           DmaRing::kTensor};
  const DgeMode mode = mode_of(params);
  if (mode == DgeMode::kSoftware) all = {DmaRing::kGpSimd};
  if (mode == DgeMode::kHardware) all.resize(2);
  const auto queues = static_cast<std::size_t>(params.integer("queues"));
  if (queues > all.size())
    refuse(cat("descriptors of this kind have ", all.size(), " triggering sequencers"),
           cat("queues=", queues, ", dge=", isa::attr_text(mode)), cat("use queues=", all.size()));
  all.resize(queues);
  return all;
}

/// Rows of bytes in HBM, laid out by the pattern.
Ref hbm_rows(KernelBuilder& kb, const std::string& name, const Params& params, bool input) {
  const std::int64_t rows = params.integer("partitions"),
                     bytes = params.integer("bytes_per_partition");
  const std::string& pattern = params.text("pattern");
  // Gaps as large as what they separate, so that no two pieces join.
  const std::int64_t pitch = pattern == "contiguous" ? bytes : 2 * bytes;
  const Hbm tensor = input ? kb.input(name, DType::kU8, {rows, pitch})
                           : kb.internal(name, DType::kU8, {rows, pitch});
  if (pattern != "strided") return tensor.view(0, pitch, rows, {{1, bytes}});
  const std::int64_t piece = params.integer("piece_bytes");
  return tensor.view(0, pitch, rows, {{2 * piece, bytes / piece}, {1, piece}});
}

Ref sbuf_rows(KernelBuilder& kb, const std::string& name, const Params& params) {
  return kb.sbuf(name, DType::kU8, params.integer("partitions"),
                 {params.integer("bytes_per_partition")});
}

ir::Program build(const MachineSpec& machine, const Params& params, std::int64_t repeat) {
  check(params);
  KernelBuilder kb("dma", machine);
  for (const auto& [name, value] : params.values()) kb.param(name, value);
  const std::string& direction = params.text("direction");
  const std::vector<DmaRing> rings = rings_of(params);
  const Ref src =
      direction == "store" ? sbuf_rows(kb, "src", params) : hbm_rows(kb, "src", params, true);
  std::vector<Ref> slots;
  for (std::int64_t s = 0; s < params.integer("ring"); ++s)
    slots.push_back(direction == "load" ? sbuf_rows(kb, cat("dst", s), params)
                                        : hbm_rows(kb, cat("dst", s), params, false));
  if (direction == "store") kb.emit(isa::Memset{.dst = src});
  const auto transfers = [&](std::int64_t count) {
    for (std::int64_t i = 0; i < count; ++i) {
      const auto at = static_cast<std::size_t>(i);
      kb.emit(isa::DmaCopy{.dst = slots[at % slots.size()],
                           .src = src,
                           .ring = rings[at % rings.size()],
                           .dge = mode_of(params)});
    }
  };
  const std::int64_t period = std::lcm(std::ssize(slots), std::ssize(rings));
  KRAIT_ASSERT(period > 0);
  kb.loop(repeat / period, [&](const Affine&) { transfers(period); });
  transfers(repeat % period);
  return kb.finish();
}

}  // namespace

Probe dma_probe() {
  return {"dma", "many transfers of one form: the time of each and the bandwidth", "transfer",
          dma_params, build};
}

}  // namespace krait::kernels
