"""What the tests of the command line share. KRAIT names the program under test."""

import json
import os
import pathlib
import shutil
import struct
import subprocess
import tempfile
import unittest

KRAIT = os.environ.get("KRAIT", "build/release/bin/krait")
ROOT = pathlib.Path(__file__).resolve().parents[2]
GOLDEN = ROOT / "tests" / "golden"
COMMANDS = ("map", "sim", "check", "op", "fidelity", "jobs", "kernels", "machines", "insn")
SCANS = ("scan_stepwise", "scan_logdepth", "scan_hardware")
DTYPES = {"F32": ("f", 4), "F64": ("d", 8), "I64": ("q", 8)}


def parse_object(text):
    """The one JSON object that `text` is; a key given twice or a second document is an error."""

    def unique(pairs):
        out = dict(pairs)
        assert len(out) == len(pairs), "a key is given twice"
        return out

    out = json.loads(text, object_pairs_hook=unique)
    assert isinstance(out, dict), "not an object"
    return out


def write_safetensors(path, tensors, header=None):
    """tensors: {name: (dtype, shape, values)}; `header` replaces the header that fits them."""
    entries, data = {}, b""
    for name, (dtype, shape, values) in tensors.items():
        code, _ = DTYPES[dtype]
        block = struct.pack(f"<{len(values)}{code}", *values)
        entries[name] = {"dtype": dtype, "shape": shape, "data_offsets": [len(data), len(data) + len(block)]}
        data += block
    text = json.dumps(entries if header is None else header).encode()
    path.write_bytes(struct.pack("<Q", len(text)) + text + data)


def read_safetensors(path):
    """{name: (shape, values)} of the float tensors."""
    raw = path.read_bytes()
    (size,) = struct.unpack_from("<Q", raw)
    out = {}
    for name, entry in json.loads(raw[8 : 8 + size]).items():
        if name == "__metadata__":
            continue
        code, width = DTYPES[entry["dtype"]]
        first, last = entry["data_offsets"]
        values = struct.unpack_from(f"<{(last - first) // width}{code}", raw, 8 + size + first)
        out[name] = (entry["shape"], values)
    return out


class CliTest(unittest.TestCase):
    """Each test has an empty folder of its own, which is also where the program runs."""

    def setUp(self):
        self.dir = pathlib.Path(tempfile.mkdtemp(prefix="krait_cli_"))
        self.addCleanup(shutil.rmtree, self.dir, ignore_errors=True)

    def krait(self, *words, **options):
        options.setdefault("cwd", self.dir)
        options.setdefault("stdout", subprocess.PIPE)
        return subprocess.run([os.path.abspath(KRAIT), *map(str, words)], stderr=subprocess.PIPE,
                              text=True, timeout=240, **options)

    def succeeds(self, *words):
        """Standard output of a run that exits with 0 and says nothing on standard error."""
        run = self.krait(*words)
        self.assertEqual(run.returncode, 0, run.stderr)
        self.assertEqual(run.stderr, "")
        self.assertNotIn("\x1b", run.stdout)  # no colours where there is no terminal
        return run.stdout

    def object(self, *words):
        return parse_object(self.succeeds(*words, "--json"))

    def refuses(self, *words, says=()):
        """The message of a run that the user got wrong: exit code 1, nothing on standard output, on
        standard error what is wrong and how to mend it."""
        run = self.krait(*words)
        self.assertEqual(run.returncode, 1, f"{words}: {run.stdout}{run.stderr}")
        self.assertEqual(run.stdout, "", words)
        self.assertTrue(run.stderr.startswith("krait: "), run.stderr)
        self.assertNotIn("internal error", run.stderr)
        self.assertIn("\n  fix    ", run.stderr)
        for text in (says,) if isinstance(says, str) else says:
            self.assertIn(text, run.stderr, words)
        return run.stderr

    def has_types(self, value, types):
        """types: {key: type or tuple of types}; keys beyond them may be there."""
        for key, kind in types.items():
            self.assertIn(key, value)
            self.assertIsInstance(value[key], kind, key)
            if kind in (int, (int, float)):
                self.assertNotIsInstance(value[key], bool, key)

    def file(self, name, text):
        path = self.dir / name
        path.write_text(text)
        return path


def golden(group, name):
    """The two files of a golden case: data, sidecar."""
    base = GOLDEN / group / name
    return base.with_suffix(".safetensors"), base.with_suffix(".json")
