//! Translates rust-hdl's syntax into statements with known widths. Refuses code without an exact counterpart.

use crate::elaborate::parse_literal;
use crate::error::{EmitError, Problem};
use crate::ir::{
    BinaryOp, CompareOp, ElementRef, Expr, Index, IndexOp, Node, ReduceOp, Role, Signal, SignalId, Stmt,
};
use crate::syntax;
use num_bigint::BigUint;
use rust_hdl_core::ast::{
    VerilogBlockOrConditional, VerilogConditional, VerilogExpression as Ast, VerilogLiteral, VerilogLoop,
    VerilogMatch, VerilogOp, VerilogOpUnary, VerilogStatement as AstStmt,
};
use std::collections::BTreeMap;

/// The names that a block's body can use.
#[derive(Debug, Default)]
pub(crate) struct BodyNames {
    pub signals: Vec<Signal>,
    pub by_key: BTreeMap<String, SignalId>,
    /// Const generics and sizes given at run time.
    pub parameters: BTreeMap<String, usize>,
    /// Values of enumerations: name in Verilog, value, width.
    pub variants: BTreeMap<String, (String, usize, usize)>,
}

/// A loop around the current statement.
struct LoopScope {
    rust: String,
    /// The value of its variable: the variable, or a number in a loop with one iteration, which is written without the loop.
    index: Index,
}

/// Translates the body of one block.
pub(crate) struct Lowering<'a> {
    block: &'a str,
    names: &'a mut BodyNames,
    loops: Vec<LoopScope>,
}

type Result<T> = std::result::Result<T, EmitError>;

/// Returns the value of a literal, and its width if its Rust type is `bool`.
fn literal(literal: &VerilogLiteral) -> (BigUint, Option<usize>) {
    let text = format!("{literal:x}");
    let bits = text.split('\'').next().and_then(|bits| bits.parse().ok()).unwrap_or(0);
    (parse_literal(&text, bits), (bits == 1).then_some(1))
}

/// Returns a literal as a number for indices.
fn literal_index(value: &VerilogLiteral) -> usize {
    literal(value).0.iter_u64_digits().next().unwrap_or(0) as usize
}

impl<'a> Lowering<'a> {
    pub fn new(block: &'a str, names: &'a mut BodyNames) -> Self {
        Lowering { block, names, loops: vec![] }
    }

    /// Translates all statements of a body.
    pub fn body(&mut self, body: &[AstStmt]) -> Result<Vec<Stmt>> {
        let mut out = vec![];
        for statement in body {
            self.statement(statement, &mut out)?;
        }
        Ok(out)
    }

    fn refuse<T>(&self, subject: impl Into<String>, problem: Problem) -> Result<T> {
        Err(EmitError { block: self.block.into(), subject: subject.into(), problem })
    }

    fn refuse_expression<T>(&self, e: &Ast, problem: Problem) -> Result<T> {
        self.refuse(syntax::expression(e), problem)
    }

    fn signal(&self, place: &ElementRef) -> &Signal {
        &self.names.signals[place.signal]
    }

    // --- statements ---

    fn statement(&mut self, statement: &AstStmt, out: &mut Vec<Stmt>) -> Result<()> {
        match statement {
            AstStmt::Assignment(target, value) => self.assignment(target, value, out)?,
            AstStmt::SliceAssignment { base, width, offset, replacement } => {
                let place = self.target(base)?;
                let value = self.lower(replacement, *width)?;
                let field = Some(self.index(offset)?);
                out.push(Stmt::Assign { place, field, value });
            }
            AstStmt::If(conditional) => out.push(self.conditional(conditional)?),
            AstStmt::Match(m) => out.push(self.alternatives(m)?),
            AstStmt::Loop(l) => out.extend(self.counted_loop(l)?),
            AstStmt::Comment(text) => out.push(Stmt::Comment(text.clone())),
            AstStmt::Macro(body) => out.extend(self.body(body)?),
            AstStmt::Link(_) => {
                return self.refuse(
                    "link/join",
                    Problem::Unsupported("interfaces are not translated; assign each signal"),
                );
            }
        }
        Ok(())
    }

