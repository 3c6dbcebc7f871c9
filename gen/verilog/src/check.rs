//! Follows a block's body for every loop iteration and every bit. Every index must be within bounds. Every signal must be
//! assigned before it is read, and on every path.

use crate::error::{EmitError, Problem};
use crate::eval::compare;
use crate::ir::{ElementRef, Expr, Index, LoopValues, Node, Signal, Stmt};
use bitvec::{bitvec, vec::BitVec};

type Result<T> = std::result::Result<T, EmitError>;

/// Checks the body of a block. `Err` names the first signal or index that is wrong.
pub(crate) fn check(block: &str, signals: &[Signal], body: &[Stmt]) -> Result<()> {
    let mut checker = BodyChecker::new(block, signals);
    checker.body(body)?;
    checker.finish(body)
}

struct BodyChecker<'a> {
    block: &'a str,
    signals: &'a [Signal],
    /// First bit of each signal in `assigned`.
    offsets: Vec<usize>,
    /// The bits that are assigned on every path up to the current statement.
    assigned: BitVec,
    turn: LoopValues,
}

impl<'a> BodyChecker<'a> {
    fn new(block: &'a str, signals: &'a [Signal]) -> Self {
        let mut offsets = vec![];
        let mut total = 0;
        for signal in signals {
            offsets.push(total);
            total += if signal.is_driven_here() { signal.total() } else { 0 };
        }
        BodyChecker { block, signals, offsets, assigned: bitvec![0; total], turn: vec![] }
    }

    fn refuse<T>(&self, signal: usize, problem: Problem) -> Result<T> {
        let subject = self.signals[signal].key.replace('$', ".");
        Err(EmitError { block: self.block.into(), subject, problem })
    }

    /// Returns the bits `from .. from + width` of element `element`.
    fn bits(&self, signal: usize, element: usize, from: usize, width: usize) -> std::ops::Range<usize> {
        let start = self.offsets[signal] + element * self.signals[signal].width + from;
        start..start + width
    }

    fn body(&mut self, body: &[Stmt]) -> Result<()> {
        body.iter().try_for_each(|statement| self.statement(statement))
    }

    fn statement(&mut self, statement: &Stmt) -> Result<()> {
        match statement {
            Stmt::Assign { place, field, value } => {
                self.expr(value)?;
                let element = self.element(place)?;
                let signal = &self.signals[place.signal];
                let from = match field {
                    None => Some(0),
                    Some(field) => self.within(field, value.width, signal.width, place.signal)?,
                };
                if let (Some(element), Some(from)) = (element, from) {
                    let range = self.bits(place.signal, element, from, value.width);
                    self.assigned[range].fill(true);
                }
            }
            Stmt::If { test, then, otherwise } => {
                self.expr(test)?;
                match self.decided(test)? {
                    Some(true) => self.body(then)?,
                    Some(false) => self.body(otherwise)?,
                    None => self.branches([then.as_slice(), otherwise.as_slice()].into_iter())?,
                }
            }
            Stmt::Match { test, arms } => {
                self.expr(test)?;
                self.branches(arms.iter().map(|(_, body)| body.as_slice()))?;
            }
            Stmt::Loop { variable, from, to, body } => {
                for value in *from..*to {
                    self.turn.push((variable.clone(), value));
                    self.body(body)?;
                    self.turn.pop();
                }
            }
            Stmt::Comment(_) => {}
        }
        Ok(())
    }

    /// Decides a condition that depends on loop variables only, for the current iteration.
    fn decided(&self, test: &Expr) -> Result<Option<bool>> {
        let Node::CompareIndex(a, op, b) = &test.node else { return Ok(None) };
        Ok(match (self.value(a)?, self.value(b)?) {
            (Some(a), Some(b)) => Some(compare(&a, *op, &b)),
            _ => None,
        })
    }

