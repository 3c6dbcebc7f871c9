//! Merges modules that differ only in numbers into one module with parameters.
//!
//! Syntax trees are compared token by token. A number that differs between the modules becomes an expression of the parameters
//! ([`find`]). If a number has no expression, the modules are not merged. In a family, sized literals can also become
//! repeated ones, literals padded with zeros, or constants of a declared width ([`Replacement`]).

use crate::formula::{NamedNumber, Term, VerilogFormula, find};
use crate::module::VerilogPort;
use crate::names;
use crate::verilog::{Around, Body, Code, CodeToken, Declaration, ExpressionSlot, Item, code};
use num_bigint::BigUint;
use std::collections::{BTreeMap, BTreeSet};

/// A module before merging.
pub(crate) struct GroupMember<'a> {
    pub body: &'a Body,
    pub ports: &'a [VerilogPort],
    /// Const generics and sizes with their names in the block.
    pub parameters: &'a [(String, usize)],
}

/// Several modules as one.
pub(crate) struct Merged {
    pub body: Body,
    /// Parameters with their values in each member.
    pub parameters: Vec<(String, Vec<i64>)>,
    /// Const generics and sizes derived from the parameters, with their expressions.
    pub derived: Vec<(String, String)>,
}

/// Returns the body without its numbers. Only modules with equal skeletons can be merged.
pub(crate) fn skeleton(body: &Body) -> Body {
    let mut body = body.clone();
    for token in body.slots().into_iter().flat_map(|slot| &mut slot.code.0) {
        match token {
            CodeToken::Number(number) => *number = 0,
            CodeToken::Literal(bits, value, text) if *value == BigUint::ZERO => {
                *bits = 0;
                text.clear();
            }
            _ => {}
        }
    }
    body
}

/// Returns the members' numbers that differ between members, and the values of the others. Returns `None` if the members do
/// not have the same names.
fn varying(members: &[GroupMember]) -> Option<(Vec<NamedNumber>, Vec<i64>)> {
    let names =
        |member: &GroupMember| member.parameters.iter().map(|(name, _)| name.clone()).collect::<Vec<_>>();
    if members.iter().any(|member| names(member) != names(&members[0])) {
        return None;
    }
    let (mut varying, mut fixed) = (vec![], vec![]);
    for (position, (name, _)) in members[0].parameters.iter().enumerate() {
        let values: Option<Vec<i64>> =
            members.iter().map(|member| i64::try_from(member.parameters[position].1).ok()).collect();
        let known = NamedNumber { name: names::parameter(name), values: values? };
        match known.values.iter().all(|value| *value == known.values[0]) {
            true => fixed.push(known.values[0]),
            false => varying.push(known),
        }
    }
    Some((varying, fixed))
}

/// The numbers of a group of modules.
struct GroupNumbers {
    /// Numbers that an instance sets.
    parameters: Vec<NamedNumber>,
    /// Numbers derived from others.
    derived: Vec<(NamedNumber, VerilogFormula)>,
    /// Powers of two or logarithms of parameters, such as the depths of memories.
    powers: Vec<Term>,
    /// Values of const generics that are the same in all members.
    fixed: Vec<i64>,
}

impl GroupNumbers {
    /// Collects const generics in the order of declaration. One that follows from those before it is derived.
    fn of(members: &[GroupMember]) -> Option<GroupNumbers> {
        let (varying, fixed) = varying(members)?;
        let mut numbers = GroupNumbers { parameters: vec![], derived: vec![], powers: vec![], fixed };
        for known in varying {
            match numbers.in_body(&known.values) {
                Some(formula) => numbers.derived.push((known, formula)),
                None => numbers.parameters.push(known),
            }
        }
        Some(numbers)
    }

