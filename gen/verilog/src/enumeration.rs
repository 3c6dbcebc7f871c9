//! Finds signals whose values all have names: SystemVerilog declares them with an enumeration.
//!
//! A signal of a Rust enumeration has the names of its values. A signal to which a module assigns only named constants has the
//! names of these constants, if neither it nor they take part in arithmetic.

use crate::ir::{CompareOp, ElementRef, Expr, Index, Node, Role, Signal, SignalId, Stmt};
use crate::names;
use crate::schedule::{ModulePlan, Pin, Process};
use num_bigint::BigUint;
use std::collections::{BTreeMap, BTreeSet};

/// Min constants of an enumeration. A signal with fewer values is a flag.
const FEWEST_CONSTANTS: usize = 3;

/// A value of an enumeration.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct NamedValue {
    pub doc: Vec<String>,
    pub name: String,
    pub value: BigUint,
}

/// The type of one or more signals.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Enumeration {
    /// Name without a suffix.
    pub stem: String,
    pub bits: usize,
    /// The values in ascending order.
    pub values: Vec<NamedValue>,
}

impl Enumeration {
    /// Returns the name of a value.
    pub fn name(&self, value: &BigUint) -> Option<&str> {
        self.values.iter().find(|named| named.value == *value).map(|named| named.name.as_str())
    }
}

/// The enumerations of a module.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Enumerations {
    pub types: Vec<Enumeration>,
    /// Indices of the types by signal.
    pub of_signal: BTreeMap<SignalId, usize>,
}

impl Enumerations {
    /// Returns the enumerations of a module. `output_of` has the outputs of registers by their inputs.
    pub fn of(
        plan: &ModulePlan,
        signals: &[Signal],
        output_of: &BTreeMap<SignalId, SignalId>,
    ) -> Enumerations {
        let mut uses =
            ValueUses { signals, copies: vec![], others: BTreeSet::new(), foreign: BTreeSet::new() };
        uses.plan(plan);
        uses.copies.extend(output_of.iter().map(|(input, output)| (*input, *output)));
        let mut found = Enumerations::default();
        found.add_rust_types(signals, &uses);
        found.add_constants(signals, &uses);
        found
    }

    /// Returns whether a constant is a value of an enumeration.
    pub fn has(&self, name: &str) -> bool {
        self.types.iter().flat_map(|own| &own.values).any(|value| value.name == name)
    }

    /// Adds the enumerations of Rust.
    fn add_rust_types(&mut self, signals: &[Signal], uses: &ValueUses) {
        let is_typed = |id: &SignalId| !signals[*id].variants.is_empty() && uses.may_have_type(*id);
        for id in (0..signals.len()).filter(is_typed) {
            let variants = &signals[id].variants;
            let known = self.of_signal.iter().find(|(other, _)| signals[**other].variants == *variants);
            let at = known.map_or(self.types.len(), |(_, at)| *at);
            if at == self.types.len() {
                let (of_type, _) = variants[0].split_once("::").unwrap_or((&signals[id].name, ""));
                let numbered = variants.iter().zip(0u32..);
                let value = |(name, value): (&String, u32)| NamedValue {
                    doc: vec![],
                    name: names::variant(name),
                    value: BigUint::from(value),
                };
                self.types.push(Enumeration {
                    stem: names::snake_case(of_type),
                    bits: signals[id].width,
                    values: numbered.map(value).collect(),
                });
            }
            self.of_signal.insert(id, at);
        }
    }

    /// Adds the enumerations of constants: one for signals and constants that copies connect.
    fn add_constants(&mut self, signals: &[Signal], uses: &ValueUses) {
        let mut class: Vec<usize> = (0..signals.len()).collect();
        for (to, from) in &uses.copies {
            let (old, new) = (class[*from], class[*to]);
            class.iter_mut().filter(|own| **own == old).for_each(|own| *own = new);
        }
        let mut members: BTreeMap<usize, Vec<SignalId>> = BTreeMap::new();
        for (id, class) in class.iter().enumerate() {
            members.entry(*class).or_default().push(id);
        }
        for members in members.into_values() {
            let (constants, variables): (Vec<SignalId>, Vec<SignalId>) =
                members.into_iter().partition(|id| signals[*id].role == Role::Constant);
            let Some(first) = variables.iter().min_by_key(|id| signals[**id].role != Role::RegisterOutput)
            else {
                continue;
            };
            let mut values: Vec<NamedValue> = constants
                .iter()
                .map(|id| &signals[*id])
                .map(|s| NamedValue { doc: s.doc.clone(), name: s.name.clone(), value: s.values[0].clone() })
                .collect();
            values.sort_by(|a, b| a.value.cmp(&b.value));
            let own = Enumeration { stem: stem(&signals[*first].name), bits: signals[*first].width, values };
            let are_distinct = own.values.windows(2).all(|pair| pair[0].value != pair[1].value);
            let fits = |id: &SignalId| {
                let signal = &signals[*id];
                let starts = signal.role != Role::RegisterOutput || own.name(&signal.values[0]).is_some();
                uses.may_have_type(*id)
                    && !uses.foreign.contains(id)
                    && signal.width == own.bits
                    && signal.variants.is_empty()
                    && starts
            };
            let are_values = |id: &SignalId| !uses.others.contains(id) && signals[*id].width == own.bits;
            if own.values.len() >= FEWEST_CONSTANTS
                && are_distinct
                && variables.iter().all(fits)
                && constants.iter().all(are_values)
            {
                self.of_signal.extend(variables.into_iter().map(|id| (id, self.types.len())));
                self.types.push(own);
            }
        }
    }
}

