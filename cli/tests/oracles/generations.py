"""Readers of OTLP in other languages, on the payloads that the command writes."""

import json
import subprocess

import programs

# The generation, the release of io.opentelemetry.proto, and its package.
RELEASES = [
    ("otlp-1.3", "1.3.2-alpha", "v1experimental"),
    *((f"otlp-1.{minor}", f"1.{minor}.0-alpha", "v1development") for minor in range(4, 11)),
    ("otlp-1.10", "1.11.0-alpha", "v1development"),
]
# opentelemetry-proto-json needs typing_extensions without declaring it.
PACKAGES = ["opentelemetry-proto", "opentelemetry-proto-json", "typing_extensions"]
SAME = {"is_same": True}


def expected(one, generation):
    """What a reader finds: until 1.7, a sample has a value of each type; later, a profile has one type."""
    minor = int(generation.partition(".")[2])
    rows = one.facts["Rows"] * (1 if minor < 8 else len(one.facts["Types"]))
    return {"rows": rows, "sum": one.facts["Sum"]}


def go(comparison, inputs, go):
    # The Collector does not keep the bytes, as it replaces keys of attributes by references. What it writes is read
    # again, and compared as a pprof.
    folders = {name: inputs.folder / f"pdata-{name}" for name in ("proto", "json", "of-json")}
    for folder in folders.values():
        folder.mkdir()
    for one in inputs.all:
        stem = one.path.name.partition(".")[0]
        proto, text = (folders[name] / f"{stem}.{end}" for name, end in (("proto", "otlp"), ("json", "json")))
        of_json = folders["of-json"] / f"{stem}.otlp"
        for name, files in {"": ("otlp-1.10", proto, text), "-json": ("otlp-json", of_json)}.items():
            found = go.ask("pdata", one.otlp[files[0]], *files[1:])
            if isinstance(found, dict):
                found = {"rows": found["Rows"], "sum": found["Sum"]}
            comparison.equal(f"pdata{name}", one.name, found, expected(one, "otlp-1.10"))
        comparison.equal("pdata-of-json", one.name, of_json.read_bytes() == proto.read_bytes(), True)
    backs = {name: inputs.convert(folder, "pprof", folder / "back") for name, folder in folders.items()}
    for one in inputs.all:
        # google/pprof reads the same profile after a way through any generation, or through the Collector.
        ways = {**one.back, **{f"pdata-{name}": files.get(one.number) for name, files in backs.items()}}
        for name, path in ways.items():
            facts = go.ask("facts", path)
            digest = facts if isinstance(facts, str) else facts["Digest"]
            comparison.equal(f"{name}/back", one.name, one.facts["Digest"], digest)


def java(comparison, inputs, source):
    jars = programs.java_classes(source, inputs.folder)
    if jars is None:
        return

    def read(release):
        generation, version, package = release
        classes = [inputs.folder / "classes", jars / "protobuf-java-4.36.2.jar", jars / f"opentelemetry-proto-{version}.jar"]
        name = f"io.opentelemetry.proto.profiles.{package}.ProfilesData"
        command = ["java", "-cp", ":".join(map(str, classes)), "Reemit", name]
        paths = "".join(f"{one.otlp[generation]}\n" for one in inputs.all)
        lines = subprocess.run(command, input=paths, capture_output=True, text=True).stdout.splitlines()
        # A missing line is a difference.
        for row, one in enumerate(inputs.all):
            fields = lines[row].split(" ") if row < len(lines) else []
            found = " ".join(fields)
            if len(fields) == 4 and fields[0] != "refused":
                rows, total, unknown, is_same = fields
                found = {"rows": int(rows), "sum": total, "unknown": int(unknown), "is_same": is_same == "true"}
            comparison.equal(f"java-{version}", one.name, found, expected(one, generation) | SAME | {"unknown": 0})

    list(inputs.pool.map(read, RELEASES))


def python(comparison, inputs, script):
    interpreter = programs.python_with(PACKAGES, inputs.folder)
    if interpreter is None:
        return
    paths = "".join(f"{one.otlp['otlp-1.10']}\t{one.otlp['otlp-json']}\n" for one in inputs.all)
    ran = subprocess.run([interpreter, script], input=paths, capture_output=True, text=True)
    lines = ran.stdout.splitlines() or [json.dumps(ran.stderr)] * len(inputs.all)
    for one, line in zip(inputs.all, lines, strict=True):
        comparison.equal("python", one.name, json.loads(line), expected(one, "otlp-1.10") | SAME | {"is_same_json": True})
