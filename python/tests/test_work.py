import importlib.metadata
import json
import os
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from helpers import TESTDATA

import otlp_profiles as op


def test_convert_reports_losses(cpu: bytes, heap: bytes) -> None:
    assert op.convert(cpu, "pprof").verdict == "exact"
    written = op.convert(cpu, "otlp-1.7")
    assert written.verdict == "semantic" and {loss.kind for loss in written.losses} <= {"note", "synthesized"}
    assert op.read(written.payload).format == "otlp-1.7"
    written = op.convert(heap, "speedscope")
    loss = next(loss for loss in written.losses if loss.code == "mapping.dropped")
    assert (loss.kind, written.verdict) == ("dropped", "lossy") and loss.count > 0 and loss.first
    with pytest.raises(op.Error, match="deny_loss refuses the losses of this conversion: ") as raised:
        op.convert(heap, "speedscope", deny_loss=True)
    assert raised.value.kind == "loss" and raised.value.code in op.LOSS_CODES
    with pytest.raises(op.Error):
        op.convert(TESTDATA / "ambiguous-1.10-or-1.9.otlp", "pprof", guess=True, deny_loss=True)


def test_deny_loss_counts_repairs() -> None:
    broken = b"\x0a\x00\x12\x05\x0a\x01\x09\x12\x00\x32\x00"
    written = op.convert(broken, "otlp", format="pprof", repair=True)
    assert written.verdict == "lossy" and written.findings
    with pytest.raises(op.Error, match="deny_loss"):
        op.convert(broken, "otlp", format="pprof", repair=True, deny_loss=True)


def test_write_all() -> None:
    profiles = op.read(TESTDATA / "otlp-1.11-timestamped-cpu-offcpu.binpb")
    with pytest.raises(op.Error, match="write_all") as raised:
        profiles.write("pprof")
    assert raised.value.kind == "unrepresentable"
    assert [op.read(payload).format for payload in profiles.write_all("pprof").payloads] == ["pprof"] * 2


def test_validate(cpu: bytes) -> None:
    assert all(finding.severity != "error" for finding in op.validate(cpu))
    (finding,) = [finding for finding in op.validate(b"\x0a\x00") if finding.code == "OP2002"]
    assert finding.place == "resource_profiles[0].scope_profiles" and finding.name and finding.message
    (empty,) = op.validate(b"")
    assert (empty.code, empty.severity, empty.message) == ("OP0001", "error", "the input is empty: no bytes")
    with pytest.raises(op.Error):
        op.validate(cpu, receiver="nobody")


def test_top(cpu: bytes, heap: bytes) -> None:
    top = op.top(cpu, limit=2)
    assert (top.total, top.sample_type, top.unit) == (1_630_000_000, "cpu", "nanoseconds")
    assert [(row.name, row.flat) for row in top.rows] == [("crypto/sha256.block", 850_000_000), ("cmpbody", 100_000_000)]
    assert op.top(heap, sample_type="alloc_objects").total == 6_912_457
    assert op.top(cpu, by="attribute:endpoint", cum=True).rows


def test_formats_of_one_type_get_the_default_type(cpu: bytes) -> None:
    folded = op.convert(cpu, "folded").payload
    assert folded == op.convert(cpu, "folded", sample_type="cpu").payload
    total = sum(int(line.rpartition(b" ")[2]) for line in folded.splitlines())
    assert total == 1_630_000_000 == op.top(cpu).total
    total = sum(int(line.rpartition(b" ")[2]) for line in op.read(cpu).write("folded", sample_type="samples").payload.splitlines())
    assert total == 163
    with pytest.raises(op.Error, match="no sample type has this name; there are samples, cpu"):
        op.convert(cpu, "otlp", sample_type="wall")


