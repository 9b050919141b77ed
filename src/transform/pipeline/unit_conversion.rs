//! Other units and names.

use crate::error::{Error, ErrorKind, Result};
use crate::transform::arithmetic::Expression;
use crate::transform::pipeline::item::Item;
use crate::transform::pipeline::stage::{Context, Stage, Transformer};
use crate::transform::pipeline::target::{Formula, Target};

struct UnitConversion {
    unit: Option<String>,
    scale: Option<Expression>,
    target: Target,
}

impl Stage {
    /// Converts the values of the sample types with the unit `unit`, or of all.
    ///
    /// If `scale` names the `value`, it is the new value; otherwise it is a factor, of which 0 changes nothing. Values are
    /// rounded half away from zero, counted as `value.rounded`.
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
        Ok(Self(Box::new(UnitConversion { unit, scale, target })))
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
        let unit = self.unit.as_deref();
        if let Some(scale) = &self.scale {
            let formula = Formula { scale: Some(scale), fraction: (1, 1), max: None };
            formula.apply(&mut profiles, unit, &mut context.losses)?;
        }
        self.target.apply(&mut profiles, unit);
        Ok(Some(Item(profiles)))
    }
}
