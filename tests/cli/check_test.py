"""krait check: golden cases on every backend, failing cases, damaged cases."""

import json
import shutil
import unittest

from cli import GOLDEN, SCANS, CliTest, golden, parse_object, write_safetensors

SELECTIVE_SCAN, GATED_RMSNORM = 9, 4


class GoldenCases(CliTest):
    def by_group(self, *words):
        out = self.object("check", GOLDEN, *words)
        self.has_types(out, {"cases": list, "passed": int, "failed": int, "refused": int})
        self.assertEqual(len(out["cases"]), SELECTIVE_SCAN + GATED_RMSNORM)
        groups = {"selective_scan": [], "gated_rmsnorm": []}
        for case in out["cases"]:
            self.has_types(case, {"name": str, "group": str, "status": str, "parts": list})
            groups[case["group"]].append(case)
        statuses = [case["status"] for case in out["cases"]]
        for status in ("passed", "failed", "refused"):
            self.assertEqual(out[status], statuses.count(status))
        return groups["selective_scan"], groups["gated_rmsnorm"]

    def all_pass(self, cases, count):
        self.assertEqual(len(cases), count)
        for case in cases:
            self.assertEqual(case["status"], "passed", case)
            self.assertIsNone(case["reason"])
            (part,) = case["parts"]
            self.has_types(part, {"part": str, "status": str, "worst_tensor": str, "error": (int, float),
                                  "tolerance": float})
            self.assertLessEqual(part["error"], part["tolerance"])

    def test_the_reference_passes_with_1e_10(self):
        for cases, count in zip(self.by_group("--only", "forward"), (SELECTIVE_SCAN, GATED_RMSNORM)):
            self.all_pass(cases, count)
            for case in cases:
                sidecar = json.loads((GOLDEN / case["group"] / (case["name"] + ".json")).read_text())
                self.assertLessEqual(sidecar["tolerance"]["float64"]["rtol"], 1e-9)

    def test_every_cpu_form_passes_with_the_bounds_for_f32(self):
        for backend in ("cpu", "cpu:naive", "cpu:compiler"):
            with self.subTest(backend):
                for cases, count in zip(self.by_group("--backend", backend), (SELECTIVE_SCAN, GATED_RMSNORM)):
                    self.all_pass(cases, count)

    def test_every_scan_kernel_passes_on_the_simulated_machines(self):
        for machine in ("trn1", "trn2", "trn3"):
            for kernel in SCANS:
                with self.subTest(machine=machine, kernel=kernel):
                    backend = f"neuron:{machine}/{kernel}"
                    scans, norms = self.by_group("--backend", backend)
                    self.all_pass(scans, SELECTIVE_SCAN)
                    self.assertEqual({case["ran"] for case in scans}, {backend})
                    for case in norms:  # a scan kernel cannot run them, and says so
                        self.assertEqual(case["status"], "refused")
                        self.assertIn("computes selective_scan, not rmsnorm", case["reason"])

    def test_parts_that_do_not_exist_are_refused_by_name(self):
        for part in ("step", "grad"):
            run = self.krait("check", GOLDEN, "--only", part, "--json")
            self.assertEqual((run.returncode, run.stderr), (1, ""))
            out = parse_object(run.stdout)
            self.assertEqual((out["passed"], out["failed"], out["refused"]), (0, 0, 13))
            for case in out["cases"]:
                self.assertEqual([(p["part"], p["status"]) for p in case["parts"]], [(part, "refused")])
                self.assertIn(part, case["reason"])
            text = self.krait("check", GOLDEN, "--only", part)
            self.assertEqual(text.returncode, 1)
            self.assertIn(f"{part}: selective_scan has none yet", text.stdout)
            self.assertIn("0 passed, 0 failed, 13 refused", text.stdout)

    def test_refusals_fail_on_request(self):
        words = ["check", GOLDEN, "--backend", "neuron:trn2/scan_hardware"]
        self.assertEqual(self.krait(*words).returncode, 0)
        self.assertEqual(self.krait(*words, "--strict").returncode, 1)


class Arguments(CliTest):
    def test_wrong_names_get_suggestions(self):
        self.refuses("check", says="no path given")
        self.refuses("check", "missing", says=("no such file", "missing"))
        self.refuses("check", self.dir, says="no golden cases")
        self.refuses("check", GOLDEN, "--only", "forwrd", says="did you mean 'forward'?")
        self.refuses("check", GOLDEN, "--backend", "rf", says=("no backend", "ref"))
        self.refuses("check", GOLDEN, "--backend", "neuron:trn9", says="'trn1'")
        self.refuses("check", GOLDEN, "--backend", "neuron:trn2/scan_hardwar", says="'scan_hardware'")
        self.refuses("check", GOLDEN, "--backend", "", says="no backend")

    def test_either_file_of_a_case_names_it(self):
        for file in golden("selective_scan", "ss_full_len1"):
            out = self.object("check", file)
            self.assertEqual([case["name"] for case in out["cases"]], ["ss_full_len1"])


