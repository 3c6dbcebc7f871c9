//! The properties of C-Pack with its dictionary of 16 words: four words and codes of each cycle, by their definition.

use super::claim::{Assertion, CycleValue, Properties, StoredValue, claim, kept, stored, wire};

/// Words and codes of a cycle.
const AT_ONCE: u64 = 4;
const DICTIONARY: u64 = 16;

/// Returns the wires that enter word `k` of a cycle into the dictionary, if `enters_k`.
fn entered(k: u64) -> [CycleValue; 2] {
    let place = format!("{{count_{k}[3:0], 5'd0}}");
    [
        wire(
            format!("dictionary_{}", k + 1),
            512,
            format!(
                "enters_{k} ? (dictionary_{k} & ~({{480'd0, {{32{{1'b1}}}}}} << {place})) | ({{480'd0, word_{k}}} << {place}) : dictionary_{k}"
            ),
        ),
        wire(format!("count_{}", k + 1), 6, format!("count_{k} + {{5'd0, enters_{k}}}")),
    ]
}

/// Returns the expression `of` of each of four words, the last one highest, as a concatenation.
fn joined(of: impl Fn(u64) -> String) -> String {
    format!("{{{}}}", (0..AT_ONCE).rev().map(of).collect::<Vec<_>>().join(", "))
}

/// Returns the number of groups of a line, and the claims about the groups. `second` is the register of the second step.
fn groups(line_bytes: u64, second: &str) -> (u64, [Assertion; 2]) {
    let groups = line_bytes / 16;
    let claims = [
        claim(
            "control",
            "each step takes one cycle for four words",
            format!(
                "(busy_q == (left != 4'd0)) & ({{1'b0, group_q}} == ((left == 4'd0) ? 4'd0 : 4'd{groups} - left)) & (left <= 4'd{}) & (valid_o == done) & ({second}_q == {second})",
                groups - 1
            ),
        ),
        claim(
            "steps",
            "the second step follows the first one",
            format!(
                "{second} ? (first_q == first) & (last_q == last) & (left == (last ? 4'd0 : 4'd{} - group)) : left == 4'd0",
                groups - 1
            ),
        ),
    ];
    (groups, claims)
}

/// Returns the claims that the dictionary has the last 16 words that entered. `unless` is a condition without a dictionary.
fn dictionary(unless: &str) -> [Assertion; 2] {
    let known: Vec<String> =
        (0..DICTIONARY).rev().map(|place| format!("{{32{{known_q[{place}]}}}}")).collect();
    [
        claim(
            "places",
            "the next word enters the place after the last one",
            "(next_q == (16'd1 << count[3:0])) & (known_q == ((|count[5:4]) ? 16'd65535 : (16'd1 << count[3:0]) - 16'd1))",
        ),
        claim(
            "dictionary",
            "the dictionary has the words that entered last",
            format!("{unless}(((dictionary_q ^ dictionary) & {{{}}}) == 512'd0)", known.join(", ")),
        ),
    ]
}

/// Returns the registers that count the groups of a line.
fn counters(groups: u64, first_step: &str, second: &'static str) -> [StoredValue; 4] {
    [
        stored("left", 4, 0, format!("accepts ? 4'd{} : (moves & !begins) ? left - 4'd1 : left", groups - 1)),
        stored(second, 1, 0, format!("moves ? !begins | valid_i : {second}")),
        kept("group", 4, &format!("{first_step} ? (begins ? 4'd0 : 4'd{groups} - left) : group")),
        stored("done", 1, 0, format!("moves ? {second} & last : done")),
    ]
}

/// Returns the wires of the control of both blocks. `first_step` is the name of the first step.
fn control(groups: u64, first_step: &str) -> [CycleValue; 6] {
    [
        wire("moves", 1, "!valid_o | ready_i"),
        wire("accepts", 1, "valid_i & ready_o"),
        wire("begins", 1, "left == 4'd0"),
        wire(first_step, 1, "moves & (!begins | valid_i)"),
        wire("first", 1, "group == 4'd0"),
        wire("last", 1, format!("group == 4'd{}", groups - 1)),
    ]
}