    /// Takes the first `open` numbers as parameters. Numbers that follow from them are derived; no expression contains the
    /// others.
    fn of_family(members: &[GroupMember], open: usize) -> Option<GroupNumbers> {
        let (mut varying, fixed) = varying(members)?;
        let own = varying.split_off(open.min(varying.len()));
        let numbers = GroupNumbers { parameters: varying, derived: vec![], powers: vec![], fixed };
        let mut numbers = numbers.with_powers().with_logarithms();
        for known in own {
            if let Some(formula) = numbers.in_body(&known.values) {
                numbers.derived.push((known, formula));
            }
        }
        Some(numbers)
    }

    /// Adds two to the power of each parameter, if the result fits Verilog's 32 bits.
    fn with_powers(mut self) -> GroupNumbers {
        let power = |value: &i64| (0..31).contains(value).then(|| 1 << value);
        self.powers = self
            .parameters
            .iter()
            .filter_map(|known| {
                let values = known.values.iter().map(power).collect::<Option<Vec<i64>>>()?;
                Some(Term { code: code!["2**", &known.name], values })
            })
            .collect();
        self
    }

    /// Adds the logarithm of each parameter whose values are all powers of two.
    fn with_logarithms(mut self) -> GroupNumbers {
        let logarithm = |value: &i64| (value.count_ones() == 1).then(|| i64::from(value.trailing_zeros()));
        self.powers.extend(self.parameters.iter().filter_map(|known| {
            let values = known.values.iter().map(logarithm).collect::<Option<Vec<i64>>>()?;
            Some(Term { code: code!["$clog2(", &known.name, ")"], values })
        }));
        self
    }

    fn all(&self) -> impl Iterator<Item = &NamedNumber> {
        self.parameters.iter().chain(self.derived.iter().map(|(known, _)| known))
    }

    fn in_ports(&self, wanted: &[i64]) -> Option<VerilogFormula> {
        self.formula(wanted, self.parameters.iter())
    }

    fn in_body(&self, wanted: &[i64]) -> Option<VerilogFormula> {
        self.formula(wanted, self.all())
    }

    fn formula<'a>(
        &self,
        wanted: &[i64],
        named: impl Iterator<Item = &'a NamedNumber>,
    ) -> Option<VerilogFormula> {
        let terms: Vec<Term> = named.map(Term::from).chain(self.powers.iter().cloned()).collect();
        find(wanted, &terms, &self.fixed)
    }
}

/// Merges modules with equal skeletons. The defaults of the parameters are the values of the last module. Returns `None` if
/// a number has no expression.
pub(crate) fn merge(members: &[GroupMember]) -> Option<Merged> {
    merge_over(members, GroupNumbers::of(members)?, None)
}

/// Merges like [`merge`]. A number can also become two to the power of a parameter.
pub(crate) fn merge_with_powers(members: &[GroupMember]) -> Option<Merged> {
    merge_over(members, GroupNumbers::of(members)?.with_powers(), None)
}

/// Merges elaborations of one module under all values of the parameters in `docs`. The members' parameters must begin with
/// these, in the same order; the module has no others. A number can also become two to the power of a parameter or its
/// logarithm. Port widths that are the same in all members may be operands of expressions.
pub(crate) fn merge_family(members: &[GroupMember], docs: &[(String, String)]) -> Option<Merged> {
    let mut numbers = GroupNumbers::of_family(members, docs.len())?;
    let width = |position: usize| {
        let widths: Vec<usize> =
            members.iter().filter_map(|member| member.ports.get(position)).map(|port| port.width).collect();
        widths.iter().all(|width| *width == widths[0]).then_some(widths[0] as i64)
    };
    numbers.fixed.extend((0..members[0].ports.len()).filter_map(width));
    merge_over(members, numbers, Some(docs))
}

/// A difference between the members of a group.
enum GroupDifference {
    /// The values of a number.
    Numbers(Vec<i64>),
    /// Bits and values of a nonzero literal.
    Literals(Vec<(i64, BigUint)>),
}

