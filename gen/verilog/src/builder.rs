//! Translates expressions and statements into the syntax tree of Verilog, and records the bits and numbers that they use.

use crate::choices::ChoiceByValue;
use crate::enumeration::Enumerations;
use crate::ir::{
    BinaryOp, CompareOp, ElementRef, Expr, Index, IndexOp, Node, ReduceOp, Role, Signal, SignalId, Stmt, mask,
};
use crate::lanes::{LaneUses, split};
use crate::layout::{Layout, Selections};
use crate::module::{ModuleStyle, SignalTypes};
use crate::options::ResetStyle;
use crate::schedule::whole_copy;
use crate::verilog::{Code, CodeToken, Head, Item, VerilogBlock, code};
use bitvec::{bitvec, vec::BitVec};
use num_bigint::BigUint;
use std::collections::{BTreeMap, BTreeSet};

/// The kind of the outermost operator in code. It determines where parentheses are needed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Tie {
    /// A name, literal, selection or concatenation.
    Primary,
    /// A prefix operator.
    Prefix,
    /// An operator between operands.
    Infix(&'static str),
    /// A conditional.
    Ternary,
}

/// Code with its outermost operator.
struct VerilogOperand(Code, Tie);

impl From<VerilogOperand> for Code {
    fn from(text: VerilogOperand) -> Code {
        text.0
    }
}

impl VerilogOperand {
    fn primary(code: impl Into<Code>) -> VerilogOperand {
        VerilogOperand(code.into(), Tie::Primary)
    }

    /// Returns the code as an operand of a prefix operator.
    fn tight(self) -> Code {
        if self.1 == Tie::Primary { self.0 } else { code!["(", self.0, ")"] }
    }

    /// Returns the code as an operand of `op`; `left` is `true` for the left operand.
    fn operand(self, op: &str, left: bool) -> Code {
        let bare = match self.1 {
            Tie::Primary => true,
            Tie::Prefix => !matches!(self.0.0[0].text(), "&" | "|" | "^" | "-"),
            Tie::Infix(own) => own == op && (left || matches!(op, "&" | "|" | "^" | "&&" | "||")),
            Tie::Ternary => false,
        };
        if bare { self.0 } else { code!["(", self.0, ")"] }
    }
}

/// Returns a literal of `width` bits: decimal below 1000, repeated ones for a mask, hexadecimal otherwise.
pub(crate) fn literal(value: &BigUint, width: usize) -> Code {
    let text = if width > 8 && *value == mask(width) {
        return code!["{", width, "{", literal(&BigUint::from(1u8), 1), "}", "}"];
    } else if width == 1 {
        format!("1'b{value}")
    } else if *value < BigUint::from(1000u16) {
        format!("{width}'d{value}")
    } else {
        format!("{width}'h{value:x}")
    };
    CodeToken::Literal(width as i64, value.clone(), text).into()
}

/// Returns the index of a vector's highest bit; `None` for a single bit.
pub(crate) fn highest(bits: usize) -> Option<Code> {
    (bits > 1).then(|| Code::from(bits - 1))
}

/// Returns the concatenated values, with element 0 in the low bits.
pub(crate) fn concatenation(values: &[BigUint], width: usize) -> Code {
    match values {
        [one] => literal(one, width),
        _ if values.iter().all(|value| *value == BigUint::ZERO) => {
            literal(&BigUint::ZERO, width * values.len())
        }
        [first, rest @ ..] if rest.iter().all(|value| value == first) => {
            code!["{", values.len(), "{", literal(first, width), "}", "}"]
        }
        _ => {
            let parts = values.iter().rev().map(|value| literal(value, width));
            code!["{", Code::join(parts, ", "), "}"]
        }
    }
}

/// Returns the range that selects `bits` bits or elements, beginning at `low`.
fn range(low: usize, bits: usize) -> Code {
    match bits {
        1 => code!["[", low, "]"],
        _ => code!["[", low + bits - 1, ":", low, "]"],
    }
}

