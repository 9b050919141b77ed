//! Expressions over the values of a sample.

use crate::error::{Error, ErrorKind, Result};

/// The deepest nesting of an expression.
const MAX_DEPTH: usize = 64;

/// The most operators between operands. Each one nests the tree, which is evaluated by recursion.
const MAX_OPERATORS: usize = 1_000;

/// An expression over the values of a sample, for [`derive`](super::derive()) and the stages of a
/// [`Pipeline`](crate::transform::Pipeline).
///
/// | form | value |
/// |---|---|
/// | `1.5`, `2e9` | a number |
/// | `$(alloc_space)` | the sample's value of a sample type |
/// | `$(alloc_space).attributes.size`, `attributes.size` | a numeric attribute of the sample or its resource |
/// | `value` | the value that a stage converts |
/// | `a + b`, `a - b`, `a * b`, `a / b`, `a ** b`, `-a`, `(a)` | arithmetic in 64-bit floating point |
/// | `a or b` | `a`, or `b` if `a` is 0 or missing |
///
/// Ceilometer's words are accepted: `volume` for `value`, `resource_metadata` for `attributes`.
///
/// ```
/// use otlp_profiles::transform::Expression;
///
/// assert!(Expression::parse("$(delay) / ($(contentions) or 1)").is_ok());
/// let error = Expression::parse("$(delay) /").unwrap_err();
/// assert_eq!(error.message(), "expr: byte 10: a number, `value`, `$(…)` or `(` is missing");
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Expression(Node);

#[derive(Clone, Debug, PartialEq)]
enum Node {
    Number(f64),
    Value,
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
        let mut parser = Parser { text, at: 0, depth: 0, operators: 0 };
        let node = parser.alternatives()?;
        parser.space();
        match parser.at == text.len() {
            true => Ok(Self(node)),
            false => Err(parser.error("an operator is missing")),
        }
    }

    /// The names of the sample types in the expression.
    pub(crate) fn types(&self) -> Vec<&str> {
        let mut types = Vec::new();
        self.0.visit(&mut |node| {
            if let Node::Type(name) = node {
                types.push(&**name);
            }
        });
        types
    }

    /// Whether the expression refers to the value that is converted.
    pub(crate) fn names_value(&self) -> bool {
        let mut found = false;
        self.0.visit(&mut |node| found |= *node == Node::Value);
        found
    }

    /// The number, if the expression is one.
    pub(crate) fn number(&self) -> Option<f64> {
        if let Node::Number(number) = self.0 { Some(number) } else { None }
    }

    /// The result; not finite if it is undefined.
    pub(crate) fn result(&self, operands: &Operands<'_>) -> f64 {
        self.0.result(operands).unwrap_or(f64::NAN)
    }
}

/// The values that an expression refers to.
pub(crate) struct Operands<'a> {
    /// By the name of the sample type.
    pub(crate) of_type: &'a dyn Fn(&str) -> Option<f64>,
    /// By the key of the attribute.
    pub(crate) of_attribute: &'a dyn Fn(&str) -> Option<f64>,
    /// The value that is converted.
    pub(crate) value: Option<f64>,
}

impl Node {
    /// Calls `f` with each node.
    fn visit<'a>(&'a self, f: &mut impl FnMut(&'a Self)) {
        f(self);
        match self {
            Self::Negate(of) => of.visit(f),
            Self::Binary(_, a, b) => {
                a.visit(f);
                b.visit(f);
            }
            Self::Number(_) | Self::Value | Self::Type(_) | Self::Attribute(_) => {}
        }
    }

    fn result(&self, operands: &Operands<'_>) -> Option<f64> {
        let result = |node: &Self| node.result(operands);
        Some(match self {
            Self::Number(number) => *number,
            Self::Value => operands.value?,
            Self::Type(name) => (operands.of_type)(name)?,
            Self::Attribute(key) => (operands.of_attribute)(key)?,
            Self::Negate(of) => -result(of)?,
            Self::Binary(Operator::Or, a, b) => match result(a) {
                Some(a) if a != 0.0 => a,
                _ => result(b)?,
            },
            Self::Binary(operator, a, b) => {
                let (a, b) = (result(a)?, result(b)?);
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
    operators: usize,
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
        // `**` never begins with the `*` here, because `signed` has taken it.
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
            self.operators += 1;
            if self.operators > MAX_OPERATORS {
                return Err(self.error(&format!("more than {MAX_OPERATORS} operators")));
            }
            node = Node::Binary(*operator, Box::new(node), Box::new(operand(self)?));
        }
        Ok(node)
    }

    fn signed(&mut self) -> Result<Node> {
        // Every recursion of the parser passes through here: signs, powers and parentheses.
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return Err(self.error("the expression is nested too deeply"));
        }
        let node = match self.skip("-") {
            true => Node::Negate(Box::new(self.signed()?)),
            false => {
                // As in Python, a power binds to the right and more closely than the sign before it.
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
            if name.contains("$(") {
                return Err(self.error("the `)` after a sample type is missing"));
            }
            self.at += length + 1;
            return match self.rest().starts_with('.') {
                true => {
                    self.at += 1;
                    self.attribute()?.ok_or_else(|| self.error("`attributes.KEY` is missing"))
                }
                false => Ok(Node::Type(name)),
            };
        }
        if let Some(attribute) = self.attribute()? {
            return Ok(attribute);
        }
        if self.skip("value") || self.skip("volume") {
            return Ok(Node::Value);
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

    /// An attribute, if one is next.
    fn attribute(&mut self) -> Result<Option<Node>> {
        if !self.skip("attributes.") && !self.skip("resource_metadata.") {
            return Ok(None);
        }
        let rest = self.rest();
        let end = |c: char| !(c.is_alphanumeric() || "._-".contains(c));
        let key = rest[..rest.find(end).unwrap_or(rest.len())].to_owned();
        if key.is_empty() {
            return Err(self.error("the key of an attribute is missing"));
        }
        self.at += key.len();
        Ok(Some(Node::Attribute(key)))
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
            Err(_) => Err(self.error("a number, `value`, `$(…)` or `(` is missing")),
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
        let (of_type, of_attribute) = (&of_type, &of_attribute);
        let operands = Operands { of_type, of_attribute, value: Some(3.0) };
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
            ("$(ten) / resource_metadata.size", 2.5),
            ("volume * 2 + value", 9.0),
            ("$(ten).size", f64::NAN),
            ("attributes.", f64::NAN),
            ("1 +", f64::NAN),
            ("(1", f64::NAN),
            ("$(ten", f64::NAN),
            ("$(ten / $(ten)", f64::NAN),
            ("1 2", f64::NAN),
            ("", f64::NAN),
        ] {
            match Expression::parse(text) {
                Ok(expression) => assert_eq!(expression.result(&operands), expected, "{text}"),
                Err(error) => assert!(expected.is_nan(), "{text}: {error}"),
            }
        }
        let missing = Expression::parse("$(none) + 1").expect("it is an expression");
        assert!(missing.result(&operands).is_nan());
        assert_eq!(missing.types(), ["none"]);
        assert!(Expression::parse(&"(".repeat(10_000)).is_err());
        assert!(Expression::parse(&"-".repeat(10_000)).is_err());
        let sum = |operators| Expression::parse(&format!("1{}", "+1".repeat(operators)));
        assert_eq!(sum(1_000).expect("it is an expression").result(&operands), 1_001.0);
        let error = sum(1_000_000).unwrap_err();
        assert_eq!(error.message(), "expr: byte 2002: more than 1000 operators");
    }
}
