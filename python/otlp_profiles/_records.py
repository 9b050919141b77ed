"""Plain records: what functions of otlp_profiles return, without bindings."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ._native import Profiles

# The most rows that a notebook shows.
_MOST_ROWS = 50


def _html(title: str, columns: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    """Formats rows for a notebook."""

    def line(tag: str, cells: Iterable[object]) -> str:
        return "<tr>" + "".join(f"<{tag}>{escape(str(cell))}</{tag}>" for cell in cells) + "</tr>"

    shown = "".join(line("td", row) for row in rows[:_MOST_ROWS])
    others = len(rows) - _MOST_ROWS
    more = f"<p>and {others} more</p>" if others > 0 else ""
    return f"<p>{escape(title)}</p><table>{line('th', columns)}{shown}</table>{more}"


def _restored(*pickled: Any) -> Profiles:
    """Restores pickled profiles. It is here because functions of the native module have no path for pickles."""
    from ._native import _restore

    return _restore(*pickled)


class Error(ValueError):
    """Input that cannot be read, or a conversion that was refused.

    The message names the place and the way forward.
    """

    kind: str
    """`malformed`, `unrecognised`, `ambiguous`, `several_messages`, `limit`, `unrepresentable`, `invalid_option`,
    `io`, or `loss` if deny_loss refused a conversion."""
    place: str
    """The path of the fault, such as `resource_profiles[0].scope_profiles`; empty if it concerns the whole payload."""
    byte: int | None
    """The offset of the fault in the inflated payload, if known."""
    code: str | None
    """The limit that was exceeded, such as `max_samples`, or the loss code that deny_loss refused."""

    def __init__(
        self, message: str, kind: str = "malformed", place: str = "", byte: int | None = None, code: str | None = None
    ) -> None:
        super().__init__(message)
        self.kind, self.place, self.byte, self.code = kind, place, byte, code


@dataclass(frozen=True, slots=True)
class Format:
    """A format: pprof, a generation of OTLP, or a format of another tool."""

    name: str
    about: str
    can_read: bool
    can_write: bool
    aliases: list[str]
    extensions: list[str]
    """The extensions of files, without the dot."""


@dataclass(frozen=True, slots=True)
class LossCode:
    """A stable name for a kind of loss. docs/LOSSES.md has examples."""

    code: str
    kind: str
    """`note`, `synthesized`, `approximated`, `dropped` or `rejected`."""
    meaning: str


@dataclass(frozen=True, slots=True)
class Loss:
    """Data that a conversion dropped, changed or chose, with the number of occurrences."""

    code: str
    kind: str
    count: int
    meaning: str
    first: list[str]
    """The places of the first occurrences, at most three."""


@dataclass(frozen=True, slots=True)
class Finding:
    """A violation of a rule, or a repair of the reader."""

    code: str
    """The id of the rule, such as `OP3101`; never changes."""
    place: str
    """The path in the payload; empty if the finding concerns all of it."""
    message: str
    severity: str
    """`error`, `warning` or `info`."""
    byte: int | None
    """The offset in the inflated payload, if known."""
    count: int = 1
    name: str = ""
    """The name of the rule."""
    line: int | None = None
    """The line of JSON text, from 1."""
    column: int | None = None


@dataclass(frozen=True, slots=True)
class Detected:
    """The format of a payload."""

    format: str
    certainty: str
    """`certain`, `equivalent` (to `others`), `preferred` (to `others`), `ambiguous` (with `others`), `nearest`."""
    others: list[str]
    """Other formats that fit."""
    evidence: list[str]
    """Sentences for people."""


@dataclass(frozen=True, slots=True)
class Written:
    """A payload with the losses of the conversion."""

    payload: bytes
    losses: list[Loss]
    verdict: str
    """`exact`, `semantic` (the meaning is the same) or `lossy`."""
    findings: list[Finding]
    """The repairs of the reader."""

    def __repr__(self) -> str:
        return f"<Written {len(self.payload)} bytes, {self.verdict}, {len(self.losses)} losses>"


@dataclass(frozen=True, slots=True)
class WrittenAll:
    """Payloads of one profile each, with the losses of the conversion."""

    payloads: list[bytes]
    losses: list[Loss]
    verdict: str
    findings: list[Finding]

    def __repr__(self) -> str:
        return f"<WrittenAll {len(self.payloads)} payloads, {self.verdict}, {len(self.losses)} losses>"


@dataclass(frozen=True, slots=True)
class Exported:
    """The files of an export."""

    segment: str
    """The id of the segment, which is the name of each file."""
    files: list[Path]
    samples: int
    """The rows of the table of samples."""
    losses: list[Loss]
    """The data that the tables cannot represent."""
    findings: list[Finding]
    """The repairs of the reader."""

    def __repr__(self) -> str:
        return f"<Exported {self.segment}: {len(self.files)} files, {self.samples} samples, {len(self.losses)} losses>"


@dataclass(frozen=True, slots=True)
class ValueType:
    """The name and unit of a value: `cpu` in `nanoseconds`."""

    name: str
    unit: str
    temporality: str | None = None


@dataclass(frozen=True, slots=True)
class Frame:
    """A frame of a stack: a function and the place in it. Equal frames are equal objects."""

    function: str
    """The name; empty if unknown."""
    file: str
    """The source file; empty if unknown."""
    line: int
    """The line; 0 if unknown."""
    address: int
    """The address in the process; 0 if unknown."""
    mapping: str | None
    """The binary."""
    inlined: bool
    """Whether the function is inlined into the next frame."""
    system_name: str
    """The name as the binary has it."""
    column: int
    start_line: int
    """The line where the function begins; 0 if unknown."""
    build_id: str | None
    type: str | None
    """`profile.frame.type`, such as `kernel` or `cpython`."""

    def __str__(self) -> str:
        return self.function or self.system_name or hex(self.address)


@dataclass(frozen=True, slots=True)
class Attribute:
    """An attribute with its unit."""

    key: str
    value: Any
    unit: str


class Attributes(dict[str, Any]):
    """Attributes by key. If a key occurs several times, its first value; `entries` has all of them, with units."""

    entries: list[Attribute]

    def __init__(self, entries: list[Attribute]) -> None:
        super().__init__((entry.key, entry.value) for entry in reversed(entries))
        self.entries = entries


@dataclass(frozen=True, slots=True)
class Sample:
    """A stack with its values."""

    stack: tuple[Frame, ...] = field(repr=False)
    """The frames, the leaf first, with inlined functions."""
    totals: tuple[int, ...]
    """One number for each sample type of the profile."""
    values: tuple[int, ...]
    """The values as they are stored; with timestamps, one for each."""
    timestamps_unix_nano: tuple[int, ...]
    attributes: Attributes
    trace_id: str | None
    span_id: str | None


@dataclass(frozen=True, slots=True)
class TopRow:
    """The values of a function, file, line, …"""

    name: str
    flat: int
    cum: int


@dataclass(frozen=True, slots=True)
class Top:
    """Values by function, file, line, …"""

    rows: list[TopRow]
    total: int
    sample_type: str
    unit: str

    def _repr_html_(self) -> str:
        rows = [(row.flat, row.cum, row.name) for row in self.rows]
        return _html(f"{self.sample_type}: {self.total} {self.unit}", ["flat", "cum", "name"], rows)


@dataclass(frozen=True, slots=True)
class DiffRow:
    """A function, file, line, … whose value differs."""

    name: str
    file: str
    """The file of a function; empty for others."""
    base: int
    new: int
    difference: float
    """In the unit, in percentage points (`share`), or in the unit a second (`per_second`)."""
    relative: float | None
    """The difference relative to the base; None if the base is 0."""


@dataclass(frozen=True, slots=True)
class Diff:
    """The differences of two sources."""

    rows: list[DiffRow]
    base_total: int
    new_total: int
    sample_type: str
    unit: str

    def _repr_html_(self) -> str:
        title = f"{self.sample_type}: {self.base_total} → {self.new_total} {self.unit}"
        rows = [(row.base, row.new, f"{row.difference:+.6g}", row.name, row.file) for row in self.rows]
        return _html(title, ["base", "new", "difference", "name", "file"], rows)
