"""Reads OTLP with opentelemetry-proto and opentelemetry-proto-json, and writes it again.

Stdin: a line of two paths for each payload, protobuf and JSON. Stdout: a JSON object a line.
"""

import json
import pathlib
import sys

from opentelemetry.proto.profiles.v1development.profiles_pb2 import ProfilesData
from opentelemetry.proto_json.profiles.v1development import profiles as proto_json

for line in sys.stdin:
    payload, text = (pathlib.Path(path) for path in line.rstrip("\n").split("\t"))
    data = payload.read_bytes()
    message = ProfilesData.FromString(data)
    profiles = [
        profile
        for resource in message.resource_profiles
        for scope in resource.scope_profiles
        for profile in scope.profiles
    ]
    samples = [sample for profile in profiles for sample in profile.samples]
    read = json.loads(text.read_text())
    facts = {
        "rows": len(samples),
        "sum": str(sum(value for sample in samples for value in sample.values)),
        "is_same": message.SerializeToString(deterministic=True) == data,
        "is_same_json": json.loads(proto_json.ProfilesData.from_json(json.dumps(read)).to_json()) == read,
    }
    print(json.dumps(facts))
