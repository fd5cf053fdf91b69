"""Columns of numpy as an Arrow IPC stream, which the command reads where it lies.

https://arrow.apache.org/docs/format/Columnar.html describes the format; its messages are flatbuffers.
"""

from __future__ import annotations

import contextlib
import os
import struct
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from ._errors import UFSError

# Rows of a message: as many as a processor's cache may hold while the columns of a matrix stored by rows are taken from them,
# but not so few that the heads of messages take the time.
BATCH, LEAST_ROWS = 1 << 25, 1024

# Members of the unions of Arrow's schema.
SCHEMA, RECORD_BATCH = 1, 3
INT, FLOAT, BOOL, DATE, TIMESTAMP, DURATION, LARGE_UTF8, LARGE_LIST = 2, 3, 6, 8, 10, 18, 20, 21
UNITS = {"s": 0, "ms": 1, "us": 2, "ns": 3}


class Column(NamedTuple):
    """A column of a table. Its values are numbers, booleans, times or spans of time (datetime64, timedelta64), or objects
    that are texts."""

    name: str
    values: Any
    missing: Any = None  # an array of booleans; None if no value is missing
    zone: str | None = None  # of times: "UTC", or None if they are a clock's at an unknown place
    ends: Any = None  # of lists: row i has values[ends[i] : ends[i + 1]]

    def count_rows(self) -> int:
        return len(self.values if self.ends is None else self.ends[1:])


def unique_names(names: Iterable[str]) -> list[str]:
    """Return names that tell the columns apart: a name that is empty, or not alone, gets its number."""
    names = list(names)
    counts: dict[str, int] = {}
    for name in names:
        counts[name] = counts.get(name, 0) + 1
    unique = []
    for at, name in enumerate(names):
        plain = name.encode("utf-8", "replace").decode("utf-8")  # a lone surrogate is no UTF-8
        if name and counts[name] == 1 and plain == name:
            unique.append(name)
            continue
        own = f"{plain} (column {at})" if name else f"column {at}"
        while own in counts:
            own += "'"
        counts[own] = 1
        unique.append(own)
    return unique


@contextlib.contextmanager
def file_of(columns: Sequence[Column], name: str, temp_dir: Any) -> Iterator[str]:
    """Yield the path of a temporary file of columns. Errors of the command call it by its name alone."""
    with file_of_blocks([columns], name, temp_dir) as path:
        yield path


@contextlib.contextmanager
def file_of_blocks(blocks: Iterable[Sequence[Column]], name: str, temp_dir: Any) -> Iterator[str]:
    """Yield the path of a temporary file of blocks of rows, whose columns have the same names and types."""
    with tempfile.TemporaryDirectory(prefix="ufs-stream-", dir=temp_dir) as folder:
        path = os.path.join(folder, name)
        write_blocks(path, blocks)
        try:
            yield path
        except UFSError as e:
            raise type(e)(str(e).replace(path, name), e.exit_code, e.selection) from None


