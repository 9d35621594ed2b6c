"""krait map killed with SIGKILL at many moments, then resumed. KRAIT names the program under test.

Whatever the moment: the database stays sound, what was finished stays as it is and is not run
again, and the resumed study ends with the results of one that was never killed."""

import contextlib
import os
import pathlib
import random
import shutil
import sqlite3
import subprocess
import tempfile
import time
import unittest

KRAIT = os.path.abspath(os.environ.get("KRAIT", "build/release/bin/krait"))
ROWS = "SELECT key, status, result, finished FROM job ORDER BY id"
# A finished job that is stored a second time fails the resumed run.
GUARD = """CREATE TRIGGER IF NOT EXISTS run_twice BEFORE UPDATE ON job WHEN OLD.status = 'done'
           BEGIN SELECT RAISE(ABORT, 'a finished job was run again'); END"""


def open_database(path, mode):
    return contextlib.closing(sqlite3.connect(f"file:{path}?mode={mode}", uri=True, timeout=10))


def finished_count(path):
    """Zero also while the file or its tables are not there yet."""
    try:
        with open_database(path, "ro") as db:
            return db.execute("SELECT count(*) FROM job WHERE status = 'done'").fetchone()[0]
    except sqlite3.OperationalError:
        return 0


class Killed(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.root = pathlib.Path(tempfile.mkdtemp(prefix="krait_kill_"))
        cls.addClassCleanup(shutil.rmtree, cls.root, ignore_errors=True)
        start = time.monotonic()
        cls.whole = cls.run_to_end(cls.root / "whole.sqlite")
        cls.seconds = time.monotonic() - start  # only to spread the random moments
        cls.results = {key: result for key, _, result, _ in cls.rows(cls.root / "whole.sqlite")}

    @classmethod
    def words(cls, db, *more):
        return [KRAIT, "map", "--machine", "trn1", "--db", str(db), "--html", str(db) + ".html", "--json", *more]

    @classmethod
    def run_to_end(cls, db, *more):
        run = subprocess.run(cls.words(db, *more), capture_output=True, text=True, timeout=300)
        assert run.returncode == 0, run.stderr
        return run.stdout

    @classmethod
    def rows(cls, db):
        with open_database(db, "ro") as connection:
            return connection.execute(ROWS).fetchall()

    def kill_when(self, db, moment, *more):
        """Starts the study and kills it once `moment()` holds, or lets it end if that comes first."""
        process = subprocess.Popen(self.words(db, *more), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        while process.poll() is None and not moment():
            time.sleep(0.002)
        process.kill()
        process.wait()

    def kill_after(self, db, seconds, *more):
        end = time.monotonic() + seconds
        self.kill_when(db, lambda: time.monotonic() >= end, *more)

    def guarded(self, db):
        """The finished rows of a database that must be sound, which from now on may not change."""
        if finished_count(db) == 0:
            return []
        with open_database(db, "rw") as connection:
            self.assertEqual(connection.execute("PRAGMA integrity_check").fetchone(), ("ok",))
            connection.execute(GUARD)
            connection.commit()
        return [row for row in self.rows(db) if row[1] == "done"]

    def resumes(self, db):
        kept = self.guarded(db)
        self.assertEqual(self.run_to_end(db, "--resume"), self.whole)
        rows = self.rows(db)
        self.assertEqual({key: result for key, _, result, _ in rows}, self.results)
        self.assertEqual(len(rows), len(self.results))  # one campaign, no job twice
        self.assertLessEqual(set(kept), set(rows))
        self.assertFalse(pathlib.Path(str(db) + "-lock").exists())

    def test_after_each_finished_job(self):
        for n in range(1, len(self.results)):
            with self.subTest(finished=n):
                db = self.root / f"after{n}.sqlite"
                self.kill_when(db, lambda n=n, db=db: finished_count(db) >= n)
                self.assertGreaterEqual(finished_count(db), n)
                self.resumes(db)

    def test_at_random_moments(self):
        rng = random.Random(7)
        for i in range(6):
            # Half of them early, where the file, its tables and the campaign are made.
            seconds = rng.uniform(0, self.seconds if i % 2 else 0.05)
            with self.subTest(index=i):
                db = self.root / f"random{i}.sqlite"
                self.kill_after(db, seconds)
                self.resumes(db)

    def test_again_and_again(self):
        rng = random.Random(11)
        db = self.root / "again.sqlite"
        done = 0
        for _ in range(6):
            self.kill_after(db, rng.uniform(0, self.seconds / 2), "--resume")
            self.guarded(db)
            self.assertGreaterEqual(finished_count(db), done)
            done = finished_count(db)
        self.resumes(db)

    def test_two_at_once_do_not_share_the_work(self):
        db = self.root / "two.sqlite"
        first = subprocess.Popen(self.words(db), stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        second = subprocess.run(self.words(db, "--resume"), capture_output=True, text=True, timeout=300)
        _, error = first.communicate(timeout=300)
        # The second waits a little for the first; then it either resumes a finished study or says who is writing.
        self.assertIn(0, (first.returncode, second.returncode))
        for code, text in ((first.returncode, error.decode()), (second.returncode, second.stderr)):
            if code != 0:
                self.assertIn("another study is writing", text)
        self.assertIn(len(self.rows(db)), (len(self.results), 2 * len(self.results)))
        self.assertEqual({key: result for key, _, result, _ in self.rows(db)}, self.results)


if __name__ == "__main__":
    unittest.main()
