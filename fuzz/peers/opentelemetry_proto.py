#!/usr/bin/env python3
"""Compares PyPI's opentelemetry-proto with the verdicts of a corpus of otlp-profiles, and fuzzes it.

    pip install opentelemetry-proto
    otlp-profiles corpus rules
    fuzz/peers/opentelemetry_proto.py rules [EXECUTIONS [SEED]]

Prints a line for each rule whose broken file Python decodes, or whose near miss it rejects; then decodes EXECUTIONS
mutants of these files. A mutant that decodes must encode and decode to an equal message. Uses atheris if it is installed,
otherwise a plain loop. Equal arguments give equal output, except with atheris.
"""

import json
import pathlib
import random
import sys

from google.protobuf.message import DecodeError
from opentelemetry.proto.profiles.v1development.profiles_pb2 import ProfilesData

# The generation that opentelemetry-proto has.
FORMAT = "otlp-1.10"
# Rules about bytes: a protobuf decoder can notice a violation.
WIRE = range(1001, 1019)


def decoded(file):
    """Returns the message, or None if it is malformed. Any other exception is a bug."""
    try:
        return ProfilesData.FromString(file)
    except DecodeError:
        return None


def conserved(file):
    """Whether encoding and decoding keeps what was decoded."""
    message = decoded(file)
    return message is None or decoded(message.SerializeToString(deterministic=True)) == message


def is_plain(entry):
    """Whether the file is a bare protobuf message, and its verdict does not depend on options."""
    return entry["arguments"] == ["--from", FORMAT] and not entry["rule"].startswith("OP00")


def compare(directory, entries):
    """Prints how Python's verdict differs from that of the corpus. Returns the files."""
    files, differences = [], 0
    for entry in filter(is_plain, entries):
        file = (directory / entry["file"]).read_bytes()
        files.append(file)
        rules = [rule for rule in entry["errors"] if rule.startswith("OP") and int(rule[2:]) in WIRE]
        accepts = decoded(file) is not None
        if accepts != (not rules):
            differences += 1
            print(f"{entry['file']}: Python {'accepts' if accepts else 'rejects'} it, validate reports {rules}")
    print(f"{len(files)} files, {differences} with another verdict")
    return files


def mutant(file, source):
    """Changes one to four places of a file."""
    file = bytearray(file)
    for _ in range(source.randint(1, 4)):
        at = source.randrange(len(file) + 1)
        length = source.randrange(8)
        part = file[at : at + length]
        new = [b"", source.randbytes(1), part + part, bytes([source.choice(b"\x00\x01\x7f\x80\xff\x0a\x12")])]
        file[at : at + length] = source.choice(new)
    return bytes(file)


def loop(files, executions, seed):
    """Decodes mutants. Returns how many were accepted."""
    source, accepted = random.Random(seed), 0
    for number in range(executions):
        file = mutant(source.choice(files), source)
        if not conserved(file):
            print(f"mutant {number} is not conserved: {file.hex()}")
        accepted += decoded(file) is not None
    return accepted


def main():
    directory = pathlib.Path(sys.argv[1])
    executions = int(sys.argv[2]) if len(sys.argv) > 2 else 100_000
    seed = int(sys.argv[3]) if len(sys.argv) > 3 else 1
    files = compare(directory, json.loads((directory / "manifest.json").read_text())["files"])
    try:
        import atheris
    except ImportError:
        accepted = loop(files, executions, seed)
        print(f"{executions} mutants with seed {seed}, {accepted} accepted")
        return
    atheris.Setup([sys.argv[0], f"-runs={executions}", f"-seed={seed}", str(directory)], conserved)
    atheris.Fuzz()


if __name__ == "__main__":
    main()
