//! Reads and prints paths and index expressions in the text form of `#[hdl_gen]`: without blanks, with `$` for `.`.

use crate::error::EmitError;
use crate::ir::{Index, IndexOp};
use rust_hdl_core::ast::{VerilogExpression as Ast, VerilogOp, VerilogOpUnary};

/// Separates a path from its indices: `u[i]$delta[j+1]$next` is `u$delta` with `i` and `j+1`.
pub(crate) fn split_path(text: &str) -> Option<(String, Vec<String>)> {
    let text = text.strip_suffix("$next").unwrap_or(text);
    let (mut key, mut indices, mut depth, mut current) = (String::new(), vec![], 0usize, String::new());
    for c in text.chars() {
        match c {
            '[' => {
                if depth > 0 {
                    current.push(c);
                }
                depth += 1;
            }
            ']' => {
                depth = depth.checked_sub(1)?;
                if depth == 0 {
                    indices.push(std::mem::take(&mut current));
                } else {
                    current.push(c);
                }
            }
            _ if depth > 0 => current.push(c),
            _ => key.push(c),
        }
    }
    (depth == 0).then_some((key, indices))
}

/// Parses index arithmetic: numbers, names, `+`, `-`, `*`, parentheses. Returns `Err(None)` for any other text.
pub(crate) fn parse_index(
    text: &str,
    name: &dyn Fn(&str) -> Result<Index, EmitError>,
) -> Result<Index, Option<EmitError>> {
    let mut parser = IndexParser { rest: text, name };
    let index = parser.sum()?;
    if parser.rest.is_empty() { Ok(index) } else { Err(None) }
}

struct IndexParser<'a> {
    rest: &'a str,
    name: &'a dyn Fn(&str) -> Result<Index, EmitError>,
}

impl IndexParser<'_> {
    fn take(&mut self, c: char) -> bool {
        match self.rest.strip_prefix(c) {
            Some(rest) => {
                self.rest = rest;
                true
            }
            None => false,
        }
    }

    fn sum(&mut self) -> Result<Index, Option<EmitError>> {
        let mut left = self.product()?;
        loop {
            let op = if self.take('+') {
                IndexOp::Add
            } else if self.take('-') {
                IndexOp::Sub
            } else {
                return Ok(left);
            };
            left = Self::combine(left, op, self.product()?)?;
        }
    }

    fn product(&mut self) -> Result<Index, Option<EmitError>> {
        let mut left = self.factor()?;
        while self.take('*') {
            left = Self::combine(left, IndexOp::Mul, self.factor()?)?;
        }
        Ok(left)
    }

    /// Combines two operands. Refuses signals: the syntax does not show whether their arithmetic wraps.
    fn combine(a: Index, op: IndexOp, b: Index) -> Result<Index, Option<EmitError>> {
        if a.is_dynamic() || b.is_dynamic() { Err(None) } else { Ok(Index::operation(a, op, b)) }
    }

    fn factor(&mut self) -> Result<Index, Option<EmitError>> {
        if self.take('(') {
            let inner = self.sum()?;
            return if self.take(')') { Ok(inner) } else { Err(None) };
        }
        if self.rest.starts_with(|c: char| c.is_ascii_digit()) {
            let end = self.rest.find(|c: char| !c.is_ascii_digit() && c != '_').unwrap_or(self.rest.len());
            let (digits, rest) = self.rest.split_at(end);
            self.rest = rest.strip_prefix("usize").unwrap_or(rest);
            return digits.replace('_', "").parse().map(Index::Number).map_err(|_| None);
        }
        let path = self.path()?;
        (self.name)(&path).map_err(Some)
    }

    /// Parses a path with balanced brackets. Ignores `$val()` and `$index()` at its end.
    fn path(&mut self) -> Result<String, Option<EmitError>> {
        let mut depth = 0usize;
        let end = self
            .rest
            .char_indices()
            .find(|(_, c)| {
                match c {
                    '[' => depth += 1,
                    ']' if depth == 0 => return true,
                    ']' => depth -= 1,
                    _ => {}
                }
                depth == 0 && !(c.is_ascii_alphanumeric() || matches!(c, '_' | '$' | ']'))
            })
            .map_or(self.rest.len(), |(at, _)| at);
        let (path, rest) = self.rest.split_at(end);
        self.rest = rest;
        let mut path = path.to_string();
        while let Some(rest) = self.rest.strip_prefix("()") {
            let Some(bare) = path.strip_suffix("$val").or_else(|| path.strip_suffix("$index")) else {
                return Err(None);
            };
            path.truncate(bare.len());
            let end = rest
                .find(|c: char| !(c.is_ascii_alphanumeric() || matches!(c, '_' | '$')))
                .unwrap_or(rest.len());
            path.push_str(&rest[..end]);
            self.rest = &rest[end..];
        }
        if path.is_empty() { Err(None) } else { Ok(path) }
    }
}

/// Returns a path in Rust syntax.
pub(crate) fn path(text: &str) -> String {
    text.replace('$', ".")
}

/// Returns an expression in Rust syntax, close enough to find it in the source.
pub(crate) fn expression(e: &Ast) -> String {
    match e {
        Ast::Signal(text) => path(text),
        Ast::Literal(l) => {
            let text = format!("{l:x}");
            let digits = text.split("'h").nth(1).unwrap_or(&text).to_string();
            u64::from_str_radix(&digits, 16).map_or(digits, |value| value.to_string())
        }
        Ast::Cast(inner, bits) => format!("bit_cast::<{bits}>({})", expression(inner)),
        Ast::Signed(inner) => format!("signed({})", expression(inner)),
        Ast::Unsigned(inner) => format!("unsigned_cast({})", expression(inner)),
        Ast::Paren(inner) => format!("({})", expression(inner)),
        Ast::Binary(a, op, b) => format!("{} {} {}", expression(a), operator(op), expression(b)),
        Ast::Unary(op, inner) => match op {
            VerilogOpUnary::Not => format!("!{}", expression(inner)),
            VerilogOpUnary::Neg => format!("-{}", expression(inner)),
            VerilogOpUnary::All => format!("{}.all()", expression(inner)),
            VerilogOpUnary::Any => format!("{}.any()", expression(inner)),
            VerilogOpUnary::Xor => format!("{}.xor()", expression(inner)),
        },
        Ast::Index(base, index) => format!("{}.get_bit({})", expression(base), expression(index)),
        Ast::Slice(base, bits, index) => {
            format!("{}.get_bits::<{bits}>({})", expression(base), expression(index))
        }
        Ast::IndexReplace(base, index, field) => {
            format!("{}.replace_bit({}, {})", expression(base), expression(index), expression(field))
        }
    }
}

fn operator(op: &VerilogOp) -> &'static str {
    match op {
        VerilogOp::Add => "+",
        VerilogOp::Sub => "-",
        VerilogOp::Mul => "*",
        VerilogOp::LogicalAnd => "&&",
        VerilogOp::LogicalOr => "||",
        VerilogOp::BitXor => "^",
        VerilogOp::BitAnd => "&",
        VerilogOp::BitOr => "|",
        VerilogOp::Shl => "<<",
        VerilogOp::Shr => ">>",
        VerilogOp::Eq => "==",
        VerilogOp::Lt => "<",
        VerilogOp::Le => "<=",
        VerilogOp::Ne => "!=",
        VerilogOp::Ge => ">=",
        VerilogOp::Gt => ">",
    }
}
