"""The inputs: pprofs of testdata/ and the corpus, their OTLP, and what google/pprof reads in them."""

import concurrent.futures
import hashlib
import pathlib
import shutil
import subprocess
from dataclasses import dataclass

EXTENSIONS = (".pb", ".pb.gz", ".pprof", ".cpu", ".heap", ".contention")
# Larger files take most of the time and show nothing new.
MAX_BYTES = 100_000
GENERATIONS = [f"otlp-1.{minor}" for minor in range(3, 11)]


@dataclass
class Input:
    name: str
    """The path below its root."""
    path: pathlib.Path
    facts: dict
    """What google/pprof reads."""
    otlp: dict
    """The file in each generation, and as `otlp-json`."""
    back: dict
    """The pprof made of the file in each generation."""
    is_corpus: bool

    @property
    def number(self):
        """The beginning of the names of all files made of this input."""
        return self.path.name.partition("-")[0]


class Inputs:
    def __init__(self, command, go, folder, roots, texts):
        self.command, self.folder = command, folder
        self.pool = concurrent.futures.ThreadPoolExecutor(2)
        self.all = list(self.find(go, roots, texts))
        self.convert_all()

    def find(self, go, roots, texts):
        """Yields the pprofs, each content once, as copies with unique names."""
        copies, known = self.folder / "pprof", set()
        copies.mkdir()
        for root in roots:
            files = [path for path in sorted(root.rglob("*")) if path.name.endswith(EXTENSIONS) and path.is_file()]
            for path in files:
                digest = hashlib.sha256(path.read_bytes()).digest()
                is_chosen = not texts or any(text in str(path) for text in texts)
                if not is_chosen or path.stat().st_size > MAX_BYTES or digest in known:
                    continue
                known.add(digest)
                facts = go.ask("facts", path)
                # google/pprof does not read OTLP and some legacy formats.
                if isinstance(facts, str) or not facts["Rows"]:
                    continue
                copy = copies / f"{len(known):03}-{path.name}"
                shutil.copy(path, copy)
                yield Input(str(path.relative_to(root)), copy, facts, {}, {}, root != roots[0])

    def run(self, *args):
        """Runs the command. Returns stdout, or None if it fails."""
        ran = subprocess.run([self.command, *map(str, args)], capture_output=True, env={"TZ": "UTC"})
        return ran.stdout.decode() if ran.returncode == 0 else None

    def convert(self, source, to, folder):
        """Converts the files of a folder into another. Returns the results by number."""
        subprocess.run([self.command, "convert", source, "-o", folder, "--to", to, "--no-gzip"], capture_output=True)
        return {path.name.partition("-")[0]: path for path in folder.iterdir()} if folder.is_dir() else {}

    def convert_all(self):
        """Writes all inputs in every generation, and back to pprof."""

        def there_and_back(to):
            there = self.convert(self.folder / "pprof", to, self.folder / to)
            return to, there, self.convert(self.folder / to, "pprof", self.folder / f"{to}-pprof")

        for to, there, back in self.pool.map(there_and_back, [*GENERATIONS, "otlp-json"]):
            for one in self.all:
                one.otlp[to], one.back[to] = there.get(one.number), back.get(one.number)