/// The position of a token: the number of its expression, and its number in the expression.
type At = (usize, usize);

fn merge_over(
    members: &[GroupMember],
    mut numbers: GroupNumbers,
    family: Option<&[(String, String)]>,
) -> Option<Merged> {
    let last = members.last()?;
    let mut body = last.body.clone();
    let names = body.names();
    let slots = body.slots();
    let differing = differences(members, family.is_some())?;
    let varying: BTreeSet<String> = numbers.all().map(|known| known.name.clone()).collect();
    let sized: BTreeSet<String> =
        family.map(|_| sized_constants(&slots, &differing, &numbers.parameters)).unwrap_or_default();
    let declares =
        |slot: &ExpressionSlot| !slot.ranged && matches!(slot.code.0.first(), Some(CodeToken::Number(_)));
    let declared: BTreeSet<&str> =
        slots.iter().filter(|slot| declares(slot)).filter_map(|slot| slot.constant).collect();
    let is_new = |name: &String| !names.contains(name) || declared.contains(&**name) || sized.contains(name);
    if !varying.iter().all(is_new) {
        return None;
    }

    let mut docs: BTreeMap<String, String> = family.unwrap_or_default().iter().cloned().collect();
    let (mut found, mut integers) = (BTreeMap::new(), BTreeMap::new());
    // The expressions of ports: the last lane of each packed array, and the highest bits.
    let ranges = last.body.ports.iter().filter_map(Item::declaration).flat_map(|port| {
        let suffixes = ["LANES", "INNER_LANES"].into_iter().take(port.lanes.len());
        suffixes.chain(port.range.as_ref().map(|_| "BITS")).map(|suffix| (port.name.as_str(), suffix))
    });
    let vectors: Vec<(&str, &str)> = ranges.collect();
    for (at, difference) in differing.range(..(vectors.len(), 0)) {
        let GroupDifference::Numbers(values) = difference else { return None };
        let formula = numbers.in_ports(values).or_else(|| {
            let (port, suffix) = vectors[at.0];
            let known = size_of_port(port, suffix, values);
            if family.is_some()
                || slots[at.0].code.0.len() > 1
                || names.contains(&known.name)
                || varying.contains(&known.name)
            {
                return None;
            }
            docs.insert(known.name.clone(), format!("{} of {port}", suffix.to_lowercase().replace('_', " ")));
            numbers.parameters.push(known);
            numbers.in_ports(values)
        })?;
        found.insert(*at, placed(&slots[at.0], at.1, formula));
    }
    for (at, difference) in differing.range((vectors.len(), 0)..) {
        let slot = &slots[at.0];
        let constant = ranged_constant(slot);
        let code = match difference {
            GroupDifference::Numbers(_)
                if !slot.ranged && at.1 == 0 && slot.constant.is_some_and(|name| varying.contains(name)) =>
            {
                continue;
            }
            // `without_constants` removes this declaration.
            GroupDifference::Literals(_) if constant.is_some_and(|name| sized.contains(name)) => continue,
            GroupDifference::Numbers(values) => placed(slot, at.1, numbers.in_body(values)?),
            GroupDifference::Literals(values) => {
                match (literal(&numbers, values, constant.is_some())?, constant) {
                    (LiteralReplacement::Code(code), _) => code,
                    (LiteralReplacement::LowBits(formula), Some(name))
                        if !names.contains(&as_integer(name)) =>
                    {
                        let range = range(&slots, at.0 - 1, &found);
                        let whole = formula.clone().tight();
                        if whole.0.len() == 1 {
                            code![whole, range]
                        } else {
                            integers.insert(name.to_string(), formula);
                            code![&as_integer(name), range]
                        }
                    }
                    _ => return None,
                }
            }
        };
        found.insert(*at, code);
    }
    let ranges: BTreeMap<String, Code> = (0..slots.len())
        .filter(|slot| slots[*slot].around == Around::Brackets)
        .filter_map(|slot| Some((slots[slot].constant?.to_string(), range(&slots, slot, &found))))
        .filter(|(name, _)| sized.contains(name))
        .collect();
    for (number, slot) in slots.into_iter().enumerate() {
        let tokens = std::mem::take(slot.code).0;
        for (position, token) in tokens.iter().enumerate() {
            let is_own = position == 0 || tokens[position - 1].text() != ".";
            let range = ranges.get(token.text()).filter(|_| is_own).cloned().unwrap_or_default();
            let code = found.remove(&(number, position)).unwrap_or_else(|| code![token.clone(), range]);
            slot.code.0.extend(code.0);
        }
    }
    without_constants(&mut body.items, &varying, &sized);
    declare_integers(&mut body.items, integers);
    Some(assemble(body, numbers, &docs))
}

