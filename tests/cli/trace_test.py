"""krait sim --trace: the file is a Trace Event document that agrees with the reply."""

import collections
import unittest

from cli import CliTest, parse_object

ENGINES = {"TensorE", "VectorE", "ScalarE", "GpSimdE", "SyncE"}
PICOSECOND_US = 1e-6


class Trace(CliTest):
    def setUp(self):
        super().setUp()
        self.reply = self.object("sim", "scan_hardware", "--machine", "trn2", "--trace", "t.json")
        self.document = parse_object((self.dir / "t.json").read_text())
        self.events = [e for e in self.document["traceEvents"] if e["ph"] == "X"]
        self.names = {e["tid"]: e["args"]["name"] for e in self.document["traceEvents"]
                      if e["ph"] == "M" and e["name"] == "thread_name"}

    def test_metadata_names_the_process_and_every_track_once(self):
        metadata = [e for e in self.document["traceEvents"] if e["ph"] == "M"]
        process = [e for e in metadata if e["name"] == "process_name"]
        self.assertEqual([e["args"]["name"] for e in process], ["scan_hardware on trn2"])
        self.assertEqual(len(self.names), len(metadata) - 1)
        self.assertEqual(len(set(self.names.values())), len(self.names))
        self.assertEqual({e["tid"] for e in self.events}, set(self.names))

    def test_tracks_are_engines_and_dma_rings(self):
        for name in self.names.values():
            self.assertTrue(name in ENGINES or name.startswith("DMA ring "), name)
        self.assertLessEqual({"TensorE", "VectorE", "ScalarE"}, set(self.names.values()))

    def test_events_are_complete(self):
        self.assertEqual(len(self.document["traceEvents"]), len(self.events) + len(self.names) + 1)
        for event in self.events:
            self.has_types(event, {"name": str, "pid": int, "tid": int, "ts": (int, float), "dur": (int, float)})
            self.assertGreaterEqual(event["ts"], 0)
            self.assertGreaterEqual(event["dur"], 0)

    def test_an_engine_does_one_thing_at_a_time(self):
        tracks = collections.defaultdict(list)
        for event in self.events:
            if self.names[event["tid"]] in ENGINES:
                tracks[event["tid"]].append((event["ts"], event["ts"] + event["dur"]))
        self.assertGreaterEqual(len(tracks), 3)
        for spans in tracks.values():
            spans.sort()
            for (_, end), (start, _) in zip(spans, spans[1:]):
                self.assertGreaterEqual(start, end - PICOSECOND_US / 2)  # decimal fractions of a microsecond

    def test_the_last_result_is_visible_at_the_time_of_the_run(self):
        last = max(max(e["ts"] + e["dur"], e["args"].get("visible_us", 0)) for e in self.events)
        self.assertAlmostEqual(last * 1000, self.reply["time_ns"], delta=0.001)  # one picosecond

    def test_an_equal_run_gives_an_equal_file(self):
        self.object("sim", "scan_hardware", "--machine", "trn2", "--trace", "again.json")
        self.assertEqual((self.dir / "t.json").read_bytes(), (self.dir / "again.json").read_bytes())

    def test_the_reply_is_the_same_without_a_trace(self):
        self.assertEqual(self.reply, self.object("sim", "scan_hardware", "--machine", "trn2"))


if __name__ == "__main__":
    unittest.main()
