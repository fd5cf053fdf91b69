"""Tables of other libraries, which offer them as a stream of Arrow in a PyCapsule.

https://arrow.apache.org/docs/format/CStreamInterface.html describes the structs, and CDataInterface.html the formats.
"""

from __future__ import annotations

import contextlib
import ctypes
from collections.abc import Iterator
from typing import Any

import numpy as np

from ._arrow import Column, unique_names
from ._errors import DataError

_POINTER_OF_CAPSULE = ctypes.PYFUNCTYPE(ctypes.c_void_p, ctypes.py_object, ctypes.c_char_p)(("PyCapsule_GetPointer", ctypes.pythonapi))
_RELEASE = ctypes.CFUNCTYPE(None, ctypes.c_void_p)
_GET = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p)
_LAST_ERROR = ctypes.CFUNCTYPE(ctypes.c_char_p, ctypes.c_void_p)


class Schema(ctypes.Structure):
    format: bytes
    name: bytes | None
    n_children: int
    children: Any
    dictionary: Any
    release: Any


Schema._fields_ = [
    ("format", ctypes.c_char_p),
    ("name", ctypes.c_char_p),
    ("metadata", ctypes.c_void_p),
    ("flags", ctypes.c_int64),
    ("n_children", ctypes.c_int64),
    ("children", ctypes.POINTER(ctypes.POINTER(Schema))),
    ("dictionary", ctypes.POINTER(Schema)),
    ("release", _RELEASE),
    ("private_data", ctypes.c_void_p),
]


class Array(ctypes.Structure):
    length: int
    null_count: int
    offset: int
    n_buffers: int
    n_children: int
    buffers: Any
    children: Any
    dictionary: Any
    release: Any


Array._fields_ = [
    ("length", ctypes.c_int64),
    ("null_count", ctypes.c_int64),
    ("offset", ctypes.c_int64),
    ("n_buffers", ctypes.c_int64),
    ("n_children", ctypes.c_int64),
    ("buffers", ctypes.POINTER(ctypes.c_void_p)),
    ("children", ctypes.POINTER(ctypes.POINTER(Array))),
    ("dictionary", ctypes.POINTER(Array)),
    ("release", _RELEASE),
    ("private_data", ctypes.c_void_p),
]


class Stream(ctypes.Structure):
    get_schema: Any
    get_next: Any
    get_last_error: Any
    release: Any
    _fields_ = [
        ("get_schema", _GET),
        ("get_next", _GET),
        ("get_last_error", _LAST_ERROR),
        ("release", _RELEASE),
        ("private_data", ctypes.c_void_p),
    ]


@contextlib.contextmanager
def columns_in(table: Any) -> Iterator[list[Column]]:
    """Yield the columns of a table that has `__arrow_c_stream__`. Columns of one chunk are in the memory of the table, so
    that they are valid for the time of the context only."""
    capsule = table.__arrow_c_stream__()
    stream = Stream.from_address(_POINTER_OF_CAPSULE(capsule, b"arrow_array_stream"))
    schema, chunks = Schema(), [Array()]
    try:
        _fill(stream, stream.get_schema, schema)
        if schema.format != b"+s":
            raise DataError("the stream of Arrow has one column without a name; give a table", 3)
        _fill(stream, stream.get_next, chunks[-1])
        while chunks[-1].release:
            chunks.append(Array())
            _fill(stream, stream.get_next, chunks[-1])
        names = unique_names((child.name or b"").decode("utf-8", "replace") for child in _children(schema))
        yield [_column(name, at, schema, chunks[:-1]) for at, name in enumerate(names)]
    finally:
        for struct in (*chunks, schema, stream):
            if struct.release:
                struct.release(ctypes.addressof(struct))


def _fill(stream: Stream, get: Any, struct: Schema | Array) -> None:
    """Have the producer fill a struct."""
    if get(ctypes.addressof(stream), ctypes.addressof(struct)) != 0:
        why = stream.get_last_error(ctypes.addressof(stream)) or b"no reason was given"
        raise DataError("the stream of Arrow failed: " + why.decode("utf-8", "replace"), 3)


def _children(struct: Any) -> list[Any]:
    return [struct.children[at].contents for at in range(struct.n_children)]


def _column(name: str, at: int, schema: Schema, chunks: list[Array]) -> Column:
    """Return the column at a place of the table."""
    field = _children(schema)[at]
    parts = []
    for chunk in chunks:
        if chunk.n_children != schema.n_children or (chunk.null_count != 0 and chunk.n_buffers > 0 and chunk.buffers[0]):
            raise DataError(f"column {name!r}: a chunk has other columns than the table, or rows that are null as a whole", 3)
        child = _children(chunk)[at]
        parts.append(_Slice(name, field, child, child.offset + chunk.offset, chunk.length).read())
    if not parts:
        parts = [_Slice(name, field, Array(), 0, 0).read()]
    missing = None
    if any(lost is not None for _, lost in parts):
        missing = np.concatenate([np.zeros(len(values), bool) if lost is None else lost for values, lost in parts])
    values = parts[0][0] if len(parts) == 1 else np.concatenate([values for values, _ in parts])
    kind = (field.dictionary.contents if field.dictionary else field).format.decode()
    zone = kind[4:] if kind.startswith("ts") else ""
    return Column(name, values, missing, zone or None)