class DamagedCases(CliTest):
    """Copies of one case, each damaged in one way."""

    def setUp(self):
        super().setUp()
        data, sidecar = golden("selective_scan", "ss_full_len1")
        self.data = self.dir / data.name
        self.sidecar = self.dir / sidecar.name
        shutil.copy(data, self.data)
        shutil.copy(sidecar, self.sidecar)

    def rewrite(self, **changes):
        """Changes keys of the sidecar; None drops one."""
        values = json.loads(self.sidecar.read_text())
        for key, value in changes.items():
            values.pop(key)
            if value is not None:
                values[key] = value
        self.sidecar.write_text(json.dumps(values))

    def fails(self, *says):
        run = self.krait("check", self.dir, "--json")
        self.assertEqual((run.returncode, run.stderr), (1, ""), run.stdout)
        out = parse_object(run.stdout)
        (case,) = out["cases"]
        self.assertEqual((case["status"], out["failed"]), ("failed", 1))
        for text in says:
            self.assertIn(text, case["reason"])
        return case

    def test_the_copy_itself_passes(self):
        self.assertEqual(self.object("check", self.dir)["passed"], 1)

    def test_a_missing_expectation_fails(self):
        raw = self.data.read_bytes()
        size = int.from_bytes(raw[:8], "little")
        header = raw[8 : 8 + size].replace(b'"out.last_state"', b'"in.sast_nother"')
        self.data.write_bytes(raw[:8] + header + raw[8 + size :])
        self.rewrite(sha256=None)
        self.fails("sast_nother")
        header = raw[8 : 8 + size].replace(b'"out.last_state"', b'"gout.ast_state"')
        self.data.write_bytes(raw[:8] + header + raw[8 + size :])
        self.fails("no expected output out.last_state", "unchecked")

    def test_a_wrong_expectation_fails_with_the_worst_tensor(self):
        raw = bytearray(self.data.read_bytes())
        size = int.from_bytes(raw[:8], "little")
        first, _ = json.loads(raw[8 : 8 + size])["out.out"]["data_offsets"]
        raw[8 + size + first + 7] ^= 0x40  # the exponent of the first expected value
        self.data.write_bytes(raw)
        self.rewrite(sha256=None)
        case = self.fails("out is off by", "allowed")
        (part,) = case["parts"]
        self.assertEqual((part["part"], part["status"], part["worst_tensor"]), ("forward", "failed", "out"))
        text = self.krait("check", self.dir)
        self.assertEqual(text.returncode, 1)
        self.assertIn("0 passed, 1 failed, 0 refused", text.stdout)

    def test_one_failure_among_many_is_a_failure(self):
        self.rewrite(sha256="0" * 64)
        run = self.krait("check", GOLDEN, self.dir)
        self.assertEqual(run.returncode, 1)
        self.assertIn("13 passed, 1 failed, 0 refused", run.stdout)

    def test_nan_where_a_number_is_expected_fails(self):
        raw = bytearray(self.data.read_bytes())
        size = int.from_bytes(raw[:8], "little")
        first, _ = json.loads(raw[8 : 8 + size])["in.u"]["data_offsets"]
        raw[8 + size + first : 8 + size + first + 4] = b"\x00\x00\xc0\x7f"
        self.data.write_bytes(raw)
        self.rewrite(sha256=None)
        self.fails("off by inf")

    def test_missing_files_are_named(self):
        self.data.unlink()
        self.fails(self.data.name, "No such file")
        shutil.copy(golden("selective_scan", "ss_full_len1")[0], self.data)
        self.sidecar.unlink()
        self.fails(self.sidecar.name, "No such file")

    def test_a_folder_in_place_of_the_data_is_named(self):
        self.data.unlink()
        self.data.mkdir()
        self.fails("Is a directory")

    def test_damaged_sidecars_are_explained(self):
        good = self.sidecar.read_text()
        for text, says in (("", "not a JSON file"), ("{", "not a JSON file"), ("[]", "has no name"),
                           ("3", "has no name"), ('{"name": 3}', "name must be a text"),
                           ('{"name": "a", "name": "b"}', "given twice"), ("\x00", "not a JSON file"),
                           ("[" * 100_000, "not a JSON file")):
            with self.subTest(text[:30]):
                self.sidecar.write_text(text)
                self.fails(says)
        for key, value, says in (("name", None, "has no name"), ("group", None, "has no group"),
                                 ("tolerance", None, "has no tolerance"), ("tolerance", 3, "has no float64"),
                                 ("attributes", None, "has no attributes"), ("attributes", [], "JSON object"),
                                 ("bytes", 7, "another size"), ("sha256", "0" * 64, "another SHA-256"),
                                 ("sha256", 7, "sha256 must be a text"),
                                 ("attributes", {"delta_softplus": "yes"}, "true or false")):
            with self.subTest(key=key, value=value):
                self.sidecar.write_text(good)
                self.rewrite(**{key: value})
                self.fails(says)

    def test_tolerances_are_numbers_of_at_least_0(self):
        good = json.loads(self.sidecar.read_text())
        for value in (-1, "1", None, [1]):
            good["tolerance"]["float64"]["rtol"] = value
            self.sidecar.write_text(json.dumps(good))
            self.fails("tolerance rtol must be a number of at least 0")

    def test_a_group_without_operator_is_refused(self):
        self.rewrite(group="ssd")
        run = self.krait("check", self.dir, "--json")
        out = parse_object(run.stdout)
        self.assertEqual((run.returncode, out["refused"]), (1, 1))
        self.assertIn("no operator for group 'ssd' yet", out["cases"][0]["reason"])

    def test_data_that_does_not_fit_the_operator_is_explained(self):
        self.rewrite(sha256=None)
        self.rewrite(bytes=None)
        for tensors, says in (({}, "input u is missing"),
                              ({"u": ("F32", [1], [1])}, "no known prefix"),
                              ({"in.u": ("F32", [1, 1, 1], [1])}, "is missing"),
                              ({"in.u": ("I64", [1, 1, 1], [1])}, "u"),
                              ({"in.u": ("F32", [1], [1]), "param.u": ("F32", [1], [1])}, "given twice")):
            write_safetensors(self.data, tensors)
            self.fails(says)


if __name__ == "__main__":
    unittest.main()
