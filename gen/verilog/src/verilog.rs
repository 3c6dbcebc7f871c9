//! The syntax tree of a Verilog module. It is the same for Verilog-2005 and SystemVerilog.

use num_bigint::BigUint;
use std::collections::BTreeSet;
use std::fmt;

/// A part of an expression.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Token {
    /// A name, a symbol, a blank, or a literal with unknown bits or a sign.
    Text(String),
    /// A number without a size.
    Number(i64),
    /// A literal with a size: bits, value and text.
    Literal(i64, BigUint, String),
}

impl Token {
    /// Returns the text of a name or symbol; empty for numbers.
    pub fn text(&self) -> &str {
        if let Token::Text(text) = self { text } else { "" }
    }
}

impl fmt::Display for Token {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match self {
            Token::Text(text) | Token::Literal(_, _, text) => f.write_str(text),
            Token::Number(number) => number.fmt(f),
        }
    }
}

/// An expression, or a statement without structure.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Code(pub Vec<Token>);

impl fmt::Display for Code {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        self.0.iter().try_for_each(|token| token.fmt(f))
    }
}

impl From<Token> for Code {
    fn from(token: Token) -> Code {
        Code(vec![token])
    }
}

impl From<i64> for Code {
    fn from(number: i64) -> Code {
        Token::Number(number).into()
    }
}

impl From<usize> for Code {
    fn from(number: usize) -> Code {
        Token::Number(number as i64).into()
    }
}

impl<T: AsRef<str> + ?Sized> From<&T> for Code {
    fn from(text: &T) -> Code {
        Token::Text(text.as_ref().into()).into()
    }
}

/// Returns the concatenated parts: names, symbols, numbers and code.
macro_rules! code {
    ($($part:expr),* $(,)?) => {
        $crate::verilog::Code::join([$($crate::verilog::Code::from($part)),*], "")
    };
}
pub(crate) use code;

/// Returns the number of bytes at the start of `text` that satisfy `test`.
fn span(text: &str, test: impl Fn(u8) -> bool) -> usize {
    text.bytes().position(|c| !test(c)).unwrap_or(text.len())
}

fn is_word(c: u8) -> bool {
    c.is_ascii_alphanumeric() || c == b'_' || c == b'$'
}

impl Code {
    /// Returns the parts with `separator` between them.
    pub fn join(parts: impl IntoIterator<Item = Code>, separator: &str) -> Code {
        let mut all = Code::default();
        for part in parts {
            if !separator.is_empty() && !all.0.is_empty() {
                all.0.push(Token::Text(separator.into()));
            }
            all.0.extend(part.0);
        }
        all
    }

    /// Returns the code of a hand-written text.
    pub fn of(text: &str) -> Code {
        let (mut out, mut rest) = (vec![], text);
        while let Some(first) = rest.chars().next() {
            let digits = span(rest, |c| c.is_ascii_digit());
            let length = match first {
                _ if digits > 0 && rest[digits..].starts_with('\'') => {
                    digits + 1 + span(&rest[digits + 1..], is_word)
                }
                c if c.is_ascii() && is_word(c as u8) => span(rest, is_word),
                c => c.len_utf8(),
            };
            let (piece, more) = rest.split_at(length);
            rest = more;
            let number = piece[..digits.min(length)].parse::<i64>().ok();
            let literal = piece.split_once('\'').and_then(|(_, value)| value_of(value));
            out.push(match (number, literal) {
                (Some(bits), Some(value)) => Token::Literal(bits, value, piece.into()),
                (Some(number), None) if number.to_string() == piece => Token::Number(number),
                _ => Token::Text(piece.into()),
            });
        }
        Code(out)
    }
}

/// Returns the value of a literal without its width: `d12`, `hff`, `b101`. Returns `None` if it has unknown bits or a sign.
fn value_of(text: &str) -> Option<BigUint> {
    let (base, digits) = text.split_at_checked(1)?;
    let radix = match base {
        "d" => 10,
        "h" => 16,
        "b" => 2,
        _ => return None,
    };
    BigUint::parse_bytes(digits.as_bytes(), radix)
}

/// An item of a module, or a statement.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Item {
    /// An empty line.
    Blank,
    Comment(String),
    /// `localparam`. `range` is the index of the highest bit.
    Constant {
        range: Option<Code>,
        name: String,
        value: Code,
    },
    Signal(Signal),
    /// A packed struct: ranges and names of its fields, and its name.
    Struct(Vec<(Option<Code>, String)>, String),
    /// The `integer` of a loop.
    Counter(String),
    /// A statement or declaration, without its semicolon.
    Line(Code),
    /// A block; the others follow `else`.
    Blocks(Vec<Block>),
    Initial(Vec<Item>),
    /// `case` or `generate`, up to the keyword at its end.
    Enclosed(Code, Vec<Item>, &'static str),
    Instance(Instance),
}

/// The declaration of a signal. `range` is the index of the highest bit.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Signal {
    /// `reg`, `wire`, or the name of a struct.
    pub kind: String,
    pub range: Option<Code>,
    pub name: String,
    /// The last index of an array.
    pub last: Option<Code>,
    pub value: Option<Code>,
}

