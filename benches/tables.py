#!/usr/bin/env python3
"""Makes the 2,000 payloads that docs/BENCHMARKS.md exports: variants of recorded profiles.

    benches/tables.py OTLP_PROFILES CORPUS DIR

Each payload is a recorded profile as OTLP with other values, a service, a version and a start within seven days.
`perturb` keeps a random 60 % of the samples and multiplies their values by a lognormal factor. Needs only Python's
standard library, and the command to convert. The same arguments give the same files.
"""
import json, os, random, subprocess, sys

command, corpus, out = sys.argv[1:4]
COUNT, SERVICES, DAYS = int(os.environ.get("COUNT", 2000)), 11, 7
START = 1_767_225_600_000_000_000  # 2026-01-01
random.seed(20260101)


def recorded():
    """The files of the corpus that convert to OTLP/JSON, of 2 KB to 1 MB."""
    for folder, _, names in sorted(os.walk(corpus)):
        for name in sorted(names):
            path = os.path.join(folder, name)
            if not 2_000 < os.path.getsize(path) < 1_000_000:
                continue
            to_json = [command, "convert", path, "--to", "otlp-json", "--type", "all", "-o", "-"]
            done = subprocess.run(to_json, capture_output=True)
            lines = done.stdout.splitlines()
            if done.returncode == 0 and len(lines) == 1:
                message = json.loads(lines[0])
                if any(p.get("samples") for p in profiles(message)):
                    yield message


def profiles(message):
    for resource in message.get("resourceProfiles", []):
        for scope in resource.get("scopeProfiles", []):
            yield from scope.get("profiles", [])


def perturb(message, service, version, start):
    message = json.loads(message)
    for resource in message["resourceProfiles"]:
        attributes = resource.setdefault("resource", {}).setdefault("attributes", [])
        own = {"service.name": service, "service.version": version}
        attributes[:] = [a for a in attributes if a["key"] not in own]
        attributes += [{"key": k, "value": {"stringValue": v}} for k, v in own.items()]
    kept = {}
    for profile in profiles(message):
        profile["timeUnixNano"] = str(start)
        profile.pop("profileId", None)
        samples = profile.get("samples", [])
        # Sample types of one recording keep the same rows.
        rows = kept.setdefault(len(samples), [r for r in range(len(samples)) if random.random() < 0.6])
        profile["samples"] = [samples[row] for row in rows]
        for sample in profile["samples"]:
            factor = random.lognormvariate(0, 0.5)
            values = sample.get("values", [])
            sample["values"] = [str(max(1, round(int(v) * factor))) for v in values]
    return json.dumps(message)


def main():
    messages = [json.dumps(message) for message in recorded()]
    print(f"{len(messages)} recorded profiles", file=sys.stderr)
    os.makedirs(os.path.join(out, "json"), exist_ok=True)
    for at in range(COUNT):
        # A service runs the programs of some recordings, and shares few stacks with others.
        recording = random.randrange(len(messages))
        service = f"service-{recording % SERVICES}"
        start = START + random.randrange(DAYS * 86_400) * 1_000_000_000
        text = perturb(messages[recording], service, f"1.{at % 3}", start)
        with open(os.path.join(out, "json", f"{at:04}.json"), "w") as file:
            file.write(text)
    for to, extension in ("otlp", "otlp"), ("pprof", "pb.gz"):
        folder = os.path.join(out, extension)
        subprocess.run([command, "convert", os.path.join(out, "json"), "--to", to, "-o", folder + "/", "-q"], check=True)


main()
