"""The tests of `run`: equal answers in all engines, and equal to what other readers compute."""

import collections
import json
import math
import os
import pathlib
import re
import subprocess
import sys
import time

import sqlglot

from engines import ENGINES, answer

ROOT = pathlib.Path(__file__).resolve().parents[3]
COMMAND, ROOM, CHOSEN = sys.argv[1], pathlib.Path(sys.argv[2]), sys.argv[3].split(",")
TRACE = "01020304010203040102030401020304"
# Names that are hard for paths, SQL, Python or substitutions.
AWKWARD = ["a/b c", "..", "it's", "ünï-日本", 'q"\\d${HOME}{where}', "x" * 300]
INPUTS = ["go-cpu-labels.pb.gz", "go-heap.pb.gz", "go-allocs.pb.gz", "go-mutex.pb.gz", "rust-cpu.pb.gz", "rust-heap.pb.gz"]
INPUTS += ["node-wall.pb.gz", "node-heap.pb.gz", "otlp-1.11-timestamped-cpu.binpb", "odd-frames.folded", "otep.folded"]
# The default type depends on the segments of a dataset.
CPU = ["--type", "cpu"]
QUESTIONS = {
    "contents": [],
    "top": [*CPU, "-n", "0"],
    "top --cum": [*CPU, "-n", "0"],
    "flame": CPU,
    "tree": CPU,
    "compare": [*CPU, "--version", "1.0", "1.1", "-n", "0"],
    "compare --cum": [*CPU, "--version", "1.0", "1.1", "-n", "0"],
    "label": [*CPU, "--label", "endpoint"],
    "p95": [*CPU, "-n", "0"],
    "functions": [*CPU, "--regex", r"malloc|gc|sha\d+\.", "-n", "0"],
    "trace": ["--trace-id", TRACE],
    "hours": [],
}


def run(*arguments):
    result = subprocess.run([COMMAND, *map(str, arguments)], capture_output=True, text=True)
    assert result.returncode == 0, f"{arguments}: {result.stderr}"
    return result.stdout


def statement(question, engine, directory, *options):
    return run("sql", *question.split(), "--engine", engine, "--dir", directory, *options)


def ask(question, engine, directory, *options):
    """The rows of an answer, sorted: ties have no order of their own."""
    names, rows = answer(RUNNING[engine], statement(question, engine, directory, *options))
    return names, sorted(rows, key=lambda row: [str(value) for value in row])


def close(one, other):
    """Equal, or as near as the interpolation of DataFusion and rounding to two digits allow."""
    numbers = all(isinstance(value, (int, float)) for value in (one, other))
    return one == other or numbers and math.isclose(one, other, rel_tol=1e-5, abs_tol=0.011)


def assert_same(what, one, other):
    assert one[0] == other[0], f"{what}: columns {one[0]} and {other[0]}"
    assert len(one[1]) == len(other[1]), f"{what}: {len(one[1])} rows and {len(other[1])}"
    for left, right in zip(one[1], other[1]):
        assert all(map(close, left, right)), f"{what}: {left} and {right}"