def test_every_function_shows_the_same_type() -> None:
    compared = 0
    for file in sorted(TESTDATA.iterdir()):
        try:
            top = op.top(file)
        except op.Error:
            continue
        if not top.total or not top.sample_type:
            continue
        compared += 1
        assert op.diff(file, file).sample_type == top.sample_type, file
        assert op.top(op.merge([file, file])).sample_type == top.sample_type, file
        assert f'"type":{{"type":"{top.sample_type}"' in op.view([file]), file
        if op.detect(file).format in ("pprof", "otlp-1.10"):
            folded = op.convert(file, "folded").payload
            assert folded == op.convert(file, "folded", sample_type=top.sample_type).payload, file
    assert compared > 10


def test_filters(cpu: bytes) -> None:
    focused = op.top(cpu, focus="sha256", ignore=None)
    assert focused.total == 1_630_000_000 and focused.rows[0].name == "crypto/sha256.block"
    assert {"main.sortWork"} & {row.name for row in op.top(cpu).rows} - {row.name for row in focused.rows}
    kept = op.filter(cpu, focus="sha256", sample_type="cpu", strip=["addresses", "mappings"])
    assert kept.format == "pprof" and kept[0].sums == [sum(row.flat for row in focused.rows)]
    assert {(frame.address, frame.mapping) for sample in kept[0] for frame in sample.stack} == {(0, None)}
    assert {sample.attributes["endpoint"] for sample in op.filter(cpu, tagfocus="endpoint=/v1/sort")[0]} == {"/v1/sort"}
    assert {sample.stack[-1].function for sample in op.filter(cpu, tagroot=["region", "endpoint"])[0]} == {"", "us"}
    with pytest.warns(UserWarning, match="no sample matches focus"):
        assert len(op.filter(cpu, focus="nothing here", all_frames=True)[0]) == 0
    start = op.read(cpu)[0].time_unix_nano
    assert len(op.filter(cpu, time=(start, None))[0]) == 143 and len(op.filter(cpu, time=(None, start))[0]) == 0
    assert len(op.filter(op.read(cpu), where_resource={"service.name": "x"})) == 0
    for wrong, error in (({"focus": "("}, "focus is not a regular expression"), ({"strip": "names"}, "strip is")):
        with pytest.raises(ValueError, match=error):
            op.filter(cpu, **wrong)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="the filters are focus, ignore"):
        op.top(cpu, fokus="x")  # type: ignore[call-arg]


def test_redact_and_split(cpu: bytes, heap: bytes) -> None:
    redacted = op.redact(cpu, keep=["^runtime[.]", "^/v1/"])
    names = {frame.function for sample in redacted[0] for frame in sample.stack}
    assert "function_1" in names and "runtime.mallocgc" in names and "main.sortWork" not in names
    parts = op.split(cpu, "attribute:endpoint")
    assert sum(part[0].sums[1] for part in parts.values()) == 1_630_000_000
    assert any(name.startswith("_v1_sort-") for name in parts)
    assert [repr(part) for part in op.split(heap, "type").values()] == ["<Profiles pprof: 1 profile, 56 samples>"] * 4
    parts = op.split(cpu, max_bytes=8_000)
    assert list(parts) == [f"{row + 1:04}" for row in range(len(parts))] and len(parts) > 1
    assert all(len(part.write("otlp").payload) <= 8_000 for part in parts.values())
    assert len(op.split(cpu, window_nanos=10**18)) == 1
    for wrong in ({}, {"by": "type", "max_bytes": 1}, {"window_nanos": 0}, {"by": "day"}):
        with pytest.raises(ValueError, match="split needs one of|by is resource"):
            op.split(cpu, **wrong)


def test_view_is_read_back(cpu: bytes, heap: bytes) -> None:
    page = op.view([cpu, op.read(heap)], base=[cpu], sample_type="cpu", focus="sha256|main")
    assert page.startswith("<!doctype html>")
    assert [len(profiles) for profiles in op.Reader(page.encode())] == [2, 2, 4]
    cut = next(op.Reader(op.view([cpu], focus="sha256").encode()))
    assert sum(cut[0].sums) < 1_630_000_000


def test_version() -> None:
    assert op.__version__ == importlib.metadata.version("otlp-profiles")