/// Returns a signal's name without the suffix of a register.
fn stem(name: &str) -> String {
    name.strip_suffix("_q").or(name.strip_suffix("_d")).unwrap_or(name).to_string()
}

/// The ways in which a module uses signals.
struct ValueUses<'a> {
    signals: &'a [Signal],
    /// Signals that are assigned a signal or constant, and that signal or constant.
    copies: Vec<(SignalId, SignalId)>,
    /// Signals with a use other than a copy or a comparison for equality, and signals of which parts are assigned.
    others: BTreeSet<SignalId>,
    /// Signals that are assigned an expression.
    foreign: BTreeSet<SignalId>,
}

impl ValueUses<'_> {
    /// Returns whether the signal is inside the module and has no use that a plain vector needs.
    fn may_have_type(&self, id: SignalId) -> bool {
        let signal = &self.signals[id];
        use Role::{Local, RegisterInput, RegisterOutput, Temporary};
        matches!(signal.role, Local | Temporary | RegisterInput | RegisterOutput)
            && !signal.is_array()
            && signal.layout.is_none()
            && !self.others.contains(&id)
    }

    fn plan(&mut self, plan: &ModulePlan) {
        self.others.extend(plan.outputs.values());
        for process in &plan.processes {
            match process {
                Process::Assign { place, value, .. } => self.assignment(place, None, value),
                Process::Copy { to, from, .. } => self.others.extend([*to, *from]),
                Process::Constant { signal, .. } => {
                    self.foreign.insert(*signal);
                }
                Process::Comb { body } | Process::Clocked { body } => {
                    body.iter().for_each(|statement| statement.visit(&mut |s| self.statement(s)));
                }
            }
        }
        for pin in plan.pins.values() {
            match pin {
                Pin::Same(value) => self.expression(value, true),
                Pin::Element(signal) => {
                    self.others.insert(*signal);
                }
            }
        }
    }

    fn statement(&mut self, statement: &Stmt) {
        match statement {
            Stmt::Assign { place, field, value } => self.assignment(place, field.as_ref(), value),
            Stmt::If { test, .. } => self.expression(test, false),
            Stmt::Match { test, .. } => self.expression(test, true),
            Stmt::Loop { .. } | Stmt::Comment(_) => {}
        }
    }

    fn assignment(&mut self, place: &ElementRef, field: Option<&Index>, value: &Expr) {
        place.index.iter().chain(field).for_each(|index| self.index(index));
        self.expression(value, true);
        if field.is_some() {
            self.others.insert(place.signal);
            return;
        }
        match &value.node {
            Node::Read(source) if source.index.is_none() => {
                // An output of the module or a pin is a vector, and takes any value.
                let is_inside =
                    |id: SignalId| !matches!(self.signals[id].role, Role::Output | Role::ChildInput(_));
                if is_inside(place.signal) {
                    self.copies.push((place.signal, source.signal));
                }
            }
            _ => {
                self.foreign.insert(place.signal);
            }
        }
    }

    /// Records the uses in an expression. `is_value` is `true` for a copy or an operand of a comparison for equality.
    fn expression(&mut self, e: &Expr, is_value: bool) {
        match &e.node {
            Node::Read(place) => {
                if !is_value {
                    self.others.insert(place.signal);
                }
                place.index.iter().for_each(|index| self.index(index));
            }
            Node::Literal(_) | Node::Variant(..) => {}
            Node::Number(index) => self.index(index),
            Node::Compare { signed: false, left, op: CompareOp::Eq | CompareOp::Ne, right } => {
                self.expression(left, true);
                self.expression(right, true);
            }
            Node::Extend(inner)
            | Node::SignExtend(inner)
            | Node::Not(inner)
            | Node::Negate(inner)
            | Node::Reduce(_, inner) => self.expression(inner, false),
            Node::Concat(parts) => parts.iter().for_each(|part| self.expression(part, false)),
            Node::Slice(inner, index) => {
                self.expression(inner, false);
                self.index(index);
            }
            Node::Replace(inner, index, field) => {
                self.expression(inner, false);
                self.index(index);
                self.expression(field, false);
            }
            Node::Binary(a, _, b) | Node::Compare { left: a, right: b, .. } => {
                self.expression(a, false);
                self.expression(b, false);
            }
            Node::Shift { value, by, .. } => {
                self.expression(value, false);
                self.index(by);
            }
            Node::CompareIndex(a, _, b) => {
                self.index(a);
                self.index(b);
            }
            Node::Choose(test, yes, no) => {
                [test, yes, no].into_iter().for_each(|e| self.expression(e, false));
            }
        }
    }

    fn index(&mut self, index: &Index) {
        match index {
            Index::Value(e) => self.expression(e, false),
            Index::Parameter(name, _) => {
                self.others.extend(self.signals.iter().position(|signal| signal.name == *name));
            }
            Index::Operation(a, _, b) => {
                self.index(a);
                self.index(b);
            }
            Index::Number(_) | Index::Loop(..) => {}
        }
    }
}
