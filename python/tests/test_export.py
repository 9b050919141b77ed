"""Exported files, and tables whose rows were written by hand."""

import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any, Literal

import pandas
import pyarrow
import pyarrow.ipc
import pyarrow.parquet
import pytest
from helpers import TESTDATA

import otlp_profiles as op

FOLDED = b"main;serve;parse 7\nmain;serve 5\nmain;f\xc3\xa4llt 1\n"

Tables = dict[str, pyarrow.Table]


def of_memory(directory: Path) -> Tables:
    profiles = op.read(directory / "in" / "heap.folded")
    return {name: getattr(profiles, name)().to_arrow() for name in ("samples", "stacks", "profiles", "mappings")}


def of_files(to: Literal["parquet", "arrow"], read: Callable[[Path], pyarrow.Table]) -> Callable[[Path], Tables]:
    def tables(directory: Path) -> Tables:
        source = directory / "in" / "heap.folded"
        exported = op.export([source], directory / "out", to, partition="none")
        assert exported.samples == 3 and {path.suffix for path in exported.files} == {f".{to}"}
        return {path.parent.name: read(path) for path in exported.files}

    return tables


def read_arrow(path: Path) -> pyarrow.Table:
    return pyarrow.ipc.open_file(pyarrow.memory_map(str(path))).read_all()


FORMS = [of_memory, of_files("parquet", pyarrow.parquet.read_table), of_files("arrow", read_arrow)]

SAMPLES = [
    ("service_name", "string", False),
    ("service_version", "string", True),
    ("type", "string", False),
    ("unit", "string", False),
    ("time", "timestamp[us, tz=UTC]", True),
    ("time_unix_nano", "int64", False),
    ("profile_key", "fixed_size_binary[16]", False),
    ("sample_index", "int32", False),
    ("type_index", "int32", False),
    ("stack_id", "fixed_size_binary[16]", False),
    ("value", "int64", False),
    ("values", "[int64]", True),
    ("timestamps", "[int64]", True),
    ("trace_id", "string", True),
    ("span_id", "string", True),
    ("attributes", "{string: string}", False),
    ("attributes_exact", "binary", True),
]
FRAMES = {
    "stack_id": "fixed_size_binary[16]",
    "function_names": "[string]",
    "system_names": "[string]",
    "filenames": "[string]",
    "frame_types": "[string]",
    "lines": "[int64]",
    "columns": "[int64]",
    "start_lines": "[int64]",
    "inlined": "[bool]",
    "addresses": "[uint64]",
    "mapping_filenames": "[string]",
    "build_ids": "[string]",
    "mapping_ids": "[binary]",
    "location_attributes": "[binary]",
}


def shape(kind: pyarrow.DataType) -> str:
    """The type without the names of items, which differ between formats."""
    if pyarrow.types.is_list(kind):
        return f"[{kind.value_type}]"
    return f"{{{kind.key_type}: {kind.item_type}}}" if pyarrow.types.is_map(kind) else str(kind)


@pytest.mark.parametrize("tables", FORMS)
def test_tables_have_the_facts_of_the_input(tables: Callable[[Path], Tables], tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "heap.folded").write_bytes(FOLDED)
    found = tables(tmp_path)
    assert set(found) >= {"samples", "stacks", "profiles"}
    for table in found.values():
        table.validate(full=True)
    samples, stacks, (profile,) = found["samples"], found["stacks"], found["profiles"].to_pylist()
    assert [(field.name, shape(field.type), field.nullable) for field in samples.schema] == SAMPLES
    assert {field.name: shape(field.type) for field in stacks.schema} == FRAMES
    names = {row["stack_id"]: row["function_names"] for row in stacks.to_pylist()}
    rows = [(row["sample_index"], names[row["stack_id"]], row["value"]) for row in samples.to_pylist()]
    assert rows == [(0, ["parse", "serve", "main"], 7), (1, ["serve", "main"], 5), (2, ["fällt", "main"], 1)]
    (first, *_) = samples.to_pylist()
    expected: dict[str, Any] = {
        "service_name": "",
        "service_version": None,
        "type": "samples",
        "unit": "count",
        "time": None,
        "time_unix_nano": 0,
        "profile_key": profile["profile_key"],
        "sample_index": 0,
        "type_index": 0,
        "values": None,
        "timestamps": None,
        "trace_id": None,
        "span_id": None,
        "attributes": [],
        "attributes_exact": None,
    }
    assert {key: first[key] for key in expected} == expected
    assert first["stack_id"][:12] == first["profile_key"][:12], "ids begin with the segment"
    facts = ("type", "unit", "sample_count", "value_sum", "input", "format", "duration_nano", "exact")
    assert [profile[name] for name in facts] == ["samples", "count", 3, 13, "heap.folded", "folded", 0, None]
    (stack, *_) = stacks.to_pylist()
    null = ("filenames", "lines", "addresses", "inlined", "mapping_filenames", "location_attributes")
    assert [stack[name] for name in null] == [None] * 6
    assert stack["system_names"] == [""] * 3 and stack["mapping_ids"] == [None] * 3


def test_attributes_links_and_frames(tmp_path: Path) -> None:
    exported = op.export([TESTDATA / "go-cpu-labels.pb.gz"], tmp_path, "arrow", partition="none")
    paths = {path.parent.name: path for path in exported.files}
    profile = op.read(TESTDATA / "go-cpu-labels.pb.gz")[0]
    rows = [row for row in read_arrow(paths["samples"]).to_pylist() if row["type"] == "cpu"]
    stacks = {row["stack_id"]: row for row in read_arrow(paths["stacks"]).to_pylist()}
    for sample, row in zip(profile, rows, strict=True):
        stack = stacks[row["stack_id"]]
        assert (row["value"], dict(row["attributes"])) == (sample.totals[1], sample.attributes)
        assert stack["function_names"] == [frame.function for frame in sample.stack]
        assert stack["lines"] == [frame.line for frame in sample.stack]
        assert stack["addresses"] == [frame.address for frame in sample.stack]
    filenames = {row["filename"] for row in read_arrow(paths["mappings"]).to_pylist()}
    assert next(iter(profile)).stack[0].mapping in filenames


