import pickle
import random
from pathlib import Path

import pytest
from helpers import TESTDATA

import otlp_profiles as op


def test_error_has_place_and_byte() -> None:
    with pytest.raises(op.Error) as raised:
        op.read(b"\x0a\x02\x12\x05", format="otlp")
    error = raised.value
    assert (error.kind, error.place, error.byte, error.code) == ("malformed", "resource_profiles[0]", 4, None)
    assert str(error) == "resource_profiles[0]: length 5 exceeds the remaining 0 bytes (byte 4)"
    copy = pickle.loads(pickle.dumps(error))
    assert (str(copy), copy.place, copy.byte) == (str(error), error.place, 4)
    assert isinstance(error, ValueError)


def test_hints_name_arguments(cpu: bytes) -> None:
    with pytest.raises(op.Error, match=r'limits=\{"max_samples": …\} raises it') as raised:
        op.read(cpu, limits={"max_samples": 1})
    assert (raised.value.kind, raised.value.code) == ("limit", "max_samples")
    broken = b"\x0a\x00\x12\x05\x0a\x01\x09\x12\x00\x32\x00"
    with pytest.raises(op.Error, match=r"repair=True drops the reference"):
        op.read(broken, format="pprof")
    findings = op.read(broken, format="pprof", repair=True).findings
    assert findings and findings[0].code and findings[0].severity == "error"
    ambiguous = TESTDATA / "ambiguous-1.10-or-1.9.otlp"
    with pytest.raises(op.Error, match=r"format= names the format, guess=True accepts a guess"):
        op.read(ambiguous)
    assert op.read(ambiguous, guess=True).certainty == "preferred"


def test_wrong_arguments(cpu: bytes, tmp_path: Path) -> None:
    for arguments in ({"format": "otlp-9"}, {"endpoint": "/v1/traces"}):
        with pytest.raises(op.Error):
            op.read(cpu, **arguments)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match='unknown limit "max"; the limits are max_input_bytes, '):
        op.read(cpu, limits={"max": 1})
    with pytest.raises(ValueError, match="by is function"):
        op.top(cpu, by="x")
    with pytest.raises(FileNotFoundError) as raised:
        op.read(tmp_path / "missing")
    assert raised.value.filename == str(tmp_path / "missing")
    with pytest.raises(IsADirectoryError):
        op.read(tmp_path)
    with pytest.raises(TypeError, match="pass a list"):
        op.merge(cpu)  # type: ignore[arg-type]


def test_limits_of_files(cpu: bytes, tmp_path: Path) -> None:
    path = tmp_path / "cpu.pb.gz"
    path.write_bytes(cpu)
    with pytest.raises(op.Error, match=r"cpu.pb.gz: \d+ bytes of input exceed the limit of 100") as raised:
        op.read(path, limits={"max_input_bytes": 100})
    assert raised.value.code == "max_input_bytes"
    assert len(op.read(path, limits="unlimited")) == 1


def test_hostile_bytes() -> None:
    """Only Error is raised: no panic, no abort."""
    choose = random.Random(7)
    files = [path for path in sorted(TESTDATA.iterdir()) if path.stat().st_size < 40_000]
    payloads = [choose.randbytes(n) for n in range(100)]
    for path in files:
        data = path.read_bytes()
        payloads += [data[: choose.randrange(len(data))] for _ in range(6)]
        for _ in range(20):
            mutant = bytearray(data)
            for _ in range(choose.randrange(1, 5)):
                mutant[choose.randrange(len(data))] = choose.randrange(256)
            payloads.append(bytes(mutant))
    read = 0
    for payload in payloads:
        op.validate(payload)
        try:
            profiles = op.read(payload, repair=True, guess=True)
            read += 1
            for profile in profiles:
                for sample in profile:
                    repr(sample)
            profiles.write_all("pprof")
            op.top(profiles)
            op.diff(profiles, profiles)
            profiles.samples(), profiles.stacks(), profiles.profiles(), profiles.mappings()
        except op.Error:
            pass
    assert read > 100


def test_stacks_of_millions_of_frames_are_refused() -> None:
    def field(number: int, payload: bytes) -> bytes:
        size, out = len(payload), bytearray([number << 3 | 2])
        while size > 127:
            out.append(size & 127 | 128)
            size >>= 7
        return bytes(out) + bytes([size]) + payload

    location = b"\x08\x01" + field(4, b"\x08\x01") * 2_000
    sample = field(1, b"\x01" * 2_000) + field(2, b"\x01")
    function = b"\x08\x01"
    payload = field(1, b"") + field(2, sample) + field(4, location) + field(5, function) + field(6, b"")
    (profile,) = op.read(payload, format="pprof")
    with pytest.raises(op.Error, match="a stack has more than 1048576 frames") as raised:
        next(iter(profile))
    assert (raised.value.kind, raised.value.place) == ("limit", "samples[0]")
