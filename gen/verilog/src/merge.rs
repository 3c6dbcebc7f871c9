//! Merges modules that differ only in numbers into one module with parameters.
//!
//! Texts are compared token by token. A number that differs between the modules becomes an expression of the parameters
//! ([`find`]). If a number has no expression, the modules are not merged. In a family, sized literals can also become
//! repeated ones, literals padded with zeros, or constants of a declared width ([`Replacement`]).

use crate::formula::{Formula, Known, find};
use crate::module::Port;
use crate::names;
use crate::print::{wrap_code, wrap_comment};
use num_bigint::BigUint;
use std::collections::{BTreeMap, BTreeSet};
use std::mem::discriminant;

/// A module before merging.
pub(crate) struct Member<'a> {
    /// Text from the list of ports to `endmodule`.
    pub text: &'a str,
    pub ports: &'a [Port],
    /// Const generics and sizes with their names in the block.
    pub parameters: &'a [(String, usize)],
}

/// Several modules as one.
pub(crate) struct Merged {
    /// Text from the list of parameters to `endmodule`.
    pub text: String,
    /// Parameters with their values in each member.
    pub parameters: Vec<(String, Vec<i64>)>,
    /// Const generics and sizes derived from the parameters, with their expressions.
    pub derived: Vec<(String, String)>,
}

/// A token of Verilog.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Token {
    Space(String),
    /// A name, a symbol, a comment or a literal with unknown bits or a sign.
    Fixed(String),
    /// A number without a size.
    Number(i64, String),
    /// Zero with a size: bits and text.
    Zero(i64, String),
    /// A nonzero literal with a size: bits, value and text.
    Sized(i64, BigUint, String),
}

impl Token {
    fn text(&self) -> &str {
        match self {
            Token::Space(text) | Token::Fixed(text) => text,
            Token::Number(_, text) | Token::Zero(_, text) | Token::Sized(_, _, text) => text,
        }
    }

    fn is(&self, text: &str) -> bool {
        matches!(self, Token::Fixed(own) if own == text)
    }

    /// Returns the number in the token that may differ between members.
    fn number(&self) -> Option<i64> {
        match self {
            Token::Number(number, _) | Token::Zero(number, _) => Some(*number),
            _ => None,
        }
    }

    /// Returns bits and value of a nonzero literal.
    fn sized(&self) -> Option<(i64, BigUint)> {
        match self {
            Token::Sized(bits, value, _) => Some((*bits, value.clone())),
            _ => None,
        }
    }
}

/// Returns the number of bytes at the start of `text` that satisfy `test`.
fn span(text: &str, test: impl Fn(u8) -> bool) -> usize {
    text.bytes().position(|c| !test(c)).unwrap_or(text.len())
}

fn is_word(c: u8) -> bool {
    c.is_ascii_alphanumeric() || c == b'_' || c == b'$'
}

fn tokens(text: &str) -> Vec<Token> {
    let (mut out, mut rest) = (vec![], text);
    while let Some(first) = rest.chars().next() {
        let digits = span(rest, |c| c.is_ascii_digit());
        let length = match first {
            c if c.is_ascii_whitespace() => span(rest, |c| c.is_ascii_whitespace()),
            '/' if rest.starts_with("//") => span(rest, |c| c != b'\n'),
            '"' => rest[1..].find('"').map_or(rest.len(), |at| at + 2),
            // placeholder of a module's name
            '@' => match span(&rest[1..], |c| c.is_ascii_digit()) {
                0 => 1,
                number => number + 2,
            },
            _ if digits > 0 && rest[digits..].starts_with('\'') => {
                digits + 1 + span(&rest[digits + 1..], is_word)
            }
            c if c.is_ascii() && is_word(c as u8) => span(rest, is_word),
            c => c.len_utf8(),
        };
        let (piece, more) = rest.split_at(length);
        rest = more;
        let number = piece[..digits.min(length)].parse::<i64>().ok();
        out.push(match (number, piece.split_once('\'')) {
            _ if first.is_ascii_whitespace() => Token::Space(piece.into()),
            (Some(bits), Some((_, value))) if value[1..].bytes().all(|c| c == b'0') => {
                Token::Zero(bits, piece.into())
            }
            (Some(number), None) if digits == length => Token::Number(number, piece.into()),
            (Some(bits), Some((_, value))) => match sized_value(value) {
                Some(value) => Token::Sized(bits, value, piece.into()),
                None => Token::Fixed(piece.into()),
            },
            _ => Token::Fixed(piece.into()),
        });
    }
    out
}

