#include "krait/sim/run.hpp"

#include <algorithm>
#include <cstring>
#include <optional>

#include "krait/base/error.hpp"
#include "krait/base/text.hpp"
#include "krait/isa/memory.hpp"
#include "krait/sim/evidence.hpp"
#include "krait/sim/plan.hpp"
#include "krait/sim/timeline.hpp"

namespace krait::sim {
namespace {

using isa::Engine;

void check_input(const ir::Program& program, const ir::Buffer& b, const TensorMap& inputs) {
  const std::string where = cat("kernel ", program.name, ", input ", b.name);
  const auto found = inputs.find(b.name);
  if (found == inputs.end())
    throw UserError(Report{"an input of the kernel is missing", where,
                           cat("wanted ", name(b.dtype), " ", to_string(b.shape)),
                           cat("pass a tensor named ", b.name)});
  const Tensor& t = found->second;
  if (t.dtype() != b.dtype || t.shape() != b.shape)
    throw UserError(Report{"an input does not fit the kernel", where,
                           cat(name(t.dtype()), " ", to_string(t.shape()), ", wanted ",
                               name(b.dtype), " ", to_string(b.shape)),
                           "build the kernel for this shape, or convert the tensor"});
}

// One run: the loop nest is walked once, each instruction bound, executed and timed.
class Runner {
 public:
  Runner(const ir::Program& program, const MachineSpec& machine, const RunOptions& options)
      : program_(program),
        machine_(machine),
        options_(options),
        plan_(make_plan(program, machine)),
        indices_(program.extents.size(), 0) {
    if (!options.timing) return;
    timeline_.emplace(machine);
    for (const ir::Buffer& b : program.buffers)
      timeline_->add_hbm_buffer(b.space == isa::Space::kHbm ? b.bytes : 0,
                                b.space == isa::Space::kHbm && b.kind != ir::BufferKind::kInput);
  }

  void load(const TensorMap& inputs) {
    if (!options_.data) return;
    std::vector<std::int64_t> hbm;
    for (const ir::Buffer& b : program_.buffers)
      hbm.push_back(b.space == isa::Space::kHbm ? b.bytes : 0);
    isa::Memory::Options o;
    o.rounding = options_.rounding;
    o.mode = options_.mode;
    o.transpose_moves_bits = machine_.isa.transpose_mode;
    o.accumulate_onto_engine_writes = machine_.isa.accumulate_onto_engine_writes;
    memory_.emplace((program_.sbuf_bytes() + 63) / 64 * 64, program_.psum_bytes(), hbm, o);
    for (std::size_t i = 0; i < program_.buffers.size(); ++i) {
      const ir::Buffer& b = program_.buffers[i];
      if (b.space != isa::Space::kHbm || b.kind != ir::BufferKind::kInput) continue;
      check_input(program_, b, inputs);
      const Tensor& t = inputs.at(b.name);
      memory_->write_hbm(static_cast<std::uint32_t>(i), {t.data(), t.bytes()});
    }
  }

  void run() { block(plan_.body); }

  Result result() {
    Result out;
    outputs(out);
    if (memory_)
      for (const isa::RunFinding& f : memory_->findings())
        out.findings.push_back({f.kind, f.what, cat("kernel ", program_.name), remedy(f.kind)});
    out.sbuf_bytes = program_.sbuf_bytes();
    out.psum_bytes = program_.psum_bytes();
    if (timeline_) counters(out);
    return out;
  }

 private:
  void block(std::vector<PlannedNode>& nodes) {
    for (PlannedNode& node : nodes) {
      if (node.insn >= 0) {
        instruction(plan_.insns[static_cast<std::size_t>(node.insn)]);
        continue;
      }
      for (std::int64_t i = 0; i < node.count; ++i) {
        indices_[node.loop] = i;
        block(node.body);
      }
    }
  }

