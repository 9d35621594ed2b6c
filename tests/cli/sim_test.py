"""krait sim: the JSON contract, parameters, sizes, findings."""

import unittest

from cli import SCANS, CliTest

NUMBER = (int, float)
HUGE = 9223372036854775807


class Sim(CliTest):
    def test_json_has_the_keys_of_the_contract(self):
        types = {"kernel": str, "machine": str, "params": dict, "time_ns": NUMBER, "band": (NUMBER[1], type(None)),
                 "engines": dict, "dma_bytes": dict, "work": dict, "depth": int, "bound_by": str,
                 "max_rel_error": NUMBER, "findings": list, "evidence": list}
        for kernel in SCANS + ("rmsnorm_naive", "rmsnorm_fused"):
            for machine in ("trn1", "trn2", "trn3"):
                with self.subTest(kernel=kernel, machine=machine):
                    words = ["--set", "length=33", "--set", "d_inner=5"] if kernel in SCANS else []
                    got = self.object("sim", kernel, "--machine", machine, *words)
                    self.has_types(got, types)
                    self.assertEqual((got["kernel"], got["machine"]), (kernel, machine))
                    self.assertGreater(got["time_ns"], 0)
                    self.assertLess(got["max_rel_error"], 1e-4)
                    self.has_types(got["dma_bytes"], {"read": int, "write": int})
                    self.assertGreater(got["dma_bytes"]["write"], 0)
                    for busy in got["engines"].values():
                        self.assertTrue(0 <= busy <= got["time_ns"])
                    for text in got["evidence"]:
                        self.assertIsInstance(text, str)

    def test_time_does_not_depend_on_data(self):
        with_data = self.object("sim", "scan_hardware")
        without = self.object("sim", "scan_hardware", "--no-data")
        self.assertIsNone(without["max_rel_error"])
        for key in ("time_ns", "engines", "dma_bytes", "work", "depth", "bound_by"):
            self.assertEqual(with_data[key], without[key], key)

    def test_wrong_names_get_suggestions(self):
        self.refuses("sim", says="no kernel given")
        self.refuses("sim", "scan_hardwar", says="did you mean 'scan_hardware'?")
        self.refuses("sim", "scan_hardware", "--machine", "trn9", says="'trn1'")
        self.refuses("sim", "scan_hardware", "--set", "lenght=3", says="did you mean 'length'?")
        self.refuses("sim", "scan_hardware", "--st", "length=3", says="'--set'")

    def test_values_outside_their_range_are_refused(self):
        for value in ("0", "-1", HUGE, HUGE + 1, "1e3", "nan", "", "0x10", "3.5", "16777217", " 3"):
            self.refuses("sim", "scan_hardware", "--set", f"length={value}",
                         says=("length must be an integer from 1 to 16777216", f"length={value}"))
        for value in ("nan", "inf", "-1", "2", "1e999"):
            self.refuses("sim", "rmsnorm_fused", "--set", f"eps={value}", says="from 0 to 1")
        self.refuses("sim", "rmsnorm_fused", "--set", "dtype=bf17", says="f32, bf16, f16")
        self.refuses("sim", "scan_hardware", "--set", "has_z=yes", says="0 or 1")
        self.refuses("sim", "scan_hardware", "--set", "length", says="name=value")

    def test_a_parameter_given_twice_is_refused(self):
        self.refuses("sim", "scan_hardware", "--set", "length=1", "--set", "length=2",
                     says=("length is given twice", "length=2"))

    def test_shapes_that_do_not_fit_together_are_refused(self):
        self.refuses("sim", "scan_hardware", "--set", "ngroups=7", says=("ngroups=7", "b_kind"))
        self.refuses("sim", "scan_hardware", "--set", "ngroups=7", "--set", "b_kind=grouped", "--set",
                     "c_kind=grouped", says="7")  # d_inner is 256
        self.refuses("sim", "rmsnorm_fused", "--set", "width=10", "--set", "group_size=3", says="3")

    def test_sizes_whose_product_overflows_are_refused(self):
        most = [word for name in ("batch", "length", "d_inner", "d_state")
                for word in ("--set", f"{name}=16777216")]
        self.refuses("sim", "scan_hardware", *most, "--no-data", says="2^63")
        self.refuses("sim", "scan_hardware", *most)
        self.refuses("sim", "scan_hardware", "--set", "length=16777216", "--set", "d_inner=16777216",
                     says=("too large", "--no-data"))

    def test_the_program_is_printed_on_request(self):
        text = self.succeeds("sim", "scan_hardware", "--print")
        self.assertIn("tensor_tensor_scan", text)
        got = self.object("sim", "scan_hardware", "--print")
        self.assertEqual(got["program"], text)

    def test_rounding_can_be_left_out(self):
        words = ["sim", "scan_logdepth", "--set", "dtype=bf16"]
        rounded = self.krait(*words, "--json")
        exact = self.object(*words, "--no-rounding")
        self.assertLess(exact["max_rel_error"], 1e-5)
        self.assertEqual(rounded.returncode, 1)  # products in bf16 are no f32 result, as in the map
        self.assertIn('"max_rel_error"', rounded.stdout)
        self.assertNotIn(f'"max_rel_error": {exact["max_rel_error"]}', rounded.stdout)


if __name__ == "__main__":
    unittest.main()