/// Returns the range that a slot has after the replacements, with its brackets.
fn range(slots: &[ExpressionSlot], slot: usize, found: &BTreeMap<At, Code>) -> Code {
    let tokens = slots[slot].code.0.iter().enumerate();
    let replaced = tokens
        .map(|(at, token)| found.get(&(slot, at)).cloned().unwrap_or_else(|| Code::from(token.clone())));
    code!["[", Code::join(replaced, ""), ":0]"]
}

/// Bits of a Verilog integer. Higher bits cannot be selected.
const INTEGER_BITS: i64 = 32;

/// The replacement of a literal.
enum LiteralReplacement {
    Code(Code),
    /// The lowest bits of an expression, as the value of a constant of a declared size.
    LowBits(VerilogFormula),
}

/// Returns the replacement of a literal whose size or value follows from the parameters.
fn literal(
    numbers: &GroupNumbers,
    values: &[(i64, BigUint)],
    is_constant: bool,
) -> Option<LiteralReplacement> {
    let bits: Vec<i64> = values.iter().map(|(bits, _)| *bits).collect();
    let is_ones = |(bits, value): &(i64, BigUint)| *value == (BigUint::from(1u8) << *bits) - 1u8;
    let has_bits = |count: &i64| *count == bits[0];
    if values.iter().all(is_ones) && !bits.iter().all(has_bits) {
        return numbers.in_body(&bits).map(|times| LiteralReplacement::Code(repeated(times, "1'b1")));
    }
    let value = &values[0].1;
    if values.iter().any(|(_, other)| other != value) {
        let wanted: Vec<i64> =
            values.iter().map(|(_, value)| i64::try_from(value).ok()).collect::<Option<_>>()?;
        let fits = is_constant && bits.iter().all(|bits| *bits <= INTEGER_BITS);
        return numbers.in_body(&wanted).filter(|_| fits).map(LiteralReplacement::LowBits);
    }
    if is_constant {
        return Some(LiteralReplacement::Code(Code::from(&value.to_string())));
    }
    let own = i64::try_from(value.bits()).ok()?;
    let zeros: Vec<i64> = bits.iter().map(|bits| bits - own).collect();
    if zeros.iter().any(|zeros| *zeros < 1) {
        return None;
    }
    let text = if own == 1 { "1'b1".into() } else { format!("{own}'d{value}") };
    let literal = CodeToken::Literal(own, value.clone(), text);
    let zeros = repeated(numbers.in_body(&zeros)?, "1'b0");
    Some(LiteralReplacement::Code(code!["{", zeros, ", ", literal, "}"]))
}

/// Returns the constant with a declared size whose value is a single token.
fn ranged_constant<'a>(slot: &ExpressionSlot<'a>) -> Option<&'a str> {
    slot.constant.filter(|_| slot.ranged && slot.around == Around::Nothing && slot.code.0.len() == 1)
}