    /// Returns the signal or element that an assignment names.
    fn target(&self, target: &Ast) -> Result<ElementRef> {
        let text = match target {
            Ast::Signal(text) => text,
            Ast::Paren(inner) => return self.target(inner),
            _ => return self.refuse_expression(target, Problem::Unsupported("not a signal")),
        };
        let Some(place) = self.place(text)? else {
            return self.refuse_expression(target, Problem::UnknownName);
        };
        if !self.signal(&place).is_driven_here() {
            return self.refuse_expression(target, Problem::DrivenTwice);
        }
        Ok(place)
    }

    fn assignment(&self, target: &Ast, value: &Ast, out: &mut Vec<Stmt>) -> Result<()> {
        let place = self.target(target)?;
        let signal = self.signal(&place);
        if matches!(signal.role, Role::ClockPin | Role::ResetPin) {
            let role = if signal.role == Role::ClockPin { Role::Clock } else { Role::Reset };
            let source = match value {
                Ast::Signal(text) => self.place(text)?,
                _ => None,
            };
            return match source.filter(|source| self.signal(source).role == role) {
                Some(source) => {
                    out.push(Stmt::Assign {
                        place,
                        field: None,
                        value: Expr { width: 1, node: Node::Read(source) },
                    });
                    Ok(())
                }
                None => self.refuse_expression(target, Problem::ForeignClock),
            };
        }
        let width = signal.width;
        if let Ast::IndexReplace(base, index, field) = peel(value) {
            let field = self.lower_sized(field)?;
            let index = self.index(index)?;
            let base = self.lower(base, width)?;
            self.replacement(place, base, index, field, out);
        } else {
            let value = self.lower(value, width)?;
            out.push(Stmt::Assign { place, field: None, value });
        }
        Ok(())
    }

    /// Translates `place.next = base.replace_bit(index, field)`, as an assignment to a part if the result is the same.
    fn replacement(&self, place: ElementRef, base: Expr, index: Index, field: Expr, out: &mut Vec<Stmt>) {
        let mut reads = vec![];
        base.reads(&mut reads);
        field.reads(&mut reads);
        index.visit(&mut |e| e.reads(&mut reads));
        let width = base.width;
        let in_place = base.node == Node::Read(place.clone()) && self.signal(&place).is_variable();
        if !in_place && (index.constant().is_some() || reads.contains(&place.signal)) {
            out.push(Stmt::Assign { place, field: None, value: base.replaced(index, field) });
            return;
        }
        if !in_place {
            out.push(Stmt::Assign { place: place.clone(), field: None, value: base });
        }
        let last = width.saturating_sub(field.width);
        // Verilog ignores an assignment to a bit that does not exist.
        let is_bit = field.width == 1 && place.index.is_none();
        let test = (index.is_dynamic() && index.largest() > last && !is_bit)
            .then(|| compare_index(index.clone(), CompareOp::Le, Index::Number(last)));
        let assign = Stmt::Assign { place, field: Some(index), value: field };
        out.push(match test {
            Some(test) => Stmt::If { test, then: vec![assign], otherwise: vec![] },
            None => assign,
        });
    }

    fn conditional(&mut self, c: &VerilogConditional) -> Result<Stmt> {
        let test = self.lower(&c.test, 1)?;
        let then = self.body(&c.then)?;
        let otherwise = match &c.otherwise {
            VerilogBlockOrConditional::None => vec![],
            VerilogBlockOrConditional::Block(body) => self.body(body)?,
            VerilogBlockOrConditional::Conditional(next) => self.body(std::slice::from_ref(next))?,
        };
        Ok(Stmt::If { test, then, otherwise })
    }

    fn alternatives(&mut self, m: &VerilogMatch) -> Result<Stmt> {
        let test = self.lower_sized(&m.test)?;
        let mut arms = vec![];
        for (position, case) in m.cases.iter().enumerate() {
            let label = match case.condition.as_str() {
                "default" => None,
                "true" => Some(Expr::literal(1u8, 1)),
                "false" => Some(Expr::literal(0u8, 1)),
                name => match self.variant(name) {
                    Some(value) if value.width == test.width => Some(value),
                    _ => return self.refuse(name.replace('$', "::"), Problem::UnknownName),
                },
            };
            // Rust's match is exhaustive, so the last arm covers all remaining values.
            let last = label.is_none() || position + 1 == m.cases.len();
            arms.push((label.filter(|_| !last), self.body(&case.block)?));
            if last {
                break;
            }
        }
        Ok(Stmt::Match { test, arms })
    }

