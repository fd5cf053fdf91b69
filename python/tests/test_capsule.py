"""Tables that offer themselves as a stream of Arrow, by a producer that is written from the words of the specification:
its structs are numbers of 8 bytes in memory."""

import ctypes
import datetime
import decimal
import struct
import unittest
import warnings

import numpy as np
import pandas as pd

import ufs_stream
from ufs_stream import UFSSelector
from ufs_stream._capsule import columns_in

RELEASE = ctypes.CFUNCTYPE(None, ctypes.c_void_p)
GET = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p)
ERROR = ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_void_p)
new_capsule = ctypes.PYFUNCTYPE(ctypes.py_object, ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p)(("PyCapsule_New", ctypes.pythonapi))
SCHEMA, ARRAY = 9, 10  # numbers of a struct


class Table:
    """A table of columns (name, format, chunks, format of the dictionary). A chunk is an array: a dict with its length,
    buffers (bytes or None), and perhaps nulls, offset and dictionary."""

    def __init__(self, columns, lengths, offset=0, fails_at=None):
        self.columns, self.lengths, self.offset, self.fails_at = columns, lengths, offset, fails_at
        self.kept, self.open, self.given = [], 0, 0
        self.functions = [GET(self.get_schema), GET(self.get_next), ERROR(lambda at: self.address(b"the disk is gone\0")), RELEASE(self.release_stream)]
        self.releases = {words: RELEASE(lambda at, words=words: self.release(at, words)) for words in (SCHEMA, ARRAY)}

    def __arrow_c_stream__(self, requested_schema=None):
        self.stream = (ctypes.c_int64 * 5)(*(ctypes.cast(f, ctypes.c_void_p).value for f in self.functions), 0)
        self.open += 1
        return new_capsule(ctypes.addressof(self.stream), b"arrow_array_stream", None)

    def address(self, data):
        """Return the address of bytes, which ends at no other data that is known."""
        memory = ctypes.create_string_buffer(bytes(data), len(data))
        self.kept.append(memory)
        return ctypes.addressof(memory)

    def pointers(self, list_of):
        return self.address(struct.pack(f"<{len(list_of)}q", *(at or 0 for at in list_of))) if list_of else 0

    def release_address(self, words):
        return ctypes.cast(self.releases[words], ctypes.c_void_p).value

    def release(self, at, words):
        memory = (ctypes.c_int64 * words).from_address(at)
        assert memory[words - 2], "released twice"
        memory[words - 2] = 0
        self.open -= 1

    def release_stream(self, at):
        assert self.stream[3], "released twice"
        self.stream[3] = 0
        self.open -= 1

    def schema(self, name, kind, children=(), dictionary=0):
        release = 0 if name != "" else self.release_address(SCHEMA)
        return struct.pack("<9q", self.address(kind.encode() + b"\0"), self.address(name.encode() + b"\0"), 0, 2, len(children), self.pointers(children), dictionary, release, 0)

    def get_schema(self, stream, out):
        children = []
        for name, kind, _, *words in self.columns:
            dictionary = self.address(self.schema("words", words[0])) if words else 0
            children.append(self.address(self.schema(name, kind, (), dictionary)))
        ctypes.memmove(out, self.schema("", "+s", children), 8 * SCHEMA)
        self.open += 1
        return 0

    def array(self, length, buffers, nulls=0, offset=0, children=(), dictionary=None, release=0):
        at = 0 if dictionary is None else self.address(self.array(**dictionary))
        places = [None if b is None else self.address(b) for b in buffers]
        return struct.pack("<10q", length, nulls, offset, len(buffers), len(children), self.pointers(places), self.pointers(children), at, release, 0)

    def get_next(self, stream, out):
        if self.fails_at == self.given:
            return 5
        if self.given == len(self.lengths):
            ctypes.memset(out, 0, 8 * ARRAY)
            return 0
        children = [self.address(self.array(**column[2][self.given])) for column in self.columns]
        whole = self.array(self.lengths[self.given], [None], offset=self.offset, children=children, release=self.release_address(ARRAY))
        ctypes.memmove(out, whole, 8 * ARRAY)
        self.given += 1
        self.open += 1
        return 0