/// Appends selections for a run of bits of a packed array: complete lanes together, others one by one.
fn lane_selections(whole: &Code, lanes: &[usize], (low, bits): (usize, usize), parts: &mut Vec<Code>) {
    let [lane, inner @ ..] = lanes else {
        return parts.push(code![whole.clone(), range(low, bits)]);
    };
    let (mut at, end) = (low, low + bits);
    while at < end {
        let (first, offset, complete) = (at / lane, at % lane, (end - at) / lane);
        if offset == 0 && complete > 0 {
            parts.push(code![whole.clone(), range(first, complete)]);
            at += complete * lane;
        } else {
            let bits = (lane - offset).min(end - at);
            lane_selections(&code![whole.clone(), range(first, 1)], inner, (offset, bits), parts);
            at += bits;
        }
    }
}

/// Collects the items of a module and the signals, numbers and names that they use.
pub(crate) struct ModuleBuilder<'a> {
    pub signals: &'a [Signal],
    pub reset: ResetStyle,
    /// `true` if arrays are packed arrays.
    packs: bool,
    /// Bits of the lanes of signals or of their elements.
    lanes: BTreeMap<SignalId, usize>,
    pub enumerations: Enumerations,
    /// Names of the enumerations.
    pub type_names: Vec<String>,
    /// Outputs of registers by their inputs.
    output_of: &'a BTreeMap<SignalId, SignalId>,
    layouts: &'a [Layout],
    /// Signals that are structs, with their struct names.
    pub structs: BTreeMap<SignalId, String>,
    /// Bits selected from signals with layouts.
    pub selections: Selections,
    /// Bits selected from all other signals.
    pub uses: LaneUses,
    /// Names of the used constants for first bits of fields.
    pub offsets: BTreeSet<String>,
    /// Bits of each signal that are read.
    used: BTreeMap<SignalId, BitVec>,
    /// Signals that a process declares, by the number of the process.
    pub scratch: BTreeMap<SignalId, usize>,
    /// Numbers that are used by name.
    pub parameters: BTreeMap<String, usize>,
    /// Values of enumerations that are used.
    pub variants: BTreeSet<String>,
    /// Names of Verilog blocks that are in use.
    labels: BTreeSet<String>,
    items: Vec<Item>,
    /// `true` while assignments to registers' inputs are written as `q <= ...`.
    clocked: bool,
}

impl<'a> ModuleBuilder<'a> {
    pub fn new(
        signals: &'a [Signal],
        style: ModuleStyle,
        output_of: &'a BTreeMap<SignalId, SignalId>,
        layouts: &'a [Layout],
        types: SignalTypes,
    ) -> Self {
        let mut builder = ModuleBuilder {
            signals,
            reset: style.reset,
            packs: style.is_typed,
            lanes: types.lanes,
            enumerations: types.enumerations,
            type_names: vec![],
            output_of,
            layouts,
            structs: types.structs,
            scratch: types.scratch,
            selections: Selections::default(),
            uses: LaneUses::default(),
            offsets: BTreeSet::new(),
            used: BTreeMap::new(),
            parameters: BTreeMap::new(),
            variants: BTreeSet::new(),
            labels: signals.iter().map(|signal| signal.name.clone()).collect(),
            items: vec![],
            clocked: false,
        };
        for at in 0..builder.enumerations.types.len() {
            let wanted = format!("{}_e", builder.enumerations.types[at].stem);
            let name = builder.label(&wanted);
            builder.type_names.push(name);
        }
        builder
    }

    // --- items ---

    pub fn push(&mut self, item: Item) {
        self.items.push(item);
    }

    /// Appends a statement or declaration, without its semicolon.
    pub fn line(&mut self, code: Code) {
        self.push(Item::Line(code));
    }

    /// Appends an empty line, except at the start.
    pub fn blank(&mut self) {
        if !self.items.is_empty() {
            self.push(Item::Blank);
        }
    }

    pub fn comment(&mut self, text: &str) {
        self.push(Item::Comment(text.into()));
    }

    /// Returns the items that `body` appends.
    pub fn inside(&mut self, body: impl FnOnce(&mut Self)) -> Vec<Item> {
        let before = self.take_items();
        body(self);
        std::mem::replace(&mut self.items, before)
    }

    pub fn take_items(&mut self) -> Vec<Item> {
        std::mem::take(&mut self.items)
    }

    /// Returns a unique name in the module, derived from `wanted`.
    pub fn label(&mut self, wanted: &str) -> String {
        let mut label = wanted.to_string();
        let mut number = 2;
        while self.labels.contains(&label) || crate::names::is_reserved(&label) {
            label = format!("{wanted}_{number}");
            number += 1;
        }
        self.labels.insert(label.clone());
        label
    }

