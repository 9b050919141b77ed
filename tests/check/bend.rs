//! Random but reproducible changes of bytes.

/// A pseudorandom sequence that is the same in every run.
pub struct Numbers(pub u64);

impl Numbers {
    pub fn below(&mut self, end: usize) -> usize {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % end.max(1)
    }
}

/// Flips, truncates, removes, duplicates and swaps bytes.
pub fn bend(payload: &[u8], numbers: &mut Numbers) -> Vec<u8> {
    const ODD: [u8; 10] = [0, 1, 0x7f, 0x80, 0xff, 0x0a, 0x12, 0x22, 0x2a, 0x0b];
    let mut bent = payload.to_vec();
    for _ in 0..=numbers.below(4) {
        let at = numbers.below(bent.len());
        match numbers.below(6) {
            0 => bent.truncate(at),
            1 => drop(bent.get(at).is_some().then(|| bent.remove(at))),
            2 => bent.insert(at.min(bent.len()), ODD[numbers.below(ODD.len())]),
            3 => {
                let part = bent[at..(at + numbers.below(40)).min(bent.len())].to_vec();
                let to = numbers.below(bent.len());
                bent.splice(to..to, part);
            }
            _ => {
                let odd = ODD[numbers.below(ODD.len())];
                bent.get_mut(at).map(|byte| *byte = odd).unwrap_or_default();
            }
        }
    }
    bent
}
