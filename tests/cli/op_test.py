"""krait op: results against each other, attributes, hostile tensors."""

import json
import unittest

from cli import CliTest, golden, read_safetensors, write_safetensors

CASES = {"selective_scan": golden("selective_scan", "ss_full_n16"),
         "rmsnorm": golden("gated_rmsnorm", "rms_plain_n128")}
BACKENDS = {"selective_scan": ("cpu", "cpu:naive", "cpu:compiler", "neuron:trn1", "neuron:trn2/scan_hardware",
                               "neuron:trn2/scan_logdepth", "neuron:trn1/scan_stepwise"),
            "rmsnorm": ("cpu", "cpu:naive", "neuron:trn1", "neuron:trn2/rmsnorm_fused", "neuron:trn2/rmsnorm_naive")}


class RoundTrip(CliTest):
    def run_op(self, name, backend):
        data, sidecar = CASES[name]
        out = self.dir / (backend.replace("/", "_") + ".safetensors")
        reply = self.object("op", name, "--in", data, "--attrs", sidecar, "--out", out, "--backend", backend)
        self.has_types(reply, {"operator": str, "backend": str, "ran": str, "out": str, "outputs": list})
        tensors = read_safetensors(out)
        self.assertEqual({o["name"]: o["shape"] for o in reply["outputs"]},
                         {key: shape for key, (shape, _) in tensors.items()})
        return tensors

    def test_all_backends_agree_with_the_reference(self):
        for name, backends in BACKENDS.items():
            expected = self.run_op(name, "ref")
            for backend in backends:
                got = self.run_op(name, backend)
                self.assertEqual(set(got), set(expected))
                for key, (shape, values) in got.items():
                    with self.subTest(op=name, backend=backend, tensor=key):
                        want_shape, want = expected[key]
                        self.assertEqual(shape, want_shape)
                        # The f32 bound of the golden cases, relative to the largest value.
                        limit = 1e-5 * max(map(abs, want)) + 1e-6
                        self.assertLess(max(abs(a - b) for a, b in zip(values, want)), limit)

    def test_the_reference_gives_the_golden_outputs(self):
        for name, (data, _) in CASES.items():
            expected = read_safetensors(data)
            for key, (shape, values) in self.run_op(name, "ref").items():
                want_shape, want = expected["out." + key]
                self.assertEqual(shape, want_shape)
                largest = max(map(abs, want))
                self.assertLess(max(abs(a - b) for a, b in zip(values, want)), 1e-6 * largest)

    def test_gradients_are_refused_by_name(self):
        for name, (data, sidecar) in CASES.items():
            self.refuses("op", name, "--in", data, "--attrs", sidecar, "--out", "o", "--grad",
                         says=(f"gradients of {name} are not available yet", "without --grad"))
        self.assertEqual(list(self.dir.iterdir()), [])

    def test_names_may_have_no_prefix(self):
        write_safetensors(self.dir / "x", {"x": ("F32", [1, 4], [1, 2, 3, 4])})
        self.succeeds("op", "rmsnorm", "--in", "x", "--out", "y")
        (shape, values) = read_safetensors(self.dir / "y")["out"]
        scale = (30 / 4 + 1e-5) ** -0.5
        self.assertEqual(shape, [1, 4])
        for got, x in zip(values, (1, 2, 3, 4)):
            self.assertAlmostEqual(got, x * scale, delta=1e-6)  # some units in the last place of f32

    def test_nan_in_nan_out(self):
        write_safetensors(self.dir / "x", {"x": ("F32", [2, 4], [float("nan"), 2, 3, 4, 1, 2, 3, 4]),
                                          "weight": ("F32", [4], [1, 1, 1, 1])})
        for backend in ("ref", "cpu", "neuron:trn1"):
            self.succeeds("op", "rmsnorm", "--in", "x", "--out", "y", "--backend", backend)
            _, values = read_safetensors(self.dir / "y")["out"]
            self.assertTrue(all(v != v for v in values[:4]), backend)
            self.assertTrue(all(v == v for v in values[4:]), backend)


