#include <array>

#include "apps/krait/command.hpp"

namespace krait::app {

// One line a command, and its declaration here.
Action declare_insn(CLI::App& app);
Action declare_machines(CLI::App& app);

namespace {

constexpr std::array kCommands{
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
