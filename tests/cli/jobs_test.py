"""krait jobs on the database of a small study."""

import unittest

from cli import CliTest, parse_object


class Jobs(CliTest):
    def setUp(self):
        super().setUp()
        self.succeeds("map", "--machine", "trn1", "--html", "m.html")

    def test_list_and_show_agree(self):
        jobs = self.object("jobs")["jobs"]
        self.assertEqual(jobs, self.object("jobs", "list")["jobs"])
        self.assertGreaterEqual(len(jobs), 5)
        for job in jobs:
            self.has_types(job, {"id": int, "key": str, "kind": str, "operator": str, "machine": str, "variant": str,
                                 "seed": int, "table_hash": str, "command": str, "status": str, "result": dict})
            self.assertEqual(job, self.object("jobs", "show", job["id"]))
            self.assertIn(job["key"], self.succeeds("jobs", "list"))

    def test_a_rerun_gives_the_same(self):
        out = self.object("jobs", "rerun", 1)
        self.has_types(out, {"key": str, "same": bool, "differences": list, "result": dict})
        self.assertEqual((out["same"], out["differences"]), (True, []))

    def test_export_and_import_carry_every_job(self):
        count = len(self.object("jobs")["jobs"])
        self.assertEqual(self.object("jobs", "export", "jobs.json"), {"file": "jobs.json", "jobs": count})
        parse_object((self.dir / "jobs.json").read_text())
        words = ["jobs", "import", "jobs.json", "--db", "other.sqlite"]
        self.assertEqual(self.object(*words), {"file": "jobs.json", "read": count, "added": count})
        self.assertEqual(self.object(*words)["added"], 0)
        keys = [job["key"] for job in self.object("jobs")["jobs"]]
        self.assertEqual([job["key"] for job in self.object("jobs", "--db", "other.sqlite")["jobs"]], keys)

    def test_wrong_names_are_explained(self):
        self.refuses("jobs", "lst", says="did you mean 'list'?")
        self.refuses("jobs", "show", says="needs")
        self.refuses("jobs", "export", says="needs")
        for job in ("1000", "xx", "0", "99999999999999999999"):
            self.refuses("jobs", "show", job, says=("no such job", job))
        self.refuses("jobs", "list", "--db", "missing.sqlite", says="missing.sqlite")
        self.refuses("jobs", "list", "--db", self.dir, says="folder")
        self.refuses("jobs", "list", "--db", "m.html", says="not a database")
        self.assertFalse((self.dir / "missing.sqlite").exists())

    def test_files_that_cannot_be_read_or_written(self):
        self.refuses("jobs", "export", self.dir, says="Is a directory")
        self.refuses("jobs", "export", "missing/j.json", says="No such file")
        self.refuses("jobs", "import", "missing.json", says="No such file")
        for text in ("", "{", "[]", "{}", '{"jobs": 3}'):
            self.refuses("jobs", "import", self.file("bad.json", text))


if __name__ == "__main__":
    unittest.main()
