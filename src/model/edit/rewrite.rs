//! Rewriting texts: names of functions, files, sample types and scopes.

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

/// Which texts to [rewrite](Profiles::rewrite_strings).
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
    /// The names of functions, as people read them.
    FunctionName,
    /// The names of functions as the system knows them.
    FunctionSystemName,
    /// The source files of functions.
    FunctionFilename,
    /// The names of binaries.
    MappingFilename,
    /// The names of sample types, also where one is said to be the default.
    SampleTypeName,
    /// The units of sample types; the values stay.
    SampleTypeUnit,
    /// What periods count.
    PeriodTypeName,
    /// The units of periods; their numbers stay.
    PeriodTypeUnit,
    /// The names of scopes.
    ScopeName,
    /// The versions of scopes.
    ScopeVersion,
}

impl Profiles {
    /// Rewrites texts: those of which `rewrite` returns something become that, others stay.
    ///
    /// It is asked once for every text, however often it is used, and never for one that is empty:
    /// that is no name. Rows that become equal stay apart. A function may have its name as its
    /// system name as well, as in what Go writes. The texts of attributes are changed by
    /// [`edit_attributes`](Self::edit_attributes).
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
    /// profiles.compact(); // The old names go as well.
    /// assert!(profiles.dictionary().strings().iter().any(|text| text == "checkout.main"));
    /// assert!(profiles.dictionary().strings().iter().all(|text| text != "main.main"));
    /// # Ok(()) }
    /// ```
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Limit`](crate::ErrorKind::Limit) where the table of texts would grow past 4 GiB
    /// or 2³¹ rows. Part of the texts is rewritten then.
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
        self.dictionary.strings = strings;
        result
    }

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

    /// Rewrites the default sample types that attributes name.
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

fn sample_type_names(profile: &mut Profile) -> impl Iterator<Item = &mut StringId> {
    let ProfileParts { sample_types, default_sample_type, .. } = &mut **profile;
    sample_types.iter_mut().map(|kind| &mut kind.name).chain([default_sample_type])
}

/// Rewrites every text once.
struct Rewriter<'a> {
    /// The table, taken out of the dictionary, whose other tables are walked meanwhile.
    strings: &'a mut Strings,
    /// Finds or adds the rows of new texts.
    new: NewRows,
    /// By the row of a text: the row of what it became.
    done: Vec<Option<StringId>>,
    rewrite: &'a mut dyn FnMut(&str) -> Option<String>,
}

impl Rewriter<'_> {
    /// Rewrites ids in place, each text once whoever has it.
    fn all<'i>(&mut self, mut ids: impl Iterator<Item = &'i mut StringId>) -> Result<()> {
        ids.try_for_each(|id| self.one(id))
    }

    fn one(&mut self, id: &mut StringId) -> Result<()> {
        let text = self.strings.get(*id);
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

    /// A default sample type, if that is what the attribute of this key is.
    fn default(&mut self, wanted: &str, key: StringId, value: &mut Value) -> Result<()> {
        match value {
            Value::String(name) if self.strings.get(key) == wanted => self.one(name),
            _ => Ok(()),
        }
    }
}
