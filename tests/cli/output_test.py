"""Where standard output goes: pipes, full disks, closed streams, terminals; and files that commands
write are whole or absent."""

import fcntl
import os
import pty
import stat
import struct
import subprocess
import termios
import unittest

from cli import GOLDEN, KRAIT, CliTest, golden

COMMAND_LINES = (["machines", "trn2"], ["insn", "nc_matmul", "--json"], ["kernels"],
                 ["sim", "scan_hardware", "--json"], ["check", GOLDEN], ["--help"])


class StandardOutput(CliTest):
    def test_a_reader_that_left_is_a_failure_without_noise(self):
        for words in COMMAND_LINES:
            read, write = os.pipe()
            os.close(read)
            run = self.krait(*words, stdout=write)
            os.close(write)
            self.assertEqual((run.returncode, run.stderr), (1, ""), words)

    @unittest.skipUnless(os.path.exists("/dev/full"), "this system has no /dev/full")
    def test_a_full_disk_is_an_error(self):
        for words in COMMAND_LINES:
            with open("/dev/full", "w") as full:
                run = self.krait(*words, stdout=full)
            self.assertEqual(run.returncode, 1, words)
            self.assertIn("cannot write to standard output: No space left", run.stderr)

    def test_a_closed_stream_is_an_error_and_no_file_takes_its_place(self):
        data, sidecar = golden("selective_scan", "ss_full_len1")
        script = '"$0" "$@" >&-'
        run = subprocess.run(["sh", "-c", script, os.path.abspath(KRAIT), "op", "selective_scan", "--in", data,
                              "--attrs", sidecar, "--out", "y.safetensors"],
                             cwd=self.dir, stderr=subprocess.PIPE, text=True)
        self.assertEqual(run.returncode, 1)
        self.assertIn("cannot write to standard output", run.stderr)
        self.assertNotIn(b"written to", (self.dir / "y.safetensors").read_bytes())

    def on_terminal(self, columns, *words):
        main, other = pty.openpty()
        fcntl.ioctl(other, termios.TIOCSWINSZ, struct.pack("HHHH", 40, columns, 0, 0))
        process = subprocess.Popen([os.path.abspath(KRAIT), *map(str, words)], stdout=other, stderr=other,
                                   cwd=self.dir)
        os.close(other)
        out = b""
        while True:
            try:
                part = os.read(main, 65536)
            except OSError:  # the other end is closed
                break
            if not part:
                break
            out += part
        os.close(main)
        self.assertEqual(process.wait(), 0, out)
        return out.decode().replace("\r\n", "\n")

    def test_text_fits_a_terminal(self):
        for columns in (80, 120):
            for words in ([], ["map", "--help"], ["sim", "--help"], ["kernels"], ["kernels", "scan_hardware"],
                          ["machines"], ["machines", "trn3"], ["insn"], ["insn", "activation"],
                          ["sim", "scan_hardware"], ["sim", "stream"], ["sim", "dma"],
                          ["sim", "stream", "--set", "insn=scalar_tensor_tensor", "--set", "dtype=bf16"],
                          ["kernels", "stream"], ["fidelity"], ["check", GOLDEN, "--backend", "cpu"]):
                with self.subTest(columns=columns, words=words):
                    text = self.on_terminal(columns, *words)
                    self.assertLessEqual(max(map(len, text.splitlines())), columns)


class WrittenFiles(CliTest):
    """The commands that write a file; the last word is where."""

    def lines(self):
        data, sidecar = golden("selective_scan", "ss_full_len1")
        return (["sim", "rmsnorm_fused", "--no-data", "--trace"],
                ["op", "selective_scan", "--in", data, "--attrs", sidecar, "--out"])

    def test_a_folder_or_a_missing_folder_is_refused(self):
        for words in self.lines():
            (self.dir / "folder").mkdir(exist_ok=True)
            self.refuses(*words, "folder", says="Is a directory")
            self.refuses(*words, "missing/file", says=("missing/file", "No such file"))
            self.assertEqual([p.name for p in self.dir.rglob("*")], ["folder"])

    def test_an_empty_name_is_refused(self):
        for words in self.lines():
            self.refuses(*words, "")

    @unittest.skipUnless(os.path.exists("/dev/full"), "this system has no /dev/full")
    def test_a_full_disk_is_an_error_and_the_device_stays(self):
        os.symlink("/dev/full", self.dir / "full")  # if it were replaced, only this link would be lost
        for words in self.lines():
            self.refuses(*words, "full", says="No space left")
            self.assertTrue(stat.S_ISCHR((self.dir / "full").stat().st_mode))
            self.assertEqual([p.name for p in self.dir.iterdir()], ["full"])

    def test_a_failed_run_keeps_the_old_file(self):
        old = self.file("old", "precious")
        data, _ = golden("selective_scan", "ss_full_len1")
        bad = self.file("bad.json", '{"delta_softplus": 3}')
        self.refuses("op", "selective_scan", "--in", data, "--attrs", bad, "--out", old)
        self.refuses("op", "rmsnorm", "--in", data, "--out", old)
        self.refuses("sim", "rmsnorm_fused", "--set", "rows=0", "--trace", old)
        self.assertEqual(old.read_text(), "precious")
        self.assertEqual(sorted(p.name for p in self.dir.iterdir()), ["bad.json", "old"])

    def test_a_file_that_may_not_be_replaced_stays_as_it_is(self):
        if os.geteuid() == 0:
            self.skipTest("root may write everywhere")
        folder = self.dir / "folder"
        folder.mkdir()
        (folder / "old").write_text("precious")
        folder.chmod(0o555)
        for words in self.lines():
            self.refuses(*words, "folder/old", says="Permission denied")
        self.assertEqual((folder / "old").read_text(), "precious")
        folder.chmod(0o755)

    def test_a_new_file_replaces_the_old_one_whole(self):
        for words in self.lines():
            old = self.file("out", "x" * 10_000_000)
            self.succeeds(*words, old)
            self.assertLess(old.stat().st_size, 1_000_000)
            self.assertEqual([p.name for p in self.dir.iterdir()], ["out"])


if __name__ == "__main__":
    unittest.main()
