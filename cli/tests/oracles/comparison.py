"""Comparisons of two answers, and the list of known differences."""

import fnmatch
import threading

# The most differences of one question that are printed.
MOST = 3


class Comparison:
    def __init__(self, path):
        """Reads lines of `NAME FILE REASON`; name and file are patterns."""
        lines = path.read_text().splitlines()
        self.known = [line.split(maxsplit=2) for line in lines if line and not line.startswith("#")]
        self.tried, self.seen = set(), set()
        self.failures, self.count, self.taken = {}, 0, 0
        self.lock = threading.Lock()

    def equal(self, name, file, theirs, ours):
        """Compares two answers to the question `name` about `file`."""
        with self.lock:
            self.count += 1
            rows = [
                row
                for row, (names, files, _) in enumerate(self.known)
                if fnmatch.fnmatchcase(name, names) and fnmatch.fnmatchcase(file, files)
            ]
            self.tried.update(rows)
            if theirs == ours:
                return
            if rows:
                self.seen.update(rows)
            else:
                self.failures.setdefault(name, []).append(f"{file}: {first_difference(theirs, ours)}")

    def took(self):
        """The number of comparisons since the last call."""
        taken, self.taken = self.taken, self.count
        return self.count - taken

    def finish(self):
        """Prints what failed. Returns the exit code."""
        failed = sum(map(len, self.failures.values()))
        for name, failures in sorted(self.failures.items()):
            print(f"    {name}: {len(failures)} differ")
            for failure in failures[:MOST]:
                print(f"        {failure}")
        for row in sorted(self.tried - self.seen):
            failed += 1
            print(f"    {' '.join(self.known[row][:2])} no longer differs: delete it from differences.txt")
        print(f"    {self.count - failed} passed, {failed} failed")
        return 1 if failed else 0


def first_difference(theirs, ours):
    """The first line or field that differs."""
    if isinstance(theirs, dict) and isinstance(ours, dict):
        pairs = [(f"{key}={theirs.get(key)!r}", f"{key}={ours.get(key)!r}") for key in sorted({*theirs, *ours})]
    elif isinstance(theirs, list) and isinstance(ours, list):
        pairs = list(zip(theirs + [""] * len(ours), ours + [""] * len(theirs)))
    elif isinstance(theirs, str) and isinstance(ours, str):
        left, right = theirs.splitlines(), ours.splitlines()
        length = max(len(left), len(right))
        left, right = (side + ["(end)"] * (length - len(side)) for side in (left, right))
        pairs = list(zip(left, right))
    else:
        pairs = [(theirs, ours)]
    for one, other in pairs:
        if one != other:
            return f"theirs {str(one)[:200]!r}, ours {str(other)[:200]!r}"
    return "the lines are the same but for line ends"
