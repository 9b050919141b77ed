import json
import os
from collections import Counter
from pathlib import Path
from typing import Any

import otlp_profiles as op

TESTDATA = Path(__file__).parents[2] / "testdata"
CORPUS = Path(os.environ.get("OTLP_PROFILES_CORPUS", TESTDATA.parents[1] / "shared" / "corpus"))

Facts = dict[str, Any]


def facts(root: Path) -> list[tuple[Path, Facts]]:
    """Pprofs and the facts that other readers found in them."""
    file = root / "facts.json"
    known = json.loads(file.read_text()) if file.exists() else {}
    return [(root / name, of) for name, of in known.items() if "canon_sha256" in of]


def canonical(profiles: op.Profiles) -> list[str]:
    """The canonical text of testdata/README.md."""
    sums: Counter[tuple[str, str, int]] = Counter()
    (profile,) = profiles
    for sample in profile:
        stack = ";".join(frame.function or hex(frame.address) for frame in reversed(sample.stack))
        labels = [f"{e.key}={e.value}{e.unit}" for e in sample.attributes.entries]
        labels += [f"{key}={getattr(sample, key)}" for key in ("trace_id", "span_id") if getattr(sample, key)]
        for column, total in enumerate(sample.totals):
            sums[stack, ",".join(sorted(labels)), column] += total
    columns = range(len(profile.sample_types))
    keys = sorted({key[:2] for key in sums})
    return [f"{stack} [{labels}] {','.join(str(sums[stack, labels, c]) for c in columns)}" for stack, labels in keys]
