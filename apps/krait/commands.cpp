#include <array>

#include "apps/krait/command.hpp"

namespace krait::app {

// One line a command here, and its entry below.
Action declare_check(CLI::App& app);
Action declare_fidelity(CLI::App& app);
Action declare_insn(CLI::App& app);
Action declare_jobs(CLI::App& app);
Action declare_kernels(CLI::App& app);
Action declare_machines(CLI::App& app);
Action declare_map(CLI::App& app);
Action declare_op(CLI::App& app);
Action declare_sim(CLI::App& app);

namespace {

constexpr std::array kCommands{
    Command{"map", "runs the study: where a hand-written kernel pays, with evidence",
            "krait map --preset quick\nkrait map --preset seed --machine trn1 --resume --json",
            declare_map},
    Command{"sim", "simulates a device kernel: time, engines, traffic, findings, error",
            "krait sim scan_hardware --set length=1024 --set d_inner=128 --machine trn2\n"
            "krait sim rmsnorm_fused --set rows=4096 --no-data --json\n"
            "krait sim stream --set insn=tensor_reduce --set n=128 --machine trn1\n"
            "krait sim dma --set bytes_per_partition=4096 --machine trn2",
            declare_sim},
    Command{"check", "compares operators with golden cases",
            "krait check tests/golden --backend cpu", declare_check},
    Command{"op", "runs an operator on your data",
            "krait op selective_scan --in tests/golden/selective_scan/ss_full_n16.safetensors"
            " --attrs tests/golden/selective_scan/ss_full_n16.json --out y.safetensors",
            declare_op},
    Command{"fidelity", "predicted against published times, row by row and kind by kind",
            "krait fidelity\nkrait fidelity --kind instr-DVE --generation trn1 --json",
            declare_fidelity},
    Command{"jobs", "the job database: lists, shows, reruns, exports and imports jobs",
            "krait jobs list\nkrait jobs rerun 1\nkrait jobs export jobs.json", declare_jobs},
    Command{"kernels", "lists the device kernels, or the parameters of one",
            "krait kernels scan_hardware", declare_kernels},
    Command{"machines", "lists the machines, or the values of one with their sources",
            "krait machines trn2", declare_machines},
    Command{"insn", "lists the instructions, or the rules and costs of one",
            "krait insn tensor_tensor_scan", declare_insn},
};

}  // namespace

std::span<const Command> commands() {
  return kCommands;
}

}  // namespace krait::app
