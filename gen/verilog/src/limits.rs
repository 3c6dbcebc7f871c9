//! Checks at elaboration that a module's parameters have supported values.
//!
//! A merged module is verified only with the values from which it was made. With another value, a register could silently be
//! too narrow. For any other value, the module therefore instantiates a module that does not exist, whose name is the
//! message. This form is valid in Verilog-2005 and SystemVerilog. Verilator, Icarus Verilog, Yosys and slang refuse such a
//! value.
use crate::verilog::{Code, Head, Item, code};
use std::collections::BTreeSet;

/// Max number of values that a message lists.
const MOST_LISTED: usize = 8;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum NumberLimit {
    /// The combinations of values that are allowed.
    Among(Vec<String>, BTreeSet<Vec<i64>>),
    /// The min value, and the max value if there is one.
    From(String, i64, Option<i64>),
}

impl NumberLimit {
    /// Allows only the combinations of values in the uses of a module. Returns `None` for a module without parameters.
    pub fn of_uses(parameters: &[(String, Vec<i64>)]) -> Option<Self> {
        let (_, first) = parameters.first()?;
        let row = |at: usize| parameters.iter().map(|(_, values)| values[at]).collect();
        let names = parameters.iter().map(|(name, _)| name.clone()).collect();
        Some(NumberLimit::Among(names, (0..first.len()).map(row).collect()))
    }

    /// Returns the conditions that refuse the parameters: a name, the condition, and the required values as part of a module
    /// name.
    fn wrongs(&self) -> Vec<(String, String, String)> {
        match self {
            NumberLimit::From(name, least, most) => {
                let (above, must) = match most {
                    Some(most) => (format!(" || {name} > {most}"), format!("{least}_to_{most}")),
                    None => (String::new(), format!("{least}_or_more")),
                };
                vec![(name.clone(), format!("{name} < {least}{above}"), format!("{name}_must_be_{must}"))]
            }
            NumberLimit::Among(names, rows) => {
                let columns: Vec<BTreeSet<i64>> =
                    (0..names.len()).map(|at| rows.iter().map(|row| row[at]).collect()).collect();
                let mut wrongs: Vec<_> =
                    names.iter().zip(&columns).map(|(name, values)| wrong(name, values)).collect();
                if columns.iter().map(BTreeSet::len).product::<usize>() != rows.len() {
                    let is = |row: &Vec<i64>| {
                        let each: Vec<String> =
                            names.iter().zip(row).map(|(name, value)| format!("{name} == {value}")).collect();
                        format!("({})", each.join(" && "))
                    };
                    let all = rows.iter().map(is).collect::<Vec<_>>().join(" || ");
                    let together = names.join("_and_");
                    wrongs.push((
                        together.clone(),
                        format!("!({all})"),
                        format!("{together}_must_go_together"),
                    ));
                }
                wrongs
            }
        }
    }
}

/// Returns the condition under which a parameter has none of the values, in the form of [`NumberLimit::wrongs`].
fn wrong(name: &str, values: &BTreeSet<i64>) -> (String, String, String) {
    let listed: Vec<String> = values.iter().map(i64::to_string).collect();
    let (Some(low), Some(high)) = (values.first(), values.last()) else {
        return (name.into(), "1'b0".into(), name.into());
    };
    let is_range = values.len() > 2 && high - low + 1 == values.len() as i64;
    let condition = match is_range {
        true => format!("{name} < {low} || {name} > {high}"),
        false => listed.iter().map(|value| format!("{name} != {value}")).collect::<Vec<_>>().join(" && "),
    };
    let must = match listed.split_last() {
        _ if is_range => format!("{low}_to_{high}"),
        Some((last, others)) if !others.is_empty() && listed.len() <= MOST_LISTED => {
            format!("{}_or_{last}", others.join("_"))
        }
        Some((last, [])) => last.clone(),
        _ => format!("a_verified_value_from_{low}_to_{high}"),
    };
    (name.into(), condition, format!("{name}_must_be_{must}"))
}

/// Returns the checks of a module, which precede its other items. `module` is its name.
pub(crate) fn checks(module: &str, limits: &[NumberLimit]) -> Vec<Item> {
    let wrongs: Vec<_> = limits.iter().flat_map(NumberLimit::wrongs).collect();
    if wrongs.is_empty() {
        return vec![];
    }
    let check = |(name, condition, must): (String, String, String)| {
        let name = name.to_lowercase();
        Item::block(
            Head::Other(code!["if (", &condition, ")"]),
            Some(format!("gen_wrong_{name}")),
            vec![Item::Line(Code::from(&format!("{module}_{must} wrong_{name} ()")))],
        )
    };
    let comment =
        "a parameter with a value that is not verified: the message is the name of a missing module";
    let checks = wrongs.into_iter().map(check).collect();
    vec![
        Item::Comment(comment.into()),
        Item::Enclosed(Code::from("generate"), checks, "endgenerate".into()),
        Item::Blank,
    ]
}

#[cfg(test)]
mod tests {
    use super::NumberLimit;
    use crate::options::Language;
    use crate::verilog::{Body, Code, Item};
    use crate::write::module_text;

    fn checks(limits: &[NumberLimit]) -> String {
        let mut items = super::checks("m", limits);
        items.push(Item::Line(Code::from("body")));
        module_text("m", &Body { items, ..Body::default() }, &[], Language::Verilog)
    }

    #[test]
    fn each_parameter_has_its_values() {
        let uses = [("N".to_string(), vec![4, 8, 4, 8]), ("K".to_string(), vec![2, 2, 4, 4])];
        let text = checks(&[NumberLimit::of_uses(&uses).expect("parameters")]);
        assert!(
            text.contains("if (N != 4 && N != 8) begin : gen_wrong_n\n      m_N_must_be_4_or_8 wrong_n ();")
        );
        assert!(
            text.contains("m_K_must_be_2_or_4 wrong_k ();") && !text.contains("must_go_together"),
            "{text}"
        );
        assert!(text.contains("\n);\n\n  // ") && text.contains("  endgenerate\n\n  body"), "{text}");
    }

    #[test]
    fn values_in_a_row_are_a_range_and_combinations_count() {
        let uses = [("N".to_string(), vec![2, 3, 4]), ("K".to_string(), vec![8, 8, 16])];
        let text = checks(&[NumberLimit::of_uses(&uses).expect("parameters")]);
        assert!(text.contains("if (N < 2 || N > 4)") && text.contains("m_N_must_be_2_to_4 "), "{text}");
        let together = "if (!((N == 2 && K == 8) || (N == 3 && K == 8) || (N == 4 && K == 16)))";
        assert!(
            text.contains(together) && text.contains("m_N_and_K_must_go_together wrong_n_and_k ();"),
            "{text}"
        );
    }

    #[test]
    fn a_size_has_a_least_value() {
        let text =
            checks(&[NumberLimit::From("A".into(), 1, Some(30)), NumberLimit::From("N".into(), 1, None)]);
        assert!(text.contains("if (A < 1 || A > 30)") && text.contains("m_A_must_be_1_to_30 "), "{text}");
        assert!(text.contains("if (N < 1)") && text.contains("m_N_must_be_1_or_more "), "{text}");
        assert!(!checks(&[]).contains("generate"));
    }
}