def inputs():
    """Writes OTLP files with services and versions, and returns their paths."""
    paths = [ROOT / "testdata" / name for name in INPUTS]
    corpus = os.environ.get("OTLP_PROFILES_CORPUS")
    if corpus:
        paths += sorted(pathlib.Path(corpus).glob("public/*/**/*.pb.gz"))[:20]
    made = []
    for row, path in enumerate(paths * 2):
        out = ROOM / "inputs" / f"{row}.otlp"
        out.parent.mkdir(exist_ok=True)
        service = AWKWARD[row // 3 % len(AWKWARD)] if row % 3 == 0 else f"service-{row % 4}"
        version = "1.0" if row < len(paths) else "1.1"
        resource = ["--resource", f"service.name={service}", "--resource", f"service.version={version}"]
        run("convert", path, "--to", "otlp-1.10", "-o", out, "-q", *resource)
        made.append(out)
    return made


def export(paths, directory):
    run("export", *paths, "-o", directory, "-q")


def folded(paths, sample_type):
    """Adds up the folded stacks that another reader of the same inputs writes, and their sums by function."""
    stacks, flat, cumulative = (collections.Counter() for _ in range(3))
    for path in paths:
        arguments = [COMMAND, "convert", path, "--to", "folded", "--type", sample_type, "-o", "-"]
        result = subprocess.run(arguments, capture_output=True, text=True)
        for line in result.stdout.splitlines():
            stack, value = line.rsplit(" ", 1)
            frames = [re.sub(r"^0x[0-9a-f]+$", "[unknown]", frame) for frame in stack.split(";")]
            stacks[";".join(frames)] += int(value)
            flat[frames[-1]] += int(value)
            for frame in set(frames):
                cumulative[frame] += int(value)
    return stacks, flat, cumulative


def test_engines_agree(one, ten, both):
    for question, options in QUESTIONS.items():
        first = ask(question, CHOSEN[0], one, *options)
        assert first[1], f"{question}: no rows"
        for engine in CHOSEN:
            for directory in (one, ten, both):
                assert_same(f"{question}, {engine}, {directory}", first, ask(question, engine, directory, *options))
        print(f"    {question}: {len(first[1])} rows, the same in {', '.join(CHOSEN)}")


def test_answers_are_those_of_other_readers(paths, directory):
    for sample_type in ("cpu", "inuse_space", "wall"):
        stacks, flat, cumulative = folded(paths, sample_type)
        assert stacks, sample_type
        for question, wanted in (("top", flat), ("top --cum", cumulative)):
            _, rows = ask(question, CHOSEN[0], directory, "--type", sample_type, "-n", "0")
            got = collections.Counter()
            for name, _, value in rows:
                got[name] += value
            assert got == wanted, f"{question} {sample_type}: {dict((got - wanted) + (wanted - got))}"
        _, rows = ask("flame", CHOSEN[0], directory, "--type", sample_type)
        got = {row[0].rsplit(" ", 1)[0]: int(row[0].rsplit(" ", 1)[1]) for row in rows}
        assert got == dict(stacks), f"flame {sample_type}"
        print(f"    top, flame, {sample_type}: {len(stacks)} stacks, as in folded output")


def test_sums_are_those_of_info(paths, directory):
    wanted = collections.Counter()
    documents = map(json.loads, run("info", "--json", *paths).splitlines())
    for file in (file for document in documents for file in document["files"]):
        for resource in (resource for message in file["messages"] for resource in message["resources"]):
            service = resource["attributes"]["service.name"]
            for profile in (profile for scope in resource["scopes"] for profile in scope["profiles"]):
                for one in profile["sample_types"]:
                    wanted[service, one["type"], one["unit"]] += one["sum"]
    for engine in CHOSEN:
        got = collections.Counter()
        for row in ask("contents", engine, directory)[1]:
            got[row[0], row[2], row[3]] += row[6]
        assert got == wanted, f"contents, {engine}: {got} and {wanted}"
    print(f"    contents: {len(wanted)} sums, as in info --json")


def test_values_are_quoted(directory):
    for engine in CHOSEN:
        for service in AWKWARD:
            rows = ask("contents", engine, directory, "--service", service)[1]
            assert {row[0] for row in rows} == {service}, f"{engine}: {service}"
        for value in ("x' OR 'x'='x", 'x" OR 1=1 --', "x\\' OR 1=1 --", "'; DROP TABLE samples; --"):
            options = ["--service", value, "--type", value, "--label", value]
            assert not ask("label", engine, directory, *options)[1], f"{engine}: {value}"
            assert not ask("functions", engine, directory, "--service", value, "--regex", "x'.*")[1], engine
    print(f"    {len(AWKWARD)} awkward services found by service_name, values quoted")


def test_trino_parses(directory):
    for question, options in QUESTIONS.items():
        for source in ([], ["--dir", "s3://bucket/d"]):
            sqlglot.parse(run("sql", *question.split(), "--engine", "trino", *options, *source), dialect="trino")
    for table in sqlglot.parse(run("sql", "tables", "--engine", "trino", "--dir", "s3://bucket/d"), dialect="trino"):
        name = table.this.this.name
        declared = {column.name for column in table.this.expressions}
        files = f"'{directory}/{name}/**/*.parquet'"
        stored = {row[0] for row in answer(RUNNING["duckdb"], f"DESCRIBE SELECT * FROM read_parquet({files})")[1]}
        assert declared <= stored, f"trino, {name}: {declared - stored}"
    print("    trino: parsed")


def table(names, rows):
    """A table in Markdown."""

    def cell(value):
        return "" if value is None else str(value).replace("|", "\\|")

    lines = [names, ["---"] * len(names), *rows]
    return "".join("| " + " | ".join(map(cell, line)) + " |\n" for line in lines)


def test_page_shows_the_results():
    """Makes the dataset of docs/QUERIES.md by its commands, and compares the results of its statements."""
    page = ROOT / "docs/QUERIES.md"
    text = page.read_text()
    room = ROOM / "page"
    room.mkdir()
    (room / "testdata").symlink_to(ROOT / "testdata")
    (setup,) = re.findall(r"```sh\n(printf.*?)```", text, re.DOTALL)
    subprocess.run(setup.replace("otlp-profiles", COMMAND), shell=True, check=True, cwd=room)
    os.chdir(room)

    def with_result(block):
        arguments = re.search(r"\$ otlp-profiles (.*)", block[1])[1].split()
        names, rows = answer(RUNNING["duckdb"], run(*arguments))
        return block[1] + "\n" + table(names, rows)

    ran = re.sub(r"(```console\n[^`]*```\n)\n(\|.*\n)+", with_result, text)
    os.chdir(ROOT)
    if "BLESS" in os.environ:
        page.write_text(ran)
    assert ran == page.read_text(), f"{page} is out of date: run with BLESS=1\n{ran}"
    print("    docs/QUERIES.md shows the results")


def measure(directory):
    """Prints the CPU time of each question in ms, best of three, for engines that run in this process."""
    engines = [engine for engine in CHOSEN if engine != "spark"]
    day = ["--service", "service-1", "--since", "2026-01-03", "--until", "2026-01-04"]
    questions = {**QUESTIONS, "flame (service, day)": day}
    print("| question |" + "".join(f" {engine} |" for engine in engines))
    print("|---|" + "---|" * len(engines))
    for question, options in questions.items():
        cells = []
        for engine in engines:
            text, times = statement(question.split(" (")[0], engine, directory, *options), []
            for _ in range(3):
                start = time.process_time()
                answer(RUNNING[engine], text)
                times.append(time.process_time() - start)
            cells.append(f" {min(times) * 1000:.0f} |")
        print(f"| {question} |" + "".join(cells), flush=True)


def main():
    paths = inputs()
    one, ten, both = (ROOM / name for name in ("one", "ten", "both"))
    export(paths, one)
    for row in range(10):
        export(paths[row::10], ten)
    halves = [[COMMAND, "export", *paths[row::2], "-o", both, "-q"] for row in range(2)]
    for exporter in [subprocess.Popen(half) for half in halves]:
        assert exporter.wait() == 0
    test_sums_are_those_of_info(paths, one)
    test_answers_are_those_of_other_readers(paths, ten)
    test_engines_agree(one, ten, both)
    test_values_are_quoted(one)
    test_trino_parses(one)
    test_page_shows_the_results()


RUNNING = {name: ENGINES[name]() for name in CHOSEN}
if len(sys.argv) > 5:
    measure(sys.argv[5])
else:
    main()
