//! The properties of SC's decompressor: the codes that were loaded last, and the words, payloads and lines that follow from them.

use super::claim::{AnyConstant, Properties, any, claim, kept, stored, watched, wire};
use super::sc_loads::{loaded_code, result_stays};

/// Banks of a table.
const BANKS: u64 = 8;

/// Returns the properties of SC's decompressor, for any length of codes `one_less + 1` and any address `place`: the ends and
/// ranks that follow from the codes, and the value that was loaded last. `symbols` words are found at once; `at` is one of them.
pub(super) fn sc_decompressor(symbols: u64) -> Properties {
    let at_bits = u64::from(symbols.ilog2()).max(1);
    let at = |width: u64| {
        let bits = u64::from((symbols * width - 1).ilog2()) + 1;
        if symbols == 1 {
            format!("{bits}'d0")
        } else {
            format!("{{{}'d0, at}} * {bits}'d{width}", bits - at_bits)
        }
    };
    let chosen = if symbols == 1 { "" } else { "[at]" };
    let put = if symbols == 1 { "word" } else { "put_words" };
    let mut wires = Vec::from(loaded_code());
    wires.extend([
        wire("code_length", 5, "{1'b0, one_less} + 5'd1"),
        wire("first_rank", 11, "load_first_i ? 11'd0 : rank"),
        wire("code_end", 17, "({1'b0, load_code_i} + 17'd1) << (5'd16 - load_length_i)"),
        wire("own_end", 17, "code_end & (17'd131071 << (5'd16 - code_length))"),
        wire("address", 10, "first_rank[10] ? escape_place : first_rank[9:0]"),
        wire("accepts", 1, "valid_i & ready_o"),
        wire("leaves", 1, "busy_q & plain_q & (!valid_o | ready_i) & !(found_q | placed_q | read_q)"),
        wire("given", 32, format!("{put}[{} +: 32]", at(32))),
    ]);
    let (stays_registers, stays) = result_stays("{error_o, line_o}", 1025);
    let mut registers = vec![
        stored("rank", 11, 0, "loads ? first_rank + 11'd1 : rank"),
        stored(
            "end_of_codes",
            17,
            0,
            "!loads ? end_of_codes : (load_length_i <= code_length) ? own_end : load_first_i ? 17'd0 : end_of_codes",
        ),
        stored("based", 1, 0, "based | (loads & (load_length_i == code_length))"),
        kept("base", 11, "(loads & (load_length_i == code_length)) ? first_rank - load_code_i[10:0] : base"),
        stored("escapes", 1, 0, "!loads ? escapes : load_escape_i | (escapes & !load_first_i)"),
        stored(
            "escape_place",
            10,
            0,
            "!loads ? escape_place : load_escape_i ? first_rank[9:0] : load_first_i ? 10'd0 : escape_place",
        ),
        stored("escape_length", 5, 0, "(loads & load_escape_i) ? load_length_i : escape_length"),
        kept("escape", 16, "(loads & load_escape_i) ? loaded_code : escape"),
        kept(
            "escape_mask",
            16,
            "(loads & load_escape_i) ? 16'd65535 >> (5'd16 - load_length_i) : escape_mask",
        ),
        stored("known", 1, 0, "known | (loads & !load_escape_i & (address == place))"),
        kept("value", 32, "(loads & !load_escape_i & (address == place)) ? load_value_i : value"),
        stored(
            "asked",
            1,
            0,
            format!(
                "issue & schedule_served{chosen} & !raw_q{chosen} & (places_q[{} +: 10] == place) & known",
                at(10)
            ),
        ),
        kept("expected", 32, "value"),
        kept("payload", 1024, "accepts ? payload_i : payload"),
        stored("left", 1, 0, "leaves"),
        kept("plain_line", 1024, "payload"),
    ];
    registers.extend(stays_registers);
    let word = |bank: u64| format!("((place[2:0] != 3'd{bank}) | (word_{bank} == value))");
    let words: Vec<String> = (0..BANKS).map(word).collect();
    let claims = vec![
        claim(
            "ends",
            "the codes of a length end after the last code that is not longer",
            "ends_q[{5'd0, one_less} * 9'd17 +: 17] == end_of_codes",
        ),
        claim(
            "bases",
            "the rank of a code is its length's base plus the code",
            "(rank_q == rank) & (!based | (bases_q[{4'd0, one_less} * 8'd11 +: 11] == base))",
        ),
        claim(
            "escape",
            "the escape has the code that was loaded last, and takes a rank",
            "(escape_known_q == escapes) & (escape_place_q == escape_place) & (escape_length_q == escape_length) & (!escapes | ((escape_code_q == escape) & (escape_mask_q == escape_mask)))",
        ),
        claim(
            "values",
            "a word is the value that was loaded last at its rank",
            "!asked | (given == expected)",
        ),
        claim("errors", "an error gives a line of zeros", "!(valid_o & error_o) | !(|line_o)"),
        claim(
            "plain",
            "an uncompressed payload is the line, without an error",
            "!left | (valid_o & !error_o & (line_o == plain_line))",
        ),
        claim(
            "payloads",
            "an uncompressed payload is kept",
            "!(busy_q & plain_q) | ((payload_q == payload >> 32) & (blocks_q >> 32 == {32'd0, payload[31:0]}))",
        ),
        claim("waits", "nothing is read while a line is offered", "!(valid_o & read_q)"),
        claim(
            "drained",
            "codes change only while no payload is in flight",
            "!load_ready_o | !(busy_q | found_q | placed_q | read_q | valid_o)",
        ),
        stays,
    ];
    let memories = (0..BANKS)
        .map(|bank| {
            watched(format!("gen_values[{bank}].values"), ("place[9:3]", 7), format!("word_{bank}"), 32)
        })
        .collect();
    let mut constants: Vec<AnyConstant> = vec![any("one_less", 4, "4'd7"), any("place", 10, "10'd0")];
    if symbols > 1 {
        constants.push(any("at", at_bits, format!("{at_bits}'d0")));
    }
    Properties {
        inside: vec![
            "rank_q",
            "ends_q",
            "bases_q",
            "escape_known_q",
            "escape_place_q",
            "escape_length_q",
            "escape_code_q",
            "escape_mask_q",
            "issue",
            "schedule_served",
            "raw_q",
            "places_q",
            put,
            "busy_q",
            "plain_q",
            "found_q",
            "placed_q",
            "read_q",
            "payload_q",
            "blocks_q",
        ],
        constants,
        memories,
        wires,
        registers,
        claims,
        lemmas: vec![claim(
            "stored",
            "the bank of the address has the value that was loaded last",
            format!("!known | ({})", words.join(" & ")),
        )],
        ..Properties::default()
    }
    .each()
}