/// Returns the value of a literal without its width: `d12`, `hff`, `b101`. Returns `None` if it has unknown bits or a sign.
fn sized_value(text: &str) -> Option<BigUint> {
    let (base, digits) = text.split_at_checked(1)?;
    let radix = match base {
        "d" => 10,
        "h" => 16,
        "b" => 2,
        _ => return None,
    };
    BigUint::parse_bytes(digits.as_bytes(), radix)
}

fn is_code(token: &Token) -> bool {
    !matches!(token, Token::Space(_))
}

/// Returns the text without its numbers. Only modules with equal skeletons can be merged.
pub(crate) fn skeleton(text: &str) -> String {
    let shape = |token: &Token| match token {
        Token::Number(..) => "#".to_string(),
        Token::Zero(..) => "#'0".to_string(),
        _ => token.text().to_string(),
    };
    tokens(text).iter().filter(|token| is_code(token)).map(|token| shape(token) + "\n").collect()
}

/// Returns the members' numbers that differ between members, and the values of the others. Returns `None` if the members do
/// not have the same names.
fn varying(members: &[Member]) -> Option<(Vec<Known>, Vec<i64>)> {
    let names = |member: &Member| member.parameters.iter().map(|(name, _)| name.clone()).collect::<Vec<_>>();
    if members.iter().any(|member| names(member) != names(&members[0])) {
        return None;
    }
    let (mut varying, mut fixed) = (vec![], vec![]);
    for (position, (name, _)) in members[0].parameters.iter().enumerate() {
        let values: Option<Vec<i64>> =
            members.iter().map(|member| i64::try_from(member.parameters[position].1).ok()).collect();
        let known = Known { name: names::parameter(name), values: values? };
        match known.values.iter().all(|value| *value == known.values[0]) {
            true => fixed.push(known.values[0]),
            false => varying.push(known),
        }
    }
    Some((varying, fixed))
}

/// The numbers of a group of modules.
struct Numbers {
    /// Numbers that an instance sets.
    parameters: Vec<Known>,
    /// Numbers derived from others.
    derived: Vec<(Known, Formula)>,
    /// Powers of two or logarithms of parameters, such as the depths of memories.
    powers: Vec<Known>,
    /// Values of const generics that are the same in all members.
    fixed: Vec<i64>,
}

impl Numbers {
    /// Collects const generics in the order of declaration. One that follows from those before it is derived.
    fn of(members: &[Member]) -> Option<Numbers> {
        let (varying, fixed) = varying(members)?;
        let mut numbers = Numbers { parameters: vec![], derived: vec![], powers: vec![], fixed };
        for known in varying {
            match find(&known.values, &numbers.all(), &numbers.fixed) {
                Some(formula) => numbers.derived.push((known, formula)),
                None => numbers.parameters.push(known),
            }
        }
        Some(numbers)
    }

    /// Takes the first `open` numbers as parameters. Numbers that follow from them are derived; no expression contains the
    /// others.
    fn of_family(members: &[Member], open: usize) -> Option<Numbers> {
        let (mut varying, fixed) = varying(members)?;
        let own = varying.split_off(open.min(varying.len()));
        let numbers = Numbers { parameters: varying, derived: vec![], powers: vec![], fixed };
        let mut numbers = numbers.with_powers().with_logarithms();
        for known in own {
            let named = [numbers.all(), numbers.powers.clone()].concat();
            if let Some(formula) = find(&known.values, &named, &numbers.fixed) {
                numbers.derived.push((known, formula));
            }
        }
        Some(numbers)
    }