    fn counted_loop(&mut self, l: &VerilogLoop) -> Result<Vec<Stmt>> {
        let (from, to) = (literal_index(&l.from), literal_index(&l.to));
        if from >= to {
            return Ok(vec![]);
        }
        let mut verilog = l.index.trim_start_matches('_').to_string();
        if crate::names::is_reserved(&verilog) {
            verilog += "_index";
        }
        let taken = self.names.by_key.contains_key(&l.index)
            || self.names.parameters.contains_key(&l.index)
            || self.names.signals.iter().any(|s| s.name == verilog)
            || self
                .loops
                .iter()
                .any(|scope| matches!(&scope.index, Index::Loop(name, _) if *name == verilog));
        if taken {
            return self.refuse(format!("for {}", l.index), Problem::NameClash { other: l.index.clone() });
        }
        if !crate::names::is_usable(&verilog) {
            return self.refuse(format!("for {}", l.index), Problem::ReservedName);
        }
        let one_turn = to - from == 1;
        let index = if one_turn { Index::Number(from) } else { Index::Loop(verilog.clone(), to - 1) };
        self.loops.push(LoopScope { rust: l.index.clone(), index });
        let body = self.body(&l.block);
        self.loops.pop();
        Ok(if one_turn { body? } else { vec![Stmt::Loop { variable: verilog, from, to, body: body? }] })
    }

    // --- names ---

    fn variant(&self, name: &str) -> Option<Expr> {
        let (verilog, value, width) = self.names.variants.get(name)?;
        Some(Expr { width: *width, node: Node::Variant(verilog.clone(), BigUint::from(*value)) })
    }

    /// Returns the signal that a path names, or `None` if it does not exist.
    fn place(&self, text: &str) -> Result<Option<ElementRef>> {
        let Some((key, indices)) = syntax::split_path(text) else {
            return self.refuse(text, Problem::Unsupported("not a path to a signal"));
        };
        let Some(signal) = self.names.by_key.get(&key).copied() else { return Ok(None) };
        let dimensions = &self.names.signals[signal].dimensions;
        if dimensions.len() != indices.len() {
            let problem = Problem::Dimensions { given: indices.len(), expected: dimensions.len() };
            return self.refuse(syntax::path(text), problem);
        }
        let mut index: Option<Index> = None;
        for (size, text) in dimensions.iter().zip(&indices) {
            let next = self.index_text(text)?;
            if next.is_dynamic() && next.largest() >= *size {
                let problem = Problem::UnsafeIndex { largest: next.largest(), length: *size };
                return self.refuse(syntax::path(text), problem);
            }
            index = Some(match index {
                None => next,
                Some(outer) => {
                    let outer = Index::operation(outer, IndexOp::Mul, Index::Number(*size));
                    Index::operation(outer, IndexOp::Add, next)
                }
            });
        }
        // An array with one element is written as that element.
        let index = index.filter(|_| self.names.signals[signal].is_array());
        Ok(Some(ElementRef { signal, index }))
    }

    /// Resolves a name in index arithmetic: a loop variable, a number of the block, or a signal.
    fn index_name(&self, text: &str) -> Result<Index> {
        if let Some(scope) = self.loops.iter().find(|scope| scope.rust == text) {
            return Ok(scope.index.clone());
        }
        if let Some(value) = self.names.parameters.get(text) {
            return Ok(Index::Parameter(crate::names::parameter(text), *value));
        }
        match self.place(text)? {
            Some(place) => {
                let signal = self.signal(&place);
                if signal.role == Role::Constant && !signal.is_array() {
                    let value = signal.values[0].iter_u64_digits().next().unwrap_or(0) as usize;
                    return Ok(Index::Parameter(signal.name.clone(), value));
                }
                let width = signal.width;
                Ok(Index::Value(Box::new(Expr { width, node: Node::Read(place) })))
            }
            None => self.refuse(syntax::path(text), Problem::UnknownName),
        }
    }

    fn index_text(&self, text: &str) -> Result<Index> {
        match syntax::parse_index(text, &|name| self.index_name(name)) {
            Ok(index) => Ok(index),
            Err(Some(error)) => Err(error),
            Err(None) => {
                self.refuse(syntax::path(text), Problem::Unsupported("not an index that can be translated"))
            }
        }
    }

