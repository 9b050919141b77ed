//! Expressions over the values of a sample.

use crate::error::{Error, ErrorKind, Result};

/// The deepest nesting of an expression.
const MAX_DEPTH: usize = 64;

/// An expression over sample types, for [`derive`](super::derive).
///
/// | form | value |
/// |---|---|
/// | `1.5`, `2e9` | a number |
/// | `$(alloc_space)` | the sample's value of a sample type |
/// | `$(alloc_space).attributes.size` | a numeric attribute of the sample |
/// | `a + b`, `a - b`, `a * b`, `a / b`, `a ** b`, `-a`, `(a)` | arithmetic in 64-bit floating point |
/// | `a or b` | `a`, or `b` if `a` is 0 or missing |
///
/// ```
/// use otlp_profiles::transform::Expression;
///
/// assert!(Expression::parse("$(delay) / ($(contentions) or 1)").is_ok());
/// let error = Expression::parse("$(delay) /").unwrap_err();
/// assert_eq!(error.message(), "expr: byte 10: a number, `$(…)` or `(` is missing");
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Expression(Node);

#[derive(Clone, Debug, PartialEq)]
enum Node {
    Number(f64),
    Type(String),
    Attribute(String),
    Negate(Box<Self>),
    Binary(Operator, Box<Self>, Box<Self>),
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Operator {
    Add,
    Subtract,
    Multiply,
    Divide,
    Power,
    Or,
}

impl Expression {
    /// Parses an expression.
    ///
    /// # Errors
    ///
    /// The text is no expression; the error names the byte.
    pub fn parse(text: &str) -> Result<Self> {
        let mut parser = Parser { text, at: 0, depth: 0 };
        let node = parser.alternatives()?;
        parser.space();
        match parser.at == text.len() {
            true => Ok(Self(node)),
            false => Err(parser.error("an operator is missing")),
        }
    }

    /// The names of the sample types in the expression.
    pub(super) fn types(&self) -> Vec<&str> {
        let mut types = Vec::new();
        self.0.types(&mut types);
        types
    }

    /// The value, given those of sample types and attributes; not finite if it is undefined.
    pub(super) fn value(
        &self,
        of_type: &dyn Fn(&str) -> Option<f64>,
        of_attribute: &dyn Fn(&str) -> Option<f64>,
    ) -> f64 {
        self.0.value(of_type, of_attribute).unwrap_or(f64::NAN)
    }
}

impl Node {
    fn types<'a>(&'a self, types: &mut Vec<&'a str>) {
        match self {
            Self::Type(name) => types.push(name),
            Self::Negate(of) => of.types(types),
            Self::Binary(_, a, b) => {
                a.types(types);
                b.types(types);
            }
            Self::Number(_) | Self::Attribute(_) => {}
        }
    }

    fn value(
        &self,
        of_type: &dyn Fn(&str) -> Option<f64>,
        of_attribute: &dyn Fn(&str) -> Option<f64>,
    ) -> Option<f64> {
        let value = |node: &Self| node.value(of_type, of_attribute);
        Some(match self {
            Self::Number(number) => *number,
            Self::Type(name) => of_type(name)?,
            Self::Attribute(key) => of_attribute(key)?,
            Self::Negate(of) => -value(of)?,
            Self::Binary(Operator::Or, a, b) => match value(a) {
                Some(a) if a != 0.0 => a,
                _ => value(b)?,
            },
            Self::Binary(operator, a, b) => {
                let (a, b) = (value(a)?, value(b)?);
                match operator {
                    Operator::Add => a + b,
                    Operator::Subtract => a - b,
                    Operator::Multiply => a * b,
                    Operator::Divide => a / b,
                    Operator::Power | Operator::Or => a.powf(b),
                }
            }
        })
    }
}

/// A recursive descent over the bytes of the text.
struct Parser<'a> {
    text: &'a str,
    at: usize,
    depth: usize,
}

