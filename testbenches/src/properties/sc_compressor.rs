//! The properties of SC's compressor: the codes that were loaded last, and the payload that follows from them.

use super::claim::{Properties, StoredValue, any, claim, kept, seen, stored, watched, wire};
use super::sc_loads::{loaded_code, result_stays};

/// Banks of a table, and ways of a set.
const BANKS: u64 = 8;
const WAYS: u64 = 4;
/// Names of claims about each bank.
const ROWS: [&str; BANKS as usize] =
    ["rows_0", "rows_1", "rows_2", "rows_3", "rows_4", "rows_5", "rows_6", "rows_7"];
const READS: [&str; BANKS as usize] =
    ["reads_0", "reads_1", "reads_2", "reads_3", "reads_4", "reads_5", "reads_6", "reads_7"];
const TABLES: [&str; BANKS as usize] =
    ["table_0", "table_1", "table_2", "table_3", "table_4", "table_5", "table_6", "table_7"];
/// Words of a line.
const WORDS: u64 = 32;

/// Returns the properties of SC's compressor, for any value `value` and any word `at` of a group of `symbols` words: the code
/// that was loaded last for the value, and the payload of the groups.
pub(super) fn sc_compressor(symbols: u64) -> Properties {
    let at_bits = u64::from(symbols.ilog2());
    // the first bit of element `at` of a vector of such elements
    let at = |width: u64| {
        let bits = u64::from((symbols * width - 1).ilog2()) + 1;
        format!("{{{}'d0, at}} * {bits}'d{width}", bits - at_bits)
    };
    let group_bits = u64::from((WORDS / symbols).ilog2());
    let entry = |way: u64| format!("entry_{way}");
    let exists = |way: u64| format!("(|entry_{way}[20:16])");
    let mut wires = Vec::from(loaded_code());
    wires.extend([
        wire("set", 8, "value[7:0] ^ value[15:8] ^ value[23:16] ^ value[31:24]"),
        wire("row", 5, "set[7:3]"),
        wire("bank", 3, "set[2:0] ^ set[5:3] ^ {1'b0, set[7:6]}"),
        wire("clearing", 1, "&banks_write"),
        wire("clears", 1, "clearing & (clear_row_q == row)"),
        wire("own_set", 1, "loads & !load_escape_i & (load_index_i[9:2] == set)"),
        wire(
            "own_entry",
            21,
            "(load_value_i >> 8 == {8'd0, value[31:8]}) ? {load_length_i, loaded_code} : 21'd0",
        ),
        wire(
            "code_now",
            21,
            format!(
                "{} ? {} : {} ? {} : {} ? {} : {} ? {} : 21'd0",
                exists(3),
                entry(3),
                exists(2),
                entry(2),
                exists(1),
                entry(1),
                exists(0),
                entry(0)
            ),
        ),
        wire("source", 1024, "ready_o ? line_i : line"),
        wire("word_now", 32, format!("source[{{group_q[{}:0], at, 5'd0}} +: 32]", group_bits - 1)),
        wire("accepts", 1, "valid_i & ready_o"),
        wire("code_length", 6, "(|code_then[20:16]) ? {1'b0, code_then[20:16]} : (|escape_length) ? {1'b0, escape_length} + 6'd32 : 6'd0"),
        wire(
            "field",
            48,
            "(|code_then[20:16]) ? {32'd0, code_then[15:0]} : (|escape_length) ? {32'd0, escape} | ({16'd0, value} << escape_length) : 48'd0",
        ),
        wire("pack", 1, "packing_q & (!valid_o | ready_i)"),
        wire("so_far", 11, "packing_first_q ? 11'd0 : bits_o"),
        wire("payload_so_far", 1024, "packing_first_q ? 1024'd0 : payload_o"),
        wire(
            "sum",
            11,
            (0..symbols).map(|word| format!("{{5'd0, lengths_q[{}:{}]}}", 6 * word + 5, 6 * word)).collect::<Vec<_>>().join(" + "),
        ),
        wire(
            "uncoded",
            1,
            (0..symbols).map(|word| format!("!(|lengths_q[{}:{}])", 6 * word + 5, 6 * word)).collect::<Vec<_>>().join(" | "),
        ),
        wire("fits", 1, "loaded & !missing & (total <= 11'd1024)"),
    ]);
    let mut registers: Vec<StoredValue> = Vec::new();
    for (way, name) in (0..WAYS).zip(["entry_0", "entry_1", "entry_2", "entry_3"]) {
        registers.push(stored(
            name,
            21,
            0,
            format!("clears ? 21'd0 : (own_set & (load_index_i[1:0] == 2'd{way})) ? own_entry : {name}"),
        ));
    }
    registers.extend([
        stored("cleared", 1, 0, "cleared | clears"),
        stored(
            "escape_length",
            5,
            0,
            "clearing ? 5'd0 : (loads & load_escape_i) ? load_length_i : escape_length",
        ),
        kept("escape", 16, "(loads & load_escape_i) ? loaded_code : escape"),
        stored("loaded", 1, 0, "clearing ? 1'b0 : loaded | (loads & load_last_i)"),
        kept("line", 1024, "accepts ? line_i : line"),
        stored("taken", 1, 0, "taken | accepts"),
        stored("read", 1, 0, "look & lookup_served[at] & cleared & (word_now == value)"),
        kept("group_then", 3, "group_q"),
        kept("code_then", 21, "code_now"),
        stored("coded", 1, 0, "read"),
        kept("field_then", 48, "field"),
        kept("length_then", 6, "code_length"),
        stored("served", 1, 0, "look & lookup_served[at]"),
        stored("looked_up", 1, 0, "!(reading_q & read_done_q) & (looked_up | served)"),
        stored("appended", 1, 0, "pack"),
        stored("ended", 1, 0, "packing_last_q"),
        kept("total", 11, "so_far + sum"),
        kept(
            "appended_payload",
            1024,
            &format!("payload_so_far | ({{{}'d0, pack_group_string}} << so_far)", 1024 - 48 * symbols),
        ),
        kept("missing", 1, "(uncoded_q & !packing_first_q) | uncoded"),
        kept("raw_line", 1024, "line"),
    ]);
    let (stays_registers, stays) = result_stays("{compressed_o, bits_o, payload_o}", 1036);
    registers.extend(stays_registers);
    let mut claims = vec![
        claim(
            "codes",
            "a word has the code that was loaded last for its value, or the escape's code and the word",
            format!(
                "!coded | ((fields_q[{} +: 48] == field_then) & (lengths_q[{} +: 6] == length_then))",
                at(48),
                at(6)
            ),
        ),
        claim(
            "reads",
            "a word is read one cycle after its look-up",
            format!(
                "!read | (reading_q & read_served_q[at] & (read_banks_q[{} +: 3] == bank) & (read_group_q == group_then) & (line[{{group_then[{}:0], at, 5'd0}} +: 32] == value))",
                at(3),
                group_bits - 1
            ),
        ),
        claim(
            "words",
            "the words of a group are looked up",
            format!("!look | (lookup_words[{} +: 32] == word_now)", at(32)),
        ),
        claim(
            "groups",
            "a group is complete when each of its words has been looked up",
            "!(reading_q & read_done_q) | looked_up | served",
        ),
        claim(
            "pending",
            "a word is looked up once in its group",
            "pending_q[at] == (!(looked_up | served) | (reading_q & read_done_q))",
        ),
        claim(
            "first",
            "a line begins with its first group",
            format!("(looking_q | (group_q == 3'd0)) & (group_q <= 3'd{})", WORDS / symbols - 1),
        ),
        claim(
            "escape",
            "the escape has the code that was loaded last",
            "(escape_length_q == escape_length) & ((escape_length == 5'd0) | (escape_code_q == escape))",
        ),
        claim(
            "loaded",
            "lines are compressed from the last code of a stream to the next clear",
            "loaded_q == loaded",
        ),
        claim(
            "drained",
            "codes change only while no line is in flight",
            "!(load_ready_o | clearing) | !(looking_q | reading_q | packing_q | valid_o)",
        ),
        claim(
            "appends",
            "the codes of a group follow those of the groups before, and a line without codes or of too many bits stays as it is",
            "!appended | ((uncoded_q == missing) & ((ended & !fits) ? (payload_o == raw_line) & (bits_o == 11'd1024) & !compressed_o : (payload_o == appended_payload) & (bits_o == total) & (!ended | compressed_o)))",
        ),
        claim(
            "lines",
            "the line in progress is kept",
            "taken ? line_q == line : !(looking_q | reading_q | packing_q)",
        ),
        stays,
    ];
    let mut lemmas = vec![claim(
        "phases",
        "no line is in flight in the phases that change codes",
        "!phase[1] | !(looking_q | reading_q | packing_q | valid_o)",
    )];
    // a claim about a bank at a fixed place is proved in a fraction of the time
    for (bank, (rows, reads)) in (0..BANKS).zip(ROWS.into_iter().zip(READS)) {
        let part = |name: &str, bits: u64| format!("{name}[{}:{}]", (bank + 1) * bits - 1, bank * bits);
        claims.extend([
            claim(
                rows,
                "the bank of a word that is looked up reads the row of its set, for the rest of the word",
                format!(
                    "!(look & lookup_served[at] & (lookup_words[{} +: 32] == value) & (bank == 3'd{bank})) | ((lookup_banks[{} +: 3] == 3'd{bank}) & ({} == row) & ({} == value[31:8]))",
                    at(32),
                    at(3),
                    part("lookup_rows", 5),
                    part("lookup_tags", 24)
                ),
            ),
            claim(
                reads,
                "the bank gives the code that was loaded last for a value, one cycle after the look-up",
                format!("!(read & (bank == 3'd{bank})) | ({} == code_then)", part("banks_code", 21)),
            ),
        ]);
    }
    for (bank, tables) in (0..BANKS).zip(TABLES) {
        let ways: Vec<String> = (0..WAYS)
            .map(|way| {
                let word = format!("word_{bank}_{way}");
                format!(
                    "(((|{word}[44:40]) & ({word}[23:0] == value[31:8])) ? ({word}[44:24] == entry_{way}) : !(|entry_{way}[20:16]))"
                )
            })
            .collect();
        lemmas.push(claim(
            tables,
            "the ways of the value's set have the codes that were loaded last",
            format!("!cleared | (bank != 3'd{bank}) | ({})", ways.join(" & ")),
        ));
    }
    let memories = (0..BANKS)
        .flat_map(|bank| {
            (0..WAYS).map(move |way| {
                watched(
                    format!("gen_banks[{bank}].banks.gen_ways[{way}].ways"),
                    ("row", 5),
                    format!("word_{bank}_{way}"),
                    45,
                )
            })
        })
        .collect();
    Properties {
        inside: vec![
            "banks_write",
            "clear_row_q",
            "escape_length_q",
            "escape_code_q",
            "look",
            "lookup_served",
            "lookup_words",
            "lookup_banks",
            "lookup_rows",
            "lookup_tags",
            "group_q",
            "pending_q",
            "looking_q",
            "reading_q",
            "read_served_q",
            "read_banks_q",
            "read_done_q",
            "read_group_q",
            "loaded_q",
            "uncoded_q",
            "banks_code",
            "packing_q",
            "packing_first_q",
            "packing_last_q",
            "fields_q",
            "lengths_q",
            "line_q",
            "pack_group_string",
        ],
        constants: vec![any("value", 32, "32'd0"), any("at", at_bits, format!("{at_bits}'d0"))],
        memories,
        wires,
        registers,
        claims,
        seen: vec![seen("phase", "phase_q", 2)],
        lemmas,
        ..Properties::default()
    }
    .each()
}
