//! Rules about a file: compression, framing, and which format it is.
//!
//! Sources: RFC 1951 and 1952 for gzip, OTLP's specification for what a receiver has to limit, and what the readers of
//! pprof files do. `A` says that a rule is asked before it is known which generation a payload is of.
//!
//! They are raised by [`container`](crate::check::container), which takes a file apart before any
//! message is walked. Most are errors that end the check of the file: behind a stream that cannot
//! be inflated nothing is known. [`is_unreadable`](super::is_unreadable) treats the family `OP00`
//! as a whole, so a new rule here needs a thought there.

use crate::check::rule::rules;

rules! {
    /// An empty file is the commonest artifact of a profiler that crashed before it flushed. Where
    /// OTLP was asked for by name the empty message is legal, and what is missing in it is
    /// `OP2001`.
    OP0001 "input-empty" ["E" "A"] "file / stream"
        "zero bytes, or zero bytes after decompression, when the format is detected or pprof (with --from otlp it is the legal empty message: OP2001)"
        source "google/pprof `errNoData`; common sense"
        example "a 0-byte file"
        fix "send what the producer made; an empty file is none of its profiles";
    /// The limit is on what is read, before anything is inflated, so that the check itself has
    /// bounded memory.
    OP0002 "input-too-large" ["E" "A"] "file / stream"
        "more than `limits.max_input_bytes` read"
        source "OTLP spec 1.11 \"MUST limit the size of the request body\""
        example "65 MiB raw with the network preset"
        fix "raise --max-input-bytes, or split the input";
    /// The guard against decompression bombs. It is tested before a block is kept, not when all is
    /// inflated. Over the messages of a framed file the limit is one for all of them.
    OP0003 "decompressed-too-large" ["E" "A"] "gzip payload"
        "inflated bytes would exceed `limits.max_decompressed_bytes`; tested before each output block is kept"
        source "OTLP spec 1.11 \"including after decompression\"; CVE-2024-36129"
        example "256 MiB of zeros in 260 kB"
        fix "raise --max-decompressed-bytes if the source is trusted";
    /// Raised when detection finds no schema and the bytes are not even a broken message of a known
    /// one.
    OP0004 "format-unknown" ["E" "A"] "file"
        "neither pprof nor any generation of OTLP profiles decodes it"
        source "common sense"
        example "\"garbage text\""
        fix "give a protobuf payload of OTLP profiles or pprof; convert other formats first";
    /// Detection could not decide, and both readings would be valid with different numbers: the
    /// sums in a report depend on the guess. A warning, since one of them may well be the right
    /// one.
    OP0005 "format-ambiguous" ["W" "A"] "file"
        "two schemas decode and score within the margin, and no --from says which"
        source "own"
        example "an empty ResourceProfiles (`0a 00`) also reads as a pprof ValueType"
        fix "say which format it is with --from";
    /// Harmless ambiguity: nothing in the payload differs between these generations, so every
    /// reading gives the same profiles.
    OP0006 "generation-ambiguous" ["I" "2-7"] "file"
        "decodes alike in several generations; the newest is assumed"
        source "own"
        example "dictionary only, no profile"
        fix "nothing, or say the generation with --from";
    /// Raised only if `--from` named a generation, the payload breaks rules in it, and none as the
    /// one that detection prefers. Then most likely the flag is wrong and not the payload.
    OP0007 "generation-mismatch" ["W" "1-7"] "file"
        "decoding as the declared generation leaves unknown fields or out-of-range indices that vanish under another one"
        source "own"
        example "a 1.9 Sample (values=2) read as 1.10 (attribute_indices=2)"
        fix "say the generation that the payload was written in";
    /// JSON is not guessed at, because a collector's JSON log and a JSON report look alike from the
    /// outside. `--from otlp-json` asks for it.
    OP0008 "json-not-protobuf" ["E" "A"] "file"
        "first non-blank byte is '{' or '[' and the bytes are UTF-8"
        source "common sense"
        example "{\"resourceProfiles\":[]}"
        fix "send protobuf, or check JSON with --from otlp-json";
    /// google/pprof still reads these text and word formats; this check has rules for profile.proto
    /// alone, and says which tool converts the file.
    OP0009 "legacy-pprof" ["E" "P"] "file"
        "starts as one of the legacy formats google/pprof still reads (\"heap profile:\", \"--- contention\", \"--- threadz\", \"goroutine profile:\", CPU words 0,3,0,period,0 ...)"
        source "google/pprof legacy_profile.go"
        example "\"heap profile: 1: 2 [3: 4] @ heap_v2/1\""
        fix "convert it first: pprof -proto FILE > out.pb.gz";
    /// Not counted as unreadable: the frames are taken off and each message inside is checked, with
    /// its number before the path.
    OP0010 "framed-stream" ["E" "A"] "file"
        "reads as a 4-byte big-endian length (collector file exporter), a gRPC 5-byte frame or a varint-delimited stream around a valid message"
        source "collector file exporter; gRPC over HTTP/2"
        example "00 00 00 2a + ProfilesData"
        fix "check the messages inside; write one message a file";
    /// Reserved for callers that check a stream: a slice in memory cannot fail to be read.
    OP0012 "io-error" ["E" "A"] "file / stream"
        "the reader returned an error other than Interrupted"
        source "common sense"
        example "EIO at byte 100"
        fix "make the input readable";
    /// No other compression method than 8 (deflate) was ever defined, and reserved flags may
    /// announce fields that a reader would take for data.
    OP0020 "gzip-bad-header" ["E" "A"] "gzip member"
        "CM != 8 or a reserved FLG bit is set"
        source "RFC 1952 2.3.1.2"
        example "FLG=0xe0"
        fix "write the gzip header of RFC 1952: method 8, no reserved flag";
    /// The usual result of a copy that was interrupted. google/pprof refuses it as well.
    OP0021 "gzip-truncated" ["E" "A"] "gzip member"
        "end of input inside header, deflate data or trailer"
        source "RFC 1952; google/pprof TestParseError"
        example "1f 8b"
        fix "store or send the whole file";
    /// The checksum is over what was inflated, so it is known only at the end: the data before it
    /// must not be trusted either.
    OP0022 "gzip-crc-mismatch" ["E" "A"] "gzip trailer"
        "CRC32 differs"
        source "RFC 1952"
        example "one bit flipped in the trailer"
        fix "send the file again; it was damaged";
    /// Modulo 2^32, since the trailer has four bytes for it: of members of 4 GiB and more only the
    /// low bits are compared.
    OP0023 "gzip-isize-mismatch" ["E" "A"] "gzip trailer"
        "ISIZE != length mod 2^32"
        source "RFC 1952"
        example "ISIZE+1"
        fix "send the file again; it was damaged";
    /// RFC 1951 leaves no way to go on behind such a block: codes have no byte boundaries to resume
    /// at.
    OP0024 "deflate-corrupt" ["E" "A"] "deflate data"
        "invalid block type, code lengths, distance, or stored LEN/NLEN"
        source "RFC 1951"
        example "BTYPE=3"
        fix "send the file again; it was damaged";
    /// An error, because bytes behind a member are as likely a second file as noise; dropping them
    /// could lose a profile.
    OP0025 "gzip-trailing-garbage" ["E" "A"] "after last member"
        "non-zero bytes that do not start a member"
        source "RFC 1952; flate2 MultiGzDecoder and Go agree"
        example "member + \"garbage\""
        fix "cut off what follows the last gzip member";
    /// Zeros are what tape and block devices pad with. GNU gzip ignores them, other decoders fail,
    /// hence a warning.
    OP0026 "gzip-trailing-zeros" ["W" "A"] "after last member"
        "only zero bytes follow (tape padding, ignored by GNU gzip)"
        source "GNU gzip manual"
        example "member + 512 x 00"
        fix "cut off the zeros behind the last gzip member";
    /// Legal by RFC 1952, but decoders that stop at the first member (a known trap of several
    /// libraries) lose the rest.
    OP0027 "gzip-multi-member" ["W" "A"] "file"
        "more than one member; all are read and joined"
        source "RFC 1952 2.2; flate2 issue 301"
        example "two members, one message"
        fix "write one gzip member";
    /// An empty member is 20 bytes and costs a decoder a reset of its tables: many of them are work
    /// without output, which no limit on output sees.
    OP0028 "gzip-too-many-members" ["E" "A"] "file"
        "more than `limits.max_gzip_members`"
        source "CVE-2022-30631"
        example "10 000 empty members"
        fix "write one gzip member";
    /// Names are zero-terminated, so without a bound a decoder searches the whole file for the end
    /// of one.
    OP0029 "gzip-header-too-long" ["E" "A"] "gzip member"
        "FNAME or FCOMMENT longer than 65 535 bytes"
        source "flate2 MAX_HEADER_BUF"
        example "100 kB file name"
        fix "leave the file name and comment out of the gzip header";
    /// Compressing twice saves nothing and hides the real size from limits. The inner stream is
    /// named, not inflated.
    OP0030 "gzip-nested" ["E" "A"] "payload"
        "the inflated bytes are again a compressed stream"
        source "common sense"
        example "gzip(gzip(profile))"
        fix "compress once";
    /// The magic bytes are known, the codec is not built in. The message names the format, so that
    /// the reader need not guess.
    OP0031 "other-compression" ["E" "A"] "file"
        "magic of zlib, bzip2, xz, lz4, snappy or zip, which the message names; zstd that is broken, or not read without the feature"
        source "common sense"
        example "28 b5 2f fd ..."
        fix "decompress it first, or use gzip";
    /// profile.proto and OTEP 0239 said "must" of files on disk. OTLP dropped the sentence in 1.8,
    /// and transports compress on their own: a hint, and never raised for the messages of a framed
    /// file.
    OP0032 "not-gzipped-on-disk" ["I" "P,1-4"] "file"
        "an uncompressed file (\"On-disk, the serialized proto must be gzip-compressed\"; dropped in 1.8 by PR 661)"
        source "profile.proto; OTEP 0239"
        example "raw .pb"
        fix "gzip the file";
    /// The optional CRC16 over the header. Hardly any writer sets the flag; where it is set and
    /// wrong, the header was damaged.
    OP0033 "gzip-header-crc" ["E" "A"] "gzip member"
        "FHCRC set and CRC16 wrong"
        source "RFC 1952"
        example "FLG=2, CRC16=0"
        fix "write the right CRC16, or leave it out";
}