def bitmap(values):
    out = bytearray((len(values) + 7) // 8)
    for at, value in enumerate(values):
        out[at // 8] |= bool(value) << at % 8
    return bytes(out)


def chunks_of(values, pack, lengths, before=3):
    """Return the chunks of a column, each of which begins in its buffers after some other rows, with a null at None."""
    out, start = [], 0
    for length in lengths:
        some = [None] * before + values[start : start + length]
        start += length
        valid = bitmap([v is not None for v in some])
        nulls = sum(v is None for v in some[before:])
        out.append({"length": length, "offset": before, "nulls": nulls and -1, "buffers": [valid if nulls else None, *pack(some)]})
    return out


def number(code):
    return lambda values: [struct.pack(f"<{len(values)}{code}", *(0 if v is None else v for v in values))]


def text(code):
    def pack(values):
        ends, data = [0], b""
        for v in values:
            data += b"?!" if v is None else v.encode()  # what is null may be anything
            ends.append(len(data))
        return [struct.pack(f"<{len(ends)}{code}", *ends), data]

    return pack


def view(values):
    views, long, other = b"", b"", b"unused"
    for v in values:
        v = b"\xff" if v is None else v.encode()
        if len(v) <= 12:
            views += struct.pack("<i12s", len(v), v)
        else:
            views += struct.pack("<i4sii", len(v), v[:4], 1, len(long))
            long += v
    return [views, other, long, struct.pack("<2q", len(other), len(long))]


def decimals(values):
    return [b"".join(int((v or decimal.Decimal(0)).scaleb(3)).to_bytes(16, "little", signed=True) for v in values)]


WORDS = ["", "é", "a text of more than twelve bytes", "twelve bytes", None, "x"]
LENGTHS = [4, 0, 9]
ROWS = sum(LENGTHS)


def cycled(values):
    return [values[at % len(values)] for at in range(ROWS)]


class TestCapsule(unittest.TestCase):
    def check(self, kind, pack, values, want=None, dictionary=()):
        """Read a column beside another, in chunks with offsets, and compare it with values."""
        for before in (0, 1, 3, 8, 13):
            chunks = chunks_of(values, pack, LENGTHS, before)
            for chunk in chunks:
                chunk.update(*({"dictionary": d} for d in dictionary[1:]))
            other = chunks_of([float(at) for at in range(ROWS)], number("d"), LENGTHS, before)
            table = Table([("o", "g", other), ("v", kind, chunks, *dictionary[:1])], LENGTHS)
            with columns_in(table) as columns:
                self.assertEqual([c.name for c in columns], ["o", "v"])
                np.testing.assert_array_equal(columns[0].values, np.arange(ROWS))
                missing = np.zeros(ROWS, bool) if columns[1].missing is None else columns[1].missing
                got = [None if lost else v for v, lost in zip(columns[1].values.tolist(), missing)]
                zone = columns[1].zone
            self.assertEqual(got, want or values, (kind, before))
            self.assertEqual(table.open, 0, "what was not released")
        return zone

    def test_every_type(self):
        for kind, code, bits in ("c", "b", 8), ("s", "h", 16), ("i", "i", 32), ("l", "q", 64):
            self.check(kind, number(code), cycled([0, None, -(2 ** (bits - 1)), 2 ** (bits - 1) - 1]))
            self.check(kind.upper(), number(code.upper()), cycled([0, None, 2**bits - 1]))
        for kind, code in ("e", "e"), ("f", "f"), ("g", "d"):
            self.check(kind, number(code), cycled([0.5, -2.0, None, float("inf")]))
            self.check(kind, number(code), cycled([0.5, -2.0]))
        self.check("b", lambda values: [bitmap(values)], cycled([True, None, False, True, True]))
        self.check("u", text("i"), cycled(WORDS))
        self.check("U", text("q"), cycled(WORDS))
        self.check("vu", view, cycled(WORDS))
        self.check("n", lambda values: [], [None] * ROWS)
        self.check("tdD", number("i"), cycled([-1, None, 20000]), cycled([datetime.date(1969, 12, 31), None, datetime.date(2024, 10, 4)]))
        self.check("tdm", number("q"), cycled([-86400000, None]), cycled([datetime.date(1969, 12, 31), None]))
        when = datetime.datetime(2026, 1, 2, 3, 4, 5)
        for unit, factor in ("s", 1), ("m", 10**3), ("u", 10**6):
            seconds = 1767323045
            self.assertIsNone(self.check(f"ts{unit}:", number("q"), cycled([seconds * factor, None]), cycled([when, None])))
            zone = self.check(f"ts{unit}:Europe/Berlin", number("q"), cycled([seconds * factor, None]), cycled([when, None]))
            self.assertEqual(zone, "Europe/Berlin")
            self.check(f"tD{unit}", number("q"), cycled([90 * factor, None]), cycled([datetime.timedelta(seconds=90), None]))
        money = [decimal.Decimal("-0.001"), None, decimal.Decimal("12345678901234567890.123")]
        self.check("d:38,3", decimals, cycled(money), cycled([-0.001, None, 12345678901234567890.123]))
        self.check("d:38,3,128", decimals, cycled(money), cycled([-0.001, None, 12345678901234567890.123]))

    def test_dictionaries(self):
        words = chunks_of(WORDS, text("q"), [len(WORDS)], 2)[0]
        numbers = [0, None, 5, 4, 2]
        want = cycled([None if n is None else WORDS[n] for n in numbers])
        for kind, code in ("c", "b"), ("C", "B"), ("i", "i"), ("L", "Q"):
            self.check(kind, number(code), cycled(numbers), want, ("U", words))
        self.check("i", number("i"), [None] * ROWS, None, ("U", words))
        with self.assertRaisesRegex(ufs_stream.DataError, "column 'v': numbers 0 to 6 .*dictionary of 6"):
            self.check("i", number("i"), cycled([0, 6]), None, ("U", words))
        with self.assertRaisesRegex(ufs_stream.DataError, "column 'v': numbers -1 to 0 "):
            self.check("i", number("i"), cycled([0, -1]), None, ("U", words))

    def test_refuses_by_name(self):
        for kind, words in ("+l", "lists"), ("+s", "lists"), ("+w:3", "lists"), ("ttm", "times of day"), ("tiM", "intervals"), ("z", "bytes"), ("w:4", "bytes"), ("+r", "lists"), ("?", r"format '\?'"):
            with self.assertRaisesRegex(ufs_stream.DataError, f"column 'v': .*{words}.*leave the column out"):
                self.check(kind, number("i"), cycled([1]))
        numbers = chunks_of([1.0] * 4, number("d"), [4])
        table = Table([("a", "g", numbers)], [4], fails_at=1)
        with self.assertRaisesRegex(ufs_stream.DataError, "failed: the disk is gone"), columns_in(table):
            pass
        self.assertEqual(table.open, 0)

    def test_offset_of_the_table(self):
        values = chunks_of([float(at) for at in range(8)], number("d"), [8])
        with columns_in(Table([("a", "g", values)], [5], offset=2)) as (column,):
            self.assertEqual(column.values.tolist(), [2, 3, 4, 5, 6])

    def test_copies_nothing(self):
        table = Table([("a", "g", chunks_of([1.0] * 100, number("d"), [100], 0))], [100])
        with columns_in(table) as (column,):
            places = [ctypes.addressof(memory) for memory in table.kept]
            self.assertIn(column.values.__array_interface__["data"][0], places)

    def test_no_rows(self):
        for lengths in [], [0]:
            columns = [("a", "g", chunks_of([], number("d"), lengths, 0)), ("t", "U", chunks_of([], text("q"), lengths, 0)), ("", "i", chunks_of([], number("i"), lengths, 0), "vu")]
            for column in columns:
                for chunk in column[2]:
                    chunk["buffers"] = [None] * len(chunk["buffers"])
            with columns_in(Table(columns, lengths)) as got:
                self.assertEqual([(c.name, len(c.values)) for c in got], [("a", 0), ("t", 0), ("column 2", 0)])

    def planted(self):
        """Return a frame, and the same as a table of three chunks."""
        r = np.random.default_rng(0)
        signals = np.repeat(r.standard_normal((400, 4)), 3, axis=1) + 0.1 * r.standard_normal((400, 12))
        frame = pd.DataFrame(signals, columns=[f"c{at}" for at in range(12)])
        frame.loc[5, "c1"] = np.nan
        frame["site"] = ["north", "south"] * 200
        lengths = [100, 250, 50]
        columns = [(name, "g", chunks_of([None if np.isnan(v) else v for v in frame[name]], number("d"), lengths)) for name in frame.columns[:12]]
        return frame, lambda: Table([*columns, ("site", "u", chunks_of(list(frame["site"]), text("i"), lengths))], lengths)

    def test_selects_as_from_a_frame(self):
        frame, table = self.planted()
        options = {"k": 5, "method": "greedy", "missing": "mean", "categorical": "auto"}
        got, want = ufs_stream.select(table(), **options), ufs_stream.select(frame, **options)
        for key in ("selected", "columns", "left_out", "features", "rows"):
            self.assertEqual(got[key], want[key])
        self.assertEqual(ufs_stream.plan(table(), k=3)["rows"], 400)
        broken = table()
        broken.columns[3] = ("c3", "+l", broken.columns[3][2])
        with self.assertRaisesRegex(ufs_stream.DataError, "column 'c3': lists"):
            ufs_stream.select(broken)
        self.assertEqual(broken.open, 0)

    def test_selector(self):
        frame, table = self.planted()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            got, want = UFSSelector(k=4, method="greedy").fit(table()), UFSSelector(k=4, method="greedy").fit(frame)
        self.assertEqual(got.get_feature_names_out().tolist(), want.get_feature_names_out().tolist())
        np.testing.assert_array_equal(got.transform(table()), want.transform(frame))


if __name__ == "__main__":
    unittest.main()
