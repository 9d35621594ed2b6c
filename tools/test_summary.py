#!/usr/bin/env python3
"""Counts test cases of CTest runs.

Usage: test_summary.py BUILD_FOLDER...

Reads tests.xml (ctest --output-junit) and tests.json (ctest --show-only=json-v1) of each folder. A
GoogleTest executable and a Python unittest script count by their cases, any other entry as one. An entry that failed without a failed
case (a crash, a timeout, a missing executable) counts as one failure. Prints one line of counts a suite
(suite = CTest label; suites of a folder other than build/release carry its name), then the totals.
Exit code 1 if a test failed or none ran.
"""

import collections
import json
import pathlib
import re
import sys
import xml.etree.ElementTree

Counts = collections.namedtuple("Counts", "passed failed skipped")
PASSED = re.compile(r"^\[  PASSED  \] (\d+) tests?\.$", re.MULTILINE)
FAILED = re.compile(r"^\[  FAILED  \] (\d+) tests?, listed below:$", re.MULTILINE)
UNITTEST = re.compile(
    r"^Ran (\d+) tests? in [\d.]+s\n\n(?:OK|FAILED|NO TESTS RAN)(?: \((.*)\))?$", re.MULTILINE)
SKIPPED = re.compile(r"^\[  SKIPPED \] (\d+) tests?, listed below:$", re.MULTILINE)


def last_count(pattern, output):
    found = pattern.findall(output)
    return int(found[-1]) if found else 0


def unittest_counts(output):
    """Counts of a unittest run, or None. A test whose subtests fail several times counts as several."""
    found = UNITTEST.findall(output)
    if not found:
        return None
    ran, details = int(found[-1][0]), found[-1][1]
    number = {key: int(value) for key, value in re.findall(r"([a-z ]+)=(\d+)", details.replace(", ", ","))}
    failed = sum(number.get(key, 0) for key in ("failures", "errors", "unexpected successes"))
    skipped = number.get("skipped", 0)
    return Counts(max(0, ran - failed - skipped), failed, skipped)


def count_entry(case):
    """Counts of one <testcase>. CTest marks both a test that asked to be skipped and one whose program
    is missing as "notrun"; only the message tells them apart."""
    output = "".join(part.text or "" for part in case.iter("system-out"))
    status = case.get("status")
    reason = "".join(part.get("message", "") for part in case.iter("skipped"))
    if status == "disabled" or reason.startswith("SKIP_"):
        return Counts(0, 0, 1)
    if PASSED.search(output):
        counts = Counts(*(last_count(p, output) for p in (PASSED, FAILED, SKIPPED)))
    elif unittest_counts(output):
        counts = unittest_counts(output)
    else:
        counts = Counts(1 if status == "run" else 0, 0, 0)
    return counts if status == "run" else counts._replace(failed=max(1, counts.failed))


def labels(folder):
    """The first label of each CTest entry."""
    out = {}
    for test in json.loads((folder / "tests.json").read_text())["tests"]:
        for item in test.get("properties", []):
            if item["name"] == "LABELS" and item["value"]:
                out[test["name"]] = item["value"][0]
    return out


def count_folder(folder, suites):
    label = labels(folder)
    prefix = "" if folder.name == "release" else folder.name + " "
    for case in xml.etree.ElementTree.parse(folder / "tests.xml").getroot().iter("testcase"):
        counts = count_entry(case)
        name = case.get("name")
        suite = prefix + label.get(name, "other")
        suites[suite] = Counts(*(a + b for a, b in zip(suites.get(suite, Counts(0, 0, 0)), counts)))
        if counts.failed:
            print(f"failed: {prefix}{name} ({counts.failed} of {sum(counts)})")


def text(counts):
    out = f"{counts.passed} passed, {counts.failed} failed"
    return out + (f", {counts.skipped} skipped" if counts.skipped else "")


def main(folders):
    suites = {}
    for folder in folders:
        count_folder(pathlib.Path(folder), suites)
    total = Counts(*(sum(c) for c in zip(*suites.values()))) if suites else Counts(0, 0, 0)
    print("suites: " + "; ".join(f"{name}: {text(counts)}" for name, counts in sorted(suites.items())))
    print(text(total))
    return 1 if total.failed or not total.passed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
