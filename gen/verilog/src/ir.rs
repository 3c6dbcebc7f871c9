//! A block's behaviour with all widths known, between rust-hdl's syntax and Verilog's.

use num_bigint::BigUint;

/// Index of a [`Signal`] in its module.
pub(crate) type SignalId = usize;

/// The role of a signal in its module.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Role {
    Input,
    Output,
    Local,
    /// A temporary of the back end. It is treated like a local.
    Temporary,
    Constant,
    /// Input (`d`) or output (`q`) of a register in this module.
    RegisterInput,
    RegisterOutput,
    /// A port of a sub-block, as seen from this module. The number is the index of the group of sub-blocks.
    ChildInput(usize),
    ChildOutput(usize),
    /// The module's own clock or reset input.
    Clock,
    Reset,
    /// Clock or reset pins of registers and sub-blocks.
    ClockPin,
    ResetPin,
}

/// A signal, or an array of equal signals in one packed vector.
#[derive(Clone, Debug)]
pub(crate) struct Signal {
    /// Name in Rust with `$` between parts.
    pub key: String,
    /// Name in Verilog.
    pub name: String,
    /// Sizes of the array; empty for a single signal.
    pub dimensions: Vec<usize>,
    /// Bits of one element.
    pub width: usize,
    pub signed: bool,
    pub role: Role,
    pub doc: Vec<String>,
    /// Values of a constant's elements, or reset values of a register's output.
    pub values: Vec<BigUint>,
    /// `true` for the output of a register without reset.
    pub is_data: bool,
    /// The values of its Rust enumeration: `State::Idle`; empty for other types.
    pub variants: Vec<String>,
    /// Index of the layout of its fields in the module.
    pub layout: Option<usize>,
}

impl Signal {
    /// Returns an unsigned signal that is not in the Rust source under this name.
    pub fn new(name: impl Into<String>, width: usize, role: Role) -> Signal {
        let name = name.into();
        Signal {
            key: name.clone(),
            name,
            dimensions: vec![],
            width,
            signed: false,
            role,
            doc: vec![],
            values: vec![],
            is_data: false,
            variants: vec![],
            layout: None,
        }
    }

    pub fn length(&self) -> usize {
        self.dimensions.iter().product()
    }

    pub fn total(&self) -> usize {
        self.length() * self.width
    }

    /// Returns whether the signal has several elements. An array with one element is written as that element.
    pub fn is_array(&self) -> bool {
        self.length() > 1
    }

    /// Returns whether the module itself must assign the signal.
    pub fn is_driven_here(&self) -> bool {
        use Role::*;
        matches!(self.role, Output | Local | Temporary | RegisterInput | ChildInput(_) | ClockPin | ResetPin)
    }

    /// Returns whether a read in the block's body returns the value assigned so far.
    pub fn is_variable(&self) -> bool {
        matches!(self.role, Role::Output | Role::Local | Role::Temporary)
    }
}

/// Index arithmetic, in Rust's `usize`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Index {
    Number(usize),
    /// A loop variable with its max value.
    Loop(String, usize),
    /// A named number of the block.
    Parameter(String, usize),
    /// A signal's value.
    Value(Box<Expr>),
    Operation(Box<Index>, IndexOp, Box<Index>),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum IndexOp {
    Add,
    Sub,
    Mul,
}

/// Values of the loop variables in one iteration during unrolling.
pub(crate) type LoopValues = Vec<(String, usize)>;

impl Index {
    /// Returns the value in a loop iteration, if it does not depend on a signal. `Err` if it is negative.
    pub fn value(&self, turn: &LoopValues) -> Result<Option<usize>, ()> {
        Ok(match self {
            Index::Number(n) | Index::Parameter(_, n) => Some(*n),
            Index::Loop(name, _) => turn.iter().rev().find(|(v, _)| v == name).map(|(_, n)| *n),
            Index::Value(_) => None,
            Index::Operation(a, op, b) => match (a.value(turn)?, b.value(turn)?) {
                (Some(a), Some(b)) => Some(match op {
                    IndexOp::Add => a + b,
                    IndexOp::Sub => a.checked_sub(b).ok_or(())?,
                    IndexOp::Mul => a * b,
                }),
                _ => None,
            },
        })
    }

    /// Returns the value, if it is the same in all iterations.
    pub fn constant(&self) -> Option<usize> {
        self.value(&vec![]).ok().flatten()
    }

