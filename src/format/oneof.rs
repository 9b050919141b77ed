//! A value as it is read: what is said of it several times.
//!
//! Protobuf reads messages that are said again as one message with the fields of all. Of several cases of a
//! `oneof` the last counts, but for a list that follows the same kind of list: that adds to it.

use crate::model::value::{KeyValue, Value};

/// What was said of a value so far.
#[derive(Default)]
pub(crate) struct Oneof {
    value: Value,
    // The elements of a list, until it is known that it is not said again.
    values: Vec<Value>,
    pairs: Vec<KeyValue>,
}

impl Oneof {
    /// What counts unless another case follows.
    #[inline(always)]
    pub(crate) fn set(&mut self, value: Value) {
        self.value = value;
    }

    /// The elements of an array, to which more are added.
    pub(crate) fn array(&mut self) -> &mut Vec<Value> {
        if !matches!(self.value, Value::Array(_)) {
            self.values.clear();
            self.value = Value::Array(Box::default());
        }
        &mut self.values
    }

    /// The pairs of a list, to which more are added.
    pub(crate) fn pairs(&mut self) -> &mut Vec<KeyValue> {
        if !matches!(self.value, Value::KeyValues(_)) {
            self.pairs.clear();
            self.value = Value::KeyValues(Box::default());
        }
        &mut self.pairs
    }

    /// The value, of which nothing more is said.
    #[inline(always)]
    pub(crate) fn value(self) -> Value {
        match self.value {
            Value::Array(_) => Value::Array(self.values.into()),
            Value::KeyValues(_) => Value::KeyValues(self.pairs.into()),
            value => value,
        }
    }
}
