"""Dispatch, help, version, options and exit codes: what all commands share."""

import os
import shlex
import unittest

from cli import COMMANDS, ROOT, CliTest


class Frame(CliTest):
    def test_alone_and_asked_for_help_it_prints_the_overview(self):
        overview = self.succeeds()
        for command in COMMANDS:
            self.assertRegex(overview, rf"(?m)^{command} +\w")
        for words in (["--help"], ["-h"], ["help"]):
            self.assertEqual(self.succeeds(*words), overview)

    def test_version(self):
        self.assertRegex(self.succeeds("--version"), r"^krait \d+\.\d+\.\d+\n$")

    def test_misspelled_commands_and_options_get_suggestions(self):
        self.refuses("simm", says=("no command 'simm'", "did you mean 'sim'?"))
        self.refuses("machine", says="did you mean 'machines'?")
        self.refuses("--versoin", says="did you mean '--version'?")
        self.refuses("", says="known: map, sim, check")
        self.refuses("help", "opp", says="'op'")
        for command in COMMANDS:
            self.refuses(command, "--jsn", says=("no option is called '--jsn'", "'--json'"))

    def test_unexpected_arguments_are_named(self):
        for command in ("map", "sim", "op", "jobs", "kernels", "machines", "insn"):
            self.refuses(command, "a", "b", "c", says="unexpected argument")

    def test_flags_take_no_value_and_options_one(self):
        self.refuses("machines", "--json=false", says="--json takes no value")
        self.refuses("sim", "scan_hardware", "--trace", says="--trace needs a value")
        self.refuses("sim", "scan_hardware", "--machine", "trn1", "--machine", "trn2",
                     says="--machine is given more than once")

    def test_each_help_lists_the_options_and_shows_an_example(self):
        for command in COMMANDS:
            text = self.succeeds(command, "--help")
            self.assertEqual(text, self.succeeds("help", command))
            self.assertIn("--json", text)
            self.assertRegex(text, rf"(?m)^  krait {command}\b")
            self.assertLessEqual(max(map(len, text.split("examples")[0].splitlines())), 100)

    def test_the_examples_run(self):
        os.symlink(ROOT / "tests", self.dir / "tests")
        for command in COMMANDS:
            text = self.succeeds(command, "--help")
            examples = text.split("\nexamples\n")[1].strip().splitlines()
            self.assertTrue(examples)
            for line in examples:
                words = shlex.split(line)[1:]
                if command == "map":  # of the presets only the first, and what is predicted of it
                    if "quick" not in words:
                        continue
                    words += ["--machine", "trn1"]
                with self.subTest(line):
                    run = self.krait(*words)
                    self.assertEqual((run.returncode, run.stderr), (0, ""))
                    self.assertTrue(run.stdout)

    def test_equal_runs_give_equal_bytes(self):
        for words in (["machines"], ["machines", "trn2"], ["kernels"], ["insn"], ["insn", "nc_matmul"],
                      ["sim", "scan_hardware"], ["sim", "rmsnorm_naive", "--machine", "trn3"],
                      ["check", ROOT / "tests" / "golden", "--backend", "neuron:trn1"]):
            with self.subTest(words):
                self.assertEqual(self.succeeds(*words, "--json"), self.succeeds(*words, "--json"))


if __name__ == "__main__":
    unittest.main()