def write_blocks(path: str, blocks: Iterable[Sequence[Column]]) -> None:
    """Write blocks of columns into a file. The columns of a block have one length."""
    with open(path, "wb") as f:
        for columns in blocks:
            if f.tell() == 0:
                f.write(message(SCHEMA, (int16(0), [field_of(c) for c in columns]), 0))
            rows = columns[0].count_rows() if columns else 0
            step = max(rows * BATCH // max(sum(c.values.nbytes for c in columns), 1), LEAST_ROWS)
            for start in range(0, rows, step):
                write_batch(f, columns, start, min(start + step, rows))
        f.write(b"\xff\xff\xff\xff\0\0\0\0")


def field_of(column: Column) -> tuple[Any, ...]:
    if column.ends is not None:
        return column.name, int8(1), int8(LARGE_LIST), (), None, [field_of(Column("item", column.values))]
    dtype = column.values.dtype
    number = LARGE_UTF8
    parameters: tuple[Any, ...] = ()
    if dtype.kind in "iu":
        number, parameters = INT, (struct.pack("<i", 8 * dtype.itemsize), int8(dtype.kind == "i"))
    elif dtype.kind == "f":
        number, parameters = FLOAT, (int16({2: 0, 4: 1, 8: 2}[dtype.itemsize]),)
    elif dtype.kind == "b":
        number = BOOL
    elif dtype == "M8[D]":
        number, parameters = DATE, (int16(0),)
    elif dtype.kind == "M":
        number, parameters = TIMESTAMP, (int16(UNITS[np.datetime_data(dtype)[0]]), column.zone)
    elif dtype.kind == "m":
        number, parameters = DURATION, (int16(UNITS[np.datetime_data(dtype)[0]]),)
    return column.name, int8(1), int8(number), parameters


def write_batch(f: Any, columns: Sequence[Column], start: int, end: int) -> None:
    """Write some rows as a message. Its head, of known length, is filled in after the buffers, of which one is held at a time."""
    lists = sum(c.ends is not None for c in columns)
    texts = sum(c.values.dtype == object for c in columns)
    nodes = np.zeros((len(columns) + lists, 2), "<i8")
    places = np.zeros((2 * len(nodes) + texts, 2), "<i8")
    head = f.tell()
    f.write(message(RECORD_BATCH, (int64(end - start), nodes, places), 0))
    body = f.tell()
    node, place = iter(nodes), iter(places)
    for column in columns:
        first, last, buffers = start, end, []
        if column.ends is not None:
            ends = column.ends[start : end + 1].astype("<i8")
            first, last, buffers = ends[0], ends[-1], [b"", ends - ends[0]]
            next(node)[:] = end - start, 0
        nulls, more = buffers_of(column, first, last)
        next(node)[:] = last - first, nulls
        for buffer in buffers + more:
            length = memoryview(buffer).nbytes
            next(place)[:] = f.tell() - body, length
            f.write(buffer)
            f.write(bytes(-length % 8))
    after = f.tell()
    f.seek(head)
    f.write(message(RECORD_BATCH, (int64(end - start), nodes, places), after - body))
    f.seek(after)


def buffers_of(column: Column, start: int, end: int) -> tuple[int, list[Any]]:
    """Return how many values of some rows are missing, and the buffers of the rows."""
    values, nulls, valid = column.values[start:end], 0, b""
    missing = np.zeros(0) if column.missing is None else column.missing[start:end]
    if missing.any():
        nulls, valid = int(missing.sum()), np.packbits(~missing, bitorder="little").tobytes()
    kind = values.dtype.kind
    if kind == "O":
        lost = missing if nulls else np.zeros(len(values), dtype=bool)
        texts = [b"" if gone else str(value).encode("utf-8", "replace") for value, gone in zip(values, lost)]
        ends = np.cumsum([0, *map(len, texts)], dtype="<i8")
        return nulls, [valid, ends, b"".join(texts)]
    if kind == "b":
        values = np.packbits(values, bitorder="little")
    elif kind in "mM":
        values = values.astype("<i8").astype("<i4" if values.dtype == "M8[D]" else "<i8", copy=False)
    return nulls, [valid, np.ascontiguousarray(values, dtype=values.dtype.newbyteorder("<"))]


def message(kind: int, header: tuple[Any, ...], body: int) -> bytes:
    """Return the head of a message of Arrow, whose body has some bytes."""
    version = int16(4)  # V5
    out = bytearray(8)
    struct.pack_into("<I", out, 0, append(out, (version, int8(kind), header, int64(body))))
    out.extend(bytes(-len(out) % 8))
    return b"\xff\xff\xff\xff" + struct.pack("<i", len(out)) + out


def append(out: bytearray, value: Any) -> int:
    """Append a value to a flatbuffer and return its place.

    A table is a tuple of its fields: None for one that is not there, bytes for a number, and else a value. A list is a
    vector of tables, an array one of structs of two numbers. Everything begins at a multiple of 8, so all is aligned.
    """
    out.extend(bytes(-len(out) % 8))
    at = len(out)
    if isinstance(value, str):
        text = value.encode("utf-8", "replace")
        out += struct.pack("<I", len(text)) + text + b"\0"
        return at
    if isinstance(value, np.ndarray):
        out += struct.pack("<II", 0, len(value)) + value.tobytes()
        return at + 4
    if isinstance(value, list):
        out += struct.pack("<I", len(value)) + bytes(4 * len(value))
        for place, item in enumerate(value):
            append_at(out, at + 4 + 4 * place, item)
        return at
    places = [0 if item is None else 8 + 8 * place for place, item in enumerate(value)]
    out += struct.pack(f"<{2 + len(value)}H", 4 + 2 * len(value), 8 + 8 * len(value), *places)
    out.extend(bytes(-len(out) % 8))
    table = len(out)
    out += struct.pack("<i", table - at) + bytes(4 + 8 * len(value))
    for place, item in zip(places, value):
        if isinstance(item, bytes):
            out[table + place : table + place + len(item)] = item
        elif item is not None:
            append_at(out, table + place, item)
    return table


def append_at(out: bytearray, cell: int, value: Any) -> None:
    """Append a value, to which a cell points."""
    struct.pack_into("<I", out, cell, append(out, value) - cell)


def int8(number: int) -> bytes:
    return struct.pack("<b", number)


def int16(number: int) -> bytes:
    return struct.pack("<h", number)


def int64(number: int) -> bytes:
    return struct.pack("<q", number)
