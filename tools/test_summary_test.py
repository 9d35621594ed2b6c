#!/usr/bin/env python3
"""Does the summary of ./test count what happened? The inputs are shaped as CTest 3.25 writes them."""

import unittest
import xml.etree.ElementTree

from test_summary import Counts, count_entry


def case(status, output="", skipped=None):
    out = xml.etree.ElementTree.Element("testcase", name="t", status=status)
    if skipped:
        xml.etree.ElementTree.SubElement(out, "skipped", message=skipped)
    xml.etree.ElementTree.SubElement(out, "system-out").text = output
    return out


GTEST = "[  PASSED  ] {} tests.\n"
SKIPS = "[  SKIPPED ] 1 test, listed below:\n[  SKIPPED ] A.b\n"
FAILS = "[  FAILED  ] 2 tests, listed below:\n[  FAILED  ] A.c\n[  FAILED  ] A.d\n"


class CountEntry(unittest.TestCase):
    def test_googletest_counts_by_cases(self):
        self.assertEqual(count_entry(case("run", GTEST.format(7))), Counts(7, 0, 0))
        self.assertEqual(count_entry(case("run", GTEST.format(7) + SKIPS)), Counts(7, 0, 1))
        self.assertEqual(count_entry(case("fail", GTEST.format(3) + SKIPS + FAILS)), Counts(3, 2, 1))

    def test_unittest_counts_by_cases(self):
        ran = "....\n------\nRan 4 tests in 1.234s\n\n{}\n"
        self.assertEqual(count_entry(case("run", ran.format("OK"))), Counts(4, 0, 0))
        self.assertEqual(count_entry(case("run", ran.format("OK (skipped=1)"))), Counts(3, 0, 1))
        failed = ran.format("FAILED (failures=1, errors=1, skipped=1)")
        self.assertEqual(count_entry(case("fail", failed)), Counts(1, 2, 1))
        self.assertEqual(count_entry(case("fail", ran.format("OK"))), Counts(4, 1, 0))

    def test_other_programs_count_once(self):
        self.assertEqual(count_entry(case("run", "fine")), Counts(1, 0, 0))
        self.assertEqual(count_entry(case("fail", "bad")), Counts(0, 1, 0))

    def test_crash_after_passing_cases_is_a_failure(self):
        self.assertEqual(count_entry(case("fail", "[ RUN      ] A.b\n")), Counts(0, 1, 0))
        self.assertEqual(count_entry(case("fail", GTEST.format(7))), Counts(7, 1, 0))

    def test_missing_program_is_a_failure_and_a_skip_is_not(self):
        self.assertEqual(count_entry(case("notrun", skipped="Unable to find executable")), Counts(0, 1, 0))
        self.assertEqual(count_entry(case("notrun", skipped="SKIP_RETURN_CODE=77")), Counts(0, 0, 1))
        self.assertEqual(count_entry(case("disabled")), Counts(0, 0, 1))


if __name__ == "__main__":
    unittest.main()
