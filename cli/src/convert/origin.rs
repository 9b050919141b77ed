//! Whose profiles they are: what a pprof does not say and a backend wants to know.
//!
//! pprof has no resource, so what a backend groups profiles by has to come from the caller. Set after reading and before writing, so it counts as said by the source and no loss is reported.

use otlp_profiles::model::AttributeOwner;
use otlp_profiles::{Profiles, Result};

/// What was profiled, and by what.
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct Origin {
    /// Set an attribute: service.name=checkout
    #[arg(long, value_name = "KEY=VALUE", value_parser = parse_attribute)]
    resource: Vec<(String, String)>,
    /// Set the name and version of all scopes
    #[arg(long, value_name = "NAME[@VERSION]", value_parser = parse_scope)]
    #[arg(help_heading = super::OTLP, hide_short_help = true)]
    scope: Option<(String, Option<String>)>,
}

/// `key=value`; the value may be empty, and have more signs of equality.
fn parse_attribute(text: &str) -> std::result::Result<(String, String), String> {
    match text.split_once('=') {
        Some((key, value)) if !key.is_empty() => Ok((key.to_owned(), value.to_owned())),
        _ => Err("KEY=VALUE is wanted, such as service.name=checkout".to_owned()),
    }
}

/// `name` or `name@version`; the last `@` is the one, as names of packages may begin with one.
fn parse_scope(text: &str) -> std::result::Result<(String, Option<String>), String> {
    let (name, version) = match text.rsplit_once('@') {
        Some((name, version)) if !name.is_empty() => (name, Some(version.to_owned())),
        _ => (text, None),
    };
    if name.is_empty() {
        return Err("a name is wanted".to_owned());
    }
    Ok((name.to_owned(), version))
}

impl Origin {
    /// The option that was given, if any: a format without resources and scopes takes none.
    pub(crate) fn option(&self) -> Option<&'static str> {
        let resource = Some("--resource").filter(|_| !self.resource.is_empty());
        resource.or(self.scope.is_some().then_some("--scope"))
    }

    /// Says it of all resources and scopes.
    pub(crate) fn set(&self, profiles: &mut Profiles) -> Result<()> {
        if !self.resource.is_empty() {
            profiles.edit_attributes(AttributeOwner::Resource, |resource| {
                self.resource.iter().for_each(|(key, value)| resource.set(key, value.as_str()));
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