    pub fn is_dynamic(&self) -> bool {
        match self {
            Index::Value(_) => true,
            Index::Operation(a, _, b) => a.is_dynamic() || b.is_dynamic(),
            _ => false,
        }
    }

    /// Returns an upper bound of the value.
    pub fn largest(&self) -> usize {
        match self {
            Index::Number(n) | Index::Parameter(_, n) | Index::Loop(_, n) => *n,
            Index::Value(e) => {
                if e.width >= 31 {
                    usize::MAX >> 8
                } else {
                    (1 << e.width) - 1
                }
            }
            Index::Operation(a, op, b) => match op {
                IndexOp::Add => a.largest().saturating_add(b.largest()),
                IndexOp::Sub => a.largest(),
                IndexOp::Mul => a.largest().saturating_mul(b.largest()),
            },
        }
    }

    pub fn operation(a: Index, op: IndexOp, b: Index) -> Index {
        match (&a, op, &b) {
            (Index::Number(x), IndexOp::Add, Index::Number(y)) => Index::Number(x + y),
            (Index::Number(x), IndexOp::Mul, Index::Number(y)) => Index::Number(x * y),
            (_, IndexOp::Add | IndexOp::Sub, Index::Number(0)) | (_, IndexOp::Mul, Index::Number(1)) => a,
            (Index::Number(0), IndexOp::Add, _) | (Index::Number(1), IndexOp::Mul, _) => b,
            _ => Index::Operation(Box::new(a), op, Box::new(b)),
        }
    }

    /// Calls `f` for every expression inside the index, the innermost first.
    pub fn rewrite(&mut self, f: &mut dyn FnMut(&mut Expr)) {
        match self {
            Index::Value(e) => e.rewrite(f),
            Index::Operation(a, _, b) => {
                a.rewrite(f);
                b.rewrite(f);
            }
            Index::Number(_) | Index::Loop(..) | Index::Parameter(..) => {}
        }
    }