/// Returns the constants that equal the lowest bits of the parameter with the same name.
fn sized_constants(
    slots: &[ExpressionSlot],
    differing: &BTreeMap<At, GroupDifference>,
    parameters: &[NamedNumber],
) -> BTreeSet<String> {
    let is_parameter = |at: &At, values: &[(i64, BigUint)]| {
        let name = ranged_constant(&slots[at.0])?;
        let known = parameters.iter().find(|known| known.name == name)?;
        let is_low = |((bits, value), whole): (&(i64, BigUint), &i64)| {
            let whole = u64::try_from(*whole).ok().filter(|_| *bits <= INTEGER_BITS);
            whole.is_some_and(|whole| *value == BigUint::from(whole) % (BigUint::from(1u8) << *bits))
        };
        values.iter().zip(&known.values).all(is_low).then(|| name.to_string())
    };
    let literals = differing.iter().filter_map(|(at, difference)| match difference {
        GroupDifference::Literals(values) => is_parameter(at, values),
        GroupDifference::Numbers(_) => None,
    });
    literals.collect()
}

/// Removes the constants that parameters replace. A constant with a range loses the comment before it, too.
fn without_constants(items: &mut Vec<Item>, numbers: &BTreeSet<String>, sized: &BTreeSet<String>) {
    let mut kept: Vec<Item> = vec![];
    for item in items.drain(..) {
        match item.declaration().filter(|item| item.kind == "localparam") {
            Some(Declaration { range: None, name, .. }) if numbers.contains(name) => {}
            Some(Declaration { range: Some(_), name, .. }) if sized.contains(name) => {
                while kept.pop_if(|last| matches!(last, Item::Comment(_))).is_some() {}
            }
            _ => kept.push(item),
        }
    }
    *items = kept;
}

/// Declares the integers whose lowest bits are constants.
fn declare_integers(items: &mut Vec<Item>, mut integers: BTreeMap<String, VerilogFormula>) {
    let declared = |item: Item| {
        let integer = item.declaration().and_then(|constant| integers.remove_entry(&constant.name));
        let integer = integer.map(|(name, value)| number(as_integer(&name), value));
        integer.into_iter().chain([item])
    };
    *items = std::mem::take(items).into_iter().flat_map(declared).collect();
}

/// Returns the declaration of a constant without a range.
fn number(name: String, value: VerilogFormula) -> Item {
    Item::declare("localparam", None, name, Some(value.spaced()))
}

/// Returns the name of the integer whose lowest bits are the constant.
fn as_integer(constant: &str) -> String {
    format!("{constant}_INTEGER")
}

/// Returns Verilog that repeats `bit`; the formula is the number of repetitions.
fn repeated(times: VerilogFormula, bit: &str) -> Code {
    let is_name = times.is_name();
    let count = if is_name { times.tight() } else { code!["(", times.tight(), ")"] };
    code!["{", count, "{", bit, "}", "}"]
}

/// Returns the differences of the members by position. Returns `None` if the members differ in more than numbers and, in a
/// family, literals.
fn differences(members: &[GroupMember], in_literals: bool) -> Option<BTreeMap<At, GroupDifference>> {
    let mut shapes: Vec<Body> = members.iter().map(|member| member.body.clone()).collect();
    let all: Vec<Vec<Code>> = shapes
        .iter_mut()
        .map(|body| body.slots().into_iter().map(|slot| std::mem::take(slot.code)).collect())
        .collect();
    if shapes.iter().any(|shape| *shape != shapes[0]) {
        return None;
    }
    let mut out = BTreeMap::new();
    for (slot, first) in all[0].iter().enumerate() {
        if all.iter().any(|codes| codes[slot].0.len() != first.0.len()) {
            return None;
        }
        for position in 0..first.0.len() {
            let tokens: Vec<&CodeToken> = all.iter().map(|codes| &codes[slot].0[position]).collect();
            if tokens.iter().any(|token| *token != tokens[0]) {
                out.insert((slot, position), difference(&tokens, in_literals)?);
            }
        }
    }
    Some(out)
}