def test_merge_options(heap: bytes) -> None:
    document = json.loads(op.convert(heap, "otlp-json").payload)

    def of(pod: str) -> op.Profiles:
        attributes = [{"key": "k8s.pod.name", "value": {"stringValue": pod}}]
        document["resourceProfiles"][0]["resource"] = {"attributes": attributes}
        return op.read(json.dumps(document).encode())

    pods = [of("a"), of("b")]
    sums = [profile.sums for profile in pods[0]]
    assert len(op.merge(pods)) == 8
    added = op.merge(pods, ignore_resource="k8s.pod.name")
    assert [profile.sums for profile in added] == [[2 * of for of in row] for row in sums]
    assert not added[0].resource_attributes
    shorter = op.filter(pods[0], hide="^runtime")
    last = op.merge([shorter, pods[0]], combine="last")
    assert [profile.sums for profile in last] == sums
    with pytest.raises(ValueError, match="combine is sum, last"):
        op.merge(pods, combine="first")  # type: ignore[arg-type]


def test_merge_and_diff(cpu: bytes, heap: bytes) -> None:
    once, twice = op.read(cpu), op.merge([cpu, TESTDATA / "go-cpu-labels.pb.gz"])
    assert twice.format is None and repr(twice) == "<Profiles merged: 1 profile, 143 samples>"
    assert len(op.merge((source for source in [cpu, cpu, heap]), keep_apart=True)) == 3
    assert op.diff(cpu, once).rows == []


def test_diff_rows(cpu: bytes) -> None:
    base, new = b"main;a 10\nmain;b 5\n", b"main;a 10\nmain;b 25\nmain;c 1\n"
    diff = op.diff(base, new)
    assert (diff.base_total, diff.new_total) == (15, 36)
    rows = {row.name: (row.base, row.new, row.difference, row.relative) for row in diff.rows}
    assert rows == {"main": (15, 36, 21.0, 1.4), "b": (5, 25, 20.0, 4.0), "c": (0, 1, 1.0, None)}
    assert op.diff(base, new, by="total", mode="share").rows == []


def test_releases_the_gil(cpu: bytes, tmp_path: Path) -> None:
    """The reader waits for a pipe that another thread of this process writes: with the GIL held, nobody writes."""
    if not hasattr(os, "mkfifo"):
        pytest.skip("no named pipes")
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    script = f"""
import threading, otlp_profiles as op
def write():
    with open({str(pipe)!r}, "wb") as file:
        file.write(open({str(TESTDATA / "go-cpu-labels.pb.gz")!r}, "rb").read())
thread = threading.Thread(target=write)
thread.start()
print(op.read({str(pipe)!r}))
thread.join()
"""
    ran = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=60)
    assert ran.stdout.strip() == repr(op.read(cpu)), ran.stderr


def test_threads_share_profiles(cpu: bytes) -> None:
    profiles, texts = op.read(cpu), []
    threads = [threading.Thread(target=lambda: texts.append(op.top(profiles))) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(texts) == 8 and all(text == texts[0] for text in texts)


def test_needs_no_other_package() -> None:
    script = "import sys, otlp_profiles; print(sorted({'numpy', 'pandas', 'polars', 'pyarrow'} & set(sys.modules)))"
    assert subprocess.run([sys.executable, "-c", script], capture_output=True, text=True).stdout == "[]\n"


def test_stubs(tmp_path: Path) -> None:
    root = Path(__file__).parents[1]
    command = [sys.executable, "-m", "mypy", "otlp_profiles", "tests"]
    checked = subprocess.run(command, cwd=root, capture_output=True, text=True)
    assert checked.returncode == 0, checked.stdout
    command = [sys.executable, "-m", "mypy.stubtest", "otlp_profiles", "--mypy-config-file", str(root / "pyproject.toml")]
    # Not in the folder of the sources, which lacks the native module of an installed wheel.
    checked = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert checked.returncode == 0, checked.stdout + checked.stderr