    /// Reserves a name that a process declares, so that it cannot hide a name of the module.
    pub fn reserve(&mut self, name: &str) {
        self.labels.insert(name.to_string());
    }

    // --- use of signals ---

    fn mark(&mut self, signal: SignalId, from: usize, bits: usize) {
        let total = self.signals[signal].total();
        let used = self.used.entry(signal).or_insert_with(|| bitvec![0; total]);
        used[from..from + bits].fill(true);
    }

    pub fn mark_all(&mut self, signal: SignalId) {
        self.mark(signal, 0, self.signals[signal].total());
    }

    /// Returns the runs of unread bits of a signal, as `(lowest, highest)`.
    pub fn unused(&self, signal: SignalId) -> Vec<(usize, usize)> {
        let total = self.signals[signal].total();
        let none = bitvec![0; total];
        let used = self.used.get(&signal).unwrap_or(&none);
        let mut runs: Vec<(usize, usize)> = vec![];
        for bit in used.iter_zeros() {
            match runs.last_mut() {
                Some((_, last)) if *last + 1 == bit => *last = bit,
                _ => runs.push((bit, bit)),
            }
        }
        runs
    }

    pub fn is_used(&self, signal: SignalId) -> bool {
        self.used.contains_key(&signal)
    }

    // --- selections ---

    /// Returns the bits of the parts of a packed array, from the outermost dimension in. A vector has none.
    pub fn lanes(&self, id: SignalId) -> Vec<usize> {
        let signal = &self.signals[id];
        // Yosys 0.70 takes an element of a packed constant as a bit.
        if !self.packs || signal.layout.is_some() || signal.role == Role::Constant {
            return vec![];
        }
        let elements = (signal.is_array() && signal.width > 1).then_some(signal.width);
        elements.into_iter().chain(self.lanes.get(&id).copied()).collect()
    }

    /// Returns the declaration of a signal or constant that is not a struct.
    pub fn declaration(&self, kind: &str, id: SignalId, value: Option<Code>) -> Item {
        let signal = &self.signals[id];
        if let Some(at) = self.enumerations.of_signal.get(&id) {
            return Item::declare(&self.type_names[*at], None, &signal.name, value);
        }
        let (mut outer, mut last) = (signal.total(), vec![]);
        for bits in self.lanes(id) {
            last.push(Code::from(outer / bits - 1));
            outer = bits;
        }
        Item::declare(kind, highest(outer), &signal.name, value).with_lanes(last)
    }

    /// Returns the code that selects `bits` bits from `whole`: a signal or element of `width` bits that may consist of lanes.
    fn part_of(
        &mut self,
        whole: Code,
        (width, lane): (usize, Option<usize>),
        from: &Index,
        bits: usize,
    ) -> Code {
        if bits == width && from.constant() == Some(0) {
            return whole;
        }
        let lane = lane.and_then(|lane| Some((lane, split(from, lane)?)));
        match (lane, from.constant()) {
            (Some((lane, (index, offset))), _) if offset + bits <= lane => {
                let inner = if bits == lane { Code::default() } else { range(offset, bits) };
                code![whole, "[", self.index(&index).0, "]", inner]
            }
            (Some((lane, (index, _))), _) => match index.constant() {
                Some(first) => code![whole, range(first, bits / lane)],
                None => code![whole, "[", self.index(&index).0, " +: ", bits / lane, "]"],
            },
            (None, Some(low)) => code![whole, range(low, bits)],
            (None, None) if bits == 1 => code![whole, "[", self.index(from).0, "]"],
            (None, None) => code![whole, "[", self.index(from).0, " +: ", bits, "]"],
        }
    }