/// Returns the difference of tokens. Returns `None` if they differ in more than a number and, in a family, a literal.
fn difference(tokens: &[&CodeToken], in_literals: bool) -> Option<GroupDifference> {
    let number =
        |token: &&CodeToken| if let CodeToken::Number(number) = token { Some(*number) } else { None };
    let literal = |token: &&CodeToken| match token {
        CodeToken::Literal(bits, value, _) => Some((*bits, value.clone())),
        _ => None,
    };
    if let Some(numbers) = tokens.iter().map(number).collect() {
        return Some(GroupDifference::Numbers(numbers));
    }
    let literals = tokens.iter().map(literal).collect::<Option<Vec<_>>>()?;
    match literals.iter().filter(|(_, value)| *value == BigUint::ZERO).count() {
        0 if in_literals => Some(GroupDifference::Literals(literals)),
        zeros if zeros == literals.len() => {
            Some(GroupDifference::Numbers(literals.into_iter().map(|(bits, _)| bits).collect()))
        }
        _ => None,
    }
}

/// Returns a parameter for the bits or lanes of a port from the index of the highest one.
fn size_of_port(port: &str, suffix: &str, highest: &[i64]) -> NamedNumber {
    let stem = port.strip_suffix("_i").or(port.strip_suffix("_o")).unwrap_or(port);
    let name = format!("{}_{suffix}", stem.to_uppercase());
    NamedNumber { name, values: highest.iter().map(|value| value + 1).collect() }
}

/// Returns the code that replaces a number by a formula, or a zero by as many zeros.
fn placed(slot: &ExpressionSlot, position: usize, formula: VerilogFormula) -> Code {
    let tokens = &slot.code.0;
    if matches!(tokens[position], CodeToken::Literal(..)) {
        return repeated(formula, "1'b0");
    }
    let count =
        |c: char| tokens[..position].iter().map(|token| token.text().matches(c).count()).sum::<usize>();
    let in_brackets = slot.around == Around::Brackets || count('[') > count(']');
    let bare = formula.is_name() || stands_alone(slot.around, tokens, position);
    let code = if in_brackets { formula.tight() } else { formula.spaced() };
    if bare { code } else { code!["(", code, ")"] }
}

/// Returns whether the token has no operator next to it.
fn stands_alone(around: Around, tokens: &[CodeToken], position: usize) -> bool {
    let edge = if around == Around::Nothing { " " } else { ":" };
    let is_code = |token: &&CodeToken| token.text() != " ";
    let before = tokens[..position].iter().rfind(is_code).map_or(edge, CodeToken::text);
    let behind = tokens[position + 1..].iter().find(is_code).map_or(edge, CodeToken::text);
    before.trim_end().ends_with(['[', ':', '(']) && behind.trim_start().starts_with([']', ':', ')'])
}

/// Adds the parameters, and the derived numbers before the declarations.
fn assemble(mut body: Body, numbers: GroupNumbers, docs: &BTreeMap<String, String>) -> Merged {
    let mut used = body.names();
    let mut constants = vec![];
    for (known, formula) in numbers.derived.iter().rev() {
        if used.contains(&known.name) {
            used.extend(formula.names());
            constants.push(number(known.name.clone(), formula.clone()));
        }
    }
    constants.reverse();
    let parameters: Vec<NamedNumber> =
        numbers.parameters.into_iter().filter(|known| used.contains(&known.name)).collect();
    let parameter = |known: &NamedNumber| {
        let doc = docs.get(&known.name).cloned().map(Item::Comment);
        let default = known.values.last().copied().map(Code::from);
        doc.into_iter().chain([Item::declare("parameter integer", None, &known.name, default)])
    };
    body.parameters = parameters.iter().flat_map(parameter).collect();
    let blank = body.items.iter().take_while(|item| **item == Item::Blank).count();
    let goes_on = match body.items.get(blank) {
        Some(Item::Comment(_)) => true,
        Some(Item::Declaration(first)) => ["localparam", "reg", "wire"].contains(&first.kind.as_str()),
        _ => false,
    };
    if !constants.is_empty() && !goes_on {
        constants.push(Item::Blank);
    }
    body.items.splice(..blank, constants);
    let parameters = parameters.into_iter().map(|known| (known.name, known.values)).collect();
    let derived = numbers
        .derived
        .into_iter()
        .map(|(known, formula)| (known.name, formula.spaced().to_string()))
        .collect();
    Merged { body, parameters, derived }
}

