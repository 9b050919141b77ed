//! Rewrites strings: names of functions, files, sample types and scopes.

use crate::error::Result;
use crate::model::dictionary::Dictionary;
use crate::model::edit::new_rows::NewRows;
use crate::model::edit::walk::{profiles_of, scopes_of};
use crate::model::id::StringId;
use crate::model::profile::{Profile, ProfileParts};
use crate::model::profiles::Profiles;
use crate::model::strings::Strings;
use crate::model::value::Value;
use crate::semconv::{PPROF_PROFILE_DEFAULT_SAMPLE_TYPE, PPROF_SCOPE_DEFAULT_SAMPLE_TYPE};

/// The strings to [rewrite](Profiles::rewrite_strings).
///
/// ```
/// # fn main() -> otlp_profiles::Result<()> {
/// # let profile = std::fs::read("testdata/go-cpu-labels.pb.gz").unwrap();
/// use otlp_profiles::model::StringField;
///
/// let mut profiles = otlp_profiles::read(&profile, &Default::default())?.profiles;
/// let files = [StringField::FunctionFilename, StringField::MappingFilename];
/// profiles.rewrite_strings(&files, |path| Some(path.replace("/home/build/", "")))?;
/// # Ok(()) }
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum StringField {
    /// The human-readable names of functions.
    FunctionName,
    /// The system names of functions, such as mangled ones.
    FunctionSystemName,
    /// The source files of functions.
    FunctionFilename,
    /// The names of binaries.
    MappingFilename,
    /// The names of sample types, including the name of the default one.
    SampleTypeName,
    /// The units of sample types. Values stay unchanged.
    SampleTypeUnit,
    /// The types of periods.
    PeriodTypeName,
    /// The units of periods. Their numbers stay unchanged.
    PeriodTypeUnit,
    /// The names of scopes.
    ScopeName,
    /// The versions of scopes.
    ScopeVersion,
}

