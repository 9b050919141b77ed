from pathlib import Path

import duckdb
import pandas
import polars
import pyarrow
import pytest
from helpers import TESTDATA

import otlp_profiles as op

FILES = [path for path in sorted(TESTDATA.glob("*.pb.gz")) if path.name != "go-threadcreate.pb.gz"]


@pytest.mark.parametrize("path", FILES, ids=[path.name for path in FILES])
def test_sums(path: Path) -> None:
    """The sums by sample type are those of the profile, with a plain join."""
    profiles = op.read(path)
    samples, stacks = profiles.samples(), profiles.stacks()
    of = {kind.name: total for kind, total in zip(profiles[0].sample_types, profiles[0].sums)}
    query = "SELECT type, sum(value) FROM samples JOIN stacks USING (stack_id) GROUP BY type"
    assert len(samples) and len(stacks)
    assert dict(duckdb.execute(query).fetchall()) == of


def test_every_consumer_takes_a_table(cpu: bytes) -> None:
    samples = op.read(cpu).samples()
    assert repr(samples) == "<Table samples: 286 rows, 17 columns>"
    names = samples.column_names
    assert {"type", "value", "stack_id", "attributes"} < set(names)
    for frame in (samples.to_pandas(), pandas.DataFrame.from_arrow(samples)):  # type: ignore[attr-defined]
        assert list(frame.columns) == names and frame[frame["type"] == "cpu"]["value"].sum() == 1_630_000_000
    for table in (samples.to_polars(), polars.DataFrame(samples)):
        assert table.columns == names and table.filter(type="cpu")["value"].sum() == 1_630_000_000
    for arrow in (samples.to_arrow(), pyarrow.table(samples)):
        assert arrow.column_names == names and arrow.num_rows == len(samples) == 286
        arrow.validate(full=True)
    assert pyarrow.schema(samples).names == names
    assert duckdb.execute("SELECT sum(value) FROM samples WHERE type = 'cpu'").fetchall() == [(1_630_000_000,)]


def test_values(cpu: bytes) -> None:
    profiles = op.read(TESTDATA / "go-cpu-labels.pb.gz")
    stacks = {row["stack_id"]: row for row in profiles.stacks().to_arrow().to_pylist()}
    rows = [row for row in profiles.samples().to_arrow().to_pylist() if row["type"] == "cpu"]
    for sample, row in zip(profiles[0], rows, strict=True):
        assert (row["value"], row["trace_id"], row["span_id"]) == (sample.totals[1], sample.trace_id, sample.span_id)
        assert dict(row["attributes"]) == sample.attributes
        assert stacks[row["stack_id"]]["function_names"] == [frame.function for frame in sample.stack]
        assert stacks[row["stack_id"]]["addresses"] == [frame.address for frame in sample.stack]
    (_, profile) = profiles.profiles().to_arrow().to_pylist()
    assert (profile["input"], profile["format"]) == ("go-cpu-labels.pb.gz", "pprof")
    assert profile["time_unix_nano"] == profiles[0].time_unix_nano
    assert len(profiles.mappings()) > 0


def test_tables_of_several_sources_join_once(cpu: bytes, heap: bytes) -> None:
    tables = op.tables([cpu, heap, TESTDATA / "go-cpu-labels.pb.gz"])
    samples, stacks, profiles = tables.samples(), tables.stacks(), tables.profiles()
    query = """SELECT sum(value), count(DISTINCT input) FROM samples JOIN stacks USING (stack_id)
        JOIN profiles USING (profile_key) WHERE samples.type = 'cpu'"""
    assert duckdb.execute(query).fetchall() == [(2 * 1_630_000_000, 2)]
    assert not tables.losses and len(profiles) == 8 and len(stacks)


def test_tables_can_be_concatenated(cpu: bytes, heap: bytes) -> None:
    """Ids of different payloads differ; equal payloads have equal ids."""
    ids = [set(op.read(data).stacks().to_polars()["stack_id"]) for data in (cpu, heap, cpu)]
    assert not ids[0] & ids[1] and ids[0] == ids[2]


def test_empty_tables() -> None:
    samples = op.read(b"", format="otlp").samples()
    assert len(samples) == 0 and samples.to_arrow().column_names == samples.column_names