    /// Adds two to the power of each parameter, if the result fits Verilog's 32 bits.
    fn with_powers(mut self) -> Numbers {
        let power = |value: &i64| (0..31).contains(value).then(|| 1 << value);
        self.powers = self
            .parameters
            .iter()
            .filter_map(|known| {
                let values = known.values.iter().map(power).collect::<Option<Vec<i64>>>()?;
                Some(Known { name: format!("2**{}", known.name), values })
            })
            .collect();
        self
    }

    /// Adds the logarithm of each parameter whose values are all powers of two.
    fn with_logarithms(mut self) -> Numbers {
        let logarithm = |value: &i64| (value.count_ones() == 1).then(|| i64::from(value.trailing_zeros()));
        self.powers.extend(self.parameters.iter().filter_map(|known| {
            let values = known.values.iter().map(logarithm).collect::<Option<Vec<i64>>>()?;
            Some(Known { name: format!("$clog2({})", known.name), values })
        }));
        self
    }

    fn all(&self) -> Vec<Known> {
        self.parameters.iter().chain(self.derived.iter().map(|(known, _)| known)).cloned().collect()
    }

    fn in_ports(&self, wanted: &[i64]) -> Option<Formula> {
        find(wanted, &[self.parameters.as_slice(), &self.powers].concat(), &self.fixed)
    }

    fn in_body(&self, wanted: &[i64]) -> Option<Formula> {
        find(wanted, &[self.all(), self.powers.clone()].concat(), &self.fixed)
    }
}

/// Merges modules with equal skeletons. The defaults of the parameters are the values of the last module. Returns `None` if
/// a number has no expression.
pub(crate) fn merge(members: &[Member]) -> Option<Merged> {
    merge_over(members, Numbers::of(members)?, None)
}

/// Merges like [`merge`]. A number can also become two to the power of a parameter.
pub(crate) fn merge_with_powers(members: &[Member]) -> Option<Merged> {
    merge_over(members, Numbers::of(members)?.with_powers(), None)
}

/// Merges elaborations of one module under all values of the parameters in `docs`. The members' parameters must begin with
/// these, in the same order; the module has no others. A number can also become two to the power of a parameter or its
/// logarithm. Port widths that are the same in all members may be operands of expressions.
pub(crate) fn merge_family(members: &[Member], docs: &[(String, String)]) -> Option<Merged> {
    let mut numbers = Numbers::of_family(members, docs.len())?;
    let width = |position: usize| {
        let widths: Vec<usize> =
            members.iter().filter_map(|member| member.ports.get(position)).map(|port| port.width).collect();
        widths.iter().all(|width| *width == widths[0]).then_some(widths[0] as i64)
    };
    numbers.fixed.extend((0..members[0].ports.len()).filter_map(width));
    merge_over(members, numbers, Some(docs))
}

/// A difference between the members of a group.
enum Difference {
    /// The values of a number.
    Numbers(Vec<i64>),
    /// Bits and values of a nonzero literal.
    Literals(Vec<(i64, BigUint)>),
}

