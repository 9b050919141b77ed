//! Other units and names.

use crate::error::{Error, ErrorKind, Result};
use crate::transform::arithmetic::Expression;
use crate::transform::pipeline::item::Item;
use crate::transform::pipeline::stage::{Context, Seen, Stage, Transformer};
use crate::transform::pipeline::target::{Formula, Target};
use crate::units::{self, Unit};

struct UnitConversion {
    unit: Option<String>,
    scale: Option<Expression>,
    target: Target,
    seen: Seen,
}

impl Stage {
    /// Converts the values of the sample types with the unit `unit` in any spelling (`bytes`, `By`), or of all.
    ///
    /// If `scale` names the `value`, it is the new value; otherwise it is a factor, of which 0 changes nothing. Without a
    /// scale, values are converted to the unit of the target, and types that measure something else stay as they are.
    /// Values are rounded half away from zero, counted as `value.rounded`.
    ///
    /// # Errors
    ///
    /// `scale` contains a `$(…)`.
    ///
    /// ```
    /// use otlp_profiles::transform::{Expression, Stage, Target};
    ///
    /// let target = Target::default().rename(|name, _unit| (name.to_owned(), "KiBy".to_owned()));
    /// let scale = Expression::parse("value / 1024")?;
    /// let stage = Stage::unit_conversion(Some("bytes".to_owned()), Some(scale), target)?;
    /// # Ok::<(), otlp_profiles::Error>(())
    /// ```
    pub fn unit_conversion(
        unit: Option<String>,
        scale: Option<Expression>,
        target: Target,
    ) -> Result<Self> {
        let scale = scale.filter(|scale| scale.number() != Some(0.0));
        scale.iter().try_for_each(without_types)?;
        Ok(Self(Box::new(UnitConversion { unit, scale, target, seen: Seen::default() })))
    }
}

/// Rejects an expression over sample types, whose values a scale does not get.
pub(super) fn without_types(scale: &Expression) -> Result<()> {
    match scale.types().first() {
        None => Ok(()),
        Some(name) => {
            let message =
                format!("scale: $({name}) is not available here: use the stage arithmetic");
            Err(Error::new(ErrorKind::InvalidOption, message))
        }
    }
}

impl Transformer for UnitConversion {
    fn handle(&mut self, item: Item, context: &mut Context) -> Result<Option<Item>> {
        let Item(mut profiles) = item;
        let Self { unit, scale, target, seen } = self;
        let is_wanted = |name: &str, of: &str| {
            let to = target.renamed(name, of).1;
            // Nothing but a scale makes bytes of seconds.
            let converts = scale.is_some()
                || units::conversion(of, &to).is_some()
                || [of, &*to].iter().any(|unit| Unit::of(unit).is_none());
            unit.as_deref().is_none_or(|unit| units::is_same(of, unit)) && converts
        };
        let fraction = |name: &str, of: &str| match scale {
            _ if !is_wanted(name, of) => None,
            Some(_) => Some((1, 1)),
            None => units::conversion(of, &target.renamed(name, of).1).filter(|(by, to)| by != to),
        };
        seen.note(&profiles, |name, of| {
            let renamed = target.renamed(name, of);
            let changes = scale.is_some() || (&*renamed.0, &*renamed.1) != (name, of);
            is_wanted(name, of) && (changes || target.temporality.is_some())
        });
        let formula = Formula { scale: scale.as_ref(), fraction: &fraction, max: None };
        formula.apply(&mut profiles, &mut context.losses)?;
        target.apply(&mut profiles, is_wanted);
        Ok(Some(Item(profiles)))
    }

    fn unmatched(&self) -> Option<String> {
        let unit = self.unit.as_ref().map(|unit| format!(" of the unit {unit}"));
        let wanted = format!("unit_conversion changed no sample type{}", unit.unwrap_or_default());
        self.seen.unmatched(&wanted)
    }
}
