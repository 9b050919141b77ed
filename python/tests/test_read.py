import gzip
import hashlib
import io
import mmap
import pickle
from pathlib import Path
from typing import Any

import pytest
from helpers import CORPUS, TESTDATA, Facts, canonical, facts

import otlp_profiles as op

PPROFS = facts(TESTDATA) + facts(CORPUS / "made")


@pytest.mark.parametrize(("path", "of"), PPROFS, ids=[str(path.name) for path, _ in PPROFS])
def test_facts(path: Path, of: Facts) -> None:
    profiles = op.read(path)
    (profile,) = profiles
    assert (profiles.format, len(profile), profile.sums) == ("pprof", of["samples"], of["sums"])
    assert [[kind.name, kind.unit] for kind in profile.sample_types] == of["sample_types"]
    assert (profile.time_unix_nano, profile.duration_nanos) == (of["time_nanos"], of["duration_nanos"])
    assert (profile.period, profile.default_sample_type or "") == (of["period"], of["default_sample_type"])
    lines = canonical(profiles)
    assert len(lines) == of["canon_lines"]
    assert hashlib.sha256("".join(line + "\n" for line in lines).encode()).hexdigest() == of["canon_sha256"]
    assert canonical(op.read(profiles.write("otlp-1.7").payload)) == lines


def test_otlp_facts() -> None:
    profiles = op.read(TESTDATA / "otlp-1.11-timestamped-cpu-offcpu.binpb")
    of = [(p.sample_types[0].name, p.sample_types[0].unit, len(p), p.sums[0]) for p in profiles]
    assert of == [("cpu_sample", "ms", 2, 30), ("thread_state_duration", "ns", 2, 1_050_001_000)]
    sample = next(iter(profiles[0]))
    assert len(sample.timestamps_unix_nano) == len(sample.values) or not sample.values


def test_sources_are_equal(cpu: bytes, tmp_path: Path) -> None:
    path = tmp_path / "cpu.pb.gz"
    path.write_bytes(cpu)
    with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as mapped:
        sources: list[Any] = [path, str(path), cpu, bytearray(cpu), memoryview(cpu), mapped, op.read(cpu)]
        sources += [io.BytesIO(cpu), gzip.open(path)]
        assert {op.read(source).write("otlp").payload for source in sources} == {op.convert(cpu, "otlp").payload}
    for wrong in (3, None, [cpu]):
        with pytest.raises(TypeError, match="expected bytes-like, a path, a binary file or Profiles"):
            op.read(wrong)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match='open files with "rb"'):
        op.read(io.StringIO("main 1"))  # type: ignore[arg-type]


def test_profiles_are_a_sequence(heap: bytes) -> None:
    profiles = op.read(op.convert(heap, "otlp").payload)
    assert len(profiles) == 4 and len(list(profiles)) == 4
    assert repr(profiles[-1]) == repr(profiles[3]) == "<Profile inuse_objects:count, 56 samples>"
    for index in (4, -5):
        with pytest.raises(IndexError):
            profiles[index]


def test_a_profile_is_a_sequence(cpu: bytes) -> None:
    (profile,) = op.read(cpu)
    samples = list(profile)
    assert [profile[0], profile[-1], profile[len(samples) - 1]] == [samples[0], samples[-1], samples[-1]]
    for index in (len(samples), -len(samples) - 1):
        with pytest.raises(IndexError, match="of 143 samples"):
            profile[index]


@pytest.mark.parametrize("path", [*TESTDATA.glob("*.pb*"), *TESTDATA.glob("otlp*")], ids=lambda path: path.name)
def test_pickles_hold_all(path: Path) -> None:
    profiles = op.read(path)
    again = pickle.loads(pickle.dumps(profiles))
    assert (repr(again), again.format) == (repr(profiles), profiles.format)
    assert [list(profile) for profile in again] == [list(profile) for profile in profiles]
    assert again.profiles().to_arrow() == profiles.profiles().to_arrow()
    one = pickle.loads(pickle.dumps(profiles[-1]))
    assert (repr(one), one.sums, one.profile_id) == (repr(profiles[-1]), profiles[-1].sums, profiles[-1].profile_id)


