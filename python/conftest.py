import shutil
import sys
from pathlib import Path

import pytest

import otlp_profiles as op

ROOT = Path(__file__).parent
sys.path.insert(0, str(ROOT / "tests"))

from helpers import TESTDATA  # noqa: E402


@pytest.fixture
def cpu() -> bytes:
    return (TESTDATA / "go-cpu-labels.pb.gz").read_bytes()


@pytest.fixture
def heap() -> bytes:
    return (TESTDATA / "go-heap.pb.gz").read_bytes()


@pytest.fixture(autouse=True)
def files_of_examples(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The files that the examples of the documentation read."""
    if not isinstance(request.node, pytest.DoctestItem):
        return
    monkeypatch.chdir(tmp_path)
    shutil.copy(TESTDATA / "go-cpu-labels.pb.gz", "cpu.pb.gz")
    for version, cost in (("v1", 40), ("v2", 65)):
        folder = Path("profiles", version)
        folder.mkdir(parents=True)
        for host in range(3):
            folded = f"main;serve;parse 30\nmain;serve;json.Marshal {cost + host}\nmain;serve;json.Marshal;grow 8\n"
            (folder / f"host{host}.pb").write_bytes(op.convert(folded.encode(), "pprof").payload)
