//! The syntax tree of a Verilog module. It is the same for Verilog-2005 and SystemVerilog.

use num_bigint::BigUint;
use std::collections::BTreeSet;
use std::fmt;

/// A part of an expression.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum CodeToken {
    /// A name, a symbol, a blank, or a literal with unknown bits or a sign.
    Text(String),
    /// A number without a size.
    Number(i64),
    /// A literal with a size: bits, value and text.
    Literal(i64, BigUint, String),
}

impl CodeToken {
    /// Returns the text of a name or symbol; empty for numbers.
    pub fn text(&self) -> &str {
        if let CodeToken::Text(text) = self { text } else { "" }
    }
}

impl fmt::Display for CodeToken {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match self {
            CodeToken::Text(text) | CodeToken::Literal(_, _, text) => f.write_str(text),
            CodeToken::Number(number) => number.fmt(f),
        }
    }
}

/// An expression, or a statement without structure.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Code(pub Vec<CodeToken>);

impl fmt::Display for Code {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        self.0.iter().try_for_each(|token| token.fmt(f))
    }
}

impl From<CodeToken> for Code {
    fn from(token: CodeToken) -> Code {
        Code(vec![token])
    }
}

impl From<i64> for Code {
    fn from(number: i64) -> Code {
        CodeToken::Number(number).into()
    }
}

impl From<usize> for Code {
    fn from(number: usize) -> Code {
        CodeToken::Number(number as i64).into()
    }
}

impl<T: AsRef<str> + ?Sized> From<&T> for Code {
    fn from(text: &T) -> Code {
        CodeToken::Text(text.as_ref().into()).into()
    }
}

/// Returns the concatenated parts: names, symbols, numbers and code.
macro_rules! code {
    ($($part:expr),* $(,)?) => {
        $crate::verilog::Code::join([$($crate::verilog::Code::from($part)),*], "")
    };
}
pub(crate) use code;

impl Code {
    /// Returns the parts with `separator` between them.
    pub fn join(parts: impl IntoIterator<Item = Code>, separator: &str) -> Code {
        let mut all = Code::default();
        for part in parts {
            if !separator.is_empty() && !all.0.is_empty() {
                all.0.push(CodeToken::Text(separator.into()));
            }
            all.0.extend(part.0);
        }
        all
    }
}

/// An item of a module, or a statement.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Item {
    /// An empty line.
    Blank,
    Comment(String),
    Declaration(Declaration),
    Enumeration(EnumerationType),
    /// A statement, without its semicolon.
    Line(Code),
    /// A block; the others follow `else`.
    Blocks(Vec<VerilogBlock>),
    /// `case`, `generate` or `typedef`, up to the text at its end.
    Enclosed(Code, Vec<Item>, String),
    Instance(ModuleInstance),
}

/// The declaration of a constant, signal, port, parameter or loop variable.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Declaration {
    /// The words of Verilog-2005 before the range, or the name of a struct.
    pub kind: String,
    /// The indices of the last lanes of a packed array, from the outermost dimension in.
    pub lanes: Vec<Code>,
    /// The index of the highest bit, or of a lane's highest bit.
    pub range: Option<Code>,
    pub name: String,
    /// The last index of an array.
    pub last: Option<Code>,
    pub value: Option<Code>,
}

/// The declaration of an enumeration in SystemVerilog.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct EnumerationType {
    pub name: String,
    /// The index of the highest bit.
    pub range: Option<Code>,
    pub values: Vec<EnumerationValue>,
}

/// A value of an enumeration, with the comments before it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct EnumerationValue {
    pub comments: Vec<String>,
    pub name: String,
    pub value: Code,
}

/// Statements between `begin` and `end`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct VerilogBlock {
    pub head: Head,
    pub label: Option<String>,
    pub body: Vec<Item>,
}

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Head {
    /// `always` with its events.
    Always(Code),
    /// A loop variable with its first value, the condition of the loop and the variable's next value.
    For(String, [Code; 3]),
    Other(Code),
}

/// An instance of the module with a number.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct ModuleInstance {
    pub module: usize,
    pub parameters: Vec<(String, Code)>,
    pub name: String,
    pub pins: Vec<(String, Code)>,
}

/// A module without a name. Parameters and ports are comments and declarations.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Body {
    pub parameters: Vec<Item>,
    pub ports: Vec<Item>,
    pub items: Vec<Item>,
}

/// The characters around an expression.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Around {
    Nothing,
    Parentheses,
    Brackets,
}

/// An expression of a module.
pub(crate) struct ExpressionSlot<'a> {
    pub around: Around,
    /// The constant whose range or value the expression is.
    pub constant: Option<&'a str>,
    /// `true` if that constant has a range.
    pub ranged: bool,
    pub code: &'a mut Code,
}