/// Returns the properties of C-Pack's compressor: the shortest code of each word with the dictionary before it, and the codes
/// behind each other.
pub(super) fn cpack_compressor(line_bytes: u64) -> Properties {
    let bits = 8 * line_bytes;
    let size_bits = u64::from(bits.ilog2()) + 1;
    let (groups, [control_claim, steps]) = groups(line_bytes, "compared");
    let group_bits = u64::from((groups - 1).ilog2()) + 1;
    let mut wires = Vec::from(control(groups, "compares"));
    wires.extend([
        wire("source", bits, "begins ? line_i : line"),
        wire("group_now", group_bits, format!("begins ? {group_bits}'d0 : group_q[{}:0]", group_bits - 1)),
        wire("words", 128, "source[{group_now, 7'd0} +: 128]"),
        wire("count_0", 6, "begins ? 6'd0 : count"),
        wire("dictionary_0", 512, "dictionary"),
    ]);
    for k in 0..AT_ONCE {
        wires.push(wire(format!("word_{k}"), 32, format!("words[{}:{}]", 32 * k + 31, 32 * k)));
        for (name, low) in [("four", 0), ("three", 8), ("two", 16)] {
            let equal = |place: u64| {
                format!(
                    "(count_{k} > 6'd{place}) & (dictionary_{k}[{}:{}] == word_{k}[31:{low}])",
                    32 * place + 31,
                    32 * place + low
                )
            };
            let equal: Vec<String> = (0..DICTIONARY).rev().map(equal).collect();
            wires.push(wire(format!("{name}_{k}"), 16, format!("{{{}}}", equal.join(", "))));
        }
        wires.extend([
            wire(format!("byte_{k}"), 1, format!("!(|word_{k}[31:8])")),
            wire(
                format!("kind_{k}"),
                5,
                format!(
                    "!(|word_{k}) ? 5'd1 : (|four_{k}) ? 5'd4 : byte_{k} ? 5'd2 : (|three_{k}) ? 5'd8 : (|two_{k}) ? 5'd16 : 5'd0"
                ),
            ),
            wire(
                format!("places_{k}"),
                16,
                format!("(|four_{k}) ? four_{k} : (|three_{k}) ? three_{k} : two_{k}"),
            ),
            wire(format!("enters_{k}"), 1, format!("!(byte_{k} | (|four_{k}))")),
        ]);
        wires.extend(entered(k));
    }
    for k in 0..AT_ONCE {
        let kind = |kind: u64| format!("kinds[{}]", 5 * k + kind);
        let lowest: Vec<String> = (0..DICTIONARY)
            .map(|place| format!("places[{}] ? 4'd{place} : ", DICTIONARY * k + place))
            .collect();
        let [zero, byte, four, three, two] = [kind(0), kind(1), kind(2), kind(3), kind(4)];
        let (own, place) = (format!("own_{k}"), format!("place_{k}"));
        wires.extend([
            wire(&place, 4, lowest.concat() + "4'd0"),
            wire(&own, 32, format!("group_words[{}:{}]", 32 * k + 31, 32 * k)),
            wire(
                format!("code_{k}"),
                34,
                format!(
                    "{zero} ? 34'd0 : {byte} ? {{22'd0, {own}[7:0], 4'd7}} : {four} ? {{28'd0, {place}, 2'd2}} : {three} ? {{18'd0, {own}[7:0], {place}, 4'd11}} : {two} ? {{10'd0, {own}[15:0], {place}, 4'd3}} : {{{own}, 2'd1}}"
                ),
            ),
            wire(
                format!("length_{k}"),
                12,
                format!(
                    "{zero} ? 12'd2 : {byte} ? 12'd12 : {four} ? 12'd6 : {three} ? 12'd16 : {two} ? 12'd24 : 12'd34"
                ),
            ),
        ]);
    }
    let code = |k: u64| format!("{{{}'d0, code_{k}}}", bits - 34);
    wires.extend([
        wire("gathers", 1, "moves & compared"),
        wire("size_before", 12, "first ? 12'd0 : size"),
        wire("low_pair", bits, format!("{} | ({} << length_0)", code(0), code(1))),
        wire("high_pair", bits, format!("{} | ({} << length_2)", code(2), code(3))),
        wire(
            "payload_now",
            bits,
            format!(
                "(first ? {bits}'d0 : payload) | (low_pair << size_before) | (high_pair << (size_before + length_0 + length_1))"
            ),
        ),
        wire("size_now", 12, "size_before + length_0 + length_1 + length_2 + length_3"),
        wire("raw", 1, format!("size >= 12'd{bits}")),
    ]);
    let mut registers = Vec::from(counters(groups, "compares", "compared"));
    registers.extend([
        kept("line", bits, "accepts ? line_i : line"),
        stored("count", 6, 0, "!compares ? count : (left == 4'd1) ? 6'd0 : count_4"),
        kept("dictionary", 512, "compares ? dictionary_4 : dictionary"),
        kept("kinds", 20, &format!("compares ? {} : kinds", joined(|k| format!("kind_{k}")))),
        kept("places", 64, &format!("compares ? {} : places", joined(|k| format!("places_{k}")))),
        kept("group_words", 128, "compares ? words : group_words"),
        kept("payload", bits, "gathers ? payload_now : payload"),
        stored("size", 12, 0, "gathers ? size_now : size"),
        stored("nonzero", 1, 0, "gathers ? (nonzero & !first) | (|group_words) : nonzero"),
        kept("raw_line", bits, "gathers ? line_q : raw_line"),
    ]);
    let wide: Vec<String> = (0..DICTIONARY)
        .map(|place| format!("(!known_q[{place}] | (|dictionary[{}:{}]))", 32 * place + 31, 32 * place + 8))
        .collect();
    let indices: Vec<String> = (0..AT_ONCE)
        .map(|k| {
            let places = format!("[{}:{}]", DICTIONARY * k + 15, DICTIONARY * k);
            format!("(!(|kinds[{}:{}]) | (places_q{places} == places{places}))", 5 * k + 4, 5 * k + 2)
        })
        .collect();
    let [places, dictionary] = dictionary("");
    let claims = vec![
        control_claim,
        steps,
        claim(
            "bounds",
            "a group has at most four new words and 136 bits",
            format!(
                "((left == 4'd0) ? count == 6'd0 : count <= {{4'd{groups} - left, 2'd0}}) & (!(compared & !first) | (size <= {{8'd0, group}} * 12'd136))"
            ),
        ),
        places,
        dictionary,
        claim("wide", "words of a byte do not enter", wide.join(" & ")),
        claim("kinds", "a word has its shortest code", "!compared | (kinds_q == kinds)"),
        claim(
            "indices",
            "a code names the places that match in the most bytes",
            format!("!compared | ({})", indices.join(" & ")),
        ),
        claim(
            "lines",
            "the line in progress is kept, and turned by the groups that are compared",
            format!(
                "!compared | (line_q == ((line >> {{group_q, 7'd0}}) | (line << (11'd{bits} - {{1'b0, group_q, 7'd0}}))))"
            ),
        ),
        claim(
            "words",
            "the codes are those of the compared words",
            format!("!compared | (line_q[{}:{}] == group_words)", bits - 1, bits - 128),
        ),
        claim(
            "gathered",
            "the codes of a group follow those of the groups before",
            format!(
                "!(compared & !first) | ((payload_o == payload) & (size_o == size[{}:0]) & (nonzero_q == nonzero))",
                size_bits - 1
            ),
        ),
        claim(
            "result",
            "a line of zeros has no payload, and a line that would not become shorter stays as it is",
            format!(
                "!valid_o | ((encoding_o == (!nonzero ? 2'd2 : raw ? 2'd0 : 2'd1)) & (size_o == (!nonzero ? {size_bits}'d0 : raw ? {size_bits}'d{bits} : size[{}:0])))",
                size_bits - 1
            ),
        ),
        claim(
            "raw",
            "an uncompressed payload is the line",
            "!(valid_o & raw & nonzero) | (payload_o == raw_line)",
        ),
    ];
    Properties {
        inside: vec![
            "busy_q",
            "group_q",
            "compared_q",
            "first_q",
            "last_q",
            "next_q",
            "known_q",
            "dictionary_q",
            "kinds_q",
            "places_q",
            "line_q",
            "nonzero_q",
        ],
        wires,
        registers,
        claims,
        ..Properties::default()
    }
    .each()
}