    /// Calls `f` for every expression inside the index.
    pub fn visit(&self, f: &mut dyn FnMut(&Expr)) {
        match self {
            Index::Value(e) => e.visit(f),
            Index::Operation(a, _, b) => {
                a.visit(f);
                b.visit(f);
            }
            _ => {}
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ElementRef {
    pub signal: SignalId,
    /// The element, counted over all dimensions; `None` if the signal is not an array.
    pub index: Option<Index>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Expr {
    pub width: usize,
    pub node: Node,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum BinaryOp {
    Add,
    Sub,
    Mul,
    And,
    Or,
    Xor,
    /// Logical operators on single bits.
    Both,
    Either,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CompareOp {
    Eq,
    Ne,
    Lt,
    Le,
    Gt,
    Ge,
}

impl CompareOp {
    /// Returns the operator with the opposite result.
    pub fn opposite(self) -> CompareOp {
        match self {
            CompareOp::Eq => CompareOp::Ne,
            CompareOp::Ne => CompareOp::Eq,
            CompareOp::Lt => CompareOp::Ge,
            CompareOp::Le => CompareOp::Gt,
            CompareOp::Gt => CompareOp::Le,
            CompareOp::Ge => CompareOp::Lt,
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ReduceOp {
    All,
    Any,
    Xor,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Node {
    Read(ElementRef),
    Literal(BigUint),
    /// A value of an enumeration: its name in Verilog and its number.
    Variant(String, BigUint),
    /// Index arithmetic as a value.
    Number(Index),
    /// Zero-extension of a narrower expression.
    Extend(Box<Expr>),
    /// Sign-extension of a narrower expression.
    SignExtend(Box<Expr>),
    /// `width` bits of the expression, beginning at the index; zero if some of them do not exist.
    Slice(Box<Expr>, Index),
    /// The first expression, with bits from the index on replaced by the second expression.
    Replace(Box<Expr>, Index, Box<Expr>),
    /// Concatenated expressions, the most significant first.
    Concat(Vec<Expr>),
    Not(Box<Expr>),
    Negate(Box<Expr>),
    Reduce(ReduceOp, Box<Expr>),
    /// An operation whose operands have the width of the result.
    Binary(Box<Expr>, BinaryOp, Box<Expr>),
    /// Left or right shift by a value.
    Shift {
        left: bool,
        value: Box<Expr>,
        by: Index,
    },
    /// A comparison of operands of the same width.
    Compare {
        signed: bool,
        left: Box<Expr>,
        op: CompareOp,
        right: Box<Expr>,
    },
    /// A comparison of index arithmetic.
    CompareIndex(Index, CompareOp, Index),
    /// The first expression if the condition is true, otherwise the second one.
    Choose(Box<Expr>, Box<Expr>, Box<Expr>),
}

impl Expr {
    pub fn literal(value: impl Into<BigUint>, width: usize) -> Expr {
        Expr { width, node: Node::Literal(value.into()) }
    }

    /// Returns the complement of a single bit.
    pub fn negated(self) -> Expr {
        match self.node {
            Node::Not(inner) => *inner,
            node => Expr { width: self.width, node: Node::Not(Box::new(Expr { width: self.width, node })) },
        }
    }

    /// Returns the expression, zero-extended to `width`.
    pub fn extended(self, width: usize) -> Expr {
        if self.width >= width {
            return self;
        }
        match self.node {
            Node::Literal(value) => Expr { width, node: Node::Literal(value) },
            Node::Extend(inner) => Expr { width, node: Node::Extend(inner) },
            _ => Expr { width, node: Node::Extend(Box::new(self)) },
        }
    }

    /// Returns `width` bits, beginning at `from`. Moves the selection inwards to the signals where the result is the same.
    pub fn sliced(self, from: Index, width: usize) -> Expr {
        let Some(offset) = from.constant() else {
            return Expr { width, node: Node::Slice(Box::new(self), from) };
        };
        if offset == 0 && width == self.width {
            return self;
        }
        let part = |e: Box<Expr>| Box::new(e.sliced(Index::Number(offset), width));
        let node = match self.node {
            Node::Literal(value) => Node::Literal((value >> offset) & mask(width)),
            Node::Extend(inner) if offset + width <= inner.width => return *part(inner),
            Node::Extend(inner) if offset >= inner.width => Node::Literal(BigUint::default()),
            Node::Extend(inner) if offset == 0 => Node::Extend(inner),
            Node::Slice(inner, first) if first.constant().is_some() => {
                let first = first.constant().unwrap_or_default();
                return inner.sliced(Index::Number(first + offset), width);
            }
            Node::Not(inner) => Node::Not(part(inner)),
            Node::Binary(a, op @ (BinaryOp::And | BinaryOp::Or | BinaryOp::Xor), b) => {
                Node::Binary(part(a), op, part(b))
            }
            Node::Binary(a, op @ (BinaryOp::Add | BinaryOp::Sub | BinaryOp::Mul), b) if offset == 0 => {
                Node::Binary(part(a), op, part(b))
            }
            Node::Negate(inner) if offset == 0 => Node::Negate(part(inner)),
            Node::Shift { left: true, value, by } if offset == 0 => {
                Node::Shift { left: true, value: part(value), by }
            }
            Node::Shift { left: false, value, by: Index::Number(by) }
                if by + offset + width <= self.width =>
            {
                return value.sliced(Index::Number(by + offset), width);
            }
            Node::Number(index) if offset == 0 && index.largest() < 1 << width.min(30) => Node::Number(index),
            node => {
                let inner = Expr { width: self.width, node };
                Node::Slice(Box::new(inner), Index::Number(offset))
            }
        };
        Expr { width, node }
    }

    /// Returns the expression with bits from `from` on replaced by `field`.
    pub fn replaced(self, from: Index, field: Expr) -> Expr {
        let width = self.width;
        let Some(offset) = from.constant().filter(|offset| offset + field.width <= width) else {
            return Expr { width, node: Node::Replace(Box::new(self), from, Box::new(field)) };
        };
        let top = offset + field.width;
        let mut parts = vec![];
        if top < width {
            parts.push(self.clone().sliced(Index::Number(top), width - top));
        }
        parts.push(field);
        if offset > 0 {
            parts.push(self.sliced(Index::Number(0), offset));
        }
        if parts.len() == 1 { parts.remove(0) } else { Expr { width, node: Node::Concat(parts) } }
    }

    /// Calls `f` for this expression and all expressions inside, including those in indices.
    pub fn visit(&self, f: &mut dyn FnMut(&Expr)) {
        f(self);
        match &self.node {
            Node::Read(place) => {
                if let Some(index) = &place.index {
                    index.visit(f);
                }
            }
            Node::Literal(_) | Node::Variant(..) | Node::Number(_) => {}
            Node::Extend(e) | Node::SignExtend(e) | Node::Not(e) | Node::Negate(e) | Node::Reduce(_, e) => {
                e.visit(f)
            }
            Node::Concat(parts) => parts.iter().for_each(|part| part.visit(f)),
            Node::Slice(e, index) => {
                e.visit(f);
                index.visit(f);
            }
            Node::Replace(e, index, field) => {
                e.visit(f);
                index.visit(f);
                field.visit(f);
            }
            Node::Binary(a, _, b) => {
                a.visit(f);
                b.visit(f);
            }
            Node::Shift { value, by, .. } => {
                value.visit(f);
                by.visit(f);
            }
            Node::Compare { left, right, .. } => {
                left.visit(f);
                right.visit(f);
            }
            Node::CompareIndex(a, _, b) => {
                a.visit(f);
                b.visit(f);
            }
            Node::Choose(test, yes, no) => [test, yes, no].into_iter().for_each(|e| e.visit(f)),
        }
    }

    /// Calls `f` for all expressions inside, including those in indices, and then for this expression.
    pub fn rewrite(&mut self, f: &mut dyn FnMut(&mut Expr)) {
        match &mut self.node {
            Node::Read(place) => place.index.iter_mut().for_each(|index| index.rewrite(f)),
            Node::Literal(_) | Node::Variant(..) => {}
            Node::Number(index) => index.rewrite(f),
            Node::Extend(e) | Node::SignExtend(e) | Node::Not(e) | Node::Negate(e) | Node::Reduce(_, e) => {
                e.rewrite(f);
            }
            Node::Concat(parts) => parts.iter_mut().for_each(|part| part.rewrite(f)),
            Node::Slice(e, index) => {
                e.rewrite(f);
                index.rewrite(f);
            }
            Node::Replace(e, index, field) => {
                e.rewrite(f);
                index.rewrite(f);
                field.rewrite(f);
            }
            Node::Binary(a, _, b) | Node::Compare { left: a, right: b, .. } => {
                a.rewrite(f);
                b.rewrite(f);
            }
            Node::Shift { value, by, .. } => {
                value.rewrite(f);
                by.rewrite(f);
            }
            Node::CompareIndex(a, _, b) => {
                a.rewrite(f);
                b.rewrite(f);
            }
            Node::Choose(test, yes, no) => [test, yes, no].into_iter().for_each(|e| e.rewrite(f)),
        }
        f(self);
    }

    /// Replaces a signal by another one, if the expression is a read of it.
    pub fn rename(&mut self, old: SignalId, new: SignalId) {
        if let Node::Read(place) = &mut self.node
            && place.signal == old
        {
            place.signal = new;
        }
    }

    /// Appends the signals that the expression reads.
    pub fn reads(&self, out: &mut Vec<SignalId>) {
        self.visit(&mut |e| {
            if let Node::Read(place) = &e.node {
                out.push(place.signal);
            }
        });
    }
}

pub(crate) fn mask(width: usize) -> BigUint {
    (BigUint::from(1u8) << width) - 1u8
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Stmt {
    /// Assigns an element, or `value.width` bits of it beginning at an index.
    Assign {
        place: ElementRef,
        field: Option<Index>,
        value: Expr,
    },
    If {
        test: Expr,
        then: Vec<Stmt>,
        otherwise: Vec<Stmt>,
    },
    /// Alternatives. The last one is taken for all values without their own alternative.
    Match {
        test: Expr,
        arms: Vec<(Option<Expr>, Vec<Stmt>)>,
    },
    Loop {
        variable: String,
        from: usize,
        to: usize,
        body: Vec<Stmt>,
    },
    Comment(String),
}

impl Stmt {
    /// Calls `f` for this statement and all statements inside.
    pub fn visit(&self, f: &mut dyn FnMut(&Stmt)) {
        f(self);
        let mut all = |body: &[Stmt]| body.iter().for_each(|s| s.visit(f));
        match self {
            Stmt::If { then, otherwise, .. } => {
                all(then);
                all(otherwise);
            }
            Stmt::Match { arms, .. } => arms.iter().for_each(|(_, body)| all(body)),
            Stmt::Loop { body, .. } => all(body),
            Stmt::Assign { .. } | Stmt::Comment(_) => {}
        }
    }

    /// Calls `f` for every expression in this statement.
    pub fn visit_expressions(&self, f: &mut dyn FnMut(&Expr)) {
        self.visit(&mut |s| match s {
            Stmt::Assign { place, field, value } => {
                place.index.iter().chain(field).for_each(|index| index.visit(f));
                value.visit(f);
            }
            Stmt::If { test, .. } | Stmt::Match { test, .. } => test.visit(f),
            Stmt::Loop { .. } | Stmt::Comment(_) => {}
        });
    }

    /// Calls `f` for every expression in this statement, the innermost first.
    pub fn rewrite(&mut self, f: &mut dyn FnMut(&mut Expr)) {
        match self {
            Stmt::Assign { place, field, value } => {
                place.index.iter_mut().chain(field).for_each(|index| index.rewrite(f));
                value.rewrite(f);
            }
            Stmt::If { test, then, otherwise } => {
                test.rewrite(f);
                then.iter_mut().chain(otherwise).for_each(|statement| statement.rewrite(f));
            }
            Stmt::Match { test, arms } => {
                test.rewrite(f);
                arms.iter_mut().flat_map(|(_, body)| body).for_each(|statement| statement.rewrite(f));
            }
            Stmt::Loop { body, .. } => body.iter_mut().for_each(|statement| statement.rewrite(f)),
            Stmt::Comment(_) => {}
        }
    }

    /// Replaces a signal by another one.
    pub fn rename(&mut self, old: SignalId, new: SignalId) {
        self.rewrite(&mut |e| e.rename(old, new));
        self.rename_targets(old, new);
    }

    fn rename_targets(&mut self, old: SignalId, new: SignalId) {
        let all = |body: &mut Vec<Stmt>| body.iter_mut().for_each(|s| s.rename_targets(old, new));
        match self {
            Stmt::Assign { place, .. } if place.signal == old => place.signal = new,
            Stmt::If { then, otherwise, .. } => [then, otherwise].into_iter().for_each(all),
            Stmt::Match { arms, .. } => arms.iter_mut().map(|(_, body)| body).for_each(all),
            Stmt::Loop { body, .. } => all(body),
            Stmt::Assign { .. } | Stmt::Comment(_) => {}
        }
    }

    /// Returns the signals that the statement reads.
    pub fn reads(&self) -> Vec<SignalId> {
        let mut out = vec![];
        self.visit_expressions(&mut |e| {
            if let Node::Read(place) = &e.node {
                out.push(place.signal);
            }
        });
        out.sort_unstable();
        out.dedup();
        out
    }

    /// Removes assignments to all signals except those to keep, and statements that become empty. A comment stays with the
    /// statement after it.
    pub fn only(body: &[Stmt], keep: &impl Fn(SignalId) -> bool) -> Vec<Stmt> {
        let (mut left, mut comments) = (vec![], vec![]);
        for statement in body {
            let before = std::mem::take(&mut comments);
            let part = match statement {
                Stmt::Comment(_) => {
                    comments = before;
                    comments.push(statement.clone());
                    continue;
                }
                Stmt::Assign { place, .. } if !keep(place.signal) => continue,
                Stmt::Assign { .. } => statement.clone(),
                Stmt::If { test, then, otherwise } => {
                    match (Stmt::only(then, keep), Stmt::only(otherwise, keep)) {
                        (then, otherwise) if then.is_empty() && otherwise.is_empty() => continue,
                        (then, otherwise) if then.is_empty() => {
                            Stmt::If { test: test.clone().negated(), then: otherwise, otherwise: then }
                        }
                        (then, otherwise) => Stmt::If { test: test.clone(), then, otherwise },
                    }
                }
                Stmt::Match { test, arms } => {
                    let arms: Vec<_> =
                        arms.iter().map(|(label, body)| (label.clone(), Stmt::only(body, keep))).collect();
                    if arms.iter().all(|(_, body)| body.is_empty()) {
                        continue;
                    }
                    Stmt::Match { test: test.clone(), arms }
                }
                Stmt::Loop { variable, from, to, body } => match Stmt::only(body, keep) {
                    body if body.is_empty() => continue,
                    body => Stmt::Loop { variable: variable.clone(), from: *from, to: *to, body },
                },
            };
            left.extend(before);
            left.push(part);
        }
        left
    }

    /// Returns the signals that the statement assigns.
    pub fn writes(&self) -> Vec<SignalId> {
        let mut out = vec![];
        self.visit(&mut |s| {
            if let Stmt::Assign { place, .. } = s {
                out.push(place.signal);
            }
        });
        out.sort_unstable();
        out.dedup();
        out
    }
}