/// Statements between `begin` and `end`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Block {
    pub head: Head,
    pub label: Option<String>,
    pub body: Vec<Item>,
}

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Head {
    /// `always @(*)`
    Combinational,
    /// `always` with the events.
    Clocked(Code),
    For {
        variable: String,
        from: Code,
        test: Code,
        next: Code,
    },
    Other(Code),
}

/// An instance of the module with a number.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Instance {
    pub module: usize,
    pub parameters: Vec<(String, Code)>,
    pub name: String,
    pub pins: Vec<(String, Code)>,
}

/// A parameter of a module.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Parameter {
    pub doc: Option<String>,
    pub name: String,
    pub default: i64,
}

/// The declaration of a port. `range` is the index of the highest bit.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct PortDeclaration {
    pub doc: Vec<String>,
    /// Direction and `wire` or `reg`.
    pub kind: &'static str,
    pub range: Option<Code>,
    pub name: String,
}

/// A module without a name.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Body {
    pub parameters: Vec<Parameter>,
    pub ports: Vec<PortDeclaration>,
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
pub(crate) struct Slot<'a> {
    pub around: Around,
    /// The constant whose range or value the expression is.
    pub constant: Option<&'a str>,
    /// `true` if that constant has a range.
    pub ranged: bool,
    pub code: &'a mut Code,
}

impl Body {
    /// Returns all expressions in order.
    pub fn slots(&mut self) -> Vec<Slot<'_>> {
        let mut out = vec![];
        out.extend(self.ports.iter_mut().filter_map(|port| port.range.as_mut()).map(in_brackets));
        self.items.iter_mut().for_each(|item| item.slots(&mut out));
        out
    }

    /// Returns all instances of sub-modules.
    pub fn instances(&mut self) -> Vec<&mut Instance> {
        let mut out = vec![];
        self.items.iter_mut().for_each(|item| item.instances(&mut out));
        out
    }

    /// Returns the names in expressions, and the names of constants and signals.
    pub fn names(&self) -> BTreeSet<String> {
        let declared = self.items.iter().filter_map(|item| match item {
            Item::Constant { name, .. } | Item::Signal(Signal { name, .. }) => Some(name.clone()),
            _ => None,
        });
        let mut names: BTreeSet<String> = declared.collect();
        for slot in self.clone().slots() {
            names.extend(slot.code.0.iter().map(|token| token.text().to_string()));
        }
        names
    }
}

fn in_brackets(code: &mut Code) -> Slot<'_> {
    Slot { around: Around::Brackets, constant: None, ranged: false, code }
}

impl Item {
    fn slots<'a>(&'a mut self, out: &mut Vec<Slot<'a>>) {
        let of = |around, code| Slot { around, constant: None, ranged: false, code };
        match self {
            Item::Blank | Item::Comment(_) | Item::Counter(_) => {}
            Item::Constant { range, name, value } => {
                let (constant, ranged) = (Some(&**name), range.is_some());
                out.extend(range.as_mut().map(|code| Slot { constant, ranged, ..in_brackets(code) }));
                out.push(Slot { constant, ranged, ..of(Around::Nothing, value) });
            }
            Item::Signal(signal) => {
                out.extend(signal.range.as_mut().map(in_brackets));
                out.extend(signal.last.as_mut().map(in_brackets));
                out.extend(signal.value.as_mut().map(|code| of(Around::Nothing, code)));
            }
            Item::Struct(fields, _) => {
                out.extend(fields.iter_mut().filter_map(|(range, _)| range.as_mut()).map(in_brackets));
            }
            Item::Line(code) => out.push(of(Around::Nothing, code)),
            Item::Blocks(blocks) => {
                for block in blocks {
                    match &mut block.head {
                        Head::Combinational => {}
                        Head::Clocked(code) | Head::Other(code) => out.push(of(Around::Nothing, code)),
                        Head::For { from, test, next, .. } => {
                            out.extend([from, test, next].map(|code| of(Around::Nothing, code)));
                        }
                    }
                    block.body.iter_mut().for_each(|item| item.slots(out));
                }
            }
            Item::Initial(body) => body.iter_mut().for_each(|item| item.slots(out)),
            Item::Enclosed(head, body, _) => {
                out.push(of(Around::Nothing, head));
                body.iter_mut().for_each(|item| item.slots(out));
            }
            Item::Instance(Instance { parameters, pins, .. }) => {
                let codes = parameters.iter_mut().chain(pins).map(|(_, code)| code);
                out.extend(codes.map(|code| of(Around::Parentheses, code)));
            }
        }
    }

    fn instances<'a>(&'a mut self, out: &mut Vec<&'a mut Instance>) {
        let mut all = |body: &'a mut Vec<Item>| body.iter_mut().for_each(|item| item.instances(out));
        match self {
            Item::Instance(instance) => out.push(instance),
            Item::Enclosed(_, body, _) => all(body),
            Item::Blocks(blocks) => blocks.iter_mut().for_each(|block| all(&mut block.body)),
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Code;

    #[test]
    fn tokens_give_the_text_back() {
        let text = "x[3:0] = {2{8'd0}} ^ 12'habc + 4'bx0 ? \"5\" : 007";
        assert_eq!(Code::of(text).to_string(), text);
    }
}