/// Returns the properties of C-Pack's decompressor: the position of each code, and its word with the dictionary before it.
pub(super) fn cpack_decompressor(line_bytes: u64) -> Properties {
    let bits = 8 * line_bytes;
    let (groups, [control_claim, steps]) = groups(line_bytes, "measured");
    let mut wires = Vec::from(control(groups, "measures"));
    wires.extend([
        wire("source", bits, "begins ? payload_i : payload"),
        wire("tag", 2, "begins ? encoding_i : encoding"),
        wire("start", 11, "begins ? 11'd0 : position"),
        // bits after the payload read as zeros
        wire("padded", bits + 264, "{264'd0, source}"),
        wire("blocks", 264, "padded[{start[10:7], 7'd0} +: 264]"),
        wire("rest_0", 136, "blocks[{2'd0, start[6:1], 1'b0} +: 136]"),
    ]);
    let prefixes = [0, 1, 2, 3, 7, 11, 15];
    for k in 0..AT_ONCE {
        if k > 0 {
            // the last code is needed up to its prefix
            let width = if k + 1 < AT_ONCE { 136 - 34 * k } else { 4 };
            wires.push(wire(format!("rest_{k}"), width, behind("rest", "length", k, width)));
        }
        let kinds: Vec<String> = prefixes
            .iter()
            .rev()
            .map(|prefix| {
                let bits = if *prefix < 3 { 2 } else { 4 };
                format!("rest_{k}[{}:0] == {bits}'d{prefix}", bits - 1)
            })
            .collect();
        wires.extend([
            wire(format!("kind_{k}"), 7, format!("{{{}}}", kinds.join(", "))),
            length(&format!("length_{k}"), &format!("kind_{k}")),
        ]);
    }
    wires.push(wire(
        "reach",
        11,
        "(tag == 2'd0) ? 11'd128 : {5'd0, length_0} + {5'd0, length_1} + {5'd0, length_2} + {5'd0, length_3}",
    ));
    wires.extend([wire("count_0", 6, "count"), wire("dictionary_0", 512, "dictionary")]);
    for k in 0..AT_ONCE {
        let kind = |kind: u64| format!("code_kind_{k}[{kind}]");
        let (rest, entry) = (format!("code_{k}"), format!("entry_{k}"));
        // no code follows the last one, and its shortest prefix is not needed
        let last = k + 1 == AT_ONCE;
        let bits = |high: u64, low: u64| match last {
            true => format!("{rest}[{}:{}]", high - 2, low - 2),
            false => format!("{rest}[{high}:{low}]"),
        };
        let code = match k {
            0 => "codes".to_string(),
            _ if last => {
                format!("code_{}[({{1'b0, code_length_{0}}} + 7'd2) +: 32]", k - 1)
            }
            _ => behind("code", "code_length", k, 136 - 34 * k),
        };
        wires.extend([
            wire(
                format!("code_kind_{k}"),
                7,
                format!("(code_tag == 2'd1) ? kinds[{}:{}] : 7'd0", 7 * k + 6, 7 * k),
            ),
            wire(&rest, if last { 32 } else { 136 - 34 * k }, code),
            wire(
                format!("place_{k}"),
                4,
                format!("{} ? {} : {}", kind(2), bits(5, 2), bits(7, 4)),
            ),
            wire(&entry, 32, format!("dictionary_{k}[{{place_{k}, 5'd0}} +: 32]")),
            wire(format!("names_{k}"), 1, format!("{} | {} | {}", kind(2), kind(3), kind(5))),
            wire(
                format!("wrong_{k}"),
                1,
                format!("{} | (names_{k} & (count_{k} <= {{2'd0, place_{k}}}))", kind(6)),
            ),
            wire(
                format!("word_{k}"),
                32,
                format!(
                    "(code_tag == 2'd0) ? codes[{}:{}] : {} ? 32'd0 : {} ? {} : {} ? {entry} : {} ? {{{entry}[31:16], {}}} : {} ? {{24'd0, {}}} : {} ? {{{entry}[31:8], {}}} : 32'd0",
                    32 * k + 31,
                    32 * k,
                    kind(0),
                    kind(1),
                    bits(33, 2),
                    kind(2),
                    kind(3),
                    bits(23, 8),
                    kind(4),
                    bits(11, 4),
                    kind(5),
                    bits(15, 8)
                ),
            ),
            wire(format!("enters_{k}"), 1, format!("{} | {} | {}", kind(1), kind(3), kind(5))),
        ]);
        if k + 1 < AT_ONCE {
            wires.push(length(&format!("code_length_{k}"), &format!("code_kind_{k}")));
        }
        wires.extend(entered(k));
    }
    wires.extend([
        wire("gathers", 1, "moves & measured"),
        wire("wrong_now", 1, "(code_tag == 2'd3) | wrong_0 | wrong_1 | wrong_2 | wrong_3"),
    ]);
    let mut registers = Vec::from(counters(groups, "measures", "measured"));
    registers.extend([
        kept("payload", bits, "accepts ? payload_i : payload"),
        kept("encoding", 2, "accepts ? encoding_i : encoding"),
        stored("position", 11, 0, "measures ? start + reach : position"),
        kept("codes", 136, "measures ? rest_0 : codes"),
        kept("kinds", 28, &format!("measures ? {} : kinds", joined(|k| format!("kind_{k}")))),
        kept("code_tag", 2, "measures ? tag : code_tag"),
        stored("count", 6, 0, "!gathers ? count : last ? 6'd0 : count_4"),
        kept("dictionary", 512, "gathers ? dictionary_4 : dictionary"),
        stored("wrong", 1, 0, "gathers ? wrong_now | (wrong & !first) : wrong"),
        stored("gathered", 1, 0, "gathered | gathers"),
        kept("words", 128, &format!("gathers ? {} : words", joined(|k| format!("word_{k}")))),
        kept("line_before", bits - 128, &format!("gathers ? line_q[{}:128] : line_before", bits - 1)),
    ]);
    let one_kind: Vec<String> = (0..AT_ONCE)
        .map(|k| {
            let of = |kind: u64| format!("(kinds[{}:{}] == 7'd{})", 7 * k + 6, 7 * k, 1 << kind);
            format!("({})", (0..7).map(of).collect::<Vec<_>>().join(" | "))
        })
        .collect();
    let [places, dictionary] = dictionary("wrong | ");
    let claims = vec![
        control_claim,
        steps,
        claim(
            "bounds",
            "a group has at most four new words, and a line starts without words",
            "(measured & !first) ? count <= {group, 2'd0} : count == 6'd0",
        ),
        claim(
            "position",
            "four codes are read where the codes before them end",
            format!(
                "(left == 4'd0) | ((encoding_q == encoding) & ({{used_q, 1'b0}} == position[6:0]) & (payload_q == (payload >> {{position[10:7], 7'd0}})) & (position <= {{7'd0, 4'd{groups} - left}} * 11'd136))"
            ),
        ),
        claim(
            "codes",
            "each code has the kind of its prefix",
            "!measured | ((rest_q == codes) & (kinds_q == kinds) & (encoding_q == code_tag))",
        ),
        claim("kinds", "a code has one kind", format!("!measured | ({})", one_kind.join(" & "))),
        claim(
            "follows",
            "a line comes from its codes",
            "(!measured | first | gathered) & (!valid_o | gathered)",
        ),
        places,
        dictionary,
        claim(
            "errors",
            "a line is wrong exactly if its tag, a code or an index is invalid",
            "!gathered | (wrong_q == wrong)",
        ),
        claim(
            "words",
            "a word is that of its code with the dictionary before it",
            "!gathered | wrong | (line_q == {words, line_before})",
        ),
        claim(
            "result",
            "a wrong line is zero",
            format!("!valid_o | ((error_o == wrong) & (line_o == (wrong ? {bits}'d0 : line_q)))"),
        ),
    ];
    Properties {
        inside: vec![
            "busy_q",
            "group_q",
            "measured_q",
            "first_q",
            "last_q",
            "next_q",
            "known_q",
            "dictionary_q",
            "kinds_q",
            "rest_q",
            "encoding_q",
            "used_q",
            "payload_q",
            "line_q",
            "wrong_q",
        ],
        wires,
        registers,
        claims,
        ..Properties::default()
    }
    .each()
}

/// Returns `width` bits of the string `name` behind the code before code `k`.
fn behind(name: &str, length: &str, k: u64, width: u64) -> String {
    let zeros = if k == 1 { 2 } else { 1 };
    format!("{name}_{}[{{{zeros}'d0, {length}_{0}}} +: {width}]", k - 1)
}

/// Returns the length of a code from its kind.
fn length(name: &str, kind: &str) -> CycleValue {
    let of = |bit: u64| format!("{kind}[{bit}]");
    wire(
        name,
        6,
        format!(
            "{} ? 6'd2 : {} ? 6'd34 : {} ? 6'd6 : {} ? 6'd24 : {} ? 6'd12 : 6'd16",
            of(0),
            of(1),
            of(2),
            of(3),
            of(4)
        ),
    )
}