fn merge_over(
    members: &[Member],
    mut numbers: Numbers,
    family: Option<&[(String, String)]>,
) -> Option<Merged> {
    let last = members.last()?;
    let template = tokens(last.text);
    let code: Vec<Token> = template.iter().filter(|token| is_code(token)).cloned().collect();
    let differing = differences(members, code.len(), family.is_some())?;
    let names = words(last.text);
    let declared = declared_numbers(&code);
    let varying: BTreeSet<String> = numbers.all().into_iter().map(|known| known.name).collect();
    let sized: Vec<String> =
        family.map(|_| sized_constants(&code, &differing, &numbers.parameters)).unwrap_or_default();
    let is_new = |name: &String| !names.contains(name) || declared.contains(name) || sized.contains(name);
    if !varying.iter().all(is_new) {
        return None;
    }

    let end_of_ports = code.iter().position(|token| token.is(";"))?;
    let mut docs: BTreeMap<String, String> = family.unwrap_or_default().iter().cloned().collect();
    let mut found: BTreeMap<usize, Replacement> = BTreeMap::new();
    for (at, difference) in differing.range(..end_of_ports) {
        let Difference::Numbers(values) = difference else { return None };
        let formula = numbers.in_ports(values).or_else(|| {
            let (known, port) =
                width_of_port(&code[*at..], values, last.ports).filter(|_| family.is_none())?;
            if names.contains(&known.name) || varying.contains(&known.name) {
                return None;
            }
            docs.insert(known.name.clone(), format!("bits of {port}"));
            numbers.parameters.push(known);
            numbers.in_ports(values)
        })?;
        found.insert(*at, Replacement::Number(formula));
    }
    for (at, difference) in differing.range(end_of_ports..) {
        let constant = constant_of(&code, *at);
        let replacement = match difference {
            Difference::Numbers(_)
                if *at >= 3 && code[at - 3].is("localparam") && varying.contains(code[at - 2].text()) =>
            {
                continue;
            }
            // `without_constant` removes this declaration.
            Difference::Literals(_)
                if constant.is_some_and(|name| sized.iter().any(|other| other == name)) =>
            {
                continue;
            }
            Difference::Numbers(values) => Replacement::Number(numbers.in_body(values)?),
            Difference::Literals(values) => literal(&numbers, values, constant.is_some())?,
        };
        if let (Replacement::Constant(_), Some(name)) = (&replacement, constant)
            && names.contains(&as_integer(name))
        {
            return None;
        }
        found.insert(*at, replacement);
    }
    let text = render(&template, &code, &found, &sized);
    let text = sized.iter().fold(text, |text, name| without_constant(&text, name));
    Some(assemble(&without_declarations(&text, &varying), numbers, &docs))
}

/// Bits of a Verilog integer. Higher bits cannot be selected.
const INTEGER_BITS: i64 = 32;

/// The replacement of a number or literal in the module.
enum Replacement {
    /// An expression. For a zero, the number of zeros.
    Number(Formula),
    /// Repeated ones; the expression is their number.
    Ones(Formula),
    /// A literal after zeros; the expression is the number of zeros.
    Padded(Formula, String),
    /// A literal without a size, if a declaration gives the size.
    Plain(BigUint),
    /// An expression as the value of a constant of a declared size.
    Constant(Formula),
}

/// Returns the replacement of a literal whose size or value follows from the parameters.
fn literal(numbers: &Numbers, values: &[(i64, BigUint)], is_constant: bool) -> Option<Replacement> {
    let bits: Vec<i64> = values.iter().map(|(bits, _)| *bits).collect();
    let is_ones = |(bits, value): &(i64, BigUint)| *value == (BigUint::from(1u8) << *bits) - 1u8;
    let has_bits = |count: &i64| *count == bits[0];
    if values.iter().all(is_ones) && !bits.iter().all(has_bits) {
        return numbers.in_body(&bits).map(Replacement::Ones);
    }
    let value = &values[0].1;
    if values.iter().any(|(_, other)| other != value) {
        let wanted: Vec<i64> =
            values.iter().map(|(_, value)| i64::try_from(value).ok()).collect::<Option<_>>()?;
        let fits = is_constant && bits.iter().all(|bits| *bits <= INTEGER_BITS);
        return numbers.in_body(&wanted).filter(|_| fits).map(Replacement::Constant);
    }
    if is_constant {
        return Some(Replacement::Plain(value.clone()));
    }
    let own = i64::try_from(value.bits()).ok()?;
    let zeros: Vec<i64> = bits.iter().map(|bits| bits - own).collect();
    if zeros.iter().any(|zeros| *zeros < 1) {
        return None;
    }
    let text = if own == 1 { "1'b1".into() } else { format!("{own}'d{value}") };
    numbers.in_body(&zeros).map(|zeros| Replacement::Padded(zeros, text))
}

