//! Makes modules that differ only in reset values one module, with these values as parameters.

use crate::builder::highest;
use crate::options::ResetStyle;
use crate::verilog::{Body, Code, CodeToken, Head, Item};
use num_bigint::BigUint;

/// Max bits of a value that an instance sets by a number without a size.
const MOST_BITS: i64 = 31;

/// Returns the assignments of literals to registers at a reset.
fn reset_values(body: &mut Body, reset: ResetStyle) -> Vec<&mut Code> {
    let test = crate::leaf::reset_test(reset).map(|test| format!("if ({test})"));
    let is = |code: &Code, text: &str| code.to_string() == text;
    let is_reset = |head: &Head| matches!((head, &test), (Head::Other(head), Some(test)) if is(head, test));
    let mut found = vec![];
    for item in &mut body.items {
        let Item::Blocks(blocks) = item else {
            found.extend(literal(item).filter(|code| code.0[0].text() == "initial "));
            continue;
        };
        let block = &mut blocks[0];
        match &block.head {
            Head::Always(_) => {
                for inner in &mut block.body {
                    if let Item::Blocks(branches) = inner
                        && is_reset(&branches[0].head)
                    {
                        found.extend(branches[0].body.iter_mut().filter_map(literal));
                    }
                }
            }
            Head::Other(head) if is(head, "initial") => {
                found.extend(block.body.iter_mut().filter_map(literal))
            }
            _ => {}
        }
    }
    found
}

/// Returns the statement if it assigns a literal.
fn literal(item: &mut Item) -> Option<&mut Code> {
    let Item::Line(code) = item else { return None };
    matches!(code.0.last(), Some(CodeToken::Literal(bits, ..)) if *bits <= MOST_BITS).then_some(code)
}

/// Returns the body with all reset values zero. Twins have equal bodies then.
pub(crate) fn without_reset_values(body: &Body, reset: ResetStyle) -> Body {
    let mut body = body.clone();
    for code in reset_values(&mut body, reset) {
        if let Some(CodeToken::Literal(_, value, text)) = code.0.last_mut() {
            *value = BigUint::ZERO;
            text.clear();
        }
    }
    body
}

/// Returns the body of twins, and the parameters with their values in each member. Their defaults are the values of the last member.
pub(crate) fn merge_twins(members: &[&Body], reset: ResetStyle) -> (Body, Vec<(String, Vec<i64>)>) {
    let mut all: Vec<Body> = members.iter().map(|body| (*body).clone()).collect();
    let values: Vec<Vec<(i64, BigUint)>> = all
        .iter_mut()
        .map(|body| {
            let value = |code: &mut Code| match code.0.last() {
                Some(CodeToken::Literal(bits, value, _)) => (*bits, value.clone()),
                _ => (0, BigUint::ZERO),
            };
            reset_values(body, reset).into_iter().map(value).collect()
        })
        .collect();
    let (mut body, mut parameters, mut declarations) = (members[members.len() - 1].clone(), vec![], vec![]);
    for (position, code) in reset_values(&mut body, reset).into_iter().enumerate() {
        if values.iter().all(|own| own[position] == values[0][position]) {
            continue;
        }
        let register = code
            .0
            .iter()
            .map(CodeToken::text)
            .find(|text| text.ends_with("_q"))
            .unwrap_or_default()
            .to_owned();
        let name = format!("RESET_{}", register.trim_end_matches("_q").to_uppercase());
        let number = |values: &Vec<(i64, BigUint)>| i64::try_from(&values[position].1).unwrap_or_default();
        let bits = values[0][position].0;
        let default = code.0.pop().map(Code::from);
        code.0.push(CodeToken::Text(name.clone()));
        declarations.push(Item::Comment(format!("value of {register} after a reset")));
        declarations.push(Item::declare("parameter", highest(bits as usize), name.clone(), default));
        parameters.push((name, values.iter().map(number).collect()));
    }
    body.parameters.extend(declarations);
    (body, parameters)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::leaf;
    use crate::options::Language;
    use crate::write::module_text;

    const REGISTER: &str =
        "reg [3:0] x_q;\n@clocked\n@reset\nx_q <= 4'd3;\ny_q <= 1'b0;\n@else\nx_q <= x_q + 4'd1;\n@end";

    fn body(value: &str, reset: ResetStyle) -> Body {
        Body { items: leaf::items(&REGISTER.replace("4'd3", value), reset), ..Body::default() }
    }

    #[test]
    fn twins_have_their_reset_values_as_parameters() {
        for reset in [ResetStyle::Control, ResetStyle::SyncHigh] {
            let members = [body("4'd3", reset), body("4'd9", reset)];
            let [a, b] = members.each_ref().map(|body| without_reset_values(body, reset));
            assert!(members[0] != members[1] && a == b);
            let (merged, parameters) = merge_twins(&[&members[0], &members[1]], reset);
            assert_eq!(parameters, [("RESET_X".to_owned(), vec![3, 9])]);
            let text = module_text("m", &merged, &[], Language::Verilog);
            assert!(text.contains("  parameter [3:0] RESET_X = 4'd9\n"), "{text}");
            assert!(text.contains("x_q <= RESET_X;\n      y_q <= 1'b0;"), "{text}");
        }
    }

    #[test]
    fn other_literals_make_no_twins() {
        let other = |text: &str| {
            without_reset_values(
                &Body {
                    items: leaf::items(&REGISTER.replace("4'd1", text), ResetStyle::Control),
                    ..Body::default()
                },
                ResetStyle::Control,
            )
        };
        assert!(other("4'd1") != other("4'd2"));
    }
}
