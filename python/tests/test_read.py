import hashlib
import mmap
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
        assert {op.read(source).write("otlp").payload for source in sources} == {op.convert(cpu, "otlp").payload}
    for wrong in (3, None, [cpu]):
        with pytest.raises(TypeError, match="expected bytes-like, a path or Profiles"):
            op.read(wrong)  # type: ignore[arg-type]


def test_profiles_are_a_sequence(heap: bytes) -> None:
    profiles = op.read(op.convert(heap, "otlp").payload)
    assert len(profiles) == 4 and len(list(profiles)) == 4
    assert repr(profiles[-1]) == repr(profiles[3]) == "<Profile inuse_objects:count, 56 samples>"
    for index in (4, -5):
        with pytest.raises(IndexError):
            profiles[index]


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