    /// Returns the code that selects `bits` bits of an element, beginning at `from`. If `read` is set, marks these bits as
    /// read.
    fn select(&mut self, place: &ElementRef, from: &Index, bits: usize, read: bool) -> Code {
        let signal = &self.signals[place.signal];
        let (name, total) = (signal.name.clone(), signal.total());
        let start = match &place.index {
            None => from.clone(),
            Some(element) => {
                let base = Index::operation(element.clone(), IndexOp::Mul, Index::Number(signal.width));
                Index::operation(base, IndexOp::Add, from.clone())
            }
        };
        let vector = total > 1;
        self.uses.add(place.signal, from, bits);
        let lanes = self.lanes(place.signal);
        if !lanes.is_empty() {
            let width = signal.width;
            if read {
                let (low, bits) = start.constant().map_or((0, total), |low| (low, bits));
                self.mark(place.signal, low, bits);
            }
            let (whole, lane) = match &place.index {
                Some(element) => (code![&name, "[", self.index(element).0, "]"], lanes.get(1)),
                None => (Code::from(&name), lanes.first()),
            };
            return self.part_of(whole, (width, lane.copied()), from, bits);
        }
        match start.constant() {
            Some(low) => {
                if read {
                    self.mark(place.signal, low, bits);
                }
                let element = place.index.as_ref().and_then(Index::constant);
                if bits == total {
                    Code::from(self.structs.get(&place.signal).unwrap_or(&name))
                } else if let Some(element) = element.filter(|_| bits > 1 && bits == signal.width) {
                    code![&name, "[", element, "*", bits, " +: ", bits, "]"]
                } else {
                    self.selected(place.signal, low, bits)
                }
            }
            None => {
                if signal.layout.is_some() {
                    self.selections.others.insert(place.signal);
                }
                if read {
                    self.mark(place.signal, 0, total);
                }
                if !vector {
                    return Code::from(&name);
                }
                let start = self.index(&start).0;
                let count = if bits == 1 { Code::default() } else { code![" +: ", bits] };
                code![&name, "[", start, count, "]"]
            }
        }
    }

    /// Returns the code that selects some bits of a signal. It uses a field of the layout if one field contains all the
    /// bits.
    fn selected(&mut self, id: SignalId, low: usize, bits: usize) -> Code {
        let signal = &self.signals[id];
        let layout = signal.layout.map(|layout| &self.layouts[layout]);
        let Some((layout, field)) = layout.and_then(|layout| Some((layout, layout.field(low, bits)?))) else {
            if layout.is_some() {
                self.selections.others.insert(id);
            }
            return code![&signal.name, range(low, bits)];
        };
        self.selections.fields.insert(id);
        let offset = low - field.low;
        if let Some(name) = self.structs.get(&id) {
            let range = if bits == field.width { Code::default() } else { range(offset, bits) };
            return code![name, ".", &field.name, range];
        }
        let constant = layout.constant(field);
        let offset = if offset == 0 { Code::default() } else { code!["+", offset] };
        let range = if bits == 1 { Code::default() } else { code![" +: ", bits] };
        let selected = code![&signal.name, "[", &constant, offset, range, "]"];
        self.offsets.insert(constant);
        selected
    }

    /// Returns selections for a run of bits of a signal. If the signal has a layout, each selection lies in one field.
    pub fn selection(&mut self, id: SignalId, low: usize, bits: usize) -> Vec<Code> {
        let signal = &self.signals[id];
        if bits == signal.total() {
            return vec![Code::from(&signal.name)];
        }
        let lanes = self.lanes(id);
        if !lanes.is_empty() {
            let mut parts = vec![];
            lane_selections(&Code::from(&signal.name), &lanes, (low, bits), &mut parts);
            return parts;
        }
        let Some(layout) = signal.layout.map(|layout| &self.layouts[layout]) else {
            return vec![self.selected(id, low, bits)];
        };
        let overlap = |first: usize, width: usize| {
            let (from, to) = (first.max(low), (first + width).min(low + bits));
            (from < to).then(|| (from, to - from))
        };
        let parts: Vec<_> =
            layout.fields.iter().filter_map(|field| overlap(field.low, field.width)).collect();
        parts.into_iter().map(|(low, bits)| self.selected(id, low, bits)).collect()
    }

    /// Translates index arithmetic. A signal in it is widened, so that it does not wrap.
    fn index(&mut self, index: &Index) -> VerilogOperand {
        match index {
            Index::Number(n) => VerilogOperand::primary(*n),
            Index::Loop(name, _) => VerilogOperand::primary(name),
            Index::Parameter(name, value) => {
                self.parameters.insert(name.clone(), *value);
                VerilogOperand::primary(name)
            }
            Index::Value(e) => self.expr(e),
            Index::Operation(a, op, b) => {
                let symbol = index_symbol(*op);
                let (a, b) = (self.index_operand(a), self.index_operand(b));
                let (a, b) = (index_side(a, symbol, true), index_side(b, symbol, false));
                VerilogOperand(code![a, symbol, b], Tie::Infix(symbol))
            }
        }
    }

