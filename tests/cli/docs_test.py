"""docs/cli.md: each command has its section, each option its line, each reply's keys are named."""

import re
import unittest

from cli import COMMANDS, GOLDEN, ROOT, CliTest, golden

TEXT = (ROOT / "docs" / "cli.md").read_text()
SECTIONS = dict(re.findall(r"(?ms)^## krait (\w+)\n(.*?)(?=^## |\Z)", TEXT))


class Docs(CliTest):
    def listed_commands(self):
        """The command table as the program prints it."""
        table = self.succeeds().split("\ncommand ")[1].split("\n\n")[0]
        return tuple(line.split()[0] for line in table.splitlines()[1:])

    def test_the_program_and_these_tests_know_the_same_commands(self):
        self.assertEqual(self.listed_commands(), COMMANDS)

    def test_each_command_has_a_section_in_the_same_order(self):
        self.assertEqual(tuple(SECTIONS), self.listed_commands())

    def test_each_section_names_every_option_and_no_other(self):
        for command in self.listed_commands():
            options = set(re.findall(r"(?m)^(--[\w-]+)", self.succeeds(command, "--help")))
            documented = set(re.findall(r"(?m)^\| `(--[\w-]+)", SECTIONS[command]))
            self.assertEqual(documented, options - {"--json", "--help"}, command)
            self.assertIn(f"$ krait {command}", SECTIONS[command])

    def test_each_section_names_every_key(self):
        data, sidecar = golden("selective_scan", "ss_full_len1")
        for words in (["map", "--machine", "trn1"], ["sim", "scan_hardware"], ["sim", "stream"], ["sim", "dma"],
                      ["check", GOLDEN], ["fidelity", "--kind", "DMA"],
                      ["op", "selective_scan", "--in", data, "--attrs", sidecar, "--out", "y"],
                      ["jobs"], ["jobs", "show", "1"], ["jobs", "rerun", "1"], ["jobs", "export", "j"],
                      ["jobs", "import", "j"], ["kernels"], ["kernels", "scan_hardware"], ["kernels", "stream"], ["machines"],
                      ["machines", "trn2"], ["insn"], ["insn", "dma_copy"]):
            reply = self.object(*words)
            for key in reply:
                with self.subTest(words=words, key=key):
                    self.assertRegex(SECTIONS[words[0]], rf"`{re.escape(key)}\b")

    def test_each_parameter_of_a_probe_is_named(self):
        for probe in self.object("kernels")["probes"]:
            fields = {field["name"] for field in self.object("insn", "tensor_tensor")["fields"]}
            for param in self.object("kernels", probe["name"])["params"]:
                if param["name"] not in fields - {"dst", "src"}:
                    self.assertRegex(SECTIONS["sim"], rf"`{param['name']}[=`]", probe)

    def test_nested_keys_of_fidelity_are_named(self):
        reply = self.object("fidelity", "--kind", "instr-DVE")
        for key in (*reply["rows"][0], *reply["kinds"][0], *reply["pairs"], *reply["pairs"]["list"][0],
                    *self.object("fidelity", "--kind", "instr-mix")["not_expressed"][0]):
            self.assertRegex(SECTIONS["fidelity"], rf"[`.{{ ]{key}[`,}}]", key)

    def test_exit_codes_are_stated(self):
        for code in ("0", "1", "70"):
            self.assertRegex(TEXT, rf"(?m)^\| {code} \|")


if __name__ == "__main__":
    unittest.main()