/// Returns the constant with a declared size whose value is the token: `NAME` in `localparam [3:0] NAME = 4'd9;`.
fn constant_of(code: &[Token], at: usize) -> Option<&str> {
    let before = |count: usize, text: &str| at >= count && code[at - count].is(text);
    let declares = (3..=at).find(|count| before(*count, "localparam") || before(*count, ";"))?;
    let is_all = before(1, "=") && before(3, "]") && before(declares, "localparam") && code[at + 1].is(";");
    is_all.then(|| code[at - 2].text())
}

/// Returns the constants that equal the lowest bits of the parameter with the same name.
fn sized_constants(
    code: &[Token],
    differing: &BTreeMap<usize, Difference>,
    parameters: &[Known],
) -> Vec<String> {
    let is_parameter = |at: usize, values: &[(i64, BigUint)]| {
        let name = constant_of(code, at)?;
        let known = parameters.iter().find(|known| known.name == name)?;
        let is_low = |((bits, value), whole): (&(i64, BigUint), &i64)| {
            let whole = u64::try_from(*whole).ok().filter(|_| *bits <= INTEGER_BITS);
            whole.is_some_and(|whole| *value == BigUint::from(whole) % (BigUint::from(1u8) << *bits))
        };
        values.iter().zip(&known.values).all(is_low).then(|| name.to_string())
    };
    let literals = differing.iter().filter_map(|(at, difference)| match difference {
        Difference::Literals(values) => is_parameter(*at, values),
        Difference::Numbers(_) => None,
    });
    literals.collect()
}

/// Removes the declaration of a constant that equals a parameter's lowest bits, and the comment before it.
fn without_constant(text: &str, name: &str) -> String {
    let declares =
        |line: &&str| line.trim_start().starts_with("localparam [") && line.contains(&format!("] {name} = "));
    let mut lines: Vec<&str> = text.lines().collect();
    if let Some(at) = lines.iter().position(declares) {
        let comments =
            lines[..at].iter().rev().take_while(|line| line.trim_start().starts_with("//")).count();
        lines.drain(at - comments..=at);
    }
    lines.join("\n") + "\n"
}

/// Returns the range of a declaration, with its brackets.
fn range_of(declaration: &str) -> Option<&str> {
    Some(&declaration[declaration.find('[')?..=declaration.find(']')?])
}

/// Returns the name of the integer whose lowest bits are the constant.
fn as_integer(constant: &str) -> String {
    format!("{constant}_INTEGER")
}

/// Returns Verilog that repeats `bit`; the formula is the number of repetitions.
fn repeated(times: &Formula, bit: &str) -> String {
    match times.is_name() {
        true => format!("{{{}{{{bit}}}}}", times.tight()),
        false => format!("{{({}){{{bit}}}}}", times.tight()),
    }
}

/// Returns the differences of the members by position among the code tokens. Returns `None` if the members differ in more
/// than numbers and, in a family, literals.
fn differences(members: &[Member], length: usize, in_literals: bool) -> Option<BTreeMap<usize, Difference>> {
    let all: Vec<Vec<Token>> =
        members.iter().map(|member| tokens(member.text).into_iter().filter(is_code).collect()).collect();
    if all.iter().any(|tokens| tokens.len() != length) {
        return None;
    }
    let mut out = BTreeMap::new();
    for at in 0..length {
        let first = &all[0][at];
        if all.iter().all(|tokens| tokens[at] == *first) {
            continue;
        }
        let kind = discriminant(first);
        if all.iter().any(|tokens| discriminant(&tokens[at]) != kind) {
            return None;
        }
        let values: Option<Vec<i64>> = all.iter().map(|tokens| tokens[at].number()).collect();
        let sized = || all.iter().map(|tokens| tokens[at].sized()).collect::<Option<Vec<_>>>();
        let difference = match values {
            Some(values) if values.iter().all(|value| *value == values[0]) => continue,
            Some(values) => Difference::Numbers(values),
            None if in_literals => Difference::Literals(sized()?),
            None => return None,
        };
        out.insert(at, difference);
    }
    Some(out)
}