# The types of numpy by the formats of Arrow, and the names of units of time.
NUMBERS = {"c": "i1", "C": "u1", "s": "i2", "S": "u2", "i": "i4", "I": "u4", "l": "i8", "L": "u8", "e": "f2", "f": "f4", "g": "f8"}
UNITS = {"s": "s", "m": "ms", "u": "us", "n": "ns"}
REFUSED = {"+": "lists and structs", "tt": "times of day", "ti": "intervals", "z": "bytes", "Z": "bytes", "vz": "bytes", "w": "bytes"}


class _Slice:
    """Some rows of an array, whose first is at start in the array's buffers."""

    def __init__(self, name: str, schema: Schema, array: Array, start: int, length: int):
        self.name, self.schema, self.array, self.start, self.length = name, schema, array, start, length

    def read(self) -> tuple[Any, Any]:
        """Return the values, and where they are missing, or None."""
        kind = self.schema.format.decode()
        if self.schema.dictionary:
            return self.look_up()
        if kind == "n":
            return np.zeros(self.length), np.ones(self.length, bool)
        return self.values(kind), self.missing()

    def missing(self) -> Any:
        """Return which rows the bitmap says are missing, or None."""
        if self.length and self.array.null_count != 0 and self.array.buffers[0]:
            return ~self.bits(0)
        return None

    def values(self, kind: str) -> Any:
        if kind in NUMBERS:
            return self.numbers(1, NUMBERS[kind])
        if kind == "b":
            return self.bits(1)
        if kind == "tdD":
            return self.numbers(1, "i4").astype("M8[D]")
        if kind == "tdm":
            return self.numbers(1, "i8").view("M8[ms]").astype("M8[D]")
        if kind[:2] == "ts" or kind[:2] == "tD":
            return self.numbers(1, "i8").view(f"{'M' if kind[1] == 's' else 'm'}8[{UNITS[kind[2]]}]")
        if kind[:2] == "d:":
            _, scale, bits = (*map(int, kind[2:].split(",")), 128)[:3]
            width = bits // 8
            raw = self.numbers(1, f"V{width}").tobytes()
            whole = [int.from_bytes(raw[at : at + width], "little", signed=True) for at in range(0, len(raw), width)]
            return np.array([n / 10**scale if scale >= 0 else float(n * 10**-scale) for n in whole], "f8")
        if kind in ("u", "U", "vu"):
            texts = self.views() if kind == "vu" else self.texts("i4" if kind == "u" else "i8")
            values = np.empty(self.length, object)
            values[:] = [text.decode("utf-8", "replace") for text in texts]
            return values
        what = next((words for start, words in REFUSED.items() if kind.startswith(start)), f"values of Arrow's format {kind!r}")
        raise DataError(f"column {self.name!r}: {what} are not taken from a table in memory; leave the column out, or give a file of the table", 3)

    def numbers(self, buffer: int, dtype: str, more: int = 0) -> Any:
        """Return the numbers of the rows in a buffer, and some more after them, without a copy."""
        size, count = np.dtype(dtype).itemsize, self.length + more
        if not self.length:
            return np.zeros(more, dtype)
        place = self.array.buffers[buffer] + self.start * size
        return np.frombuffer(memoryview((ctypes.c_char * (count * size)).from_address(place)), dtype)

    def bits(self, buffer: int) -> Any:
        if not self.length:
            return np.zeros(0, bool)
        first, skip = divmod(self.start, 8)
        packed = ctypes.string_at(self.array.buffers[buffer] + first, (skip + self.length + 7) // 8)
        return np.unpackbits(np.frombuffer(packed, np.uint8), bitorder="little")[skip : skip + self.length].astype(bool)

    def texts(self, dtype: str) -> Iterator[bytes]:
        ends = self.numbers(1, dtype, 1).tolist()
        if ends[-1] > ends[0]:
            data = ctypes.string_at(self.array.buffers[2] + ends[0], ends[-1] - ends[0])
        else:
            data = b""
        for start, end in zip(ends, ends[1:]):
            yield data[start - ends[0] : end - ends[0]]

    def views(self) -> Iterator[bytes]:
        """Yield texts of which each has 16 bytes: its length, and itself or its place in another buffer."""
        for view in self.numbers(1, "V16"):
            head = np.frombuffer(view.tobytes(), "i4")
            if head[0] <= 12:
                yield view.tobytes()[4 : 4 + head[0]]
            else:
                yield ctypes.string_at(self.array.buffers[2 + int(head[2])] + int(head[3]), int(head[0]))

    def look_up(self) -> tuple[Any, Any]:
        """Return the values in the dictionary that the rows number. What is missing here or there is missing."""
        words = self.array.dictionary.contents if self.length else Array()
        values, lost = _Slice(self.name, self.schema.dictionary.contents, words, words.offset, words.length).read()
        missing = self.missing()
        at = self.numbers(1, NUMBERS[self.schema.format.decode()])
        at = at if missing is None else np.where(missing, 0, at)
        if missing is not None and missing.all():
            return np.zeros(self.length, values.dtype), missing
        if self.length and not 0 <= at.min() <= at.max() < len(values):
            raise DataError(f"column {self.name!r}: numbers {at.min()} to {at.max()} are not all in its dictionary of {len(values)} values", 3)
        if lost is not None:
            missing = lost[at] if missing is None else missing | lost[at]
        return values[at], missing