    fn index_operand(&mut self, index: &Index) -> VerilogOperand {
        match index {
            Index::Value(e) if e.width < 32 => {
                let zeros = literal(&BigUint::ZERO, 32 - e.width);
                VerilogOperand::primary(code!["{", zeros, ", ", self.expr(e), "}"])
            }
            other => self.index(other),
        }
    }

    /// Translates index arithmetic as a value of `width` bits.
    fn number(&mut self, index: &Index, width: usize) -> VerilogOperand {
        match index {
            Index::Number(n) | Index::Parameter(_, n) => {
                VerilogOperand::primary(literal(&BigUint::from(*n), width))
            }
            Index::Loop(name, _) if width == 1 => VerilogOperand::primary(code![name, "[", 0usize, "]"]),
            Index::Loop(name, _) if width < 32 => {
                VerilogOperand::primary(code![name, "[", width - 1, ":", 0usize, "]"])
            }
            Index::Loop(name, _) if width == 32 => VerilogOperand::primary(name),
            Index::Loop(name, _) => {
                VerilogOperand::primary(code!["{", literal(&BigUint::ZERO, width - 32), ", ", name, "}"])
            }
            Index::Value(e) => self.expr(&(**e).clone().extended(width)),
            Index::Operation(a, op, b) => {
                let symbol = index_symbol(*op);
                let (a, b) = (self.number(a, width), self.number(b, width));
                infix(a.operand(symbol, true), symbol, b.operand(symbol, false))
            }
        }
    }

    // --- expressions ---

    /// Returns the expression as code.
    pub fn code(&mut self, e: &Expr) -> Code {
        self.expr(e).0
    }

    fn expr(&mut self, e: &Expr) -> VerilogOperand {
        match &e.node {
            Node::Read(place) => self.read(place),
            Node::Literal(value) => VerilogOperand::primary(literal(value, e.width)),
            Node::Variant(name, _) => {
                self.variants.insert(name.clone());
                VerilogOperand::primary(name)
            }
            Node::Number(index) => self.number(index, e.width),
            Node::Extend(inner) => {
                let (zeros, inner) = (e.width - inner.width, self.part(inner));
                VerilogOperand::primary(code!["{", literal(&BigUint::ZERO, zeros), ", ", inner, "}"])
            }
            Node::SignExtend(inner) => self.sign_extend(inner, e.width),
            Node::Concat(parts) => {
                let parts: Vec<Code> = parts.iter().flat_map(|part| self.parts(part)).collect();
                VerilogOperand::primary(code!["{", Code::join(parts, ", "), "}"])
            }
            Node::Slice(inner, index) => self.slice(inner, index, e.width),
            Node::Replace(inner, index, field) => self.replace(inner, index, field),
            Node::Not(inner) => match &inner.node {
                Node::Compare { signed, left, op, right } => {
                    let (left, right) = (left.clone(), right.clone());
                    let node = Node::Compare { signed: *signed, left, op: op.opposite(), right };
                    self.expr(&Expr { width: 1, node })
                }
                _ => VerilogOperand(code!["~", self.expr(inner).tight()], Tie::Prefix),
            },
            Node::Negate(inner) => VerilogOperand(code!["-", self.expr(inner).tight()], Tie::Prefix),
            Node::Reduce(op, inner) => {
                let symbol = match op {
                    ReduceOp::All => "&",
                    ReduceOp::Any => "|",
                    ReduceOp::Xor => "^",
                };
                VerilogOperand(code![symbol, self.expr(inner).tight()], Tie::Prefix)
            }
            Node::Binary(a, op, b) => {
                let symbol = binary_symbol(*op);
                self.infix(a, symbol, b)
            }
            Node::Shift { left, value, by } => {
                let symbol = if *left { "<<" } else { ">>" };
                let value = self.expr(value).operand(symbol, true);
                let by = self.index(by).operand(symbol, false);
                infix(value, symbol, by)
            }
            Node::Compare { signed, left, op, right } => {
                let symbol = compare_symbol(*op);
                if *signed {
                    let (a, b) = (self.code(left), self.code(right));
                    return infix(code!["$signed(", a, ")"], symbol, code!["$signed(", b, ")"]);
                }
                self.infix(left, symbol, right)
            }
            Node::CompareIndex(Index::Value(a), op, Index::Number(n)) => {
                let right = Expr::literal(*n, a.width);
                self.infix(a, compare_symbol(*op), &right)
            }
            Node::CompareIndex(a, op, b) => {
                let symbol = compare_symbol(*op);
                // An operator takes the width of its integer operand.
                let mut side = |index: &Index, left| match index {
                    Index::Value(e) if !matches!(e.node, Node::Read(_) | Node::Slice(..)) => {
                        self.index_operand(index).operand(symbol, left)
                    }
                    _ => self.index(index).operand(symbol, left),
                };
                infix(side(a, true), symbol, side(b, false))
            }
            Node::Choose(test, yes, no) => {
                let [test, yes, no] = [test, yes, no].map(|e| self.expr(e).operand("?", true));
                VerilogOperand(code![test, " ? ", yes, " : ", no], Tie::Ternary)
            }
        }
    }