def test_pickles_of_what_was_made(cpu: bytes, heap: bytes) -> None:
    merged = op.merge([cpu, heap, cpu])
    again = pickle.loads(pickle.dumps(merged))
    assert again.format is None
    sums = [sorted(total for profile in profiles for total in profile.sums) for profiles in (merged, again)]
    assert sums[0] == sums[1] and {len(profile.sums) for profile in again} == {1}
    assert op.diff(merged, again, mode="per_second").rows == []
    error = pickle.loads(pickle.dumps(op.Error("text", "limit", "samples[3]", 5, "max_samples")))
    assert (str(error), error.kind, error.place, error.byte, error.code) == ("text", "limit", "samples[3]", 5, "max_samples")


def test_notebooks_show_tables(cpu: bytes) -> None:
    assert "<td>cpu:nanoseconds" in op.read(op.convert(cpu, "otlp").payload)._repr_html_()
    assert "<td>850000000</td><td>850000000</td><td>crypto/sha256.block</td>" in op.top(cpu)._repr_html_()
    hostile = b"<script>alert(1)</script> 1\n"
    assert "<script" not in op.top(hostile)._repr_html_() + op.diff(hostile, b"main 1\n")._repr_html_()


def test_frames_and_attributes(cpu: bytes, heap: bytes) -> None:
    (profile,) = op.read(cpu)
    sample = next(sample for sample in profile if sample.attributes)
    assert set(sample.attributes) == {"endpoint", "region"}
    assert sample.trace_id and len(sample.trace_id) == 32 and sample.span_id and len(sample.span_id) == 16
    frame = sample.stack[0]
    assert frame.function and frame.file.endswith((".go", ".s")) and frame.line > 0 and frame.address > 0
    assert frame.mapping and "/" in frame.mapping and str(frame) == frame.function
    again = next(sample for sample in profile if sample.attributes)
    assert again.stack == sample.stack and hash(again.stack) == hash(sample.stack)
    sample = next(sample for sample in op.read(heap)[0] if sample.attributes)
    assert sample.attributes == {"bytes": 73_728} and sample.attributes.entries == [op.Attribute("bytes", 73_728, "")]


def test_attributes_keep_repeated_keys() -> None:
    attributes = op.Attributes([op.Attribute("k", 1, ""), op.Attribute("k", 2, "ms")])
    assert attributes == {"k": 1} and len(attributes.entries) == 2


def test_reader_reads_messages_one_by_one(tmp_path: Path, cpu: bytes) -> None:
    message = op.convert(cpu, "otlp-json").payload
    path = tmp_path / "profiles.jsonl"
    path.write_bytes(message + b"\n" + message + b"\n{broken\n")
    reader = op.Reader(path)
    assert [next(reader).format for _ in range(2)] == ["otlp-json"] * 2
    with pytest.raises(op.Error, match="profiles.jsonl"):
        next(reader)
    with pytest.raises(op.Error, match=r"Reader reads them one by one") as raised:
        op.read(message + b"\n" + message)
    assert raised.value.kind == "several_messages"


def test_detect(cpu: bytes) -> None:
    detected = op.detect(cpu)
    assert (detected.format, detected.certainty, detected.others) == ("pprof", "certain", [])
    assert detected.evidence
    guess = op.detect(TESTDATA / "ambiguous-1.10-or-1.9.otlp")
    assert guess.format == "otlp-1.10" and "otlp-1.9" in guess.others


def test_constants() -> None:
    assert op.FORMATS["pprof"].can_write and not op.FORMATS["perf-script"].can_write
    assert op.LOSS_CODES["temporality.dropped"].kind == "dropped"
