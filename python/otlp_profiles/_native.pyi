from collections.abc import Iterable, Iterator, Mapping, Sequence
from os import PathLike
from typing import Any, Literal, Protocol, SupportsIndex, TypeAlias, TypedDict, final

import pandas
import polars
import pyarrow
from typing_extensions import Buffer, Unpack

from ._records import (
    Attributes,
    Detected,
    Diff,
    Exported,
    Finding,
    Format,
    Loss,
    LossCode,
    Sample,
    Top,
    ValueType,
    Written,
    WrittenAll,
)

__all__ = [
    "Profile",
    "Profiles",
    "Reader",
    "Samples",
    "Table",
    "Tables",
    "__version__",
    "_restore",
    "convert",
    "detect",
    "diff",
    "export",
    "filter",
    "formats",
    "loss_codes",
    "merge",
    "read",
    "redact",
    "split",
    "tables",
    "top",
    "validate",
    "view",
]

__version__: str

class _Readable(Protocol):
    def read(self) -> bytes: ...

class _Filters(TypedDict, total=False):
    focus: str | None
    ignore: str | None
    hide: str | None
    show: str | None
    show_from: str | None
    prune_from: str | None
    tagfocus: str | None
    tagignore: str | None
    tagshow: str | None
    taghide: str | None
    tagroot: str | Sequence[str] | None
    tagleaf: str | Sequence[str] | None
    all_frames: bool

_Input: TypeAlias = bytes | Buffer | str | PathLike[str] | _Readable
_Source: TypeAlias = _Input | Profiles
_Limits: TypeAlias = Literal["network", "file", "unlimited"] | Mapping[str, int] | None

@final
class Profiles:
    @property
    def format(self) -> str | None: ...
    @property
    def certainty(self) -> str | None: ...
    @property
    def findings(self) -> list[Finding]: ...
    @property
    def losses(self) -> list[Loss]: ...
    def __len__(self) -> int: ...
    def __getitem__(self, index: SupportsIndex, /) -> Profile: ...
    def __iter__(self) -> Iterator[Profile]: ...
    def samples(self) -> Table: ...
    def stacks(self) -> Table: ...
    def profiles(self) -> Table: ...
    def mappings(self) -> Table: ...
    def write(
        self, to: str, *, sample_type: str | None = None, deny_loss: bool = False, limits: _Limits = None
    ) -> Written: ...
    def write_all(self, to: str, *, deny_loss: bool = False, limits: _Limits = None) -> WrittenAll: ...
    def _repr_html_(self) -> str: ...

@final
class Profile:
    @property
    def profile_id(self) -> str | None: ...
    @property
    def time_unix_nano(self) -> int: ...
    @property
    def duration_nanos(self) -> int: ...
    @property
    def sample_types(self) -> list[ValueType]: ...
    @property
    def default_sample_type(self) -> str | None: ...
    @property
    def period_type(self) -> ValueType | None: ...
    @property
    def period(self) -> int: ...
    @property
    def sums(self) -> list[int]: ...
    @property
    def attributes(self) -> Attributes: ...
    @property
    def resource_attributes(self) -> Attributes: ...
    @property
    def scope_attributes(self) -> Attributes: ...
    @property
    def scope_name(self) -> str: ...
    @property
    def scope_version(self) -> str: ...
    def __len__(self) -> int: ...
    def __getitem__(self, index: SupportsIndex, /) -> Sample: ...
    def __iter__(self) -> Samples: ...

@final
class Samples:
    def __iter__(self) -> Samples: ...
    def __next__(self) -> Sample: ...
    def __len__(self) -> int: ...

@final
class Table:
    @property
    def column_names(self) -> list[str]: ...
    def __len__(self) -> int: ...
    def __iter__(self) -> Iterator[dict[str, Any]]: ...
    def __arrow_c_stream__(self, requested_schema: object = None) -> object: ...
    def __arrow_c_schema__(self) -> object: ...
    def to_arrow(self) -> pyarrow.Table: ...
    def to_pandas(self) -> pandas.DataFrame: ...
    def to_polars(self) -> polars.DataFrame: ...

