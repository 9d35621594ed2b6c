#!/usr/bin/env python3
"""Writes the seed inputs of fuzz_safetensors, one small file a feature of the format.

Usage: make_corpus.py [FOLDER]      (default: corpus/safetensors beside this script)
The files are committed; run this again after changing the list.
"""

import json
import pathlib
import struct
import sys


def image(header, data=b"", pad=True):
    text = header if isinstance(header, bytes) else json.dumps(header, separators=(",", ":")).encode()
    if pad:
        text += b" " * (-len(text) % 8)
    return struct.pack("<Q", len(text)) + text + data


def entry(dtype, shape, begin, end):
    return {"dtype": dtype, "shape": shape, "data_offsets": [begin, end]}


DTYPES = {"F64": 8, "F32": 4, "BF16": 2, "F16": 2, "F8_E4M3": 1, "F8_E5M2": 1, "F8_E8M0": 1,
          "I64": 8, "I32": 4, "U32": 4, "I16": 2, "U16": 2, "I8": 1, "U8": 1}


def every_dtype():
    header, at = {}, 0
    for name, size in DTYPES.items():
        header["t." + name] = entry(name, [1], at, at + size)
        at += size
    return image(header, bytes(range(at)))


SEEDS = {
    "empty": image({}),
    "one": image({"t": entry("F32", [2], 0, 8)}, b"12345678"),
    "metadata": image({"__metadata__": {"format": "pt", "k": ""}, "t": entry("U8", [3], 0, 3)}, b"abc"),
    "dtypes": every_dtype(),
    "scalar_and_none": image({"s": entry("F32", [], 0, 4), "n": entry("F64", [0, 7], 4, 4)}, b"abcd"),
    "unpadded": image({"t": entry("F64", [1], 0, 8)}, b"12345678", pad=False),
    "escapes": image(b'{"\\u0074\\ud83d\\ude00":{"dtype":"I8","shape":[1],"data_offsets":[0,1]}}', b"x"),
    "unordered": image({"b": entry("U8", [1], 1, 2), "a": entry("U8", [1], 0, 1)}, b"ab"),
    "duplicate": image(b'{"t":{"dtype":"U8","shape":[0],"data_offsets":[0,0]},'
                       b'"t":{"dtype":"U8","shape":[0],"data_offsets":[0,0]}}'),
    "overlap": image({"a": entry("U8", [2], 0, 2), "b": entry("U8", [2], 1, 3)}, b"abc"),
    "hole": image({"a": entry("U8", [1], 0, 1), "b": entry("U8", [1], 2, 3)}, b"abc"),
    "overflow": image({"a": entry("F64", [1 << 32, 1 << 32], 0, (1 << 64) - 1)}),
    "negative": image({"a": entry("U8", [-1], -1, 0)}),
    "float": image({"a": entry("U8", [1.5], 0, 1e300)}),
    "nested": image(b'{"a":' + b"[" * 40),
    "null": image({"__metadata__": None, "a": None}),
    "long_length": struct.pack("<Q", (1 << 64) - 8) + b"{}",
    "short": b"\x02\x00",
}


def main():
    here = pathlib.Path(__file__).resolve().parent
    folder = pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else here / "corpus" / "safetensors"
    folder.mkdir(parents=True, exist_ok=True)
    for name, data in SEEDS.items():
        (folder / name).write_bytes(data)


if __name__ == "__main__":
    main()