#[cfg(test)]
mod tests {
    use super::{GroupMember, merge, merge_with_powers, skeleton};
    use crate::leaf;
    use crate::options::{Language, ResetStyle};
    use crate::verilog::{Body, Code, Item};
    use crate::write::module_text;

    fn body(text: &str) -> Body {
        Body { items: leaf::items(text, ResetStyle::None), ..Body::default() }
    }

    fn with_port(highest: i64, text: &str) -> Body {
        let port = Item::declare("input  wire", Some(Code::from(highest)), "a_i", None);
        Body { ports: vec![port], ..body(text) }
    }

    #[test]
    fn a_skeleton_forgets_numbers_only() {
        let of = |text| skeleton(&body(text));
        assert_eq!(of("a[3:0] = 4'd0;"), of("a[15:0] = 16'd0;"));
        assert_ne!(of("a = 4'd3;"), of("a = 4'd5;"));
        assert_ne!(of("a = 1;\n// 3"), of("a = 1;\n// 4"));
        assert_ne!(of("a = b;"), of("a = c;"));
    }

    fn merged(pairs: [(Body, usize); 2]) -> Option<String> {
        let parameters = pairs.each_ref().map(|(_, n)| [("N".to_string(), *n)]);
        let member = |at: usize| GroupMember { body: &pairs[at].0, ports: &[], parameters: &parameters[at] };
        merge(&[member(0), member(1)]).map(|merged| module_text("m", &merged.body, &[], Language::Verilog))
    }

    #[test]
    fn numbers_become_expressions_of_the_parameter() {
        let text = merged([
            (with_port(3, "localparam N = 4;\nx = 4'd0 + 3*N - 3;"), 4),
            (with_port(7, "localparam N = 8;\nx = 8'd0 + 7*N - 7;"), 8),
        ]);
        let expected = "module m #(\n  parameter integer N = 8\n) (\n  input  wire [N-1:0] a_i\n);\n\n  \
                        x = {N{1'b0}} + (N - 1)*N - (N - 1);\n\nendmodule\n";
        assert_eq!(text.as_deref(), Some(expected));
    }

    #[test]
    fn a_number_without_expression_keeps_modules_apart() {
        let pair = |a: &str, b: &str| merged([(body(a), 4), (body(b), 8)]);
        assert!(pair("y = 4;", "y = 8;").is_some());
        assert!(pair("y = 100;", "y = 3;").is_none());
    }

    #[test]
    fn depths_are_powers_of_two_where_these_are_tried() {
        let bodies = [2, 5, 8].map(|a: u32| (a as usize, body(&format!("reg words [0:{}];", (1 << a) - 1))));
        let parameters = bodies.each_ref().map(|(a, _)| [("A".to_string(), *a)]);
        let members =
            [0, 1, 2].map(|at| GroupMember { body: &bodies[at].1, ports: &[], parameters: &parameters[at] });
        let merged = merge_with_powers(&members).expect("a power of two");
        let text = module_text("m", &merged.body, &[], Language::Verilog);
        assert!(text.contains("reg words [0:2**A-1];"), "{text}");
        assert!(merge(&members).is_none());
    }

    #[test]
    fn a_name_that_is_in_use_keeps_modules_apart() {
        assert!(merged([(body("N = 4;"), 4), (body("N = 8;"), 8)]).is_none());
    }
}
