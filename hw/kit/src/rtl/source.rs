//! A block's body as data: what `#[hdl_gen]` makes of it, and what becomes rust-hdl's syntax tree of it.
//!
//! There are hundreds of instances of generic blocks. Code that builds the tree of each was 38% of all that the
//! compiler had to do for this crate; a tree of constants costs it nothing, and the numbers that differ between the
//! instances are an array of their own. See `docs/decisions/hdl-gen.md`.

#[doc(hidden)]
pub use rust_hdl_core::ast::{Verilog, VerilogOp, VerilogOpUnary};
use rust_hdl_core::ast::{
    VerilogBlock, VerilogBlockOrConditional, VerilogCase, VerilogConditional, VerilogExpression,
    VerilogLiteral, VerilogLoop, VerilogMatch, VerilogStatement,
};
#[doc(hidden)]
pub use rust_hdl_core::prelude::{Logic, Synth};

/// Statements in their order.
pub type Block = &'static [Statement];

/// The place of a number in the array of values.
pub type Place = usize;

/// One statement of a body. Signals are named as rust-hdl names them: `unit[i+1]$sum$next`.
#[derive(Debug)]
pub enum Statement {
    /// `signal = value;`
    Assign(&'static str, Expression),
    /// An assignment to one field of a `LogicStruct`.
    AssignField {
        /// The whole.
        signal: &'static str,
        /// Bits of the field.
        width: Place,
        /// The field's lowest bit.
        offset: Place,
        /// What is assigned.
        value: Expression,
    },
    /// `if test { then } otherwise`
    If {
        /// The condition.
        test: Expression,
        /// What is done if it holds.
        then: Block,
        /// What is done if it does not.
        otherwise: Else,
    },
    /// `match`, with the pattern of each case as text; `_` is `default`.
    Match(Expression, &'static [(&'static str, Block)]),
    /// `for variable in from..to { block }`
    Loop {
        /// The loop's variable.
        variable: &'static str,
        /// Its first value.
        from: Bound,
        /// The value before which it ends.
        to: Bound,
        /// What is done in each turn.
        block: Block,
    },
    /// `comment!`
    Comment(&'static str),
    /// `dff_setup!`: each register has this clock and keeps its value.
    Registers {
        /// The block's clock.
        clock: &'static str,
        /// The registers.
        registers: &'static [&'static str],
    },
}