    /// Returns the condition of a statement.
    fn condition(&mut self, e: &Expr) -> Code {
        match &e.node {
            Node::Not(inner) if !matches!(inner.node, Node::Compare { .. }) => {
                code!["!", self.expr(inner).tight()]
            }
            _ => self.code(e),
        }
    }

    fn infix(&mut self, a: &Expr, symbol: &'static str, b: &Expr) -> VerilogOperand {
        let (a, b) = (self.expr(a), self.expr(b));
        infix(a.operand(symbol, true), symbol, b.operand(symbol, false))
    }

    /// Returns the code of one part of a concatenation. Bits from several fields of a signal become one selection per
    /// field.
    fn parts(&mut self, e: &Expr) -> Vec<Code> {
        match &e.node {
            Node::Slice(inner, Index::Number(low)) if e.width < inner.width => match &inner.node {
                Node::Read(ElementRef { signal, index: None }) if self.signals[*signal].layout.is_some() => {
                    self.mark(*signal, *low, e.width);
                    let mut parts = self.selection(*signal, *low, e.width);
                    parts.reverse();
                    parts
                }
                _ => vec![self.part(e)],
            },
            _ => vec![self.part(e)],
        }
    }

    /// Returns a part of a concatenation, with nested concatenations flattened.
    fn part(&mut self, e: &Expr) -> Code {
        let code = self.code(e);
        match (&e.node, code.0.as_slice()) {
            (Node::Extend(_) | Node::Concat(_), [open, inner @ .., _]) if open.text() == "{" => {
                Code(inner.to_vec())
            }
            _ => code,
        }
    }

    fn read(&mut self, place: &ElementRef) -> VerilogOperand {
        let signal = &self.signals[place.signal];
        if signal.role == Role::Reset {
            self.mark_all(place.signal);
            return match self.reset {
                ResetStyle::Control | ResetStyle::AsyncLow => VerilogOperand::primary("rst_ni"),
                ResetStyle::SyncHigh => VerilogOperand(code!["!", "rst_i"], Tie::Prefix),
                ResetStyle::None => VerilogOperand::primary("1'b1"),
            };
        }
        let width = signal.width;
        VerilogOperand::primary(self.select(place, &Index::Number(0), width, true))
    }

    fn slice(&mut self, inner: &Expr, index: &Index, bits: usize) -> VerilogOperand {
        let Node::Read(place) = &inner.node else {
            unreachable!("hoisting leaves slices of signals only");
        };
        let text = self.select(place, index, bits, true);
        let last = inner.width - bits;
        if !index.is_dynamic() || index.largest() <= last {
            return VerilogOperand::primary(text);
        }
        let inside = self.expr(&Expr {
            width: 1,
            node: Node::CompareIndex(index.clone(), CompareOp::Le, Index::Number(last)),
        });
        let zeros = literal(&BigUint::ZERO, bits);
        VerilogOperand(code!["(", inside, ") ? ", text, " : ", zeros], Tie::Ternary)
    }

    fn sign_extend(&mut self, inner: &Expr, width: usize) -> VerilogOperand {
        let copies = width - inner.width;
        if inner.width == 1 {
            let bit = self.part(inner);
            return VerilogOperand::primary(code!["{", width, "{", bit, "}", "}"]);
        }
        let top = inner.clone().sliced(Index::Number(inner.width - 1), 1);
        let (top, inner) = (self.part(&top), self.part(inner));
        VerilogOperand::primary(code!["{", "{", copies, "{", top, "}", "}", ", ", inner, "}"])
    }