impl Parser<'_> {
    fn error(&self, message: &str) -> Error {
        Error::new(ErrorKind::InvalidOption, format!("expr: byte {}: {message}", self.at))
    }

    fn rest(&self) -> &str {
        self.text.get(self.at..).unwrap_or_default()
    }

    fn space(&mut self) {
        self.at += self.rest().len() - self.rest().trim_start().len();
    }

    /// Skips a token, if it is next.
    fn skip(&mut self, token: &str) -> bool {
        self.space();
        let is_next = self.rest().starts_with(token);
        self.at += if is_next { token.len() } else { 0 };
        is_next
    }

    fn alternatives(&mut self) -> Result<Node> {
        self.chain(&[("or", Operator::Or)], Self::sum)
    }

    fn sum(&mut self) -> Result<Node> {
        self.chain(&[("+", Operator::Add), ("-", Operator::Subtract)], Self::product)
    }

    fn product(&mut self) -> Result<Node> {
        self.chain(&[("*", Operator::Multiply), ("/", Operator::Divide)], Self::signed)
    }

    /// Operands with operators of one precedence between them, from the left.
    fn chain(
        &mut self,
        operators: &[(&str, Operator)],
        operand: fn(&mut Self) -> Result<Node>,
    ) -> Result<Node> {
        let mut node = operand(self)?;
        while let Some((_, operator)) = operators.iter().find(|(token, _)| self.skip(token)) {
            node = Node::Binary(*operator, Box::new(node), Box::new(operand(self)?));
        }
        Ok(node)
    }

    fn signed(&mut self) -> Result<Node> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return Err(self.error("the expression is nested too deeply"));
        }
        let node = match self.skip("-") {
            true => Node::Negate(Box::new(self.signed()?)),
            false => {
                let base = self.operand()?;
                match self.skip("**") {
                    true => Node::Binary(Operator::Power, Box::new(base), Box::new(self.signed()?)),
                    false => base,
                }
            }
        };
        self.depth -= 1;
        Ok(node)
    }

    fn operand(&mut self) -> Result<Node> {
        if self.skip("$(") {
            let Some(length) = self.rest().find(')') else {
                return Err(self.error("the `)` after a sample type is missing"));
            };
            let name = self.rest()[..length].to_owned();
            self.at += length + 1;
            let Some(rest) = self.rest().strip_prefix(".attributes.") else {
                return Ok(Node::Type(name));
            };
            let end = |c: char| !(c.is_alphanumeric() || "._-".contains(c));
            let key = rest[..rest.find(end).unwrap_or(rest.len())].to_owned();
            self.at += ".attributes.".len() + key.len();
            return Ok(Node::Attribute(key));
        }
        if self.skip("(") {
            let node = self.alternatives()?;
            return match self.skip(")") {
                true => Ok(node),
                false => Err(self.error("`)` is missing")),
            };
        }
        self.number()
    }

    fn number(&mut self) -> Result<Node> {
        let rest = self.rest().as_bytes();
        let mut length = 0;
        while let Some(byte) = rest.get(length) {
            let is_exponent = |byte: &u8| matches!(byte, b'e' | b'E');
            let is_sign =
                matches!(byte, b'+' | b'-') && rest[..length].last().is_some_and(is_exponent);
            let continues = length > 0 && is_exponent(byte) || is_sign;
            if !(byte.is_ascii_digit() || *byte == b'.' || continues) {
                break;
            }
            length += 1;
        }
        match self.rest()[..length].parse() {
            Ok(number) => {
                self.at += length;
                Ok(Node::Number(number))
            }
            Err(_) => Err(self.error("a number, `$(…)` or `(` is missing")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn expressions_have_the_usual_precedence() {
        let of_type = |name: &str| (name == "ten").then_some(10.0);
        let of_attribute = |key: &str| (key == "size").then_some(4.0);
        for (text, expected) in [
            ("1 + 2 * 3", 7.0),
            ("(1 + 2) * 3", 9.0),
            ("2 - 3 - 4", -5.0),
            ("-2 ** 2", -4.0),
            ("2 ** 3 ** 2", 512.0),
            ("1.5e2 / 1e+1", 15.0),
            ("$(ten) / $(ten).attributes.size", 2.5),
            ("$(none) or 0 or 3", 3.0),
            ("($(ten).attributes.none or 1) * 2", 2.0),
            ("volume", f64::NAN),
            ("1 +", f64::NAN),
            ("(1", f64::NAN),
            ("$(ten", f64::NAN),
            ("1 2", f64::NAN),
            ("", f64::NAN),
        ] {
            match Expression::parse(text) {
                Ok(expression) => {
                    assert_eq!(expression.value(&of_type, &of_attribute), expected, "{text}");
                }
                Err(error) => assert!(expected.is_nan(), "{text}: {error}"),
            }
        }
        let missing = Expression::parse("$(none) + 1").expect("it is an expression");
        assert!(missing.value(&of_type, &of_attribute).is_nan());
        assert_eq!(missing.types(), ["none"]);
        assert!(Expression::parse(&"(".repeat(10_000)).is_err());
        assert!(Expression::parse(&"-".repeat(10_000)).is_err());
    }
}
