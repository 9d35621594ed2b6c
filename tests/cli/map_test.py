"""krait map on a predicted machine: the JSON contract, equal bytes, files it cannot write."""

import unittest

from cli import CliTest

NUMBER = (int, float)
OPTIONAL = (int, float, type(None))


class Map(CliTest):
    def map(self, name):
        return self.succeeds("map", "--machine", "trn1", "--db", f"{name}.sqlite", "--html", f"{name}.html", "--json")

    def test_json_has_the_keys_of_the_contract(self):
        out = self.object("map", "--machine", "trn1", "--db", "m.sqlite", "--html", "m.html")
        self.has_types(out, {"entries": list, "published": list})
        self.assertEqual({entry["operator"] for entry in out["entries"]}, {"rmsnorm", "selective_scan"})
        for entry in out["entries"]:
            self.has_types(entry, {"operator": str, "context": str, "machine": str, "measured": bool,
                                   "naive_ns": NUMBER, "compiler_ns": OPTIONAL, "custom": list, "best": str,
                                   "factor": NUMBER, "band": NUMBER, "verdict": str, "cause": str, "jobs": list})
            self.assertEqual((entry["machine"], entry["measured"]), ("trn1", False))
            self.assertIn(entry["verdict"], ("necessary", "wins", "ties", "loses"))
            for variant in entry["custom"]:
                self.has_types(variant, {"variant": str, "ns": NUMBER, "error": NUMBER})
        for row in out["published"]:
            self.assertLessEqual({"what", "published", "ours", "reason"}, set(row))
        html = (self.dir / "m.html").read_text()
        self.assertTrue(html.lstrip().lower().startswith("<!doctype html>"))

    def test_predictions_are_equal_byte_for_byte(self):
        self.assertEqual(self.map("a"), self.map("b"))

    def test_no_temporary_file_is_left(self):
        self.map("a")
        self.assertLessEqual({"a.html", "a.sqlite"}, {p.name for p in self.dir.iterdir()})
        for path in self.dir.iterdir():
            self.assertRegex(path.name, r"^a\.(html|sqlite(-\w+)?)$")

    def test_wrong_names_get_suggestions(self):
        self.refuses("map", "--preset", "quik", says="did you mean 'quick'?")
        self.refuses("map", "--machine", "trn9", says="'trn1'")
        self.refuses("map", "--resum", says="'--resume'")
        self.assertEqual(list(self.dir.iterdir()), [])

    def test_files_that_cannot_be_written_are_named(self):
        (self.dir / "folder").mkdir()
        self.refuses("map", "--machine", "trn1", "--db", "missing/m.sqlite", says="missing/m.sqlite")
        self.refuses("map", "--machine", "trn1", "--html", "missing/m.html", says="missing/m.html")
        self.refuses("map", "--machine", "trn1", "--html", "folder", says="folder")
        # Before the study runs, not after it.
        self.assertFalse((self.dir / "krait-map.sqlite").exists())
        self.refuses("map", "--machine", "trn1", "--db", "folder", says="folder")

    def test_a_file_that_is_no_database_is_left_alone(self):
        other = self.file("notes.txt", "precious")
        self.refuses("map", "--machine", "trn1", "--db", other, says="notes.txt")
        self.assertEqual(other.read_text(), "precious")


if __name__ == "__main__":
    unittest.main()
