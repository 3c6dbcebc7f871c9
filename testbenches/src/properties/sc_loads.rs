//! Values and claims that the properties of SC's compressor and decompressor share.

use super::claim::{Assertion, CycleValue, StoredValue, claim, kept, stored, wire};

/// Returns the bits of `name` in reverse order.
fn reversed(name: &str, bits: u64) -> String {
    let bits: Vec<String> = (0..bits).map(|bit| format!("{name}[{bit}]")).collect();
    format!("{{{}}}", bits.join(", "))
}

/// Returns the code that is loaded, first bit lowest, and the signal that it is taken.
pub(super) fn loaded_code() -> [CycleValue; 3] {
    [
        wire("loads", 1, "load_valid_i & load_ready_o"),
        wire("first_bit_lowest", 16, reversed("load_code_i", 16)),
        wire("loaded_code", 16, "first_bit_lowest >> (5'd16 - load_length_i)"),
    ]
}

/// Returns the claim that a result stays until it is taken, with its registers. `result` has `bits` bits.
pub(super) fn result_stays(result: &str, bits: u64) -> ([StoredValue; 2], Assertion) {
    let registers = [stored("waiting", 1, 0, "valid_o & !ready_i"), kept("result", bits, result)];
    let holds = format!("!waiting | (valid_o & (result == {result}))");
    (registers, claim("stays", "a result stays until it is taken", holds))
}
