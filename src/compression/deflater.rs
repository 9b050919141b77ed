//! Deflates in parts, optionally on several threads.
//!
//! Deflate takes most of the time of writing a gzip file. So the input is split into parts of equal size. Each part
//! is deflated separately, with the preceding 32 KiB as its dictionary, and ends at a byte boundary. Concatenated,
//! they form one gzip member that any reader can inflate. The parts depend only on the input, so the file is the
//! same for any number of threads.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use flate2::{Compress, Compression, Crc, FlushCompress};

use super::level::Level;

/// Bytes per part.
/// The cuts do not enlarge files, because each part has its own codes (real profiles become 0.1 to 0.3 % smaller).
/// One thread takes 2 to 4 % longer, because of the dictionaries.
const PART: usize = 1 << 17;

/// Maximum distance of deflate's references.
const WINDOW: usize = 1 << 15;

/// Compresses `bytes` as one gzip member without a name or a time, so that equal bytes give equal files.
///
/// The header does not name an operating system either. [`deflate_in_parallel`] returns the same file and uses all
/// processors.
///
/// ```
/// use otlp_profiles::compression::{Level, deflate, inflate};
/// use otlp_profiles::{Limits};
///
/// let file = deflate(b"profile", Level::DEFAULT);
/// assert_eq!(file, deflate(b"profile", Level::DEFAULT));
/// assert_eq!(*inflate(&file, &Limits::network())?, *b"profile");
/// # Ok::<(), otlp_profiles::Error>(())
/// ```
pub fn deflate(bytes: &[u8], level: Level) -> Vec<u8> {
    deflate_on(1, bytes, level)
}

/// Like [`deflate`], on as many threads as can run at once, including the caller's. Returns the same file in less
/// time.
///
/// Each additional thread requires 128 KiB of input. If the system cannot start threads, the caller's thread does
/// all the work.
///
/// ```
/// use otlp_profiles::compression::{Level, deflate, deflate_in_parallel};
///
/// let text = "main;work;read 17\n".repeat(50_000);
/// let file = deflate_in_parallel(text.as_bytes(), Level::DEFAULT);
/// assert_eq!(file, deflate(text.as_bytes(), Level::DEFAULT));
/// ```
pub fn deflate_in_parallel(bytes: &[u8], level: Level) -> Vec<u8> {
    let threads = match count(bytes) {
        // One part needs no other thread, and counting the processors takes system calls.
        1 => 1,
        _ => thread::available_parallelism().map_or(1, usize::from),
    };
    deflate_on(threads, bytes, level)
}

/// Like [`deflate`], on up to `threads` threads.
fn deflate_on(threads: usize, bytes: &[u8], level: Level) -> Vec<u8> {
    let parts = parts(bytes, level, threads);
    let length = parts.iter().map(|part| part.packed.len()).sum::<usize>();
    let mut file = Vec::with_capacity(HEADER + length + TRAILER);
    file.extend(header(level));
    let mut crc = Crc::new();
    for part in parts {
        file.extend_from_slice(&part.packed);
        // Joins the checksums of the parts without reading the bytes again.
        crc.combine(&part.crc);
    }
    file.extend(crc.sum().to_le_bytes());
    file.extend(crc.amount().to_le_bytes());
    file
}

/// Returns the length of the file that [`deflate`] would return, without keeping the file.
pub(crate) fn deflated_length(bytes: &[u8], level: Level) -> u64 {
    let parts = (0..count(bytes)).map(|at| part(bytes, at, level).packed.len());
    (HEADER + parts.sum::<usize>() + TRAILER) as u64
}

const HEADER: usize = 10;
const TRAILER: usize = 8;

/// Returns a header without flags or time. Its last bytes are the effort and an unknown system.
const fn header(level: Level) -> [u8; HEADER] {
    // RFC 1952, field XFL: 4 marks the fastest algorithm, 2 the one that compresses most. System 255 is unknown.
    let effort = match level.get() {
        0 | 1 => 4,
        9 => 2,
        _ => 0,
    };
    [0x1f, 0x8b, 8, 0, 0, 0, 0, 0, effort, 255]
}

/// A deflated part, and the checksum of its content.
struct Part {
    packed: Vec<u8>,
    crc: Crc,
}

/// Returns the number of parts of `bytes`. Empty input has one part.
const fn count(bytes: &[u8]) -> usize {
    let parts = bytes.len().div_ceil(PART);
    if parts == 0 { 1 } else { parts }
}

