//! Decodes packed indices with AVX2.
//!
//! ```text
//! 16 bytes ─► movemask: continuation bits ─► PLACES[256] ─► shuffle: 8 lanes of 4 bytes, one varint each
//!           ─► clear bytes after the end ─► maddubs: 7+7 bits ─► madd: 14+14 bits ─► + plus ─► 8 slots
//! ```
//!
//! A varint of five bytes or more does not fit a lane. Then `read` returns `None`, and the caller decodes the list
//! another way.

use std::arch::x86_64::*;

use fearless_simd::{Avx2, Level, SimdFrom, u8x16, u8x32, u32x8};

use crate::wire::indices::AHEAD;

/// Proof that the processor has AVX2.
pub(super) type Instructions = Avx2;

/// Detects AVX2 at run time.
pub(super) fn instructions() -> Option<Instructions> {
    Level::new().as_avx2()
}

/// Shuffle masks by the continuation bits of eight bytes. Byte `i + 1` begins a varint unless bit `i` is set. For
/// each beginning, the mask holds the positions of the four bytes from there on; unused lanes hold [`ZERO_BYTE`].
static PLACES: [[u8; 32]; 256] = {
    let mut places = [[ZERO_BYTE; 32]; 256];
    let mut goes_on = 0;
    while goes_on < 256 {
        let (mut at, mut slot) = (0, 0);
        while at < 8 {
            if goes_on >> at & 1 == 0 {
                let mut byte = 0;
                while byte < 4 {
                    places[goes_on][slot + byte] = (1 + at + byte) as u8;
                    byte += 1;
                }
                slot += 4;
            }
            at += 1;
        }
        goes_on += 1;
    }
    places
};

/// The shuffle position that yields 0.
const ZERO_BYTE: u8 = 0x80;

// Handles eight bytes per iteration. The four bytes from each beginning are moved to a lane, where the bytes after
// the end of the varint are cleared and the seven bits of each byte are joined.
fearless_simd::kernel!(
    pub(super) fn read(avx2: Avx2, ahead: &[u8], plus: u32, out: &mut [u32]) -> Option<usize> {
        let plus = _mm256_set1_epi32(plus as i32);
        let high = _mm256_set1_epi8(-0x80);
        let low = _mm256_set1_epi8(0x7f);
        let one = _mm256_set1_epi32(1);
        let bytes_to_pair = _mm256_set1_epi16(1 | 1 << 7 << 8);
        let pairs_to_value = _mm256_set1_epi32(1 | 1 << 14 << 16);
        let mut rest = ahead;
        let mut filled = 0;
        // `more` has the continuation bits of the latest block, and `ends` the last byte of each varint in it.
        // `least` is the minimum of `ends` over the earlier blocks: 0 if a varint did not end in its lane.
        let mut more = 0_u32;
        let (mut ends, mut least) = (high, high);
        while rest.len() > 1 + AHEAD
            && let Some(bytes) = rest.first_chunk::<16>()
            && let Some(slots) = out.get_mut(filled..).and_then(<[u32]>::first_chunk_mut::<8>)
        {
            let bytes = u8x16::simd_from(avx2, *bytes);
            more = _mm_movemask_epi8(bytes.into()) as u32;
            let goes_on = more as u8;
            let places = u8x32::simd_from(avx2, PLACES[usize::from(goes_on)]);
            let bytes = _mm256_broadcastsi128_si256(bytes.into());
            let lanes = _mm256_shuffle_epi8(bytes, places.into());
            least = _mm256_min_epu32(least, ends);
            ends = _mm256_andnot_si256(lanes, high);
            let until_end = _mm256_xor_si256(ends, _mm256_sub_epi32(ends, one));
            let lanes = _mm256_and_si256(_mm256_and_si256(lanes, low), until_end);
            let pairs = _mm256_maddubs_epi16(bytes_to_pair, lanes);
            let values = _mm256_add_epi32(_mm256_madd_epi16(pairs, pairs_to_value), plus);
            let values = u32x8::simd_from(avx2, values);
            *slots = values.into();
            filled += 8 - goes_on.count_ones() as usize;
            rest = &rest[8.min(rest.len())..];
        }
        // Do not count varints that begin after the body.
        let behind = (1 + AHEAD).saturating_sub(rest.len()) as u32;
        let body = 0xff_u32.checked_shr(behind).unwrap_or(0);
        filled -= (!more & !body & 0xff).count_ones() as usize;
        // `least` omits the latest block, whose lanes may hold varints that begin after the body. Here a bit of
        // `longer` is set if a varint of the body has a continuation bit in each of its first four bytes.
        let longer = more >> 1 & more >> 2 & more >> 3 & more >> 4 & body;
        let endless = _mm256_cmpeq_epi32(least, _mm256_setzero_si256());
        (longer == 0 && _mm256_testz_si256(endless, endless) == 1).then_some(filled)
    }
);

fearless_simd::kernel!(
    pub(super) fn most(_avx2: Avx2, indices: &[u32]) -> Option<u32> {
        super::most(indices)
    }
);