impl Profiles {
    /// Rewrites strings. `rewrite` returns the new string, or `None` to keep the old one.
    ///
    /// `rewrite` runs once for every distinct string, however often it is used, and never for an empty one, which
    /// means an absent name. Rows that become equal stay separate. The system name of a function may equal its
    /// name, as in profiles of Go. Use [`edit_attributes`](Self::edit_attributes) for the strings of attributes.
    ///
    /// ```
    /// # fn main() -> otlp_profiles::Result<()> {
    /// # let profile = std::fs::read("testdata/go-cpu-labels.pb.gz").unwrap();
    /// use otlp_profiles::model::StringField;
    ///
    /// let mut profiles = otlp_profiles::read(&profile, &Default::default())?.profiles;
    /// profiles.rewrite_strings(&[StringField::FunctionName, StringField::FunctionSystemName], |name| {
    ///     name.strip_prefix("main.").map(|rest| format!("checkout.{rest}"))
    /// })?;
    /// profiles.compact(); // Remove the old names, too.
    /// assert!(profiles.dictionary().strings().iter().any(|text| text == "checkout.main"));
    /// assert!(profiles.dictionary().strings().iter().all(|text| text != "main.main"));
    /// # Ok(()) }
    /// ```
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Limit`](crate::ErrorKind::Limit) if the string table would exceed 4 GiB or 2³¹ rows. In this
    /// case only part of the strings is rewritten.
    pub fn rewrite_strings(
        &mut self,
        texts: &[StringField],
        mut rewrite: impl FnMut(&str) -> Option<String>,
    ) -> Result<()> {
        let mut strings = std::mem::take(&mut self.dictionary.strings);
        let done = vec![None; strings.len()];
        let (new, rewrite) = (NewRows::default(), &mut rewrite);
        let mut rewriter = Rewriter { strings: &mut strings, new, done, rewrite };
        let mut texts = texts.iter();
        let result = texts.try_for_each(|&texts| self.rewrite_one(texts, &mut rewriter));
        // Also after an error.
        self.dictionary.strings = strings;
        result
    }

    /// Rewrites the strings of one field.
    fn rewrite_one(&mut self, texts: StringField, rewriter: &mut Rewriter<'_>) -> Result<()> {
        let Self { dictionary: Dictionary { functions, mappings, .. }, resources } = self;
        let functions = functions.iter_mut();
        match texts {
            StringField::FunctionName => rewriter.all(functions.map(|one| &mut one.name)),
            StringField::FunctionSystemName => {
                rewriter.all(functions.map(|one| &mut one.system_name))
            }
            StringField::FunctionFilename => rewriter.all(functions.map(|one| &mut one.filename)),
            StringField::MappingFilename => {
                rewriter.all(mappings.rows.iter_mut().map(|one| &mut one.filename))
            }
            StringField::SampleTypeName => {
                rewriter.all(profiles_of(resources).flat_map(sample_type_names))?;
                self.rewrite_defaults(rewriter)
            }
            StringField::SampleTypeUnit => {
                let types = profiles_of(resources).flat_map(|one| &mut one.sample_types);
                rewriter.all(types.map(|one| &mut one.unit))
            }
            StringField::PeriodTypeName => {
                rewriter.all(profiles_of(resources).map(|one| &mut one.period_type.name))
            }
            StringField::PeriodTypeUnit => {
                rewriter.all(profiles_of(resources).map(|one| &mut one.period_type.unit))
            }
            StringField::ScopeName => {
                rewriter.all(scopes_of(resources).map(|one| &mut one.scope.name))
            }
            StringField::ScopeVersion => {
                rewriter.all(scopes_of(resources).map(|one| &mut one.scope.version))
            }
        }
    }

    /// Rewrites the default sample types that are stored in attributes.
    fn rewrite_defaults(&mut self, rewriter: &mut Rewriter<'_>) -> Result<()> {
        for scope in scopes_of(&mut self.resources) {
            for pair in &mut scope.scope.attributes {
                rewriter.default(PPROF_SCOPE_DEFAULT_SAMPLE_TYPE, pair.key, &mut pair.value)?;
            }
        }
        for row in &mut self.dictionary.attributes {
            rewriter.default(PPROF_PROFILE_DEFAULT_SAMPLE_TYPE, row.key, &mut row.value)?;
        }
        Ok(())
    }
}

/// Iterates over the names of sample types in a profile, including the default one.
fn sample_type_names(profile: &mut Profile) -> impl Iterator<Item = &mut StringId> {
    let ProfileParts { sample_types, default_sample_type, .. } = &mut **profile;
    sample_types.iter_mut().map(|kind| &mut kind.name).chain([default_sample_type])
}

/// Rewrites every string once.
struct Rewriter<'a> {
    /// The string table, taken out of the dictionary while the other tables are walked.
    strings: &'a mut Strings,
    /// Finds or adds the rows of new strings.
    new: NewRows,
    /// By row of the old string: the row of the new one.
    done: Vec<Option<StringId>>,
    rewrite: &'a mut dyn FnMut(&str) -> Option<String>,
}

impl Rewriter<'_> {
    /// Rewrites ids in place. Each string is rewritten once, wherever it occurs.
    fn all<'i>(&mut self, mut ids: impl Iterator<Item = &'i mut StringId>) -> Result<()> {
        ids.try_for_each(|id| self.one(id))
    }

    /// Rewrites one id.
    fn one(&mut self, id: &mut StringId) -> Result<()> {
        let text = self.strings.get(*id);
        // Rows that this rewriter added are past the end of `done`, so they are not rewritten again.
        let Some(done) = self.done.get_mut(id.row()).filter(|_| !text.is_empty()) else {
            return Ok(());
        };
        *id = match *done {
            Some(done) => done,
            None => {
                let new = match (self.rewrite)(text) {
                    Some(new) if new != text => self.new.text(&new, self.strings)?,
                    _ => *id,
                };
                *done.insert(new)
            }
        };
        Ok(())
    }

    /// Rewrites a default sample type, if the attribute with this key contains one.
    fn default(&mut self, wanted: &str, key: StringId, value: &mut Value) -> Result<()> {
        match value {
            Value::String(name) if self.strings.get(key) == wanted => self.one(name),
            _ => Ok(()),
        }
    }
}
