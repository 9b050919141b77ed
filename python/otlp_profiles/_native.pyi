from collections.abc import Iterable, Iterator, Mapping
from os import PathLike
from typing import Literal, SupportsIndex, TypeAlias, final

import pandas
import polars
import pyarrow
from typing_extensions import Buffer

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
    "convert",
    "detect",
    "diff",
    "export",
    "formats",
    "loss_codes",
    "merge",
    "read",
    "tables",
    "top",
    "validate",
]

_Input: TypeAlias = bytes | Buffer | str | PathLike[str]
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
    def write(self, to: str, *, deny_loss: bool = False, limits: _Limits = None) -> Written: ...
    def write_all(self, to: str, *, deny_loss: bool = False, limits: _Limits = None) -> WrittenAll: ...

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
    deny_loss: bool = False,
    format: str | None = None,
    endpoint: str | None = None,
    repair: bool = False,
    guess: bool = False,
    limits: _Limits = None,
) -> Written: ...
def detect(source: _Source, *, endpoint: str | None = None, limits: _Limits = None) -> Detected: ...
def merge(
    sources: Iterable[_Source], *, keep_apart: bool = False, canonical: bool = False, limits: _Limits = None
) -> Profiles: ...
def tables(sources: Iterable[_Source], *, limits: _Limits = None) -> Tables: ...
def export(
    sources: Iterable[_Source],
    directory: str | PathLike[str],
    to: Literal["parquet", "arrow"] = "parquet",
    *,
    compression: Literal["gzip", "lz4", "none"] = "gzip",
    partition: Literal["service,date", "service", "none"] = "service,date",
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
def formats() -> list[Format]: ...
def loss_codes() -> list[LossCode]: ...