/// Returns the names in `localparam NAME = number;`.
fn declared_numbers(code: &[Token]) -> BTreeSet<String> {
    code.windows(4)
        .filter(|window| window[0].is("localparam") && window[2].is("=") && window[3].number().is_some())
        .map(|window| window[1].text().to_string())
        .collect()
}

/// Returns a parameter for the width of the port whose range begins with the number at the start of `code`.
fn width_of_port(code: &[Token], highest: &[i64], ports: &[Port]) -> Option<(Known, String)> {
    let is_range = code.get(1)?.is(":") && code.get(2)?.number() == Some(0) && code.get(3)?.is("]");
    let port = ports.iter().find(|port| is_range && code.get(4).is_some_and(|token| token.is(&port.name)))?;
    let stem = port.name.strip_suffix("_i").or(port.name.strip_suffix("_o")).unwrap_or(&port.name);
    let name = format!("{}_WIDTH", stem.to_uppercase());
    Some((Known { name, values: highest.iter().map(|value| value + 1).collect() }, port.name.clone()))
}

/// Returns the template with expressions for numbers and literals. The lowest bits of parameters replace the constants with
/// the same names, except in the declarations of these constants.
fn render(
    template: &[Token],
    code: &[Token],
    found: &BTreeMap<usize, Replacement>,
    sized: &[String],
) -> String {
    let (mut out, mut at, mut brackets) = (String::new(), 0, 0);
    let mut ranges: BTreeMap<&str, String> = BTreeMap::new();
    for token in template {
        if !is_code(token) {
            out.push_str(token.text());
            continue;
        }
        brackets += usize::from(token.is("["));
        brackets -= usize::from(token.is("]")).min(brackets);
        match (token, found.get(&at)) {
            (Token::Fixed(name), None) if sized.contains(name) && !(at > 0 && code[at - 1].is(".")) => {
                // The first occurrence is the declaration.
                out.push_str(name);
                match ranges.get(name.as_str()) {
                    Some(range) => out.push_str(range),
                    None => {
                        ranges.insert(name, range_of(line_of(&out)).unwrap_or_default().to_string());
                    }
                }
            }
            (_, None) => out.push_str(token.text()),
            (Token::Zero(..), Some(Replacement::Number(formula))) => out += &repeated(formula, "1'b0"),
            (_, Some(Replacement::Number(formula))) => {
                let text = if brackets > 0 { formula.tight() } else { formula.spaced() };
                let bare = formula.is_name() || stands_alone(code, at);
                out += &if bare { text } else { format!("({text})") };
            }
            (_, Some(Replacement::Ones(formula))) => out += &repeated(formula, "1'b1"),
            (_, Some(Replacement::Padded(zeros, literal))) => {
                out += &format!("{{{}, {literal}}}", repeated(zeros, "1'b0"));
            }
            (_, Some(Replacement::Plain(value))) => out += &value.to_string(),
            (_, Some(Replacement::Constant(formula))) => set_constant(&mut out, formula),
        }
        at += 1;
    }
    out
}

/// Returns the last line of the text.
fn line_of(text: &str) -> &str {
    &text[text.rfind('\n').map_or(0, |at| at + 1)..]
}

/// Writes the value of the constant whose declaration is the last line: the lowest bits of an integer.
fn set_constant(out: &mut String, formula: &Formula) {
    let line = out.split_off(out.len() - line_of(out).len());
    let range = range_of(&line).unwrap_or_default();
    if formula.is_name() && !formula.tight().contains(['(', '*']) {
        *out += &format!("{line}{}{range}", formula.tight());
        return;
    }
    let words: Vec<&str> = line.split_whitespace().collect();
    let indent = &line[..line.len() - line.trim_start().len()];
    let integer = words.iter().rev().nth(1).map(|name| as_integer(name)).unwrap_or_default();
    *out += &format!("{indent}localparam {integer} = {};\n{line}{integer}{range}", formula.spaced());
}