    /// Translates a field at a dynamic index: clears its bits with a mask and inserts the new ones.
    fn replace(&mut self, inner: &Expr, index: &Index, field: &Expr) -> VerilogOperand {
        let width = inner.width;
        let hole = literal(&mask(field.width), width);
        let base = self.expr(inner).operand("&", true);
        let by = self.index(index).operand("<<", false);
        let inserted = self.expr(&field.clone().extended(width)).operand("<<", true);
        let kept = code!["(", base.clone(), " & ~(", hole, " << ", by.clone(), "))"];
        let text = code![kept, " | (", inserted, " << ", by, ")"];
        let last = width - field.width;
        if !index.is_dynamic() || index.largest() <= last {
            return VerilogOperand(text, Tie::Infix("|"));
        }
        let inside = self.expr(&Expr {
            width: 1,
            node: Node::CompareIndex(index.clone(), CompareOp::Le, Index::Number(last)),
        });
        VerilogOperand(code!["(", inside, ") ? (", text, ") : ", base], Tie::Ternary)
    }

    // --- statements ---

    /// Returns the value that is assigned to a signal. A value that its enumeration may not contain needs a cast.
    pub fn assigned(&mut self, signal: SignalId, value: &Expr) -> Code {
        let code = self.code(value);
        let Some(at) = self.enumerations.of_signal.get(&signal) else { return code };
        let has_type = match &value.node {
            Node::Variant(..) => true,
            Node::Read(source) => {
                let is_constant = self.signals[source.signal].role == Role::Constant;
                is_constant || self.enumerations.of_signal.get(&source.signal) == Some(at)
            }
            _ => false,
        };
        if has_type { code } else { self.cast(*at, code) }
    }

    /// Returns the value of a register after a reset.
    pub fn reset_value(&mut self, register: SignalId) -> Code {
        let signal = &self.signals[register];
        let value = concatenation(&signal.values, signal.width);
        let Some(at) = self.enumerations.of_signal.get(&register) else {
            let mut numbered = signal.variants.iter().zip(0u32..).filter(|_| !signal.is_array());
            let reset = numbered.find(|(_, number)| BigUint::from(*number) == signal.values[0]);
            let Some((variant, _)) = reset else { return value };
            let name = crate::names::variant(variant);
            self.variants.insert(name.clone());
            return Code::from(&name);
        };
        match self.enumerations.types[*at].name(&signal.values[0]) {
            Some(name) => Code::from(name),
            None => self.cast(*at, value),
        }
    }

    fn cast(&self, at: usize, value: Code) -> Code {
        code![&self.type_names[at], "'(", value, ")"]
    }

    /// Returns the target of an assignment.
    pub fn target(&mut self, place: &ElementRef, field: Option<&Index>, bits: usize) -> Code {
        let mut place = place.clone();
        if self.clocked {
            place.signal = self.output_of.get(&place.signal).copied().unwrap_or(place.signal);
        }
        self.select(&place, field.unwrap_or(&Index::Number(0)), bits, false)
    }

    /// Appends the statements of a combinational or clocked block.
    pub fn statements(&mut self, body: &[Stmt], clocked: bool) {
        let before = std::mem::replace(&mut self.clocked, clocked);
        body.iter().for_each(|statement| self.statement(statement));
        self.clocked = before;
    }

    fn block(&mut self, head: Head, body: &[Stmt]) -> VerilogBlock {
        let body = self.inside(|p| body.iter().for_each(|statement| p.statement(statement)));
        VerilogBlock { head, label: None, body }
    }