def test_each_source_is_exported_once(tmp_path: Path, cpu: bytes) -> None:
    path = TESTDATA / "go-cpu-labels.pb.gz"
    first = op.export([path], tmp_path)
    assert first.samples == 286 and all(file.is_file() for file in first.files)
    assert [file.parent.name for file in first.files if file.parent.parent.parent.name == "samples"] == ["date=2026-11-20"]
    before = {file: file.read_bytes() for file in first.files}
    with pytest.raises(FileExistsError, match="exported before: force=True") as raised:
        op.export([path], tmp_path, "arrow")
    assert Path(raised.value.filename) in before
    assert op.export([path], tmp_path, force=True) == first
    assert {file: file.read_bytes() for file in first.files} == before
    assert {file for file in tmp_path.rglob("*") if file.is_file()} == set(before), "nothing else is left"
    with pytest.raises(FileExistsError):
        op.export([cpu], tmp_path)
    with pytest.raises(FileExistsError):
        op.export([op.read(path)], tmp_path)
    assert op.export([op.read(cpu), cpu], tmp_path).samples == 2 * 286


def test_resources_are_set(tmp_path: Path, cpu: bytes) -> None:
    of = {"service.name": "checkout", "service.version": "1.0"}
    exported = op.export([cpu], tmp_path, resource=of)
    samples = pyarrow.parquet.read_table(tmp_path / "samples").to_pylist()
    assert {(row["service_name"], row["service_version"]) for row in samples} == {("checkout", "1.0")}
    assert exported.segment != op.export([cpu], tmp_path / "other").segment
    (row, _) = op.tables([cpu], resource=of).profiles().to_arrow().to_pylist()
    assert (row["service_name"], dict(row["resource_attributes"])) == ("checkout", of)


def test_pandas_reads_every_table(tmp_path: Path, cpu: bytes) -> None:
    profiles = op.read(cpu)
    op.export([profiles], tmp_path)
    for table in (profiles.samples(), profiles.stacks(), profiles.profiles(), profiles.mappings()):
        name = repr(table).split()[1].rstrip(":")
        frame = table.to_pandas()
        assert len(frame) == len(table) == len(pandas.read_parquet(tmp_path / name))
        assert list(pandas.DataFrame(table).columns) == list(frame.columns) == table.column_names
    assert {"endpoint": "/v1/hash", "region": "us"} in list(profiles.samples().to_pandas()["attributes"])
    assert pandas.isna(op.read(FOLDED).profiles().to_pandas()["time"][0])


def test_nothing_to_read_is_an_error(tmp_path: Path) -> None:
    for call in (op.merge, op.tables, op.view, lambda sources: op.export(sources, tmp_path / "out")):
        with pytest.raises(ValueError, match="no sources"):
            call(iter([]))
    assert not (tmp_path / "out").exists()


def test_failures_leave_nothing(tmp_path: Path, cpu: bytes) -> None:
    out = tmp_path / "out"
    with pytest.raises(op.Error) as raised:
        op.export([cpu, b"\x0a\x02\x12\x05"], out)
    assert raised.value.kind in ("malformed", "unrecognised")
    with pytest.raises(FileNotFoundError):
        op.export([tmp_path / "absent"], out)
    with pytest.raises(op.Error) as raised:
        op.export([cpu], out, limits={"max_samples": 1})
    assert raised.value.code == "max_samples"
    with pytest.raises(op.Error, match="max_segment_stacks"):
        op.export([cpu], out, max_segment_stacks=1)
    for arguments in ({"to": "csv"}, {"compression": "zstd"}, {"partition": "day"}):
        with pytest.raises(ValueError, match=next(iter(arguments))):
            op.export([cpu], out, **arguments)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="pass a list"):
        op.export(cpu, out)  # type: ignore[arg-type]
    assert not list(out.rglob("*"))
    (tmp_path / "file").write_bytes(b"")
    with pytest.raises(OSError):
        op.export([cpu], tmp_path / "file")


def test_threads_export_into_one_directory(tmp_path: Path) -> None:
    """Threads share a process id, and each has its own temporary files."""
    files = sorted(TESTDATA.glob("*.pb.gz"))
    threads = [threading.Thread(target=op.export, args=([file], tmp_path)) for file in files]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    count = pyarrow.parquet.read_table(tmp_path / "samples").num_rows
    assert len(files) > 1 and count == len(op.tables(files).samples())
    assert not [path for path in tmp_path.iterdir() if path.name.startswith(".")]


def test_a_killed_export_leaves_no_file_that_a_query_sees(tmp_path: Path) -> None:
    if sys.platform != "linux":
        pytest.skip("needs /proc")
    script = f"""
import os, otlp_profiles as op
def sources():
    yield {str(TESTDATA / "go-cpu-labels.pb.gz")!r}
    os.kill(os.getpid(), 9)
op.export(sources(), {str(tmp_path)!r})
"""
    assert subprocess.run([sys.executable, "-c", script]).returncode == -9
    assert [path.suffix for path in tmp_path.iterdir()] == [".tmp"]
    exported = op.export([TESTDATA / "go-heap.pb.gz"], tmp_path)
    assert {path for path in tmp_path.rglob("*") if path.is_file()} == set(exported.files)
