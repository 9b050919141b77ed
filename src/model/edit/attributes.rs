//! Edits one list of attributes.

use std::borrow::Cow;
use std::fmt;

use crate::error::{Error, Result};
use crate::model::attributes::{AttributeList, Attributes};
use crate::model::dictionary::{Attribute, Dictionary};
use crate::model::edit::new_rows::NewRows;
use crate::model::id::{AttributeId, StringId};
use crate::model::value::{KeyValue, Value};
use crate::model::value_ref::{AttributeRef, ValueRef};

/// Edits the attributes of a resource, a scope, a profile, a sample, a location or a mapping: see
/// [`Profiles::edit_attributes`](crate::model::Profiles::edit_attributes).
///
/// An attribute that was set or renamed is the only one with its key.
///
/// ```
/// # fn main() -> otlp_profiles::Result<()> {
/// # let profile = std::fs::read("testdata/go-cpu-labels.pb.gz").unwrap();
/// use otlp_profiles::model::AttributeOwner;
///
/// let mut profiles = otlp_profiles::read(&profile, &Default::default())?.profiles;
/// profiles.edit_attributes(AttributeOwner::Sample, |labels| {
///     labels.rename("thread_id", "thread.id");
///     labels.retain(|label| !label.key.starts_with("k8s."));
///     labels.set("team", "payments");
/// })?;
/// # Ok(()) }
/// ```
pub struct AttributesMut<'a> {
    pub(super) list: &'a mut List,
    pub(super) dictionary: &'a mut Dictionary,
    /// Finds or adds rows.
    pub(super) new: &'a mut NewRows,
    /// The first error. It is stored because the closure of an edit returns nothing.
    pub(super) failed: &'a mut Option<Error>,
}

/// A list of attributes in one of its two forms.
#[derive(Debug)]
pub(super) enum List {
    /// Rows of the attribute table. Rows are shared and therefore never changed.
    Rows(Vec<AttributeId>),
    /// Pairs, with the key of each before the edit; NONE for added pairs.
    Pairs { pairs: Vec<KeyValue>, old: Vec<StringId> },
}

impl fmt::Debug for AttributesMut<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.view().fmt(f)
    }
}

