"""krait kernels, machines and insn: what the registries hold."""

import unittest

from cli import SCANS, CliTest

MARKS = set("DRMTU")


class Kernels(CliTest):
    def test_each_listed_kernel_shows_its_parameters(self):
        kernels = self.object("kernels")["kernels"]
        self.assertLessEqual(set(SCANS), {kernel["name"] for kernel in kernels})
        for kernel in kernels:
            self.has_types(kernel, {"name": str, "operator": str, "form": str, "summary": str})
            self.assertIn(kernel["form"], ("naive", "custom"))
            shown = self.object("kernels", kernel["name"])
            self.assertEqual(shown["summary"], kernel["summary"])
            self.assertTrue(shown["operator_params"])
            for param in shown["params"] + shown["operator_params"]:
                self.has_types(param, {"name": str, "kind": str, "default": str, "help": str})
                self.assertEqual("min" in param, param["kind"] in ("integer", "real"))
                self.assertEqual("choices" in param, param["kind"] == "choice")
            self.assertIn(kernel["name"], self.succeeds("kernels", kernel["name"]))

    def test_ranges_are_shown_in_full(self):
        self.assertIn("1 .. 16777216", self.succeeds("kernels", "scan_hardware"))

    def test_wrong_names_get_suggestions(self):
        self.refuses("kernels", "rmsnorm_fuse", says="did you mean 'rmsnorm_fused'")
        self.refuses("kernels", "nothing_like_it", says="known: ")


class Machines(CliTest):
    def test_each_value_has_unit_mark_and_source(self):
        machines = self.object("machines")["machines"]
        self.assertEqual([machine["name"] for machine in machines], ["trn1", "trn2", "trn3"])
        hashes = {machine["table_hash"] for machine in machines}
        self.assertEqual(len(hashes), 3)
        for machine in machines:
            self.assertRegex(machine["table_hash"], r"^[0-9a-f]{16}$")
            shown = self.object("machines", machine["name"])
            text = self.succeeds("machines", machine["name"])
            self.assertGreater(len(shown["values"]), 100)
            for value in shown["values"]:
                self.has_types(value, {"name": str, "value": (int, float), "text": str, "unit": str, "evidence": str,
                                       "source": str, "help": str})
                self.assertIn(value["evidence"], MARKS)
                self.assertTrue(value["source"] and value["help"] and value["unit"], value)
                self.assertIn(f"\n{value['name']} = {value['text']}", text)

    def test_wrong_names_get_suggestions(self):
        self.refuses("machines", "trn9", says=("'trn1'", "trn3"))
        self.refuses("machines", "gpu", says="trn2")


class Instructions(CliTest):
    def test_each_listed_instruction_shows_fields_rules_and_costs(self):
        listed = self.object("insn")["instructions"]
        self.assertIn("tensor_tensor_scan", {insn["name"] for insn in listed})
        for insn in listed:
            types = {"name": str, "engine": str, "summary": str, "formula": str, "cost_evidence": str,
                     "cost_source": str}
            self.has_types(insn, types)
            self.assertIn(insn["cost_evidence"], MARKS)
            shown = self.object("insn", insn["name"])
            self.assertEqual({key: shown[key] for key in types}, insn)
            for field in shown["fields"]:
                self.has_types(field, {"name": str, "role": str})
            self.assertEqual(set(shown["costs"]), {"trn1", "trn2", "trn3"})
            self.assertTrue(shown["costs"]["trn3"], insn["name"])  # the newest has every instruction
            absent = [name for name, costs in shown["costs"].items() if not costs]
            self.assertEqual("generation" in {rule["rule"] for rule in shown["rules"]}, bool(absent), insn["name"])
            for costs in shown["costs"].values():
                for cost in costs:
                    self.has_types(cost, {"n": int, "occupancy_cycles": (int, float), "latency_cycles": (int, float)})
            self.assertTrue(shown["rules"], insn["name"])
            for rule in shown["rules"]:
                self.has_types(rule, {"rule": str, "operands": list, "what": str, "fix": str})
            self.assertTrue(self.succeeds("insn", insn["name"]).startswith(insn["name"]))

    def test_wrong_names_get_suggestions(self):
        self.refuses("insn", "tensor_tensor_scann", says="'tensor_tensor_scan'")
        self.refuses("insn", "fft", says="known: ")


if __name__ == "__main__":
    unittest.main()