/// Returns whether the token has no operator next to it.
fn stands_alone(code: &[Token], at: usize) -> bool {
    let before = at.checked_sub(1).map_or("", |at| code[at].text());
    let behind = code.get(at + 1).map_or("", Token::text);
    matches!(before, "[" | ":" | "(") && matches!(behind, "]" | ":" | ")")
}

/// Removes the lines that declare parameters as constants.
fn without_declarations(text: &str, parameters: &BTreeSet<String>) -> String {
    let declares = |line: &str| {
        let mut words = line.split_whitespace();
        words.next() == Some("localparam") && words.next().is_some_and(|name| parameters.contains(name))
    };
    text.lines().filter(|line| !declares(line)).map(|line| format!("{line}\n")).collect()
}

/// Inserts the parameters before the ports, and the derived numbers before the declarations.
fn assemble(text: &str, numbers: Numbers, docs: &BTreeMap<String, String>) -> Merged {
    let mut used = words(text);
    let mut constants = vec![];
    for (known, formula) in numbers.derived.iter().rev().filter(|(known, _)| !known.name.is_empty()) {
        if used.contains(&known.name) {
            used.extend(words(&formula.spaced()));
            constants.push(format!("  localparam {} = {};", known.name, formula.spaced()));
        }
    }
    constants.reverse();
    let parameters: Vec<Known> =
        numbers.parameters.into_iter().filter(|known| used.contains(&known.name)).collect();

    let mut lines = vec!["#(".to_string()];
    for (position, known) in parameters.iter().enumerate() {
        lines.extend(docs.get(&known.name).into_iter().flat_map(|doc| wrap_comment("  ", doc)));
        let default = known.values.last().copied().unwrap_or_default();
        let comma = if position + 1 < parameters.len() { "," } else { "" };
        lines.push(format!("  parameter integer {} = {default}{comma}", known.name));
    }
    let (ports, body) = text.split_once("\n);\n").unwrap_or((text, ""));
    lines.push(format!(") {}", align_ports(ports)));
    lines.push(");".into());
    lines.push(String::new());
    let declarations = !constants.is_empty();
    lines.extend(constants);
    let body: Vec<&str> = body.lines().skip_while(|line| line.is_empty()).collect();
    let goes_on = ["reg ", "wire ", "localparam ", "// "];
    if declarations
        && !body.first().is_some_and(|line| goes_on.iter().any(|word| line.trim().starts_with(word)))
    {
        lines.push(String::new());
    }
    for line in body {
        if !(line.is_empty() && lines.last().is_some_and(String::is_empty)) {
            lines.extend(wrap_code(line));
        }
    }
    let parameters = parameters.into_iter().map(|known| (known.name, known.values)).collect();
    let derived =
        numbers.derived.into_iter().map(|(known, formula)| (known.name, formula.spaced())).collect();
    Merged { text: lines.join("\n") + "\n", parameters, derived }
}

/// Returns the words of the text, except names of other modules' ports and parameters.
fn words(text: &str) -> BTreeSet<String> {
    let code: Vec<Token> = tokens(text).into_iter().filter(is_code).collect();
    let is_own = |at: usize| at == 0 || !code[at - 1].is(".");
    (0..code.len()).filter(|at| is_own(*at)).map(|at| code[at].text().to_string()).collect()
}