    // --- index arithmetic ---

    /// Returns whether the expression is arithmetic on loop variables, parameters and literals only.
    fn is_number(&self, e: &Ast) -> bool {
        match e {
            Ast::Signal(name) => {
                self.loops.iter().any(|scope| scope.rust == *name) || self.names.parameters.contains_key(name)
            }
            Ast::Literal(l) => literal(l).1.is_none(),
            Ast::Paren(inner) => self.is_number(inner),
            Ast::Binary(a, VerilogOp::Add | VerilogOp::Sub | VerilogOp::Mul, b) => {
                self.is_number(a) && self.is_number(b)
            }
            _ => false,
        }
    }

    fn index(&self, e: &Ast) -> Result<Index> {
        Ok(match e {
            Ast::Literal(l) => Index::Number(literal_index(l)),
            Ast::Paren(inner) => self.index(inner)?,
            Ast::Signal(name) => self.index_name(name)?,
            Ast::Binary(a, op @ (VerilogOp::Add | VerilogOp::Sub | VerilogOp::Mul), b) => {
                let op = match op {
                    VerilogOp::Add => IndexOp::Add,
                    VerilogOp::Sub => IndexOp::Sub,
                    _ => IndexOp::Mul,
                };
                // `x.val() + y.val()` of signals wraps at their width; `x.val().index() + 1` does not. Both have the same
                // syntax, so a sum with a signal is refused.
                let (a, b) = (self.index(a)?, self.index(b)?);
                if a.is_dynamic() || b.is_dynamic() {
                    return self.refuse_expression(
                        e,
                        Problem::Unsupported(
                            "arithmetic on an index that is a signal; compute it in a Local first",
                        ),
                    );
                }
                Index::operation(a, op, b)
            }
            _ => {
                let value = self.lower_sized(e)?;
                Index::Value(Box::new(value))
            }
        })
    }

    // --- expressions ---

    fn is_signed(&self, e: &Ast) -> bool {
        match e {
            Ast::Signal(text) => {
                matches!(self.place(text), Ok(Some(place)) if self.signal(&place).signed)
            }
            Ast::Signed(_) => true,
            Ast::Paren(inner) | Ast::Slice(inner, ..) | Ast::IndexReplace(inner, ..) => self.is_signed(inner),
            Ast::Unary(VerilogOpUnary::Not | VerilogOpUnary::Neg, inner) => self.is_signed(inner),
            Ast::Binary(a, op, b) => {
                matches!(
                    op,
                    VerilogOp::Add
                        | VerilogOp::Sub
                        | VerilogOp::Mul
                        | VerilogOp::BitAnd
                        | VerilogOp::BitOr
                        | VerilogOp::BitXor
                        | VerilogOp::Shl
                        | VerilogOp::Shr
                ) && (self.is_signed(a) || self.is_signed(b))
            }
            _ => false,
        }
    }

    /// Returns the width that Rust's types give an expression, or `None` if the context determines it.
    fn width(&self, e: &Ast) -> Result<Option<usize>> {
        if self.is_number(e) {
            return Ok(None);
        }
        Ok(match e {
            Ast::Signal(text) => match (self.variant(text), self.place(text)?) {
                (Some(variant), _) => Some(variant.width),
                (None, Some(place)) => Some(self.signal(&place).width),
                (None, None) => return self.refuse_expression(e, Problem::UnknownName),
            },
            Ast::Literal(l) => literal(l).1,
            Ast::Cast(_, bits) => Some(*bits),
            // `signed_bit_cast` takes a signed argument and changes the width; `signed_cast` does not.
            Ast::Signed(inner) => {
                if self.is_signed(inner) {
                    None
                } else {
                    self.width(inner)?
                }
            }
            Ast::Unsigned(inner) | Ast::Paren(inner) => self.width(inner)?,
            Ast::Binary(a, op, b) => match op {
                VerilogOp::Shl | VerilogOp::Shr => self.width(a)?,
                VerilogOp::Mul if self.is_signed(a) && self.is_signed(b) => {
                    match (self.width(a)?, self.width(b)?) {
                        (Some(a), Some(b)) => Some(a + b),
                        _ => None,
                    }
                }
                VerilogOp::Add
                | VerilogOp::Sub
                | VerilogOp::Mul
                | VerilogOp::BitAnd
                | VerilogOp::BitOr
                | VerilogOp::BitXor => match (self.width(a)?, self.width(b)?) {
                    (Some(a), _) => Some(a),
                    (None, b) => b,
                },
                _ => Some(1),
            },
            Ast::Unary(VerilogOpUnary::Not | VerilogOpUnary::Neg, inner) => self.width(inner)?,
            Ast::Unary(..) | Ast::Index(..) => Some(1),
            Ast::Slice(_, bits, _) => Some(*bits),
            Ast::IndexReplace(base, ..) => self.width(base)?,
        })
    }

