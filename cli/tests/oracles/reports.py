"""google/pprof: its reports beside `top`, and its sums beside `merge` and `diff`."""

import itertools
import re

# The reports of pprof and of `top`.
REPORTS = {
    "top": (["-top"], []),
    "cum": (["-top", "-cum"], ["--cum"]),
    "lines": (["-top", "-lines"], ["--by", "line"]),
    "files": (["-top", "-files"], ["--by", "file"]),
    "filefunctions": (["-top", "-filefunctions"], ["--by", "filefunction"]),
    "addresses": (["-top", "-addresses"], ["--by", "address"]),
    "noinlines": (["-top", "-noinlines"], ["--no-inlines"]),
    "all": (["-top", "-trim=false"], ["--all"]),
    "mean": (["-top", "-mean"], ["--mean"]),
    "first": (["-top", "-sample_index=0"], ["--type", "0"]),
    "tree": (["-tree"], ["--tree"]),
    "traces": (["-traces"], ["--traces"]),
}
# The forms in which merged files and differences are compared.
FORMS = {"": ["-top", "-trim=false"], "-lines": ["-top", "-lines", "-trim=false"], "-traces": ["-traces"]}
SEPARATOR = "-----------+" + "-" * 55


def filters(facts):
    """The filters with expressions that match some samples: name, arguments of pprof, arguments of `top`."""
    functions = [re.escape(name) for name in facts["Functions"] or []] or ["main"]
    nth = functions[1 % len(functions)]
    leaf = re.escape(facts["Leaf"]) or "runtime"
    label = (facts["Labels"] or ["region=us"])[0]
    key, _, value = label.partition("=")
    number = (facts["Numbers"] or [{"Key": "bytes", "Unit": "bytes", "Value": 4096}])[0]
    unit = {"bytes": "b", "kilobytes": "kb"}.get(number["Unit"], "")
    key_or_number = key if facts["Labels"] else number["Key"]
    of = {
        "focus": nth,
        "ignore": nth,
        "hide": leaf,
        "show": f"{functions[0]}|{leaf}",
        "show_from": nth,
        "prune_from": leaf,
        "tagfocus": f"{key}={re.escape(value)}",
        "tagignore": f"{number['Key']}={number['Value']}{unit}:",
        "tagroot": key_or_number,
        "tagleaf": key_or_number,
    }
    for name, text in of.items():
        yield name, ["-top", f"-{name}={text}"], [f"--{name.replace('_', '-')}", text]
    yield "taghide", ["-traces", f"-taghide={key}"], ["--traces", "--taghide", key]
    yield "tagshow", ["-traces", f"-tagshow={key}"], ["--traces", "--tagshow", key]
    both = ["--focus", functions[0], "--ignore", leaf]
    yield "focus-ignore", ["-tree", f"-focus={functions[0]}", f"-ignore={leaf}"], ["--tree", *both]
    relative = ["-top", "-relative_percentages", f"-focus={nth}"]
    yield "relative", relative, ["--relative", "--focus", nth]
    yield "peek", [f"-peek={functions[0]}"], ["--peek", functions[0]]


def means(text):
    """The rows of means without shares: google/pprof adds up means and their shares, which `top` does not."""
    if text is None or "Dropped" not in text and "flat%" not in text:
        return text
    head, _, rows = text.partition("flat%")
    head = [line for line in head.splitlines() if not line.startswith(("Showing", "Duration"))]
    columns = (row.split(maxsplit=5) for row in rows.splitlines()[1:])
    return "\n".join([*head[:-1], *(" ".join((row[0], row[3], row[5])) for row in columns if len(row) > 5)])


def compare(comparison, inputs, go):
    cases = []
    for row, one in enumerate(inputs.all):
        of_file = [(name, theirs, ours) for name, (theirs, ours) in REPORTS.items()]
        of_file.extend(filters(one.facts))
        # Of the corpus, each file answers a third of the questions, and each question is put to a third of the files.
        asked = of_file if not one.is_corpus else of_file[row % 3 :: 3]
        for (name, theirs, ours), form in itertools.product(asked, ("pprof", "otlp-1.10")):
            file = one.path if form == "pprof" else one.otlp[form]
            cases.append((f"{form}/{name}", one, theirs, [file, *ours]))

    def ask(case):
        name, one, theirs, ours = case
        text = go.ask("pprof", *theirs, one.path)
        # An expression that matches nothing is an error for both.
        theirs, ours = None if text.startswith("error: ") else text, inputs.run("top", *ours)
        if name.endswith("/mean"):
            theirs, ours = means(theirs), means(ours)
        comparison.equal(name, one.name, theirs, ours)

    list(inputs.pool.map(ask, cases))
    pairs = [pair for pair in itertools.pairwise(sorted(inputs.all, key=kind)) if is_pair(*pair)]
    list(inputs.pool.map(lambda pair: combine(comparison, inputs, go, *pair), pairs))


def kind(one):
    """Inputs that pprof can add up have the same kind. Files of one folder belong together."""
    return one.is_corpus, one.facts["Types"], one.name.rpartition("/")[0]


def is_pair(one, other):
    return kind(one) == kind(other)


def combine(comparison, inputs, go, one, other):
    """Compares the sum and the difference of two files."""
    names = f"{one.name}+{other.name}"
    folder = inputs.folder / f"pair-{one.path.name}-{other.path.name}"
    folder.mkdir()
    theirs = {"merge": folder / "merge.pb.gz", "diff": folder / "diff.pb.gz"}
    go.ask("pprof", "-proto", f"-output={theirs['merge']}", one.path, other.path)
    go.ask("pprof", "-proto", f"-output={theirs['diff']}", f"-diff_base={one.path}", other.path)
    top = go.ask("pprof", "-top", one.path, other.path)
    for form in ("pprof", "otlp-1.10"):
        files = [of.path if form == "pprof" else of.otlp[form] for of in (one, other)]
        ours = {verb: folder / f"{verb}-{form}.pb.gz" for verb in theirs}
        # The options under which `merge` does as google/pprof.
        inputs.run("merge", *files, "-o", ours["merge"], "--add-repeats", "--sum-durations", "--join-periods", "--drop-zero")
        inputs.run("diff", *files, "-o", ours["diff"])
        for verb, (suffix, report) in itertools.product(theirs, FORMS.items()):
            answers = [go.ask("pprof", *report, path) for path in (theirs[verb], ours[verb])]
            divided(comparison, f"{form}/{verb}{suffix}", names, *answers)
        divided(comparison, f"{form}/top-of-two", names, top, inputs.run("top", *files) or "")


def divided(comparison, name, file, *texts):
    """Compares the times in the heads of two reports, and the rest of the reports."""

    def of(is_head):
        is_part = lambda line: line.startswith(("Time: ", "Duration: ")) == is_head  # noqa: E731
        return ["\n".join(filter(is_part, text.splitlines())) for text in texts]

    heads, rests = of(True), of(False)
    if "-" not in name.rpartition("/")[2] or name.endswith("of-two"):
        comparison.equal(f"{name}-head", file, *heads)
    if name.endswith("traces"):
        # The order of the samples of a sum has no meaning.
        rests = [sorted(rest.split(SEPARATOR)) for rest in rests]
    comparison.equal(name, file, *rests)
