//! The first item of a pipeline after a reset: the registers that keep it, and the claims about its time.

use super::claim::{Assertion, StoredValue, claim, kept, stored};

/// Returns the registers and claims that follow the first item of a pipeline after a reset.
pub(super) fn first_item(
    depth: u64,
    inputs: &[(&'static str, u64, &'static str)],
) -> (Vec<StoredValue>, Vec<Assertion>) {
    let mut registers = vec![
        stored("taken", 1, 0, "taken | (valid_i & ready_o)"),
        stored("given", 1, 0, "given | (valid_o & ready_i)"),
        stored("age", 4, 0, "(taken | (valid_i & ready_o)) ? age + {3'd0, !(&age)} : 4'd0"),
    ];
    for (name, bits, input) in inputs {
        registers.push(kept(name, *bits, input));
    }
    let claims = vec![
        claim("empty", "nothing comes out of an empty pipeline", "taken | !valid_o"),
        claim(
            "latency",
            "the first item comes out after the stated cycles, and stays until it is taken",
            format!("!taken | given | (valid_o == (age >= 4'd{depth}))"),
        ),
    ];
    (registers, claims)
}