/// The other branch of an `if`.
#[derive(Debug)]
pub enum Else {
    /// There is none.
    Nothing,
    /// `else { ... }`
    Block(Block),
    /// `else if ...`: always a [`Statement::If`].
    If(&'static Statement),
}

/// A bound of a loop.
#[derive(Debug)]
pub enum Bound {
    /// A number that is written there.
    Literal(Literal),
    /// One that depends on the block's parameters.
    Value(Place),
}

/// A width.
#[derive(Debug)]
pub enum Number {
    /// A number that is written there.
    Known(usize),
    /// One that depends on the block's parameters.
    Value(Place),
}

/// An integer or `bool` that is written in the body.
#[derive(Clone, Copy, Debug)]
pub struct Literal {
    /// Its value.
    pub value: u128,
    /// The bits of its Rust type: 1, 8, 16, 32, 64 or 128.
    pub bits: u8,
}

/// An expression of a body.
#[derive(Debug)]
pub enum Expression {
    /// A signal, a constant, a variant or a loop variable.
    Signal(&'static str),
    /// A number that is written there.
    Literal(Literal),
    /// A number that depends on the block's parameters.
    Value(Place),
    /// A change of width.
    Cast(&'static Expression, Number),
    /// The same bits with a sign.
    Signed(&'static Expression),
    /// The same bits without a sign.
    Unsigned(&'static Expression),
    /// Parentheses.
    Paren(&'static Expression),
    /// Two operands.
    Binary(&'static Expression, VerilogOp, &'static Expression),
    /// One operand.
    Unary(VerilogOpUnary, &'static Expression),
    /// `value.get_bit(at)`
    Bit(&'static Expression, &'static Expression),
    /// `value.get_bits::<N>(at)`
    Slice(&'static Expression, Number, &'static Expression),
    /// `value.replace_bit(at, field)`
    Replace(&'static Expression, &'static Expression, &'static Expression),
}

/// The body of a block as rust-hdl knows it.
///
/// # Panics
/// When `values` lacks a place of the body; `#[hdl_gen]` makes both together.
pub fn verilog(body: Block, values: &[usize]) -> Verilog {
    Verilog::Combinatorial(Translation { values }.block(body))
}

struct Translation<'a> {
    values: &'a [usize],
}

impl Translation<'_> {
    fn block(&self, block: &[Statement]) -> VerilogBlock {
        block.iter().map(|statement| self.statement(statement)).collect()
    }

    fn statement(&self, statement: &Statement) -> VerilogStatement {
        match statement {
            Statement::Assign(name, value) => {
                VerilogStatement::Assignment(signal(name), self.expression(value))
            }
            Statement::AssignField { signal: name, width, offset, value } => {
                VerilogStatement::SliceAssignment {
                    base: signal(name),
                    width: self.values[*width],
                    offset: VerilogExpression::Literal(self.values[*offset].into()),
                    replacement: self.expression(value),
                }
            }
            Statement::If { test, then, otherwise } => VerilogStatement::If(VerilogConditional {
                test: self.expression(test),
                then: self.block(then),
                otherwise: match otherwise {
                    Else::Nothing => VerilogBlockOrConditional::None,
                    Else::Block(block) => VerilogBlockOrConditional::Block(self.block(block)),
                    Else::If(next) => VerilogBlockOrConditional::Conditional(Box::new(self.statement(next))),
                },
            }),
            Statement::Match(test, cases) => {
                let case = |(condition, block): &(&str, Block)| VerilogCase {
                    condition: condition.to_string(),
                    block: self.block(block),
                };
                VerilogStatement::Match(VerilogMatch {
                    test: self.expression(test),
                    cases: cases.iter().map(case).collect(),
                })
            }
            Statement::Loop { variable, from, to, block } => VerilogStatement::Loop(VerilogLoop {
                index: variable.to_string(),
                from: self.bound(from),
                to: self.bound(to),
                block: self.block(block),
            }),
            Statement::Comment(text) => VerilogStatement::Comment(text.to_string()),
            Statement::Registers { clock, registers } => registers_kept(clock, registers),
        }
    }

    fn expression(&self, expression: &Expression) -> VerilogExpression {
        let boxed = |inner: &Expression| Box::new(self.expression(inner));
        match expression {
            Expression::Signal(name) => signal(name),
            Expression::Literal(number) => VerilogExpression::Literal(literal(*number)),
            Expression::Value(place) => VerilogExpression::Literal(self.values[*place].into()),
            Expression::Cast(value, width) => VerilogExpression::Cast(boxed(value), self.number(width)),
            Expression::Signed(value) => VerilogExpression::Signed(boxed(value)),
            Expression::Unsigned(value) => VerilogExpression::Unsigned(boxed(value)),
            Expression::Paren(value) => VerilogExpression::Paren(boxed(value)),
            Expression::Binary(left, op, right) => {
                VerilogExpression::Binary(boxed(left), op.clone(), boxed(right))
            }
            Expression::Unary(op, value) => VerilogExpression::Unary(op.clone(), boxed(value)),
            Expression::Bit(value, at) => VerilogExpression::Index(boxed(value), boxed(at)),
            Expression::Slice(value, width, at) => {
                VerilogExpression::Slice(boxed(value), self.number(width), boxed(at))
            }
            Expression::Replace(value, at, field) => {
                VerilogExpression::IndexReplace(boxed(value), boxed(at), boxed(field))
            }
        }
    }

    fn number(&self, number: &Number) -> usize {
        match number {
            Number::Known(number) => *number,
            Number::Value(place) => self.values[*place],
        }
    }

    fn bound(&self, bound: &Bound) -> VerilogLiteral {
        match bound {
            Bound::Literal(number) => literal(*number),
            Bound::Value(place) => self.values[*place].into(),
        }
    }
}

fn signal(name: &str) -> VerilogExpression {
    VerilogExpression::Signal(name.to_string())
}

/// All clocks first, then all values that are kept: the order of rust-hdl's own `dff_setup!`.
fn registers_kept(clock: &str, registers: &[&str]) -> VerilogStatement {
    let assign = |target: String, value: &str| VerilogStatement::Assignment(signal(&target), signal(value));
    let clocks = registers.iter().map(|register| assign(format!("{register}$clock$next"), clock));
    let kept =
        registers.iter().map(|register| assign(format!("{register}$d$next"), &format!("{register}$q")));
    VerilogStatement::Macro(clocks.chain(kept).collect())
}

/// The literal with the width of its Rust type.
fn literal(number: Literal) -> VerilogLiteral {
    let value = number.value;
    match number.bits {
        1 => (value != 0).into(),
        8 => (value as u8).into(),
        16 => (value as u16).into(),
        32 => (value as u32).into(),
        64 => (value as u64).into(),
        _ => value.into(),
    }
}