    fn statement(&mut self, statement: &Stmt) {
        match statement {
            Stmt::Comment(text) => self.comment(text),
            Stmt::Assign { place, field, value } => {
                let target = self.target(place, field.as_ref(), value.width);
                let value = self.assigned(place.signal, value);
                let arrow = if self.clocked { " <= " } else { " = " };
                self.line(code![target, arrow, value]);
            }
            Stmt::If { .. } => match ChoiceByValue::of(statement, self.signals) {
                Some(ChoiceByValue { value, mut arms, otherwise }) => {
                    if !otherwise.is_empty() {
                        arms.push((vec![], otherwise));
                    }
                    self.case(value, arms);
                }
                None => {
                    let blocks = self.alternatives(statement);
                    self.push(Item::Blocks(blocks));
                }
            },
            Stmt::Match { test, arms } => {
                let arms = arms.iter().map(|(label, body)| (label.iter().collect(), body.as_slice()));
                self.case(test, arms.collect());
            }
            Stmt::Loop { variable, from, to, body } => {
                if let Some((copy, source)) = whole_copy(statement, self.signals) {
                    self.mark_all(source);
                    let (copy, arrow) = match (self.clocked, self.output_of.get(&copy)) {
                        (true, Some(output)) => (*output, " <= "),
                        _ => (copy, " = "),
                    };
                    let (copy, source) = (&self.signals[copy].name, &self.signals[source].name);
                    return self.line(code![copy, arrow, source]);
                }
                // The block has no name: a simulator starts a thread for each iteration of a named block.
                let block = self.block(counting(variable, *from, *to), body);
                self.push(Item::Blocks(vec![block]));
            }
        }
    }

    /// Appends a `case`. An arm without labels is the default.
    fn case(&mut self, test: &Expr, arms: Vec<(Vec<&Expr>, &[Stmt])>) {
        let test = self.code(test);
        let body = self.inside(|p| {
            for (labels, body) in &arms {
                let labels = labels.iter().map(|label| p.code(label)).reduce(|a, b| code![a, ", ", b]);
                let label = labels.unwrap_or(Code::from("default"));
                let block = p.block(Head::Other(code![label, ":"]), body);
                p.push(Item::Blocks(vec![block]));
            }
            if arms.last().is_none_or(|(labels, _)| !labels.is_empty()) {
                p.line(Code::from("default: "));
            }
        });
        self.push(Item::Enclosed(code!["case (", test, ")"], body, "endcase".into()));
    }

    /// Returns the blocks of a clocked `if`.
    pub fn clocked_alternatives(&mut self, statement: &Stmt) -> Vec<VerilogBlock> {
        let before = std::mem::replace(&mut self.clocked, true);
        let blocks = self.alternatives(statement);
        self.clocked = before;
        blocks
    }

    /// Returns the blocks of an `if`.
    fn alternatives(&mut self, statement: &Stmt) -> Vec<VerilogBlock> {
        let (mut blocks, mut next) = (vec![], std::slice::from_ref(statement));
        while let [Stmt::If { test, then, otherwise }] = next {
            let test = self.condition(test);
            blocks.push(self.block(Head::Other(code!["if (", test, ")"]), then));
            next = otherwise;
        }
        if !next.is_empty() {
            blocks.push(self.block(Head::Other(Code::default()), next));
        }
        blocks
    }
}

/// Returns the head of a loop.
pub(crate) fn counting(variable: &str, from: usize, to: usize) -> Head {
    let next = code![variable, " + ", 1usize];
    Head::For(variable.into(), [Code::from(from), code![variable, " < ", to], next])
}

fn infix(a: Code, symbol: &'static str, b: Code) -> VerilogOperand {
    VerilogOperand(code![a, " ", symbol, " ", b], Tie::Infix(symbol))
}

/// Returns an operand within index arithmetic, in parentheses if necessary.
fn index_side(text: VerilogOperand, op: &str, left: bool) -> Code {
    let bare = match (text.1, op) {
        (Tie::Primary, _) => true,
        (Tie::Infix("*"), _) => op != "*" || left,
        (Tie::Infix(_), "+") => true,
        (Tie::Infix(_), "-") => left,
        _ => false,
    };
    if bare { text.0 } else { code!["(", text, ")"] }
}

fn binary_symbol(op: BinaryOp) -> &'static str {
    match op {
        BinaryOp::Add => "+",
        BinaryOp::Sub => "-",
        BinaryOp::Mul => "*",
        BinaryOp::And => "&",
        BinaryOp::Or => "|",
        BinaryOp::Xor => "^",
        BinaryOp::Both => "&&",
        BinaryOp::Either => "||",
    }
}

fn index_symbol(op: IndexOp) -> &'static str {
    match op {
        IndexOp::Add => "+",
        IndexOp::Sub => "-",
        IndexOp::Mul => "*",
    }
}

fn compare_symbol(op: CompareOp) -> &'static str {
    match op {
        CompareOp::Eq => "==",
        CompareOp::Ne => "!=",
        CompareOp::Lt => "<",
        CompareOp::Le => "<=",
        CompareOp::Gt => ">",
        CompareOp::Ge => ">=",
    }
}
