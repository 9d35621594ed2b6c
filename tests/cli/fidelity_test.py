"""krait fidelity: the table, the bands, the reader's own file."""

import csv
import unittest

from cli import ROOT, CliTest

NUMBER = (int, float)
FOLDER = ROOT / "krait" / "study" / "fidelity"


def records(name):
    with open(FOLDER / name, newline="", encoding="utf-8") as file:
        return {row["id"]: row for row in csv.DictReader(file)}


class Fidelity(CliTest):
    def test_json_has_the_keys_of_the_contract(self):
        got = self.object("fidelity")
        for row in got["rows"]:
            self.has_types(row, {"id": str, "kind": str, "family": str, "generation": str, "published_us": NUMBER,
                                 "predicted_us": NUMBER, "ratio": NUMBER, "calibration": bool, "scheduling": bool,
                                 "evidence": str, "assumed": list, "reading": str})
            self.assertAlmostEqual(row["ratio"], row["predicted_us"] / row["published_us"], 9)
            self.assertLessEqual(set(row["evidence"]), set("DRMTU"))
            self.assertEqual("U" in row["evidence"], bool(row["assumed"]))
        self.has_types(got["pairs"], {"right": int, "total": int, "list": list})
        self.assertEqual(got["pairs"]["right"], sum(pair["right"] for pair in got["pairs"]["list"]))

    def test_every_published_row_is_compared_or_listed_with_a_reason(self):
        published, expressed = records("published.csv"), records("instructions.csv")
        got = self.object("fidelity")
        compared = {row["id"] for row in got["rows"]}
        listed = {row["id"]: row["reason"] for row in got["not_expressed"]}
        self.assertFalse(compared & set(listed))
        self.assertEqual(compared | set(listed), set(published))
        self.assertTrue(all(listed.values()))
        self.assertEqual(compared, {i for i, row in expressed.items() if row["probe"] != "none"})
        for row in got["rows"]:
            floor = float(expressed[row["id"]]["floor_us"] or 0)
            self.assertAlmostEqual(row["published_us"], float(published[row["id"]]["latency_us"]) - floor, 9)

    def test_a_row_is_what_its_line_says_with_krait_sim(self):
        """A reader can run the probe of a line by hand."""
        rows = {row["id"]: row for row in self.object("fidelity")["rows"]}
        for name, line in records("instructions.csv").items():
            if line["probe"] not in ("stream", "dma") or line["reading"] != "slope":
                continue
            words = [word for setting in line["set"].split() for word in ("--set", setting)]
            one = self.object("sim", line["probe"], *words, "--machine", rows[name]["generation"])
            self.assertAlmostEqual(rows[name]["predicted_us"], one["interval_ns"] * float(line["count"]) / 1e3, 9, name)

    def test_bands_are_of_the_rows(self):
        got = self.object("fidelity")
        for band in got["kinds"]:
            errors = sorted(abs(row["ratio"] - 1) for row in got["rows"]
                            if (row["kind"], row["generation"]) == (band["kind"], band["generation"])
                            and band["family"] in (None, row["family"]))
            self.assertEqual(band["count"], len(errors))
            if not errors:
                self.assertIsNone(band["median_error"])
                self.assertIsNone(band["p90_error"])
                continue
            half = len(errors) // 2
            median = errors[half] if len(errors) % 2 else (errors[half - 1] + errors[half]) / 2
            self.assertAlmostEqual(band["median_error"], median, 9)
            self.assertGreaterEqual(sum(error <= band["p90_error"] for error in errors), 0.9 * len(errors))
        kinds = {(band["kind"], band["generation"]) for band in got["kinds"]}
        self.assertIn(("instr-DVE", "trn3"), kinds)

    def test_text_names_what_has_no_band_and_what_is_not_compared(self):
        text = self.succeeds("fidelity")
        for part in ("no band", "not compared", "K1-DQ2", "two engines alternate", "K1-ER00", "scheduling off", "right"):
            self.assertIn(part, text)

    def test_rows_can_be_chosen(self):
        got = self.object("fidelity", "--kind", "instr-DVE", "--generation", "neuroncore-v3")
        self.assertEqual({(row["kind"], row["generation"]) for row in got["rows"]}, {("instr-DVE", "trn2")})
        self.assertEqual({band["generation"] for band in got["kinds"]}, {"trn2"})
        self.assertIn("no band", self.succeeds("fidelity", "--kind", "instr-DVE", "--generation", "trn3"))
        self.refuses("fidelity", "--kind", "instr-DVF", says="'instr-DVE'")
        self.refuses("fidelity", "--generation", "trn9", says="'trn1'")

    def test_a_file_of_the_readers_own(self):
        mine = self.file("mine.csv", "id,generation,latency_us,notes,probe,set,reading\n"
                         "a,trn2,0.5,\"[instr-DVE] mine, twice\",stream,insn=tensor_tensor n=64,slope\n"
                         "b,trn2,0.5,[gemm] whole,,,\n")
        got = self.object("fidelity", mine)
        self.assertEqual([row["id"] for row in got["rows"]], ["a"])
        one = self.object("sim", "stream", "--set", "n=64", "--machine", "trn2")
        self.assertAlmostEqual(got["rows"][0]["predicted_us"], one["interval_ns"] / 1e3, 9)
        self.assertEqual([row["id"] for row in got["not_expressed"]], ["b"])

    def test_files_that_cannot_be_read_are_refused(self):
        self.refuses("fidelity", "none.csv", says="none.csv")
        head = "id,generation,latency_us,notes\n"
        for text, says in (("", "no column 'id'"), ("id,notes\n", "no column 'generation'"),
                           (head + "a,trn2,fast,[x] y\n", "row a"), (head + "a,trn2,1\n", "line 2"),
                           (head + "a,trn9,1,[x] y\n", "trn9"), (head + "a,trn2,1,no kind\n", "in brackets")):
            self.refuses("fidelity", self.file("bad.csv", text), says=says)


if __name__ == "__main__":
    unittest.main()
