"""Programs of others: how they are built and asked."""

import json
import os
import subprocess
import sys
import threading

# Where a registry cannot be reached, a step must not hang.
SECONDS = 120


def skip(what, reason):
    print(f"    SKIPPED: {what}: {reason}", flush=True)


def fetched(what, commands, **options):
    """Runs commands that need a language or a registry. Returns whether all succeeded; else `what` is skipped."""
    for command in commands:
        try:
            ran = subprocess.run(command, capture_output=True, text=True, timeout=SECONDS, **options)
        except FileNotFoundError:
            skip(what, f"{command[0]} is not installed")
            return False
        except subprocess.TimeoutExpired:
            skip(what, f"{command[0]} needed more than {SECONDS} s")
            return False
        if ran.returncode != 0:
            lines = (ran.stderr.strip() or ran.stdout.strip() or "no output").splitlines()
            skip(what, f"{command[0]} failed: {lines[-1]}")
            return False
    return True


class Go:
    """The program in go/, which holds google/pprof and pdata."""

    @staticmethod
    def start(source, folder):
        binary = folder / "oracle"
        # pprof reads binaries that a profile names, and prints times in the local zone.
        environment = {**os.environ, "GOTOOLCHAIN": "local", "GOFLAGS": "-mod=readonly -buildvcs=false", "TZ": "UTC"}
        environment["PPROF_BINARY_PATH"] = str(folder / "none")
        commands = [["go", "mod", "download"], ["go", "build", "-o", binary, "."]]
        if not fetched("google/pprof and pdata", commands, cwd=source, env=environment):
            return None
        return Go([binary], environment)

    def __init__(self, command, environment):
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True, "encoding": "utf-8"}
        self.process = subprocess.Popen(command, env=environment, **pipes)
        self.lock = threading.Lock()

    def ask(self, op, *args):
        """Returns the result of an operation, or an error as text that begins with "error: "."""
        with self.lock:
            print(json.dumps({"op": op, "args": [str(arg) for arg in args]}), file=self.process.stdin, flush=True)
            answer = json.loads(self.process.stdout.readline())
        return answer["result"] if "result" in answer else f"error: {answer['error']}"


def java_classes(source, folder):
    """Fetches the releases of io.opentelemetry.proto and compiles Reemit.java. Returns the folder, or None."""
    jars, classes = folder / "jars", folder / "classes"
    maven = ["mvn", "-B", "-q", "-f", source / "pom.xml", "dependency:copy", f"-DoutputDirectory={jars}"]
    if not fetched("io.opentelemetry.proto", [["javac", "-version"], maven]):
        return None
    subprocess.run(["javac", "-d", classes, "-cp", f"{jars}/*", source / "Reemit.java"], check=True)
    return jars


def python_with(packages, folder):
    """Installs packages into a virtual environment. Returns its Python, or None."""
    python = folder / "venv/bin/python"
    pip = [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", *packages]
    commands = [[sys.executable, "-m", "venv", folder / "venv"], pip]
    return python if fetched(" and ".join(packages), commands) else None
