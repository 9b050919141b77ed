//! Writes protobuf messages by hand, for forms that no `.proto` of this repository defines. Like gogo's
//! encoder: fields in ascending order, proto3 defaults omitted, numbers packed.

/// A message under construction.
#[derive(Clone, Debug, Default)]
pub struct Message(pub Vec<u8>);

fn varint(out: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}

impl Message {
    fn tag(&mut self, number: u32, kind: u32) {
        varint(&mut self.0, u64::from(number << 3 | kind));
    }

    /// Writes a number; omits 0.
    pub fn int(mut self, number: u32, value: u64) -> Self {
        if value != 0 {
            self.tag(number, 0);
            varint(&mut self.0, value);
        }
        self
    }

    /// Writes a number of eight bytes; omits 0.
    pub fn fixed(mut self, number: u32, value: u64) -> Self {
        if value != 0 {
            self.tag(number, 1);
            self.0.extend(value.to_le_bytes());
        }
        self
    }

    /// Writes bytes, also empty ones: members of a oneof, rows of a table.
    pub fn bytes(mut self, number: u32, value: &[u8]) -> Self {
        self.tag(number, 2);
        varint(&mut self.0, value.len() as u64);
        self.0.extend(value);
        self
    }

    /// Writes a string; omits an empty one.
    pub fn text(self, number: u32, value: &str) -> Self {
        if value.is_empty() { self } else { self.bytes(number, value.as_bytes()) }
    }

    /// Writes a message, also an empty one.
    pub fn message(self, number: u32, value: &Self) -> Self {
        self.bytes(number, &value.0)
    }

    /// Writes the rows of a table.
    pub fn rows<T>(self, number: u32, rows: &[T], row: impl Fn(&T) -> Self) -> Self {
        rows.iter().fold(self, |message, value| message.message(number, &row(value)))
    }

    /// Writes packed numbers; omits an empty list.
    pub fn packed(self, number: u32, values: impl IntoIterator<Item = u64>) -> Self {
        let mut body = Vec::new();
        values.into_iter().for_each(|value| varint(&mut body, value));
        if body.is_empty() { self } else { self.bytes(number, &body) }
    }

    /// Writes packed numbers of eight bytes; omits an empty list.
    pub fn packed_fixed(self, number: u32, values: impl IntoIterator<Item = u64>) -> Self {
        let body: Vec<u8> = values.into_iter().flat_map(u64::to_le_bytes).collect();
        if body.is_empty() { self } else { self.bytes(number, &body) }
    }
}