/// Deflates all parts. Returns them in order.
/// Each thread takes the next free part, because some parts take longer than others.
fn parts(bytes: &[u8], level: Level, threads: usize) -> Vec<Part> {
    let count = count(bytes);
    let next = AtomicUsize::new(0);
    let work = || {
        let taken = std::iter::repeat_with(|| next.fetch_add(1, Ordering::Relaxed));
        let mine = taken.take_while(|at| *at < count);
        mine.map(|at| (at, part(bytes, at, level))).collect::<Vec<_>>()
    };
    let mut all = thread::scope(|scope| {
        let start = |_| thread::Builder::new().spawn_scoped(scope, work).ok();
        let others: Vec<_> = (1..threads.min(count)).filter_map(start).collect();
        let mut all = work();
        for other in others {
            match other.join() {
                Ok(parts) => all.extend(parts),
                Err(panic) => std::panic::resume_unwind(panic),
            }
        }
        all
    });
    // Results are grouped by thread.
    all.sort_unstable_by_key(|(at, _)| *at);
    all.into_iter().map(|(_, part)| part).collect()
}

/// Deflates part `at`. All parts but the last end at a byte boundary, after an empty block.
/// Each part has a new compressor: at level 1, a compressor that was reset produces other bytes.
fn part(bytes: &[u8], at: usize, level: Level) -> Part {
    let start = at * PART;
    let (before, rest) = bytes.split_at(start);
    // A part of exactly `PART` bytes at the end of the input is the last one, which must finish the stream.
    let (own, flush) = match rest.split_at_checked(PART) {
        Some((own, [_, ..])) => (own, FlushCompress::Sync),
        _ => (rest, FlushCompress::Finish),
    };
    let mut compress = Compress::new(Compression::new(level.get()), false);
    let window = before.get(start.saturating_sub(WINDOW)..).unwrap_or_default();
    if !window.is_empty() {
        compress
            .set_dictionary(window)
            .expect("a compressor that has begun with nothing takes one");
    }
    let mut packed = Vec::with_capacity(own.len() / 4 + 64);
    loop {
        let taken = own.get(compress.total_in() as usize..).unwrap_or_default();
        let status = compress.compress_vec(taken, &mut packed, flush);
        status.expect("whatever the bytes, they are deflated");
        // Spare capacity means that the compressor has finished.
        if packed.len() < packed.capacity() {
            break;
        }
        packed.reserve(packed.len());
    }
    let mut crc = Crc::new();
    crc.update(own);
    Part { packed, crc }
}

#[cfg(test)]
mod tests {
    use std::io::Read;

    use super::*;

    /// Returns bytes that deflate to about a third, a few parts long.
    fn bytes() -> Vec<u8> {
        let word = |at: u32| (at.wrapping_mul(2_654_435_761) >> 20).to_le_bytes();
        (0..300_000).flat_map(word).collect()
    }

    #[test]
    fn any_number_of_threads_makes_one_member_that_others_read() {
        let bytes = bytes();
        for length in [0, 1, PART - 1, PART, PART + 1, 3 * PART, bytes.len()] {
            let bytes = &bytes[..length];
            for level in [0, 1, 6, 9].map(|level| Level::new(level).unwrap()) {
                let file = deflate(bytes, level);
                for threads in [2, 3, 16] {
                    assert!(deflate_on(threads, bytes, level) == file, "{length} {level:?}");
                }
                assert_eq!(deflated_length(bytes, level), file.len() as u64, "{length} {level:?}");
                let mut inflated = Vec::new();
                let mut member = flate2::bufread::GzDecoder::new(&file[..]);
                member.read_to_end(&mut inflated).unwrap();
                assert!(inflated == bytes, "{length} {level:?}");
                assert!(member.into_inner().is_empty(), "{length} {level:?}: one member");
            }
        }
    }

    /// A part may refer to the bytes before it; otherwise each part would begin without a dictionary.
    #[test]
    fn what_a_part_repeats_of_the_one_before_costs_nothing() {
        let once: Vec<u8> = bytes()[..PART].to_vec();
        let tail = &once[PART - WINDOW / 2..];
        let twice = [&once, tail].concat();
        let [once, twice] = [once, twice].map(|bytes| deflate(&bytes, Level::DEFAULT).len());
        assert!(twice - once < WINDOW / 50, "{once} {twice}");
    }
}