    /// Translates an expression whose width does not depend on its context.
    fn lower_sized(&self, e: &Ast) -> Result<Expr> {
        match self.width(e)? {
            Some(width) => self.lower(e, width),
            None => self.refuse_expression(e, Problem::UnknownWidth),
        }
    }

    /// Translates an expression that must have `want` bits.
    fn lower(&self, e: &Ast, want: usize) -> Result<Expr> {
        if self.is_number(e) {
            return self.number(e, want);
        }
        if let Some(have) = self.width(e)?.filter(|have| *have != want) {
            return self.refuse_expression(e, Problem::Mismatch { have, want });
        }
        let node = match e {
            Ast::Signal(text) => match (self.variant(text), self.place(text)?) {
                (Some(variant), _) => return Ok(variant),
                (None, Some(place)) => self.read(e, place)?,
                (None, None) => return self.refuse_expression(e, Problem::UnknownName),
            },
            Ast::Literal(l) => Node::Literal(literal(l).0),
            Ast::Paren(inner) | Ast::Unsigned(inner) => return self.lower(inner, want),
            Ast::Cast(inner, _) => {
                let inner = match self.width(inner)? {
                    Some(width) => self.lower(inner, width)?,
                    None => self.lower(inner, want)?,
                };
                return Ok(resize(inner, want));
            }
            Ast::Signed(inner) if self.is_signed(inner) => {
                let inner = self.lower_sized(inner)?;
                return Ok(sign_resize(inner, want));
            }
            Ast::Signed(inner) => return self.lower(inner, want),
            Ast::Binary(a, op, b) => return self.binary(e, a, op, b, want),
            Ast::Unary(op, inner) => match op {
                VerilogOpUnary::Not => Node::Not(Box::new(self.lower(inner, want)?)),
                VerilogOpUnary::Neg => Node::Negate(Box::new(self.lower(inner, want)?)),
                VerilogOpUnary::All => Node::Reduce(ReduceOp::All, Box::new(self.lower_sized(inner)?)),
                VerilogOpUnary::Any => Node::Reduce(ReduceOp::Any, Box::new(self.lower_sized(inner)?)),
                VerilogOpUnary::Xor => Node::Reduce(ReduceOp::Xor, Box::new(self.lower_sized(inner)?)),
            },
            Ast::Index(base, index) => return self.slice(e, base, 1, index),
            Ast::Slice(base, bits, index) => return self.slice(e, base, *bits, index),
            Ast::IndexReplace(base, index, field) => {
                let base = self.lower(base, want)?;
                let (index, field) = (self.index(index)?, self.lower_sized(field)?);
                return Ok(base.replaced(index, field));
            }
        };
        Ok(Expr { width: want, node })
    }

    fn read(&self, e: &Ast, place: ElementRef) -> Result<Node> {
        match self.signal(&place).role {
            Role::Clock | Role::ClockPin | Role::ResetPin => {
                self.refuse_expression(e, Problem::Unsupported("a clock or reset pin is not data"))
            }
            _ => Ok(Node::Read(place)),
        }
    }

    /// Returns index arithmetic as a value of `want` bits.
    fn number(&self, e: &Ast, want: usize) -> Result<Expr> {
        let index = self.index(e)?;
        if let Ast::Literal(l) = peel(e) {
            let value = literal(l).0;
            if value.bits() > want as u64 {
                let problem = Problem::TooWide { value: value.to_string(), width: want };
                return self.refuse_expression(e, problem);
            }
            return Ok(Expr { width: want, node: Node::Literal(value) });
        }
        Ok(match index.constant() {
            Some(value) if BigUint::from(value).bits() > want as u64 => {
                let problem = Problem::TooWide { value: value.to_string(), width: want };
                return self.refuse_expression(e, problem);
            }
            Some(value) => Expr::literal(value, want),
            None => Expr { width: want, node: Node::Number(index) },
        })
    }