/// A scalar value to [set](AttributesMut::set).
///
/// ```
/// use otlp_profiles::model::Scalar;
///
/// assert_eq!(Scalar::from("checkout"), Scalar::String("checkout".into()));
/// assert_eq!(Scalar::from(42), Scalar::Int(42));
/// ```
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Scalar<'a> {
    /// A string.
    String(Cow<'a, str>),
    /// A boolean.
    Bool(bool),
    /// An integer.
    Int(i64),
    /// A double.
    Double(f64),
    /// Bytes.
    Bytes(&'a [u8]),
}

/// Converts a number to an integer, or to a string of its decimal digits if it exceeds OTLP's integers. The builder
/// does the same.
fn int_or_digits<'a, I: TryInto<i64> + ToString + Copy>(number: I) -> Scalar<'a> {
    let digits = |_| Scalar::String(number.to_string().into());
    number.try_into().map_or_else(digits, Scalar::Int)
}

macro_rules! scalar_from {
    ($($type:ty => |$value:ident| $scalar:expr;)*) => {$(
        impl<'a> From<$type> for Scalar<'a> {
            fn from($value: $type) -> Self {
                $scalar
            }
        }
    )*};
}

scalar_from! {
    &'a str => |text| Self::String(text.into());
    &'a String => |text| Self::String(text.into());
    String => |text| Self::String(text.into());
    Cow<'a, str> => |text| Self::String(text);
    bool => |bool| Self::Bool(bool);
    i32 => |number| Self::Int(number.into());
    i64 => |number| Self::Int(number);
    u32 => |number| Self::Int(number.into());
    f64 => |number| Self::Double(number);
    f32 => |number| Self::Double(number.into());
    u64 => |number| int_or_digits(number);
    usize => |number| int_or_digits(number);
    &'a [u8] => |bytes| Self::Bytes(bytes);
}

impl AttributesMut<'_> {
    /// Returns the attributes in their current state, including changes made in this call.
    pub fn view(&self) -> Attributes<'_> {
        let list = match &*self.list {
            List::Rows(rows) => AttributeList::Rows(rows),
            List::Pairs { pairs, .. } => AttributeList::Pairs(pairs),
        };
        self.dictionary.resolve(list)
    }

    /// Returns the current value of a key, including changes made in this call.
    pub fn get(&self, key: &str) -> Option<ValueRef<'_>> {
        self.view().get(key)
    }

    /// Returns the value of a key if it is a string.
    pub fn get_str(&self, key: &str) -> Option<&str> {
        self.view().get_str(key)
    }

    /// Sets the value of a key. Replaces an existing value, or appends the attribute. A new number keeps the unit
    /// of the old value. An empty key cannot be set.
    ///
    /// If a table is full, the attributes stay unchanged, and [`edit_attributes`](crate::Profiles::edit_attributes)
    /// returns the error.
    ///
    /// ```
    /// # fn main() -> otlp_profiles::Result<()> {
    /// use otlp_profiles::model::AttributeOwner;
    /// # let bytes = std::fs::read("testdata/go-cpu-labels.pb.gz").unwrap();
    /// let mut profiles = otlp_profiles::read(&bytes, &Default::default())?.profiles;
    /// profiles.edit_attributes(AttributeOwner::Resource, |resource| {
    ///     resource.set("service.name", "checkout");
    ///     resource.set("process.pid", 42);
    /// })?;
    /// let entry = profiles.entries().next().unwrap();
    /// assert_eq!(entry.resource_attributes().get_str("service.name"), Some("checkout"));
    /// # Ok(()) }
    /// ```
    pub fn set<'v>(&mut self, key: &str, value: impl Into<Scalar<'v>>) {
        if key.is_empty() {
            return;
        }
        let at = self.position(key);
        let value = self.value(value.into());
        let done = value.and_then(|value| {
            // Only a number keeps the unit of the old value.
            let number = matches!(value, Value::Int(_) | Value::Double(_));
            let unit = self.unit(at.filter(|_| number));
            self.put(at, key, value, unit)
        });
        match (done, at) {
            (Ok(()), Some(at)) => self.keep_one(key, at),
            (Ok(()), None) => {}
            (Err(error), _) => {
                self.failed.get_or_insert(error);
            }
        }
    }

    /// Renames a key. Replaces an attribute that already has the new key. Returns whether the key existed. A key
    /// cannot become empty.
    ///
    /// The value, of any type, and its unit stay.
    ///
    /// ```
    /// # fn main() -> otlp_profiles::Result<()> {
    /// use otlp_profiles::model::AttributeOwner;
    /// # let bytes = std::fs::read("testdata/go-cpu-labels.pb.gz").unwrap();
    /// let mut profiles = otlp_profiles::read(&bytes, &Default::default())?.profiles;
    /// let mut renamed = 0;
    /// profiles.edit_attributes(AttributeOwner::Sample, |labels| {
    ///     renamed += usize::from(labels.rename("endpoint", "http.route"));
    /// })?;
    /// assert!(renamed > 0);
    /// # Ok(()) }
    /// ```
    pub fn rename(&mut self, from: &str, to: &str) -> bool {
        let Some(at) = self.position(from).filter(|_| !to.is_empty()) else {
            return false;
        };
        let value = self.view().iter().nth(at).map(|attribute| attribute.value.value().clone());
        let unit = self.unit(Some(at));
        match self.put(Some(at), to, value.unwrap_or_default(), unit) {
            Ok(()) => self.keep_one(to, at),
            Err(error) => {
                self.failed.get_or_insert(error);
            }
        }
        true
    }

    /// Removes a key. Returns whether it existed.
    /// The row stays in the table until [`compact`](crate::Profiles::compact).
    pub fn remove(&mut self, key: &str) -> bool {
        let found = self.position(key).is_some();
        if found {
            self.retain(|attribute| attribute.key != key);
        }
        found
    }

    /// Keeps only the attributes for which `keep` returns true.
    ///
    /// ```
    /// # fn main() -> otlp_profiles::Result<()> {
    /// use otlp_profiles::model::AttributeOwner;
    /// # let bytes = std::fs::read("testdata/go-cpu-labels.pb.gz").unwrap();
    /// let mut profiles = otlp_profiles::read(&bytes, &Default::default())?.profiles;
    /// profiles.edit_attributes(AttributeOwner::Sample, |labels| {
    ///     labels.retain(|label| label.key == "region");
    /// })?;
    /// let samples = profiles.iter().next().unwrap().samples();
    /// assert!(samples.iter().all(|sample| sample.attributes.len() <= 1));
    /// # Ok(()) }
    /// ```
    pub fn retain(&mut self, mut keep: impl FnMut(AttributeRef<'_>) -> bool) {
        let kept: Vec<bool> = self.view().iter().map(&mut keep).collect();
        self.retain_marked(&kept);
    }

    /// Returns the position of a key in the list.
    fn position(&self, key: &str) -> Option<usize> {
        self.view().iter().position(|attribute| attribute.key == key)
    }

    /// Removes all attributes with the key of the attribute at `at`, except that one.
    fn keep_one(&mut self, key: &str, at: usize) {
        // Keys are usually unique. Then there is nothing to allocate or move.
        let same = self.view().iter().filter(|attribute| attribute.key == key).count();
        if same > 1 {
            let all = self.view().iter().enumerate();
            let kept: Vec<bool> = all.map(|(other, one)| other == at || one.key != key).collect();
            self.retain_marked(&kept);
        }
    }

    /// Keeps only the attributes whose element in `kept` is true.
    fn retain_marked(&mut self, kept: &[bool]) {
        let keep = || {
            let mut kept = kept.iter();
            move || kept.next().copied().unwrap_or(true)
        };
        // One iterator for the pairs, and one for their old keys.
        let (mut first, mut second) = (keep(), keep());
        match self.list {
            List::Rows(rows) => rows.retain(|_| first()),
            List::Pairs { pairs, old } => {
                pairs.retain(|_| first());
                old.retain(|_| second());
            }
        }
    }

    /// Returns the unit of the attribute at `at`.
    fn unit(&self, at: Option<usize>) -> StringId {
        match (&*self.list, at) {
            (List::Rows(rows), Some(at)) => {
                let row = rows.get(at).and_then(|id| self.dictionary.attribute(*id));
                row.map_or(StringId::NONE, |row| row.unit)
            }
            _ => StringId::NONE,
        }
    }

    /// Converts a scalar to a value. Adds its string to the table if necessary.
    fn value(&mut self, value: Scalar<'_>) -> Result<Value> {
        Ok(match value {
            Scalar::String(text) => {
                Value::String(self.new.text(&text, &mut self.dictionary.strings)?)
            }
            Scalar::Bool(bool) => Value::Bool(bool),
            Scalar::Int(number) => Value::Int(number),
            Scalar::Double(number) => Value::Double(number),
            Scalar::Bytes(bytes) => Value::Bytes(bytes.into()),
        })
    }

    /// Stores an attribute at `at`, or appends it. Pairs have no field for the unit.
    fn put(&mut self, at: Option<usize>, key: &str, value: Value, unit: StringId) -> Result<()> {
        let key = self.new.text(key, &mut self.dictionary.strings)?;
        match self.list {
            List::Rows(rows) => {
                let attribute = Attribute { key, value, unit };
                let id = self.new.attribute(attribute, self.dictionary)?;
                match at.and_then(|at| rows.get_mut(at)) {
                    Some(there) => *there = id,
                    None => rows.push(id),
                }
            }
            List::Pairs { pairs, old } => match at.and_then(|at| pairs.get_mut(at)) {
                Some(there) => *there = KeyValue { key, value },
                None => {
                    pairs.push(KeyValue { key, value });
                    old.push(StringId::NONE);
                }
            },
        }
        Ok(())
    }
}
