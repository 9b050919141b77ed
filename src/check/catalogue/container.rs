//! Rules about a file: compression, framing, and its format.
//!
//! Sources: RFC 1951 and 1952 for gzip, OTLP's specification for the limits of a receiver, and the behaviour of
//! readers of pprof files. The generation `A` marks rules that run before the generation of a payload is known.
//!
//! [`container`](crate::check::container) reports them while it unpacks a file, before it walks a message. Most are
//! errors that end the check of the file: data after a corrupt compressed stream cannot be recovered.

use crate::check::rule::rules;

rules! { File:
    /// An empty file is the commonest artifact of a profiler that crashed before it flushed. With --from otlp the empty
    /// message is legal, and `OP2001` reports the missing profiles.
    OP0001 "input-empty" ["E" "A"] Unreadable "file / stream"
        "the input is empty" finding "the input is empty: {v}"
        source "google/pprof encode.go, errNoData: an empty file is no profile"
        example "a file of 0 bytes" => "a pprof, or an OTLP message with at least one profile"
        fix "check why the profiler wrote nothing, for example a crash before it flushed";
    /// The limit is on what is read, before anything is inflated, so that the check itself has
    /// bounded memory.
    OP0002 "input-too-large" ["E" "A"] Limit "file / stream"
        "the input is larger than `limits.max_input_bytes`" finding "the input has {v}, the limit is {b} bytes"
        source "OTLP specification: \"MUST limit the size of the request body\""
        example "65 MiB with the network limits" => "the same file with --max-input-bytes 128MiB"
        fix "raise --max-input-bytes, or split the input";
    /// The guard against decompression bombs. It is tested before a block is kept, not when all is
    /// inflated. Over the messages of a framed file the limit is one for all of them.
    OP0003 "decompressed-too-large" ["E" "A"] Limit "gzip payload"
        "the decompressed input is larger than `limits.max_decompressed_bytes`"
        source "OTLP specification: limit the size \"including after decompression\"; CVE-2024-36129"
        example "256 MiB of zeros in a gzip file of 260 kB" => "the same file with --max-decompressed-bytes 1GiB"
        fix "raise --max-decompressed-bytes if you trust the source";
    /// Raised when detection finds no schema and the bytes are not even a broken message of a known
    /// one.
    OP0004 "format-unknown" ["E" "A"] Unreadable "file"
        "no known format matches the bytes" finding "{v}; expected {b}"
        source "otlp-profiles detection"
        example "plain text" => "a protobuf message of OTLP profiles or pprof"
        fix "check that the file is a profile; convert other formats with `otlp-profiles convert`";
    /// Detection could not decide, and both readings would be valid with different numbers: the
    /// sums in a report depend on the guess. A warning, since one of them may well be the right
    /// one.
    OP0005 "format-ambiguous" ["W" "A"] Unreadable Lossy "file"
        "two formats match the bytes equally well"
        source "otlp-profiles detection"
        example "`0a 00` is an empty resource of OTLP and an empty sample type of pprof" => "the same bytes with --from otlp"
        fix "name the format with --from";
    /// Harmless ambiguity: nothing in the payload differs between these generations, so every
    /// reading gives the same profiles.
    OP0006 "generation-ambiguous" ["I" "2-7"] Unreadable "file"
        "several generations match the bytes; the newest is assumed"
        source "otlp-profiles detection"
        example "a dictionary without profiles" => "the same file with --from otlp-1.9"
        fix "name the generation with --from if it matters";
    /// Raised only if `--from` named a generation, the payload breaks rules in it, and none as the
    /// one that detection prefers. Then most likely the flag is wrong and not the payload.
    OP0007 "generation-mismatch" ["W" "1-7"] Unreadable Lossy "file"
        "the payload breaks rules of the named generation that it does not break in another"
        source "otlp-profiles detection"
        example "a 1.9 sample read as 1.10, where field 2 holds attributes instead of values" => "--from otlp-1.9"
        fix "pass the generation that the payload was written in to --from";
    /// OTLP/JSON is checked; other JSON has no rules. With --wire any JSON is an error, because the body of a
    /// protobuf request was expected.
    OP0008 "json-not-protobuf" ["E" "A"] Unreadable "file"
        "the input is JSON, and protobuf was expected" finding "{v}; expected {b}"
        source "OTLP specification, JSON Protobuf Encoding"
        example "{\"resourceProfiles\": []} with --wire" => "the same text without --wire"
        fix "check OTLP/JSON without --wire, or with --from otlp-json; convert other formats with `otlp-profiles convert`";
    /// google/pprof still reads these text and binary formats; these rules cover profile.proto alone.
    OP0009 "legacy-pprof" ["E" "P"] Unreadable "file"
        "the input is a legacy pprof format, not profile.proto"
        source "google/pprof legacy_profile.go"
        example "heap profile: 1: 2 [3: 4] @ heap_v2/1" => "the output of `pprof -proto FILE`"
        fix "convert the file first: `otlp-profiles convert FILE -o out.pb.gz`";
    /// A note for files, such as those of the Collector's file exporter: each message inside is checked, with
    /// its number before the path. Receivers take one message per request, so --wire and --for make it an error.
    OP0010 "framed-stream" ["I" "A"] "file"
        "the input is a framed stream of messages" finding "the input holds {v}"
        source "Collector file exporter; gRPC over HTTP/2"
        example "`00 00 00 2a` and a ProfilesData of 42 bytes" => "one ProfilesData per file"
        fix "send each message in a separate request; keep the file as it is" for Collector Error, Parca Error, Pyroscope Error;
    /// Reserved for callers that check a stream: a slice in memory cannot fail to be read.
    OP0012 "io-error" ["E" "A"] Unreadable "file / stream"
        "the input cannot be read"
        source "otlp-profiles Limits: reading ends at the first error other than Interrupted"
        example "an I/O error at byte 100" => "a readable file"
        fix "make the input readable";
    /// No other compression method than 8 (deflate) was ever defined, and reserved flags may
    /// announce fields that a reader would take for data.
    OP0020 "gzip-bad-header" ["E" "A"] Unreadable "gzip member"
        "the gzip header is invalid: unknown compression method or reserved flag"
        source "RFC 1952, section 2.3.1"
        example "FLG = 0xe0" => "FLG = 0"
        fix "write compression method 8 and no reserved flags";
    /// The usual result of a copy that was interrupted. google/pprof refuses it as well.
    OP0021 "gzip-truncated" ["E" "A"] Unreadable "gzip member"
        "the gzip stream ends early"
        source "RFC 1952, section 2.3"
        example "`1f 8b` alone" => "a complete gzip member"
        fix "copy or send the whole file";
    /// The checksum is over what was inflated, so it is known only at the end: the data before it
    /// must not be trusted either.
    OP0022 "gzip-crc-mismatch" ["E" "A"] Unreadable "gzip trailer"
        "the gzip checksum differs from that of the data"
        source "RFC 1952, section 2.3.1"
        example "one flipped bit in the trailer" => "the CRC32 of the data"
        fix "copy or send the file again: it is damaged";
    /// Modulo 2^32, since the trailer has four bytes for it: of members of 4 GiB and more only the
    /// low bits are compared.
    OP0023 "gzip-isize-mismatch" ["E" "A"] Unreadable "gzip trailer"
        "the length in the gzip trailer differs from the decompressed length"
        source "RFC 1952, section 2.3.1"
        example "ISIZE = length + 1" => "ISIZE = length modulo 2^32"
        fix "copy or send the file again: it is damaged";
    /// RFC 1951 leaves no way to go on behind such a block: codes have no byte boundaries to resume
    /// at.
    OP0024 "deflate-corrupt" ["E" "A"] Unreadable "deflate data"
        "the deflate stream is corrupt"
        source "RFC 1951, section 3.2"
        example "block type 3" => "block types 0 to 2"
        fix "copy or send the file again: it is damaged";
    /// An error, because bytes behind a member are as likely a second file as noise; dropping them
    /// could lose a profile.
    OP0025 "gzip-trailing-garbage" ["E" "A"] Unreadable "after last member"
        "bytes follow the last gzip member and are not a gzip member"
        source "RFC 1952, section 2.2"
        example "a member followed by `garbage`" => "the member alone"
        fix "cut off the bytes after the last gzip member";
    /// Zeros are what tape and block devices pad with. GNU gzip ignores them, other decoders fail,
    /// hence a warning.
    OP0026 "gzip-trailing-zeros" ["W" "A"] Unreadable "after last member"
        "zero bytes follow the last gzip member" finding "{v} follow the last gzip member"
        source "RFC 1952, section 2.2"
        example "a member followed by 512 zero bytes" => "the member alone"
        fix "cut off the zero bytes" fixed "the zeros behind the last gzip member were cut off";
    /// Legal by RFC 1952, but decoders that stop at the first member (a known trap of several
    /// libraries) lose the rest.
    OP0027 "gzip-multi-member" ["W" "A"] Unreadable "file"
        "the file has more than one gzip member" finding "the file has {v}"
        source "RFC 1952, section 2.2"
        example "two members that hold one message" => "one member"
        fix "compress the file as one gzip member" fixed "the gzip members became one";
    /// An empty member is 20 bytes and costs a decoder a reset of its tables: many of them are work
    /// without output, which no limit on output sees.
    OP0028 "gzip-too-many-members" ["E" "A"] Limit "file"
        "the file has more gzip members than `limits.max_gzip_members`"
        source "otlp-profiles Limits; CVE-2022-30631"
        example "10,000 empty members" => "one member"
        fix "compress the file as one gzip member";
    /// Names are zero-terminated, so without a bound a decoder searches the whole file for the end
    /// of one.
    OP0029 "gzip-header-too-long" ["E" "A"] Unreadable "gzip member"
        "the file name or comment in the gzip header is longer than 65,535 bytes"
        source "RFC 1952, section 2.3.1 sets no bound; flate2 stops at 65,535 bytes"
        example "a file name of 100 kB" => "no file name"
        fix "omit the file name and comment from the gzip header";
    /// Compressing twice saves nothing and hides the real size from limits. The inner stream is
    /// named, not inflated.
    OP0030 "gzip-nested" ["E" "A"] Unreadable "payload"
        "the decompressed data is compressed again"
        source "OTLP specification: a request has one content encoding"
        example "gzip(gzip(profile))" => "gzip(profile)"
        fix "compress once";
    /// The magic bytes are known, the codec is not built in. The message names the format, so that
    /// the reader need not guess.
    OP0031 "other-compression" ["E" "A"] Unreadable "file"
        "the file is compressed in a format that is not supported"
        source "OTLP specification: gzip is the compression that servers must accept"
        example "a zip archive" => "a gzip file"
        fix "decompress the file first, or use gzip";
    /// profile.proto and OTEP 0239 said "must" of files on disk. OTLP dropped the sentence in 1.8,
    /// and transports compress on their own: a hint, and never raised for the messages of a framed
    /// file.
    OP0032 "not-gzipped-on-disk" ["I" "P,1-4"] Unreadable "file"
        "the file is not compressed"
        source "pprof's profile.proto and OTEP 0239: \"On-disk, the serialized proto must be gzip-compressed\""
        example "profile.pb" => "profile.pb.gz"
        fix "compress the file with gzip";
    /// The optional CRC16 over the header. Hardly any writer sets the flag; where it is set and
    /// wrong, the header was damaged.
    OP0033 "gzip-header-crc" ["E" "A"] Unreadable "gzip member"
        "the checksum of the gzip header is wrong"
        source "RFC 1952, section 2.3.1"
        example "FLG = 2 and CRC16 = 0" => "FLG = 0"
        fix "write the right CRC16, or none";
}