/// Aligns the ranges of ports to the right in one column.
fn align_ports(ports: &str) -> String {
    let split = |line: &str| -> Option<(String, String, String)> {
        let kind = ["  input  wire", "  output reg ", "  output wire"]
            .into_iter()
            .find(|kind| line.starts_with(kind))?;
        let rest = line[kind.len()..].trim();
        let (range, name) = rest.rsplit_once(' ').unwrap_or(("", rest));
        Some((kind.into(), range.trim().into(), name.into()))
    };
    let column = ports.lines().filter_map(split).map(|(_, range, _)| range.len()).max().unwrap_or(0);
    let aligned = ports.lines().map(|line| match split(line) {
        Some((kind, _, name)) if column == 0 => format!("{kind} {name}"),
        Some((kind, range, name)) => format!("{kind} {range:>column$} {name}"),
        None => line.to_string(),
    });
    aligned.collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use super::{Member, merge, skeleton, tokens};

    #[test]
    fn tokens_give_the_text_back() {
        let text = "x[3:0] = {2{8'd0}} ^ 12'habc; // 7 of 9\n@12@ u ( .a (@) , \"5\")";
        let found: String = tokens(text).iter().map(|token| token.text().to_string()).collect();
        assert_eq!(found, text);
    }

    #[test]
    fn a_skeleton_forgets_numbers_and_blanks_only() {
        assert_eq!(skeleton("a[3:0] = 4'd0;"), skeleton("a[15:0]  = 16'd0;"));
        assert_ne!(skeleton("a = 4'd3;"), skeleton("a = 4'd5;"));
        assert_ne!(skeleton("a = 1; // 3"), skeleton("a = 1; // 4"));
        assert_ne!(skeleton("@1@ u ("), skeleton("@2@ u ("));
    }

    fn merged(pairs: [(&str, usize); 2]) -> Option<String> {
        let parameters = pairs.map(|(_, n)| [("N".to_string(), n)]);
        let member = |at: usize| Member { text: pairs[at].0, ports: &[], parameters: &parameters[at] };
        merge(&[member(0), member(1)]).map(|merged| merged.text)
    }

    #[test]
    fn numbers_become_expressions_of_the_parameter() {
        let text = merged([
            ("(\n  input  wire [3:0] a_i\n);\n\n  localparam N = 4;\n  x = 4'd0 + 3*N - 3;\n", 4),
            ("(\n  input  wire [7:0] a_i\n);\n\n  localparam N = 8;\n  x = 8'd0 + 7*N - 7;\n", 8),
        ]);
        let expected = "#(\n  parameter integer N = 8\n) (\n  input  wire [N-1:0] a_i\n);\n\n  \
                        x = {N{1'b0}} + (N - 1)*N - (N - 1);\n";
        assert_eq!(text.as_deref(), Some(expected));
    }

    #[test]
    fn a_number_without_expression_keeps_modules_apart() {
        let pair = |a: &'static str, b: &'static str| merged([(a, 4), (b, 8)]);
        assert!(pair("(\n  x\n);\n  y = 4;\n", "(\n  x\n);\n  y = 8;\n").is_some());
        assert!(pair("(\n  x\n);\n  y = 100;\n", "(\n  x\n);\n  y = 3;\n").is_none());
    }

    #[test]
    fn depths_are_powers_of_two_where_these_are_tried() {
        let texts =
            [2, 5, 8].map(|a: u32| (a as usize, format!("(\n  x\n);\n  reg words [0:{}];\n", (1 << a) - 1)));
        let parameters = texts.each_ref().map(|(a, _)| [("A".to_string(), *a)]);
        let members =
            [0, 1, 2].map(|at| Member { text: &texts[at].1, ports: &[], parameters: &parameters[at] });
        let text = super::merge_with_powers(&members).map(|merged| merged.text);
        assert!(text.as_ref().is_some_and(|text| text.contains("reg words [0:2**A-1];")), "{text:?}");
        assert!(merge(&members).is_none());
    }

    #[test]
    fn a_name_that_is_in_use_keeps_modules_apart() {
        let pair = |a: &'static str, b: &'static str| merged([(a, 4), (b, 8)]);
        assert!(pair("(\n  x\n);\n  N = 4;\n", "(\n  x\n);\n  N = 8;\n").is_none());
    }
}