impl Body {
    /// Returns the expressions of ports and items in order.
    pub fn slots(&mut self) -> Vec<ExpressionSlot<'_>> {
        let mut out = vec![];
        self.ports.iter_mut().chain(&mut self.items).for_each(|item| item.slots(&mut out));
        out
    }

    /// Writes the selection of an element with a fixed index as a range: `[3*8 +: 8]` as `[31:24]`.
    pub fn fold_selections(&mut self) {
        for slot in self.slots() {
            let tokens = &mut slot.code.0;
            for at in (0..tokens.len().saturating_sub(6)).rev() {
                let Some([open, element, times, bits, plus, count, close]) = tokens.get(at..at + 7) else {
                    continue;
                };
                let symbols = [open, times, plus, close].map(CodeToken::text);
                let CodeToken::Number(element) = *element else { continue };
                if symbols != ["[", "*", " +: ", "]"] || bits != count {
                    continue;
                }
                let bits = Code::from(bits.clone());
                let range = match (&bits.0[..], element) {
                    ([CodeToken::Number(bits)], _) => code![(element + 1) * bits - 1, ":", element * bits],
                    (_, 0) => code![bits, "-", 1usize, ":", 0usize],
                    (_, 1) => code![bits.clone(), " +: ", bits],
                    _ => continue,
                };
                tokens.splice(at + 1..at + 6, range.0);
            }
        }
    }

    /// Returns all instances of sub-modules.
    pub fn instances(&mut self) -> Vec<&mut ModuleInstance> {
        let mut out = vec![];
        self.items.iter_mut().for_each(|item| item.instances(&mut out));
        out
    }

    /// Returns the names in expressions and declarations.
    pub fn names(&self) -> BTreeSet<String> {
        let declared = self.items.iter().filter_map(|item| Some(item.declaration()?.name.clone()));
        let mut names: BTreeSet<String> = declared.collect();
        for slot in self.clone().slots() {
            names.extend(slot.code.0.iter().map(|token| token.text().to_string()));
        }
        names
    }
}

impl Item {
    /// Returns the declaration of a number or signal. `range` is the index of the highest bit.
    pub fn declare(kind: &str, range: Option<Code>, name: impl Into<String>, value: Option<Code>) -> Item {
        let name = name.into();
        Item::Declaration(Declaration { kind: kind.into(), lanes: vec![], range, name, last: None, value })
    }

    /// Returns the declaration as that of a packed array with these indices of last lanes.
    pub fn with_lanes(self, lanes: Vec<Code>) -> Item {
        match self {
            Item::Declaration(declaration) => Item::Declaration(Declaration { lanes, ..declaration }),
            item => item,
        }
    }

    /// Returns the only block of a statement.
    pub fn block(head: Head, label: Option<String>, body: Vec<Item>) -> Item {
        Item::Blocks(vec![VerilogBlock { head, label, body }])
    }

    pub fn declaration(&self) -> Option<&Declaration> {
        if let Item::Declaration(declaration) = self { Some(declaration) } else { None }
    }

    fn slots<'a>(&'a mut self, out: &mut Vec<ExpressionSlot<'a>>) {
        let of = |around, code| ExpressionSlot { around, constant: None, ranged: false, code };
        let bare = |code| of(Around::Nothing, code);
        match self {
            Item::Blank | Item::Comment(_) => {}
            Item::Declaration(Declaration { kind, lanes, range, name, last, value }) => {
                // The lowest bits of an array are not the lowest bits of a lane.
                let is_constant = kind == "localparam" && lanes.is_empty();
                let (constant, ranged) = (is_constant.then_some(&**name), range.is_some());
                let slot = |around, code| ExpressionSlot { constant, ranged, ..of(around, code) };
                out.extend(
                    lanes.iter_mut().chain(range).chain(last).map(|code| slot(Around::Brackets, code)),
                );
                out.extend(value.as_mut().map(|code| slot(Around::Nothing, code)));
            }
            Item::Enumeration(EnumerationType { range, values, .. }) => {
                out.extend(range.iter_mut().map(|code| of(Around::Brackets, code)));
                out.extend(values.iter_mut().map(|value| bare(&mut value.value)));
            }
            Item::Line(code) => out.push(bare(code)),
            Item::Blocks(blocks) => {
                for block in blocks {
                    match &mut block.head {
                        Head::Always(code) | Head::Other(code) => out.push(bare(code)),
                        Head::For(_, parts) => out.extend(parts.iter_mut().map(bare)),
                    }
                    block.body.iter_mut().for_each(|item| item.slots(out));
                }
            }
            Item::Enclosed(head, body, _) => {
                out.push(bare(head));
                body.iter_mut().for_each(|item| item.slots(out));
            }
            Item::Instance(ModuleInstance { parameters, pins, .. }) => {
                let codes = parameters.iter_mut().chain(pins).map(|(_, code)| code);
                out.extend(codes.map(|code| of(Around::Parentheses, code)));
            }
        }
    }

    fn instances<'a>(&'a mut self, out: &mut Vec<&'a mut ModuleInstance>) {
        let mut all = |body: &'a mut Vec<Item>| body.iter_mut().for_each(|item| item.instances(out));
        match self {
            Item::Instance(instance) => out.push(instance),
            Item::Enclosed(_, body, _) => all(body),
            Item::Blocks(blocks) => blocks.iter_mut().for_each(|block| all(&mut block.body)),
            _ => {}
        }
    }
}
