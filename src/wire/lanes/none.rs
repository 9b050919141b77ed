//! No vector instructions.
//! The same functions, for processors without any: nothing can call them, as there is no [`Instructions`].

/// Nothing has them.
#[derive(Clone, Copy, Debug)]
pub(super) enum Instructions {}

pub(super) fn instructions() -> Option<Instructions> {
    None
}

pub(super) fn read(has: Instructions, _: &[u8], _: u32, _: &mut [u32]) -> Option<usize> {
    match has {}
}

pub(super) fn most(has: Instructions, _: &[u32]) -> Option<u32> {
    match has {}
}
