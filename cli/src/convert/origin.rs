//! Resource attributes and scopes that the user supplies.
//!
//! pprof has no resource, so the attributes by which a backend groups profiles must come from the
//! user. They are set after reading and before writing, as if the source contained them, so they
//! cause no loss.

use otlp_profiles::model::AttributeOwner;
use otlp_profiles::{Profiles, Result};

/// Flags for the resource and the scope.
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct Origin {
    /// Set an attribute of all resources: service.name=checkout
    #[arg(long, value_name = "KEY=VALUE", value_parser = parse_attribute)]
    set_resource: Vec<(String, String)>,
    /// The former name of --set-resource
    #[arg(long, hide = true, value_name = "KEY=VALUE", value_parser = parse_attribute)]
    resource: Vec<(String, String)>,
    /// Set the name and version of all scopes
    #[arg(long, value_name = "NAME[@VERSION]", value_parser = parse_scope)]
    #[arg(help_heading = super::OTLP, hide_short_help = true)]
    scope: Option<(String, Option<String>)>,
}

/// Parses `key=value`. The value may be empty and may contain `=`.
fn parse_attribute(text: &str) -> std::result::Result<(String, String), String> {
    match text.split_once('=') {
        Some((key, value)) if !key.is_empty() => Ok((key.to_owned(), value.to_owned())),
        _ => Err("expected KEY=VALUE, such as service.name=checkout".to_owned()),
    }
}

/// Parses `name` or `name@version`. The last `@` separates, because package names may begin with
/// `@`.
fn parse_scope(text: &str) -> std::result::Result<(String, Option<String>), String> {
    let (name, version) = match text.rsplit_once('@') {
        Some((name, version)) if !name.is_empty() => (name, Some(version.to_owned())),
        _ => (text, None),
    };
    if name.is_empty() {
        return Err("expected a name".to_owned());
    }
    Ok((name.to_owned(), version))
}

impl Origin {
    /// Whether no option is given.
    #[cfg(feature = "parquet")]
    pub(crate) fn is_empty(&self) -> bool {
        self.attributes().next().is_none() && self.scope.is_none()
    }

    /// The option that was given, if any. Formats without resources and scopes reject it.
    pub(crate) fn option(&self) -> Option<&'static str> {
        let resource = self.attributes().next().map(|_| "--set-resource");
        resource.or(self.scope.is_some().then_some("--scope"))
    }

    fn attributes(&self) -> impl Iterator<Item = &(String, String)> {
        self.resource.iter().chain(&self.set_resource)
    }

    /// Refuses `--resource` where it could mean a selection.
    pub(crate) fn check(&self, verb: &str) -> std::result::Result<(), String> {
        match self.resource.first().filter(|_| !matches!(verb, "convert" | "import")) {
            None => Ok(()),
            Some((key, value)) => Err(format!(
                "--resource is ambiguous: --where {key}={value} keeps the samples of a resource, --set-resource {key}={value} changes all resources"
            )),
        }
    }

    /// Sets the attributes of all resources and the scope of all profiles.
    pub(crate) fn set(&self, profiles: &mut Profiles) -> Result<()> {
        if self.attributes().next().is_some() {
            profiles.edit_attributes(AttributeOwner::Resource, |resource| {
                self.attributes().for_each(|(key, value)| resource.set(key, value.as_str()));
            })?;
        }
        match &self.scope {
            Some((name, version)) => profiles.set_scopes(name, version.as_deref()),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn attributes_and_scopes_are_cut_where_people_mean_it() {
        assert_eq!(parse_attribute("a=b=c"), Ok(("a".to_owned(), "b=c".to_owned())));
        assert_eq!(parse_attribute("a="), Ok(("a".to_owned(), String::new())));
        assert!(parse_attribute("a").is_err() && parse_attribute("=a").is_err());
        let scope =
            |text| parse_scope(text).map(|(name, version)| (name, version.unwrap_or_default()));
        let is = |name: &str, version: &str| Ok((name.to_owned(), version.to_owned()));
        assert_eq!(scope("go.pprof@1.24"), is("go.pprof", "1.24"));
        assert_eq!(scope("@acme/profiler@2"), is("@acme/profiler", "2"));
        assert_eq!(scope("@acme/profiler"), is("@acme/profiler", ""));
        assert!(parse_scope("").is_err());
    }
}
