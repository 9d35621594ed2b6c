"""krait sim stream and krait sim dma: what one instruction or transfer takes."""

import json
import unittest

from cli import CliTest

NUMBER = (int, float)
MACHINES = ("trn1", "trn2", "trn3")


def sets(*assignments):
    return [word for assignment in assignments for word in ("--set", assignment)]


class Probe(CliTest):
    def stream(self, *assignments, machine="trn1"):
        return self.object("sim", "stream", *sets(*assignments), "--machine", machine)

    def dma(self, *assignments, machine="trn1"):
        return self.object("sim", "dma", *sets(*assignments), "--machine", machine)

    def test_json_has_the_keys_of_a_simulation_and_of_a_probe(self):
        types = {"kernel": str, "machine": str, "params": dict, "time_ns": NUMBER, "engines": dict, "dma_bytes": dict,
                 "work": dict, "depth": int, "bound_by": str, "findings": list, "evidence": list, "instruction": str,
                 "interval_ns": NUMBER, "occupancy_ns": NUMBER, "latency_ns": NUMBER, "bytes": int, "values": list}
        for got in (self.stream(), self.dma()):
            self.has_types(got, types)
            self.assertGreater(got["time_ns"], got["interval_ns"])
            self.assertIsNone(got["max_rel_error"])
            for value in got["values"]:
                self.has_types(value, {"name": str, "text": str, "unit": str, "evidence": str, "source": str})
                self.assertIn(value["evidence"], "DRMTU")

    def test_each_listed_instruction_streams_where_its_sample_is_legal(self):
        streamed = 0
        for insn in self.object("insn")["instructions"]:
            costs = self.object("insn", insn["name"])["costs"]
            for machine in MACHINES:
                if not costs[machine]:
                    continue  # the generation lacks it
                got = self.stream(f"insn={insn['name']}", "n=64", machine=machine)
                self.assertEqual(got["instruction"], insn["name"])
                self.assertGreater(got["interval_ns"], 0, insn["name"])
                streamed += 1
        self.assertGreaterEqual(streamed, 45)

    def test_the_cost_is_that_of_the_instruction(self):
        for name in ("tensor_tensor", "tensor_reduce", "activation"):
            cost = {c["n"]: c for c in self.object("insn", name)["costs"]["trn1"]}[512]
            got = self.stream(f"insn={name}", "n=512")
            ghz = 1.4 if name == "activation" else 1.12
            self.assertAlmostEqual(got["interval_ns"], cost["occupancy_cycles"] / ghz, 2)
            self.assertAlmostEqual(got["occupancy_ns"], cost["occupancy_cycles"] / ghz, 2)
            self.assertAlmostEqual(got["latency_ns"], cost["latency_cycles"] / ghz, 2)

    def test_dependent_instructions_add_their_latency(self):
        one = self.stream("insn=tensor_tensor")
        chain = self.stream("insn=tensor_tensor", "dependent=1")
        self.assertAlmostEqual(chain["interval_ns"], one["occupancy_ns"] + one["latency_ns"], 2)
        self.assertGreaterEqual(chain["depth"], 272)

    def test_values_are_those_that_the_time_rests_on(self):
        names = {value["name"] for value in self.stream("insn=tensor_tensor")["values"]}
        self.assertLessEqual({"vector.clock", "vector.extra_occupancy", "vector.latency"}, names)
        self.assertFalse({name for name in names if name.startswith(("tensor.", "scalar", "gpsimd", "dma"))})
        names = {value["name"] for value in self.dma()["values"]}
        self.assertLessEqual({"dma.descriptor_ns", "dma.bytes_per_ns"}, names)

    def test_bandwidth_is_bytes_over_time(self):
        got = self.dma("bytes_per_partition=16384", machine="trn2")
        self.assertEqual(got["bytes"], 128 * 16384)
        self.assertAlmostEqual(got["bytes_per_ns"], got["bytes"] / got["interval_ns"], 6)
        self.assertAlmostEqual(got["share_of_peak"], got["bytes_per_ns"] / (16 * 23), 6)
        self.assertIsNone(self.stream()["share_of_peak"])

    def test_small_pieces_cost_bandwidth(self):
        whole = self.dma("bytes_per_partition=8192")
        cut = self.dma("bytes_per_partition=8192", "pattern=strided", "piece_bytes=512")
        self.assertLess(cut["bytes_per_ns"], whole["bytes_per_ns"])

    def test_print_and_trace_show_the_long_run(self):
        words = ["sim", "stream", *sets("insn=activation", "fn=exp", "repeat=40")]
        text = self.succeeds(*words, "--print")
        self.assertIn("fn=exp", text)
        self.assertEqual(self.object(*words, "--print")["program"], text)
        self.succeeds(*words, "--trace", "t.json")
        events = json.loads((self.dir / "t.json").read_text())["traceEvents"]
        self.assertEqual(sum(event["name"] == "activation" for event in events), 40)

    def test_equal_runs_give_equal_bytes(self):
        self.assertEqual(self.succeeds("sim", "dma", "--json"), self.succeeds("sim", "dma", "--json"))

    def test_text_says_what_it_is(self):
        text = self.succeeds("sim", "stream", *sets("insn=nc_matmul", "dtype=bf16"))
        for part in ("nc_matmul", "predicted", "occupancy", "latency", "slope", "tensor.clock"):
            self.assertIn(part, text)
        self.assertIn("B/ns", self.succeeds("sim", "dma"))

    def test_wrong_requests_are_refused(self):
        def refused(probe, *assignments, says):
            self.refuses("sim", probe, *sets(*assignments), says=says)

        self.refuses("sim", "strem", says="did you mean 'stream'?")
        refused("stream", "insn=tensor_tensr", says="did you mean 'tensor_tensor'?")
        refused("stream", "insn=activation", "fn=exq", says="'exp'")
        refused("stream", "repeet=3", says="did you mean 'repeat'?")
        refused("stream", "dst=psm", says="'psum'")
        refused("stream", "dtype=bf17", says="'bf16'")
        refused("stream", "repeat=0", says="from 2")
        refused("stream", "repeat=10", says="repeat must be larger than short")
        refused("stream", "insn=nc_matmul", "src=psum", says="must lie in SBUF")
        refused("stream", "insn=memset", "dependent=1", says="operand of the next one")
        refused("dma", "pattern=gather", "direction=copy", says="use direction=load")
        refused("dma", "dge=hardwar", says="did you mean 'hardware'?")
        refused("dma", "queues=6", says="from 1 to 5")
        for option in ("--strict", "--no-rounding"):
            self.refuses("sim", "stream", option, says=("computes no values", option))
        self.assertEqual(self.succeeds("sim", "stream", "--no-data"), self.succeeds("sim", "stream"))


if __name__ == "__main__":
    unittest.main()