    fn slice(&self, e: &Ast, base: &Ast, bits: usize, index: &Ast) -> Result<Expr> {
        let base = self.lower_sized(base)?;
        let index = self.index(index)?;
        if let Some(from) = index.constant().filter(|from| from + bits > base.width) {
            let problem = Problem::OutOfRange { from, to: from + bits - 1, width: base.width };
            return self.refuse_expression(e, problem);
        }
        if bits > base.width {
            let problem = Problem::OutOfRange { from: 0, to: bits - 1, width: base.width };
            return self.refuse_expression(e, problem);
        }
        Ok(base.sliced(index, bits))
    }

    fn binary(&self, e: &Ast, a: &Ast, op: &VerilogOp, b: &Ast, want: usize) -> Result<Expr> {
        use VerilogOp::*;
        let compare = |op| self.compare(e, a, op, b);
        let op = match op {
            Eq => return compare(CompareOp::Eq),
            Ne => return compare(CompareOp::Ne),
            Lt => return compare(CompareOp::Lt),
            Le => return compare(CompareOp::Le),
            Gt => return compare(CompareOp::Gt),
            Ge => return compare(CompareOp::Ge),
            Shl | Shr => {
                let value = Box::new(self.lower(a, want)?);
                let by = if self.is_number(b) {
                    self.index(b)?
                } else {
                    Index::Value(Box::new(self.lower_sized(b)?))
                };
                let node = Node::Shift { left: matches!(op, Shl), value, by };
                return Ok(Expr { width: want, node });
            }
            Mul if self.is_signed(a) || self.is_signed(b) => {
                let (a, b) = (self.lower_sized(a)?, self.lower_sized(b)?);
                let (a, b) = (sign_resize(a, want), sign_resize(b, want));
                return Ok(Expr { width: want, node: Node::Binary(Box::new(a), BinaryOp::Mul, Box::new(b)) });
            }
            Add => BinaryOp::Add,
            Sub => BinaryOp::Sub,
            Mul => BinaryOp::Mul,
            BitAnd => BinaryOp::And,
            BitOr => BinaryOp::Or,
            BitXor => BinaryOp::Xor,
            LogicalAnd => BinaryOp::Both,
            LogicalOr => BinaryOp::Either,
        };
        let left = self.lower(a, want)?;
        // `U + bool` adds a carry.
        let right = match self.width(b)? {
            Some(1) if op == BinaryOp::Add => self.lower(b, 1)?.extended(want),
            _ => self.lower(b, want)?,
        };
        Ok(Expr { width: want, node: Node::Binary(Box::new(left), op, Box::new(right)) })
    }

    fn compare(&self, e: &Ast, a: &Ast, op: CompareOp, b: &Ast) -> Result<Expr> {
        let width = match (self.width(a)?, self.width(b)?) {
            (Some(a), _) => a,
            (None, Some(b)) => b,
            (None, None) if self.is_number(a) && self.is_number(b) => {
                return Ok(compare_index(self.index(a)?, op, self.index(b)?));
            }
            (None, None) => return self.refuse_expression(e, Problem::UnknownWidth),
        };
        let signed = self.is_signed(a) || self.is_signed(b);
        let (left, right) = (Box::new(self.lower(a, width)?), Box::new(self.lower(b, width)?));
        Ok(Expr { width: 1, node: Node::Compare { signed, left, op, right } })
    }
}

/// Returns the expression without enclosing parentheses.
fn peel(e: &Ast) -> &Ast {
    match e {
        Ast::Paren(inner) => peel(inner),
        _ => e,
    }
}

fn compare_index(a: Index, op: CompareOp, b: Index) -> Expr {
    Expr { width: 1, node: Node::CompareIndex(a, op, b) }
}

/// Zero-extends or truncates.
fn resize(e: Expr, width: usize) -> Expr {
    if e.width > width { e.sliced(Index::Number(0), width) } else { e.extended(width) }
}

/// Sign-extends or truncates.
fn sign_resize(e: Expr, width: usize) -> Expr {
    if e.width >= width {
        e.sliced(Index::Number(0), width)
    } else {
        Expr { width, node: Node::SignExtend(Box::new(e)) }
    }
}
