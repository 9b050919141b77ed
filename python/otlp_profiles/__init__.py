"""Read, check, convert and query OTLP profiles of every generation, and pprof.

>>> import otlp_profiles as op
>>> op.read("cpu.pb.gz")
<Profiles pprof: 1 profile, 143 samples>
"""

from ._native import (
    Profile,
    Profiles,
    Reader,
    Table,
    Tables,
    __version__,
    convert,
    detect,
    diff,
    export,
    filter,
    formats,
    loss_codes,
    merge,
    read,
    redact,
    split,
    tables,
    top,
    validate,
    view,
)
from ._records import (
    Attribute,
    Attributes,
    Detected,
    Diff,
    DiffRow,
    Error,
    Exported,
    Finding,
    Format,
    Frame,
    Loss,
    LossCode,
    Sample,
    Top,
    TopRow,
    ValueType,
    Written,
    WrittenAll,
)

FORMATS: dict[str, Format] = {format.name: format for format in formats()}
"""All formats by name."""

LOSS_CODES: dict[str, LossCode] = {code.code: code for code in loss_codes()}
"""All loss codes by name."""

__all__ = [
    "Attribute",
    "Attributes",
    "Detected",
    "Diff",
    "DiffRow",
    "Error",
    "Exported",
    "FORMATS",
    "Finding",
    "Format",
    "Frame",
    "LOSS_CODES",
    "Loss",
    "LossCode",
    "Profile",
    "Profiles",
    "Reader",
    "Sample",
    "Table",
    "Tables",
    "Top",
    "TopRow",
    "ValueType",
    "Written",
    "WrittenAll",
    "__version__",
    "convert",
    "detect",
    "diff",
    "export",
    "filter",
    "merge",
    "read",
    "redact",
    "split",
    "tables",
    "top",
    "validate",
    "view",
]