class Arguments(CliTest):
    def op(self, **options):
        data, sidecar = CASES["selective_scan"]
        words = {"in": data, "attrs": sidecar, "out": "o.safetensors"} | options
        return ["op", "selective_scan"] + [w for key, value in words.items() for w in (f"--{key}", value)]

    def test_missing_and_wrong_names(self):
        self.refuses("op", says="name is missing")
        self.refuses("op", "selectivescan", says="did you mean 'selective_scan'?")
        self.refuses("op", "rmsnorm", "--in", "x", says="--out is missing")
        self.refuses("op", "rmsnorm", "--out", "x", says="--in is missing")
        self.refuses(*self.op(backend="cpuu"), says="'cpu'")
        self.refuses(*self.op(), "--bakend", "cpu", says="'--backend'")

    def test_files_that_cannot_be_read(self):
        for option in ("in", "attrs"):
            self.refuses(*self.op(**{option: "missing"}), says=("missing", "No such file"))
            self.refuses(*self.op(**{option: self.dir}), says="Is a directory")
        self.refuses(*self.op(**{"in": "/dev/null"}), says="a device or a pipe")
        self.assertEqual(list(self.dir.iterdir()), [])

    def test_bad_attributes_are_explained(self):
        for text, says in (("", "not a JSON file"), ("{", "line 1"), ("[]", "JSON object"), ("null", "JSON object"),
                           ('{"attributes": 3}', "JSON object"), ('{"delta_softplus": 3}', "true or false"),
                           ('{"delta_softpls": true}', "'delta_softplus'"),
                           ('{"delta_softplus": {}}', "kind"), ('{"delta_softplus": [true]}', "kind"),
                           ('{"delta_softplus": true, "delta_softplus": false}', "given twice"),
                           ('{"delta_softplus": 1e999}', "1e999"), ('{"delta_softplus": NaN}', "not a JSON file"),
                           ('{"d_state": 18446744073709551615}', "18446744073709551615"),
                           ('{"d_state": 9223372036854775807}', ""), ('{"a":' * 5000, "not a JSON file")):
            with self.subTest(text[:40]):
                self.refuses(*self.op(attrs=self.file("a.json", text)), says=says)
        self.assertEqual([p.name for p in self.dir.iterdir()], ["a.json"])

    def test_hostile_tensors_are_named(self):
        x = ("F32", [1, 4], [1, 2, 3, 4])
        entry = {"dtype": "F32", "shape": [1, 4], "data_offsets": [0, 16]}
        file = self.dir / "x"
        for header, says in (({"x": entry | {"dtype": "F33"}}, "x"), ({"x": entry | {"shape": [4, 4]}}, "x"),
                             ({"x": entry | {"data_offsets": [0, 99]}}, "x"),
                             ({"x": entry | {"data_offsets": [16, 0]}}, "x"),
                             ({"x": entry | {"shape": [2**62, 4]}}, "x"), ({"x": entry | {"shape": [-1, -4]}}, "x"),
                             ({"x": entry, "y": entry}, "y"), ({"x": 3}, "x"), ([], "")):
            with self.subTest(json.dumps(header)):
                write_safetensors(file, {"x": x}, header)
                self.refuses("op", "rmsnorm", "--in", file, "--out", "y", says=says)
        for raw in (b"", b"\0" * 7, b"\xff" * 8, b"\xff" * 100, (2**40).to_bytes(8, "little") + b"{}"):
            file.write_bytes(raw)
            self.refuses("op", "rmsnorm", "--in", file, "--out", "y")
        self.assertEqual([p.name for p in self.dir.iterdir()], ["x"])

    def test_tensors_that_do_not_make_a_call(self):
        file = self.dir / "x"
        for tensors, says in (({}, "x"), ({"y": ("F32", [1, 4], [1, 2, 3, 4])}, "y"),
                              ({"x": ("I64", [1, 4], [1, 2, 3, 4])}, "x"),
                              ({"x": ("F32", [1, 4], [1, 2, 3, 4]), "weight": ("F32", [3], [1, 2, 3])}, "weight"),
                              ({"x": ("F32", [1, 4], [1, 2, 3, 4]), "in.x": ("F32", [1], [1])}, "x is given twice")):
            with self.subTest(list(tensors)):
                write_safetensors(file, tensors)
                self.refuses("op", "rmsnorm", "--in", file, "--out", "y", says=says)


if __name__ == "__main__":
    unittest.main()
