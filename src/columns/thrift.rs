//! Checks the lengths in Parquet's metadata before the crate `parquet` allocates by them.
//!
//! Metadata is encoded in Thrift's [compact protocol](https://github.com/apache/thrift/blob/master/doc/specs/thrift-compact-protocol.md).
//! A walk over it checks that texts and lists are within the bytes, and that no schema has more children than elements.

use crate::wire::read::Reader;

/// Levels of nested structs and lists. Parquet's metadata has some ten.
const DEPTH: u32 = 32;

/// The field of the number of children, in the elements of list 2 of a footer.
const CHILDREN: (u64, i64) = (2, 5);

/// Returns the length of a struct, or `None` if it is malformed. Set `footer` for the metadata of a file.
pub(super) fn checked_len(bytes: &[u8], footer: bool) -> Option<usize> {
    let mut walk = Walk { rest: Reader::new(bytes), elements: footer.then_some(u64::MAX) };
    walk.structure(0, true)?;
    Some(bytes.len() - walk.rest.left())
}

struct Walk<'a> {
    rest: Reader<'a>,
    /// In the schema of a footer: the number of its elements.
    elements: Option<u64>,
}

impl Walk<'_> {
    fn byte(&mut self) -> Option<u8> {
        let &byte = self.rest.rest().first()?;
        self.rest.pass(1);
        Some(byte)
    }

    fn varint(&mut self) -> Option<u64> {
        self.rest.try_varint()
    }

    fn skip(&mut self, bytes: u64) -> Option<()> {
        let bytes = usize::try_from(bytes).ok().filter(|bytes| *bytes <= self.rest.left())?;
        self.rest.pass(bytes);
        Some(())
    }

    fn structure(&mut self, depth: u32, is_root: bool) -> Option<()> {
        let mut field = 0_i64;
        loop {
            let head = self.byte()?;
            if head == 0 {
                return Some(());
            }
            field = match head >> 4 {
                0 => zigzag(self.varint()?),
                delta => field.checked_add(delta.into())?,
            };
            let is_schema = is_root && field == CHILDREN.0 as i64 && self.elements.is_some();
            let kind = head & 15;
            if let (5, Some(elements)) = (kind, self.elements.filter(|_| !is_root)) {
                let number = zigzag(self.varint()?);
                if field == CHILDREN.1 && u64::try_from(number).ok()? >= elements {
                    return None;
                }
                continue;
            }
            match kind {
                1 | 2 => {}
                9 | 10 => self.list(depth + 1, is_schema)?,
                _ => self.value(kind, depth + 1)?,
            }
        }
    }

    fn value(&mut self, kind: u8, depth: u32) -> Option<()> {
        match kind {
            _ if depth > DEPTH => None,
            1..=3 => self.byte().map(drop),
            4..=6 => self.varint().map(drop),
            7 => self.skip(8),
            8 => {
                let length = self.varint()?;
                self.skip(length)
            }
            9 | 10 => self.list(depth, false),
            12 => self.structure(depth, false),
            _ => None,
        }
    }

    fn list(&mut self, depth: u32, is_schema: bool) -> Option<()> {
        let head = self.byte()?;
        let items = match head >> 4 {
            15 => self.varint()?,
            items => items.into(),
        };
        // An item has at least one byte.
        if items > self.rest.left() as u64 {
            return None;
        }
        let outer = self.elements.take();
        self.elements = is_schema.then_some(items);
        for _ in 0..items {
            self.value(head & 15, depth + 1)?;
        }
        self.elements = if is_schema { None } else { outer };
        Some(())
    }
}

fn zigzag(number: u64) -> i64 {
    (number >> 1) as i64 ^ -((number & 1) as i64)
}
