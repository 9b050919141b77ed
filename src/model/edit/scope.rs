//! Sets the instrumentation scope of profiles.

use crate::error::Result;
use crate::model::edit::new_rows::NewRows;
use crate::model::edit::walk::scopes_of;
use crate::model::profiles::Profiles;

impl Profiles {
    /// Sets the name of every scope, and its version if `version` is not `None`. Attributes of scopes stay
    /// unchanged.
    ///
    /// Unlike [`rewrite_strings`](Self::rewrite_strings), this also names the scope of a pprof, which has no name.
    ///
    /// ```
    /// # fn main() -> otlp_profiles::Result<()> {
    /// # let profile = std::fs::read("testdata/go-cpu-labels.pb.gz").unwrap();
    /// let mut profiles = otlp_profiles::read(&profile, &Default::default())?.profiles;
    /// profiles.set_scopes("runtime/pprof", Some("1.24"))?;
    /// let scope = profiles.resource_profiles()[0].scope_profiles()[0].scope();
    /// assert_eq!(profiles.dictionary().text(scope.name()), "runtime/pprof");
    /// # Ok(()) }
    /// ```
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Limit`](crate::ErrorKind::Limit) if the string table would exceed its maximum. The scopes stay
    /// unchanged.
    pub fn set_scopes(&mut self, name: &str, version: Option<&str>) -> Result<()> {
        let mut new = NewRows::default();
        let strings = &mut self.dictionary.strings;
        let name = new.text(name, strings)?;
        let version = version.map(|version| new.text(version, strings)).transpose()?;
        for scope in scopes_of(&mut self.resources) {
            scope.scope.name = name;
            if let Some(version) = version {
                scope.scope.version = version;
            }
        }
        Ok(())
    }
}
