//! Packed indices by the vector instructions of the processor.

#[cfg(target_arch = "x86_64")]
use crate::wire::indices::AHEAD;

/// The vector instructions there are.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Lanes {
    #[cfg(target_arch = "x86_64")]
    avx2: Option<fearless_simd::Avx2>,
}

impl Default for Lanes {
    fn default() -> Self {
        Self {
            #[cfg(target_arch = "x86_64")]
            avx2: fearless_simd::Level::new().as_avx2(),
        }
    }
}

impl Lanes {
    #[cfg(test)]
    pub(crate) const NONE: Self = Self {
        #[cfg(target_arch = "x86_64")]
        avx2: None,
    };

    /// Reads the varints that begin in `ahead` but for its last [`AHEAD`] bytes, and says how many
    /// there are: `Some(None)` if any is of more than four bytes, `None` if this processor has no
    /// instructions for it.
    #[cfg(target_arch = "x86_64")]
    #[inline(always)]
    pub(crate) fn read(self, ahead: &[u8], out: &mut [u32]) -> Option<Option<usize>> {
        self.avx2.map(|avx2| eight_bytes(avx2, ahead, out))
    }

    /// None: there are no instructions for it.
    #[cfg(not(target_arch = "x86_64"))]
    pub(crate) fn read(self, _: &[u8], _: &mut [u32]) -> Option<Option<usize>> {
        None
    }
}

/// By which of eight bytes begin a varint: the places of the four bytes from each of those that do;
/// those past the last are [`NOWHERE`].
#[cfg(target_arch = "x86_64")]
static PLACES: [[u8; 32]; 256] = {
    let mut places = [[NOWHERE; 32]; 256];
    let mut begins = 0;
    while begins < 256 {
        let (mut at, mut slot) = (0, 0);
        while at < 8 {
            if begins >> at & 1 == 1 {
                let mut byte = 0;
                while byte < 4 {
                    places[begins][slot + byte] = (at + byte) as u8;
                    byte += 1;
                }
                slot += 4;
            }
            at += 1;
        }
        begins += 1;
    }
    places
};

/// The place of a byte that becomes 0.
#[cfg(target_arch = "x86_64")]
const NOWHERE: u8 = 0x80;

#[cfg(target_arch = "x86_64")]
use std::arch::x86_64::*;

#[cfg(target_arch = "x86_64")]
use fearless_simd::{SimdFrom, u8x16, u8x32, u32x8};

// Eight bytes at a time: the four from each beginning go to a lane of their own, where what follows
// the end of the varint is cleared and the seven bits of each byte are put together.
#[cfg(target_arch = "x86_64")]
fearless_simd::kernel!(
    fn eight_bytes(avx2: Avx2, ahead: &[u8], out: &mut [u32]) -> Option<usize> {
        let high = _mm256_set1_epi8(-0x80);
        let low = _mm256_set1_epi8(0x7f);
        let one = _mm256_set1_epi32(1);
        let bytes_to_pair = _mm256_set1_epi16(1 | 1 << 7 << 8);
        let pairs_to_value = _mm256_set1_epi32(1 | 1 << 14 << 16);
        let mut rest = ahead;
        let (mut filled, mut carried) = (0, 0);
        // Of the last eight bytes, where varints begin and where those of more bytes are; and
        // whether there were any before.
        let (mut begins, mut longer, mut longer_before) = (0_u32, 0, 0);
        while rest.len() > AHEAD
            && let Some(bytes) = rest.first_chunk::<16>()
            && let Some(slots) = out
                .get_mut(filled..)
                .and_then(<[u32]>::first_chunk_mut::<8>)
        {
            let bytes = u8x16::simd_from(avx2, *bytes);
            let more = _mm_movemask_epi8(bytes.into()) as u32;
            begins = !(more << 1 | carried) & 0xff;
            carried = more >> 7 & 1;
            longer_before |= longer;
            longer = more & more >> 1 & more >> 2 & more >> 3 & 0xff;
            let places = u8x32::simd_from(avx2, PLACES[begins as usize]);
            let bytes = _mm256_broadcastsi128_si256(bytes.into());
            let lanes = _mm256_shuffle_epi8(bytes, places.into());
            let ends = _mm256_andnot_si256(lanes, high);
            let until_end = _mm256_xor_si256(ends, _mm256_sub_epi32(ends, one));
            let lanes = _mm256_and_si256(_mm256_and_si256(lanes, low), until_end);
            let pairs = _mm256_maddubs_epi16(bytes_to_pair, lanes);
            let values = u32x8::simd_from(avx2, _mm256_madd_epi16(pairs, pairs_to_value));
            *slots = values.into();
            filled += begins.count_ones() as usize;
            rest = &rest[8.min(rest.len())..];
        }
        // Those that begin behind the body are not its own.
        let behind = AHEAD.saturating_sub(rest.len()) as u32;
        let body = 0xff_u32.checked_shr(behind).unwrap_or(0);
        filled -= (begins & !body).count_ones() as usize;
        (longer_before | longer & body == 0).then_some(filled)
    }
);