@final
class Tables:
    @property
    def losses(self) -> list[Loss]: ...
    def samples(self) -> Table: ...
    def stacks(self) -> Table: ...
    def profiles(self) -> Table: ...
    def mappings(self) -> Table: ...

@final
class Reader:
    def __new__(
        cls,
        source: _Input,
        *,
        format: str | None = None,
        endpoint: str | None = None,
        repair: bool = False,
        guess: bool = False,
        limits: _Limits = None,
    ) -> Reader: ...
    def __iter__(self) -> Reader: ...
    def __next__(self) -> Profiles: ...

def read(
    source: _Source,
    *,
    format: str | None = None,
    endpoint: str | None = None,
    repair: bool = False,
    guess: bool = False,
    limits: _Limits = None,
) -> Profiles: ...
def convert(
    source: _Source,
    to: str,
    *,
    sample_type: str | None = None,
    deny_loss: bool = False,
    format: str | None = None,
    endpoint: str | None = None,
    repair: bool = False,
    guess: bool = False,
    limits: _Limits = None,
) -> Written: ...
def detect(source: _Source, *, endpoint: str | None = None, limits: _Limits = None) -> Detected: ...
def merge(
    sources: Iterable[_Source],
    *,
    combine: Literal["sum", "last", "mean", "max", "kind"] = "sum",
    ignore_resource: str | Sequence[str] | None = None,
    keep_apart: bool = False,
    canonical: bool = False,
    limits: _Limits = None,
) -> Profiles: ...
def filter(
    source: _Source,
    *,
    sample_type: str | Sequence[str] | None = None,
    where_resource: Mapping[str, str] | None = None,
    time: tuple[int | None, int | None] | None = None,
    strip: str | Sequence[str] | None = None,
    limits: _Limits = None,
    **filters: Unpack[_Filters],
) -> Profiles: ...
def redact(source: _Source, *, keep: str | Sequence[str] | None = None, limits: _Limits = None) -> Profiles: ...
def split(
    source: _Source,
    by: str | None = None,
    *,
    window_nanos: int | None = None,
    max_bytes: int | None = None,
    keep_oversize: bool = False,
    to: str = "otlp",
    limits: _Limits = None,
) -> dict[str, Profiles]: ...
def view(
    sources: Iterable[_Source],
    *,
    base: Iterable[_Source] | None = None,
    sample_type: str | None = None,
    limits: _Limits = None,
    **filters: Unpack[_Filters],
) -> str: ...
def tables(
    sources: Iterable[_Source], *, resource: Mapping[str, str] | None = None, limits: _Limits = None
) -> Tables: ...
def export(
    sources: Iterable[_Source],
    directory: str | PathLike[str],
    to: Literal["parquet", "arrow"] = "parquet",
    *,
    compression: Literal["gzip", "lz4", "none"] = "gzip",
    partition: Literal["service,date", "service", "none"] = "service,date",
    resource: Mapping[str, str] | None = None,
    force: bool = False,
    repair: bool = False,
    guess: bool = False,
    max_partitions: int = 1024,
    max_segment_stacks: int = 16_777_216,
    limits: _Limits = None,
) -> Exported: ...
def top(
    source: _Source,
    *,
    by: str = "function",
    sample_type: str | None = None,
    cum: bool = False,
    limit: int | None = None,
    **filters: Unpack[_Filters],
) -> Top: ...
def diff(
    base: _Source,
    new: _Source,
    *,
    by: str = "function",
    mode: Literal["raw", "normalized", "share", "per_second"] = "raw",
    sample_type: str | None = None,
) -> Diff: ...
def validate(
    source: _Source,
    *,
    format: str | None = None,
    receiver: str | None = None,
    max_findings: int = 100,
    limits: _Limits = None,
) -> list[Finding]: ...
def _restore(
    payload: bytes,
    format: str,
    is_merged: bool,
    input: str,
    hash: int | None,
    covered: list[list[tuple[int, int, int, int]]],
) -> Profiles: ...
def formats() -> list[Format]: ...
def loss_codes() -> list[LossCode]: ...