  void instruction(PlannedInsn& insn) {
    for (const auto& [tile, expr] : insn.symbolic)
      tile->offset = program_.exprs[expr].eval(indices_);
    if (memory_) {
      memory_->set_instruction(insn.label);
      insn.def->execute(insn.object.data(), *memory_);
    }
    if (!timeline_) return;
    const Issued issued =
        timeline_->issue({insn.def->info.name, insn.engine, &insn.timing, insn.accesses, {}, {}});
    if (options_.trace != nullptr)
      options_.trace->add(
          {insn.def->info.name, insn.track, issued.start,
           (insn.timing.dma.partitions != 0 ? issued.done : issued.free) - issued.start,
           issued.done, insn.where, position_});
    ++position_;
  }

  void outputs(Result& out) {
    if (!memory_) return;
    for (std::size_t i = 0; i < program_.buffers.size(); ++i) {
      const ir::Buffer& b = program_.buffers[i];
      if (b.space != isa::Space::kHbm || b.kind != ir::BufferKind::kOutput) continue;
      Tensor t(b.dtype, b.shape);
      memory_->read_hbm(static_cast<std::uint32_t>(i), {t.data(), t.bytes()});
      const isa::ByteState* state = memory_->hbm(static_cast<std::uint32_t>(i)).state(0, 0);
      if (t.bytes() > 0 && std::memchr(state, 0, t.bytes()) != nullptr)
        memory_->report("output-unwritten", cat("parts of output ", b.name, " were never written"));
      out.outputs.emplace(b.name, std::move(t));
    }
  }

  void counters(Result& out) const {
    const Timeline& t = *timeline_;
    out.time = t.time();
    for (int e = 0; e < isa::kEngineCount; ++e) {
      const auto engine = static_cast<Engine>(e);
      const std::string label(isa::name(engine));
      out.busy[label] = t.engine_busy(engine);
      out.work[label] = t.work(engine);
      out.instructions[label] = t.instructions(engine);
    }
    out.busy["DMA"] = t.dma_busy();
    out.instructions["DMA"] = t.dma_count();
    out.hbm_read_bytes = t.hbm_read_bytes();
    out.hbm_write_bytes = t.hbm_write_bytes();
    out.depth = t.depth();
    out.path = t.path().charges();
    const auto most =
        std::max_element(out.path.begin(), out.path.end(),
                         [](const auto& a, const auto& b) { return a.second < b.second; });
    out.bound_by = most == out.path.end() ? "nothing" : most->first;
    if (options_.evidence) out.evidence = assumed_values(plan_, machine_);
  }

  static std::string remedy(const std::string& kind) {
    if (kind == "uninitialised-read") return "write the bytes first (memset, dma_copy)";
    if (kind == "output-unwritten") return "store every element of the output";
    if (kind == "accumulate-uninitialised") return "start the accumulation with accumulate=false";
    if (kind == "onezero-broken") return "leave onezero out: the product then takes all passes";
    if (kind == "accumulator-unset") return "start the accumulation with reduce_cmd=reset_reduce";
    KRAIT_ASSERT(kind == "accumulate-engine-write");  // a finding without a remedy is our bug
    return "start the group with a product, not with memset or copy";
  }

  const ir::Program& program_;
  const MachineSpec& machine_;
  const RunOptions& options_;
  Plan plan_;
  std::vector<std::int64_t> indices_;
  std::optional<isa::Memory> memory_;
  std::optional<Timeline> timeline_;
  std::int64_t position_ = 0;
};

void throw_findings(const ir::Program& program, const std::vector<Finding>& findings) {
  const Finding& first = findings.front();
  throw MachineFault(Report{cat(first.kind, ": ", first.what), cat("kernel ", program.name),
                            cat(findings.size(), findings.size() == 1 ? " finding" : " findings"),
                            first.fix});
}

}  // namespace

Result run(const ir::Program& program, const MachineSpec& machine, const TensorMap& inputs,
           const RunOptions& options) {
  if (program.machine != machine.name())
    throw UserError(Report{"the program was built for another machine",
                           cat("kernel ", program.name),
                           cat("built for ", program.machine, ", run on ", machine.name()),
                           "build it again for this machine"});
  Runner runner(program, machine, options);
  runner.load(inputs);
  runner.run();
  Result result = runner.result();
  if (options.strict && !result.findings.empty()) throw_findings(program, result.findings);
  return result;
}

}  // namespace krait::sim