    /// Follows the alternatives. A bit is assigned afterwards if all of them assign it.
    fn branches<'b>(&mut self, bodies: impl Iterator<Item = &'b [Stmt]>) -> Result<()> {
        let before = self.assigned.clone();
        let mut common: Option<BitVec> = None;
        for body in bodies {
            self.assigned.clone_from(&before);
            self.body(body)?;
            common = Some(match common {
                None => self.assigned.clone(),
                Some(common) => common & &self.assigned,
            });
        }
        self.assigned = common.unwrap_or(before);
        Ok(())
    }

    fn value(&self, index: &Index) -> Result<Option<usize>> {
        index.value(&self.turn).map_err(|()| EmitError {
            block: self.block.into(),
            subject: format!("{index:?}"),
            problem: Problem::Unsupported("an index below zero"),
        })
    }

    /// Checks the index of a place. Returns the element if it is known in this iteration.
    fn element(&mut self, place: &ElementRef) -> Result<Option<usize>> {
        let Some(index) = &place.index else { return Ok(Some(0)) };
        self.index(index)?;
        let value = self.value(index)?;
        let length = self.signals[place.signal].length();
        match value {
            Some(index) if index >= length => {
                self.refuse(place.signal, Problem::OutOfBounds { index, length })
            }
            _ => Ok(value),
        }
    }

    /// Returns the first bit of a part of `bits` bits, if it is known in this iteration. The part must lie within `width`.
    fn within(&mut self, from: &Index, bits: usize, width: usize, signal: usize) -> Result<Option<usize>> {
        self.index(from)?;
        match self.value(from)? {
            Some(from) if from + bits > width => {
                self.refuse(signal, Problem::OutOfRange { from, to: from + bits - 1, width })
            }
            value => Ok(value),
        }
    }

    fn index(&mut self, index: &Index) -> Result<()> {
        match index {
            Index::Value(e) => self.expr(e),
            Index::Operation(a, _, b) => {
                self.index(a)?;
                self.index(b)
            }
            _ => Ok(()),
        }
    }

    /// Checks that the given bits of a place are assigned before they are read.
    fn read(&mut self, place: &ElementRef, from: usize, width: usize) -> Result<()> {
        let element = self.element(place)?;
        let signal = &self.signals[place.signal];
        if !signal.is_variable() {
            return Ok(());
        }
        let ready = match element {
            Some(element) => self.assigned[self.bits(place.signal, element, from, width)].all(),
            None => self.assigned[self.bits(place.signal, 0, 0, signal.total())].all(),
        };
        if ready { Ok(()) } else { self.refuse(place.signal, Problem::ReadBeforeAssigned) }
    }

    fn expr(&mut self, e: &Expr) -> Result<()> {
        match &e.node {
            Node::Read(place) => self.read(place, 0, e.width),
            Node::Literal(value) => {
                if value.bits() > e.width as u64 {
                    let problem = Problem::TooWide { value: value.to_string(), width: e.width };
                    return Err(EmitError { block: self.block.into(), subject: value.to_string(), problem });
                }
                Ok(())
            }
            Node::Variant(..) => Ok(()),
            Node::Number(index) => {
                self.index(index)?;
                match self.value(index)? {
                    Some(value) if e.width < 64 && value >> e.width != 0 => {
                        let problem = Problem::TooWide { value: value.to_string(), width: e.width };
                        Err(EmitError { block: self.block.into(), subject: "to_bits".into(), problem })
                    }
                    _ => Ok(()),
                }
            }
            Node::Slice(inner, index) => match &inner.node {
                Node::Read(place) => {
                    let place = place.clone();
                    match self.within(index, e.width, inner.width, place.signal)? {
                        Some(from) => self.read(&place, from, e.width),
                        None => self.read(&place, 0, inner.width),
                    }
                }
                _ => {
                    self.expr(inner)?;
                    self.index(index)
                }
            },
            Node::Extend(a) | Node::SignExtend(a) | Node::Not(a) | Node::Negate(a) | Node::Reduce(_, a) => {
                self.expr(a)
            }
            Node::Concat(parts) => parts.iter().try_for_each(|part| self.expr(part)),
            Node::Choose(test, yes, no) => [test, yes, no].into_iter().try_for_each(|e| self.expr(e)),
            Node::Replace(a, index, b) => {
                self.expr(a)?;
                self.index(index)?;
                if let Some(from) = self.value(index)?.filter(|from| from + b.width > e.width) {
                    let problem = Problem::OutOfRange { from, to: from + b.width - 1, width: e.width };
                    return Err(EmitError {
                        block: self.block.into(),
                        subject: "replace_bit".into(),
                        problem,
                    });
                }
                self.expr(b)
            }
            Node::Binary(a, _, b) | Node::Compare { left: a, right: b, .. } => {
                self.expr(a)?;
                self.expr(b)
            }
            Node::Shift { value, by, .. } => {
                self.expr(value)?;
                self.index(by)
            }
            Node::CompareIndex(a, _, b) => {
                self.index(a)?;
                self.index(b)
            }
        }
    }

    /// Checks that the body assigns every bit of every signal that the block must drive.
    fn finish(&self, body: &[Stmt]) -> Result<()> {
        let mut written = bitvec![0; self.signals.len()];
        let mut read = bitvec![0; self.signals.len()];
        for statement in body {
            statement.writes().into_iter().for_each(|signal| written.set(signal, true));
            statement.reads().into_iter().for_each(|signal| read.set(signal, true));
        }
        for (id, signal) in self.signals.iter().enumerate().filter(|(_, signal)| signal.is_driven_here()) {
            let complete = self.assigned[self.bits(id, 0, 0, signal.total())].all();
            if !written[id] {
                if read[id] || !signal.is_variable() || signal.role == crate::ir::Role::Output {
                    return self.refuse(id, Problem::Undriven);
                }
            } else if !complete {
                return self.refuse(id, Problem::Latch);
            }
        }
        Ok(())
    }
}
