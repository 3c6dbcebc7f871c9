//! Properties of the emitted Verilog hold for every input, and planted faults are found.
//!
//! The codecs' round trips are proved for every line, from reset to result. The controllers' invariants are proved for
//! every reachable state. A long run, from `tests/run --long`, adds the round trip of 64-byte lines, larger tables and
//! more sets.
use selvedge_blocks::find;
use selvedge_gen::{EmitOptions, Language, ResetStyle};
use selvedge_hw::{BlockEntry, ClockedBits, PortBits};
use selvedge_hw_codecs::bdi::{BdiCompressed, BdiEncoding, compress_words, decompress};
use selvedge_hw_codecs::line::bytes_of;
use selvedge_testbenches::emitted::{Emitted, VerilogFile};
use selvedge_testbenches::formal::{
    Counterexample, OFFERED, ProofResult, ProofTask, invariant, prove, round_trip,
};
use selvedge_testbenches::properties::{self, Reach};
use selvedge_testbenches::skipped::is_long_run;
use selvedge_testbenches::verilator::Verilated;
use serde_json::Value;
use std::path::{Path, PathBuf};

/// A limit far above the time of every proof here.
const ALL_STATES: Reach = Reach::AllStates { seconds: 100 };

fn cache() -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).join("verilated")
}

fn verdict(property: &ProofTask, reach: Reach) -> ProofResult {
    prove(property, reach, tempfile::tempdir().unwrap().path()).unwrap()
}

fn counterexample(property: &ProofTask, reach: Reach) -> Counterexample {
    match verdict(property, reach) {
        ProofResult::Counterexample(found) => found,
        other => panic!("the planted fault was not found: {other:?}"),
    }
}

/// Returns a block as Verilog with fixed parameters, and the parameters.
fn emitted(name: &str, given: &[(&str, &str)]) -> (Emitted, &'static dyn BlockEntry, Value) {
    emitted_with(name, given, ResetStyle::default())
}

fn emitted_with(
    name: &str,
    given: &[(&str, &str)],
    reset: ResetStyle,
) -> (Emitted, &'static dyn BlockEntry, Value) {
    let block = find(name).unwrap();
    let given: Vec<_> = given.iter().map(|(name, value)| (name.to_string(), value.to_string())).collect();
    let params = block.params(&given).unwrap();
    let options = EmitOptions { reset, ..EmitOptions::default() };
    (Emitted::fixed(block, &params, &options).unwrap(), block, params)
}

/// Replaces a text that must occur exactly once in the block's Verilog.
fn plant(emitted: &mut Emitted, correct: &str, fault: &str) {
    let places: usize = emitted.sources.iter().map(|source| source.text.matches(correct).count()).sum();
    assert_eq!(places, 1, "`{correct}` in {}", emitted.name);
    for source in &mut emitted.sources {
        source.text = source.text.replace(correct, fault);
    }
}

/// Returns compressor and decompressor of a codec for lines of `line_bytes`, and the last cycle in which a line can
/// come out. All registers have a reset. Payloads with arbitrary initial values would cost the solver minutes, and do
/// not affect a line that goes in.
fn codec(name: &str, line_bytes: &str) -> (Emitted, Emitted, u32) {
    let of = |kind: &str| {
        let given = [("line_bytes", line_bytes)];
        let (emitted, block, params) = emitted_with(&format!("{name}_{kind}"), &given, ResetStyle::AsyncLow);
        (emitted, block.facts(&params).unwrap().latency)
    };
    let ((compressor, first), (decompressor, second)) = (of("compressor"), of("decompressor"));
    (compressor, decompressor, OFFERED as u32 + first + second)
}

/// Module of BDI's compressor that compares words with a base.
const NEAR: &str = "bdi_compressor_bdi_near";
/// Modules that choose an encoding, its base and its mask.
const CHOICE: [&str; 2] = ["bdi_compressor_bdi_nears", "bdi_compressor_bdi_choose"];

fn source(module: &str, text: String) -> VerilogFile {
    VerilogFile { module: module.into(), language: Language::Verilog, text }
}

/// Returns numbers of bits: the line; the first results of BDI's compressor (line, bases and masks); these with the tag
/// and the choice.
fn bundles(line_bytes: usize) -> [usize; 3] {
    let line = 8 * line_bytes;
    let first = line + 179 + 3 * line / 64 + 2 * line / 32 + line / 16;
    [line, first, first + 13]
}

/// Returns the definition of the comparison with a base.
fn near_by_definition(line_bytes: usize) -> String {
    let text = include_str!("reference/bdi_near.v");
    assert!(text.contains("LINE = 1024"));
    text.replace("LINE = 1024", &format!("LINE = {}", 8 * line_bytes))
}

/// Returns the definition of the choice of an encoding.
fn choice_by_definition(line_bytes: usize) -> VerilogFile {
    let text = include_str!("reference/bdi_choice.v");
    assert!(text.contains("LINE = 1024") && text.contains("ORDER = 24'd0"));
    let order = BdiEncoding::by_size(line_bytes)
        .into_iter()
        .filter(|encoding| encoding.delta_bytes() > 0)
        .enumerate()
        .fold(0, |order, (rank, encoding)| order | u32::from(encoding.tag()) << (4 * rank));
    let text = text.replace("LINE = 1024", &format!("LINE = {}", 8 * line_bytes));
    source("bdi_choice", text.replace("ORDER = 24'd0", &format!("ORDER = 24'd{order}")))
}

/// Returns the compressor with another text for one of its modules.
fn with_module(compressor: &Emitted, module: &str, text: String) -> Emitted {
    let mut compressor = compressor.clone();
    let place = compressor.sources.iter_mut().find(|source| source.module == module);
    place.unwrap_or_else(|| panic!("{module} is emitted")).text = text;
    compressor
}

/// Returns the property that the emitted comparison equals its definition, for deltas of `delta` bits in words of
/// `stride` bits.
fn near_is_as_defined(compressor: &Emitted, line_bytes: usize, (delta, stride): (usize, usize)) -> ProofTask {
    let (line, words) = (8 * line_bytes - 1, 8 * line_bytes / stride - 1);
    let emitted = compressor.sources.iter().find(|source| source.module == NEAR).expect("the comparison");
    let defined = near_by_definition(line_bytes).replace(NEAR, "by_definition");
    let text = format!(
        "\
// One comparison does what it is defined as.
module proof (
  input wire [{line}:0] line_i, input wire [{}:0] base_i, output wire bad_o
);
  wire [{words}:0] near, near_defined;
  {NEAR} #(.DELTA ({delta}), .STRIDE ({stride})) emitted (.line_i(line_i), .base_i(base_i), .near_o(near));
  by_definition #(.DELTA ({delta}), .STRIDE ({stride})) defined (
    .line_i(line_i), .base_i(base_i), .near_o(near_defined));
  assign bad_o = near != near_defined;
endmodule
",
        2 * delta - 1
    );
    ProofTask {
        top: "proof".into(),
        text,
        sources: vec![emitted.clone(), source("by_definition", defined)],
        connections: vec![],
    }
}

/// Returns the property that the emitted choice equals its definition. The comparisons come from their definition.
fn choice_is_as_defined(compressor: &Emitted, line_bytes: usize) -> ProofTask {
    let [line, first, near] = bundles(line_bytes);
    let [nears, choose] = CHOICE;
    let text = format!(
        "\
// For every line, the encoding, its base and its mask are those of the definition.
module proof (input wire [{}:0] line_i, output wire bad_o);
  wire [{}:0] first;
  wire [{}:0] near;
  wire [3:0] tag;
  wire [63:0] base, base_defined;
  wire [{}:0] mask, mask_defined;
  bdi_compressor_bdi_firsts firsts (.line_i(line_i), .first_o(first));
  {nears} nears (.first_i(first), .near_o(near));
  {choose} choose (.near_i(near), .base_o(base), .mask_o(mask));
  bdi_choice defined (.line_i(line_i), .tag_o(tag), .tag_i(tag), .base_o(base_defined), .mask_o(mask_defined));
  assign bad_o = near[{}:0] != line_i | near[{first} +: 4] != tag | base != base_defined | mask != mask_defined;
endmodule
",
        line - 1,
        first - 1,
        near - 1,
        line / 16 - 1,
        line - 1,
    );
    let mut sources = with_module(compressor, NEAR, near_by_definition(line_bytes)).sources;
    sources.push(choice_by_definition(line_bytes));
    ProofTask { top: "proof".into(), text, sources, connections: vec![] }
}

/// Returns the compressor with the choice from its definition.
fn with_choice_by_definition(compressor: &Emitted, line_bytes: usize) -> Emitted {
    let [line, first, near] = bundles(line_bytes);
    let [nears, choose] = CHOICE;
    let nears_text = format!(
        "\
module {nears} (input wire [{}:0] first_i, output wire [{}:0] near_o);
  wire [3:0] tag;
  bdi_choice defined (.line_i(first_i[{}:0]), .tag_o(tag), .tag_i(4'd0), .base_o(), .mask_o());
  assign near_o = {{9'd0, tag, first_i}};
endmodule
",
        first - 1,
        near - 1,
        line - 1,
    );
    let choose_text = format!(
        "\
module {choose} (input wire [{}:0] near_i, output wire [63:0] base_o, output wire [{}:0] mask_o);
  bdi_choice defined (
    .line_i(near_i[{}:0]), .tag_o(), .tag_i(near_i[{first} +: 4]), .base_o(base_o), .mask_o(mask_o));
endmodule
",
        near - 1,
        line / 16 - 1,
        line - 1,
    );
    let mut compressor = with_module(&with_module(compressor, nears, nears_text), choose, choose_text);
    compressor.sources.push(choice_by_definition(line_bytes));
    compressor
}

/// Proves the first of three steps: each comparison equals its definition.
fn comparisons_are_as_defined(line_bytes: usize) {
    let (compressor, ..) = codec("bdi", &line_bytes.to_string());
    for widths in [(32, 64), (16, 64), (8, 64), (16, 32), (8, 32), (8, 16)] {
        let property = near_is_as_defined(&compressor, line_bytes, widths);
        assert_eq!(
            verdict(&property, Reach::Cycles(1)),
            ProofResult::Proved,
            "{widths:?}, {line_bytes} bytes"
        );
    }
}

/// Proves the second step: with the defined comparisons, the compressor's choice equals its definition.
fn choices_are_as_defined(line_bytes: usize) {
    let (compressor, ..) = codec("bdi", &line_bytes.to_string());
    let property = choice_is_as_defined(&compressor, line_bytes);
    assert_eq!(verdict(&property, Reach::Cycles(1)), ProofResult::Proved, "{line_bytes} bytes");
}

/// Proves the third step: with the defined choice, every line comes out unchanged. In a single step, the solver does
/// not find that a word in a range is a difference of few bits, nor the common parts of encodings.
fn bdi_gives_lines_back(line_bytes: usize) {
    let mut codec = codec("bdi", &line_bytes.to_string());
    codec.0 = with_choice_by_definition(&codec.0, line_bytes);
    let (compressor, decompressor, last) = &codec;
    let property = round_trip(compressor, decompressor, *last);
    assert_eq!(verdict(&property, Reach::Cycles(last + 1)), ProofResult::Proved, "{line_bytes} bytes");
}

#[test]
fn bdi_comparisons_are_as_defined() {
    comparisons_are_as_defined(32);
    comparisons_are_as_defined(64);
}

#[test]
fn bdi_chooses_as_defined() {
    choices_are_as_defined(32);
}

#[test]
fn bdi_gives_every_line_back() {
    bdi_gives_lines_back(32);
}

#[test]
fn bdi_gives_every_longer_line_back() {
    if is_long_run("bdi_gives_every_longer_line_back") {
        comparisons_are_as_defined(128);
        choices_are_as_defined(64);
        bdi_gives_lines_back(64);
    }
}

#[test]
fn a_wrong_comparison_is_found() {
    let (mut compressor, ..) = codec("bdi", "32");
    plant(&mut compressor, "(differs & passes)", "(differs & ~passes)");
    counterexample(&near_is_as_defined(&compressor, 32, (8, 64)), Reach::Cycles(1));
}

#[test]
fn a_base_with_the_wrong_upper_bits_is_found() {
    if !is_long_run("a_base_with_the_wrong_upper_bits_is_found") {
        return;
    }
    let (mut compressor, ..) = codec("bdi", "32");
    plant(
        &mut compressor,
        "first[FIRST_SIGNS_B8D1] = |(first_b8d1_first & first_b8d2_mask);",
        "first[FIRST_SIGNS_B8D1] = first[FIRST_SIGNS_B8D2];",
    );
    counterexample(&choice_is_as_defined(&compressor, 32), Reach::Cycles(1));
}

#[test]
fn a_wrong_payload_in_the_compressor_gives_a_line_that_the_model_cannot_rebuild() {
    if !is_long_run("a_wrong_payload_in_the_compressor_gives_a_line_that_the_model_cannot_rebuild") {
        return;
    }
    let (mut compressor, decompressor, last) = codec("bdi", "32");
    plant(&mut compressor, "payload_o = pack_b8d1_payload;", "payload_o = pack_b8d2_payload;");
    let found = counterexample(
        &round_trip(&with_choice_by_definition(&compressor, 32), &decompressor, last),
        Reach::Cycles(last + 1),
    );
    let line = found.value(OFFERED, "line_i").unwrap().to_vec();

    // Run the same line through the faulty compressor under Verilator, then through the model of the decompressor.
    let mut verilated = Verilated::build(&compressor, &cache()).unwrap();
    verilated.reset();
    verilated.step(&[vec![1], line.clone(), vec![1]]);
    let idle = vec![vec![0], vec![0; 4], vec![1]];
    verilated.step(&idle);
    let [_, valid, encoding, size, payload] = &verilated.step(&idle)[..] else { panic!("five outputs") };
    assert_eq!(valid[0], 1);
    let mut wide = [0; 16];
    wide[..4].copy_from_slice(payload);
    let encoding = BdiEncoding::from_tag(encoding[0] as u8).unwrap();
    let back = decompress(&BdiCompressed { encoding, size: size[0] as u8, payload: wide }, 32);
    assert_ne!(bytes_of(&back)[..32], line.iter().flat_map(|word| word.to_le_bytes()).collect::<Vec<_>>());
}

#[test]
fn a_wrong_bit_in_the_decompressor_gives_a_line_that_it_cannot_rebuild() {
    let (compressor, mut decompressor, last) = codec("bdi", "32");
    plant(&mut decompressor, "line_o[i*64 +: 64] = sum;", "line_o[i*64 +: 64] = ~sum;");
    let found = counterexample(
        &round_trip(&with_choice_by_definition(&compressor, 32), &decompressor, last),
        Reach::Cycles(last + 1),
    );
    let mut line = [0; 16];
    line[..4].copy_from_slice(found.value(OFFERED, "line_i").unwrap());

    let compressed = compress_words(&line, 32);
    assert_eq!(decompress(&compressed, 32), line, "the models are right");
    let mut verilated = Verilated::build(&decompressor, &cache()).unwrap();
    verilated.reset();
    let tag = u64::from(compressed.encoding.tag());
    verilated.step(&[vec![1], vec![tag], compressed.payload[..4].to_vec(), vec![1]]);
    let idle = vec![vec![0], vec![0], vec![0; 4], vec![1]];
    verilated.step(&idle);
    let outputs = verilated.step(&idle);
    assert_eq!(outputs[1], [1]);
    assert_ne!(outputs[3][..], line[..4], "{found}");
}

/// Returns a block with its properties as assertions.
fn promising(name: &str, given: &[(&str, &str)]) -> (Emitted, &'static dyn BlockEntry, Value) {
    let (_, block, params) = emitted(name, given);
    let promising = Emitted::with_properties(block, &params, &EmitOptions::default()).unwrap();
    (promising, block, params)
}

/// Proves the properties of a block, with the declared reach.
fn keeps_its_properties(name: &str, given: &[(&str, &str)]) {
    let (block, _, params) = promising(name, given);
    let declared = properties::of(name, &params).expect("it has properties");
    assert_eq!(
        verdict(&invariant(&block, &declared), declared.reach),
        ProofResult::Proved,
        "{name} {params}"
    );
}

/// Checks that a planted fault violates a property of the block.
fn fault_is_found(name: &str, correct: &str, fault: &str) -> Counterexample {
    let (mut block, _, params) = promising(name, &[]);
    plant(&mut block, correct, fault);
    let declared = properties::of(name, &params).expect("it has properties");
    counterexample(&invariant(&block, &declared), ALL_STATES)
}

/// Checks that the properties of a block with a planted fault have no proof. A counterexample may need an interval of many cycles.
fn fault_has_no_proof(name: &str, given: &[(&str, &str)], correct: &str, fault: &str) {
    let (mut block, _, params) = promising(name, given);
    plant(&mut block, correct, fault);
    let declared = properties::of(name, &params).expect("it has properties");
    assert_ne!(
        verdict(&invariant(&block, &declared), declared.reach),
        ProofResult::Proved,
        "{name}: {fault}"
    );
}

#[test]
fn milg_counts_without_wrapping_and_limits_by_its_formula() {
    for bits in ["6", "7", "8"] {
        keeps_its_properties("milg", &[("inflight_bits", bits)]);
    }
    keeps_its_properties("milg", &[("rsfail_bits", "14"), ("request_bits", "8")]);
}

#[test]
fn a_limit_of_milg_that_is_not_that_of_the_formula_is_found() {
    let correct = "limit_q <= divider_quotient;";
    fault_has_no_proof("milg", &[], correct, "limit_q <= divider_quotient + 7'd1;");
    let correct = "rsfails_q <= {11'd0, rsfail_i};";
    fault_has_no_proof("milg", &[], correct, "rsfails_q <= 12'd0;");
}

/// Returns a counterexample's clocks as the block's inputs. `None` is a clock in reset.
fn clocks(found: &Counterexample, block: &Emitted) -> Vec<Option<PortBits>> {
    let inputs = || block.ports.iter().filter(|port| port.name.ends_with("_i"));
    let clock = |cycle: usize| {
        let value = |name: &str| found.value(cycle, name).unwrap().to_vec();
        (value("rst_ni")[0] == 1).then(|| inputs().map(|port| value(port.name)).collect())
    };
    (0..found.cycles.len()).map(clock).collect()
}

#[test]
fn wrong_constants_in_milg_are_found_and_the_model_differs_there() {
    for (correct, fault) in [("sum = 8'd0;", "sum = 8'd1;"), ("limit_q <= 7'd127;", "limit_q <= 7'd0;")] {
        let found = fault_is_found("milg", correct, fault);
        let (mut milg, block, params) = emitted("milg", &[]);
        plant(&mut milg, correct, fault);
        let (mut model, mut faulty) =
            (block.model(&params).unwrap(), Verilated::build(&milg, &cache()).unwrap());
        // Before its first clock in reset, a counterexample may start in any state, which proves nothing.
        let clocks = clocks(&found, &milg);
        let differs = clocks.iter().skip_while(|clock| clock.is_some()).any(|clock| match clock {
            None => {
                model.reset();
                faulty.reset();
                false
            }
            Some(inputs) => model.step(inputs) != faulty.step(inputs),
        });
        assert!(differs, "`{fault}`: the model does as the faulty Verilog under\n{found}");
    }
}

#[test]
fn bgp_counts_inside_its_window() {
    keeps_its_properties("bgp", &[("skew_window", "500")]);
    keeps_its_properties("bgp", &[("skew_window", "1000")]);
}

#[test]
fn a_wrong_count_in_bgp_is_found() {
    let correct = "evictions_q <= evictions_q + {9'd0, evict_i};";
    let found = fault_is_found("bgp", correct, "evictions_q <= evictions_q + 10'd0;");
    let evicted = (0..found.cycles.len()).any(|cycle| found.value(cycle, "evict_i") == Some(&[1]));
    assert!(evicted, "only an eviction is counted, but\n{found}");
}

#[test]
fn a_flip_of_bgp_at_the_limit_is_found() {
    let correct = "next_insertions > SKEW_LIMIT";
    fault_has_no_proof("bgp", &[], correct, "next_insertions >= SKEW_LIMIT");
}

#[test]
fn qbmi_ranks_kernels_by_their_quotas() {
    for kernels in ["2", "3", "4"] {
        keeps_its_properties("qbmi", &[("kernels", kernels)]);
    }
}

#[test]
fn a_rank_that_two_kernels_of_qbmi_share_is_found() {
    fault_is_found("qbmi", "quota_q[j*7 +: 7] > quota_q[i*7 +: 7]", "quota_q[j*7 +: 7] >= quota_q[i*7 +: 7]");
}

#[test]
fn a_quota_of_qbmi_that_falls_by_two_is_found() {
    let correct = "left = quota_q[i*7 +: 7] - 7'd1;";
    fault_has_no_proof("qbmi", &[], correct, "left = quota_q[i*7 +: 7] - 7'd2;");
}

#[test]
fn the_latte_controller_keeps_its_schedule() {
    keeps_its_properties("latte_controller", &[]);
}

#[test]
fn a_mode_that_the_latte_controller_does_not_have_is_found() {
    fault_is_found("latte_controller", "lookup_mode_q <= decision_mode;", "lookup_mode_q <= ~decision_mode;");
}

#[test]
fn codes_of_the_latte_controller_that_are_new_after_each_ep_are_found() {
    let correct = "new_codes_q <= ep_ends & build;";
    fault_has_no_proof("latte_controller", &[], correct, "new_codes_q <= ep_ends;");
}

#[test]
fn the_assist_warp_buffer_holds_what_is_staged() {
    keeps_its_properties("awb", &[]);
}

#[test]
fn an_assist_warp_buffer_that_promises_too_much_room_is_found() {
    fault_is_found("awb", "~(two_q | (one_q & comes))", "~two_q");
}

#[test]
fn an_assist_warp_buffer_that_ignores_a_flush_is_found() {
    let correct = "one_q <= (stay | placed) & ~flushed;";
    fault_has_no_proof("awb", &[], correct, "one_q <= stay | placed;");
}

#[test]
fn the_decompression_queue_does_not_overflow() {
    keeps_its_properties("decompression_queue", &[]);
}

#[test]
fn a_decompression_queue_that_takes_one_too_many_is_found() {
    fault_is_found("decompression_queue", "has_room = waiting_q != DEPTH;", "has_room = waiting_q != 4'd9;");
}

#[test]
fn a_wrong_latency_of_the_decompression_queue_is_found() {
    let correct = "hit_latency_q <= {4'd0, latency} * {4'd0, ahead_and_own};";
    let fault = "hit_latency_q <= {4'd0, latency} * {4'd0, ahead};";
    fault_has_no_proof("decompression_queue", &[], correct, fault);
}

#[test]
fn the_bpg_masks_the_warps_from_its_level_on() {
    keeps_its_properties("bpg", &[]);
}

#[test]
fn a_mask_of_the_bpg_without_its_first_warp_is_found() {
    fault_has_no_proof("bpg", &[], "bypass_o[i] = l_max_q <= level;", "bypass_o[i] = l_max_q < level;");
}

#[test]
fn set_indices_follow_from_the_line() {
    keeps_its_properties("set_index_bmod", &[("sets", "64")]);
    keeps_its_properties("set_index_bxor", &[]);
    for prime in ["11", "19", "31"] {
        keeps_its_properties("set_index_d_prime", &[("prime", prime)]);
    }
    for sets in ["16", "32", "64", "128"] {
        keeps_its_properties("set_index_i_poly", &[("sets", sets)]);
    }
}

#[test]
fn wrong_set_indices_are_found() {
    let faults = [
        ("set_index_bmod", "index_q <= line_i[", "index_q <= ~line_i["),
        ("set_index_bxor", "index_q <= line_i[", "index_q <= ~line_i["),
        ("set_index_d_prime", ") + line_i[", ") - line_i["),
        ("set_index_i_poly", "residue_o = residue_o ^ POWER", "residue_o = residue_o | POWER"),
    ];
    for (name, correct, fault) in faults {
        fault_has_no_proof(name, &[], correct, fault);
    }
}

#[test]
fn set_indices_are_remainders_by_primes() {
    are_remainders(&["16", "32"]);
    keeps_its_properties("set_index_a_prime", &[("sets", "16"), ("mersenne", "true")]);
}

#[test]
fn set_indices_of_more_sets_are_remainders_by_primes() {
    if is_long_run("set_indices_of_more_sets_are_remainders_by_primes") {
        are_remainders(&["64", "128"]);
    }
}

/// Proves the indices by primes below and above these numbers of sets.
fn are_remainders(sets: &[&str]) {
    for sets in sets {
        keeps_its_properties("set_index_pmod", &[("sets", sets)]);
        keeps_its_properties("set_index_a_prime", &[("sets", sets)]);
    }
}

#[test]
fn wrong_remainders_are_found() {
    for (name, correct) in
        [("set_index_pmod", "rest - MULTIPLE"), ("set_index_a_prime", "residue_o - MULTIPLE")]
    {
        fault_has_no_proof(name, &[("sets", "16")], correct, &correct.replace('-', "+"));
    }
}

#[test]
fn the_assist_warp_store_gives_the_word_that_was_written_last() {
    for bits in ["32", "64"] {
        keeps_its_properties("aws", &[("instruction_bits", bits)]);
    }
    keeps_its_properties("aws", &[("instructions", "1024")]);
}

#[test]
fn a_fetch_from_the_wrong_slot_is_found() {
    fault_has_no_proof("aws", &[], "start[8:4] = sr_i;", "start[8:4] = ~sr_i;");
}

#[test]
fn the_assist_warp_table_deploys_what_was_triggered() {
    keeps_its_properties("awt", &[("entries", "8")]);
}

#[test]
fn the_larger_assist_warp_table_deploys_what_was_triggered() {
    if is_long_run("the_larger_assist_warp_table_deploys_what_was_triggered") {
        keeps_its_properties("awt", &[("entries", "48")]);
    }
}

#[test]
fn wrong_deployments_are_found() {
    for (correct, fault) in [
        ("insts_write_data = inst + 7'd1;", "insts_write_data = inst + 7'd2;"),
        ("next_valid = valid_q & ~killed;", "next_valid = valid_q;"),
        ("requests = requests & valid_q & ~killed;", "requests = requests & valid_q;"),
        ("behind_last_q <= next_entry_behind;", "behind_last_q <= 8'd255;"),
        ("if (ends) begin", "if (deploy) begin"),
    ] {
        let (mut block, _, params) = promising("awt", &[("entries", "8")]);
        plant(&mut block, correct, fault);
        let declared = properties::of("awt", &params).expect("it has properties");
        counterexample(&invariant(&block, &declared), Reach::Cycles(5));
    }
}

#[test]
fn the_value_frequency_table_counts_as_it_promises() {
    for entries in ["64", "1024"] {
        keeps_its_properties("sc_vft", &[("entries", entries)]);
    }
}

#[test]
fn wrong_counts_of_the_value_frequency_table_are_found() {
    for (correct, fault) in [
        ("forward_q <= training_q & (next_set == set_q);", "forward_q <= 1'b0;"),
        ("next_count = count[way*12 +: 12] >> 1;", "next_count = count[way*12 +: 12];"),
        ("12'd0 : smallest;", "12'd0 : 12'd1;"),
    ] {
        fault_has_no_proof("sc_vft", &[], correct, fault);
    }
}

#[test]
fn the_metadata_cache_gives_the_entry_that_was_written_last() {
    keeps_its_properties("md_cache", &[("kilobytes", "4"), ("entry_bits", "4")]);
}

#[test]
fn larger_metadata_caches_give_the_entry_that_was_written_last() {
    if is_long_run("larger_metadata_caches_give_the_entry_that_was_written_last") {
        keeps_its_properties("md_cache", &[]);
        keeps_its_properties("md_cache", &[("kilobytes", "16")]);
    }
}

#[test]
fn wrong_entries_of_the_metadata_cache_are_found() {
    let small = [("kilobytes", "4"), ("entry_bits", "4")];
    for (correct, fault) in [
        ("next_dirty = dirty | chosen;", "next_dirty = dirty;"),
        ("(reading_q & updates_q) | filled", "filled"),
    ] {
        fault_has_no_proof("md_cache", &small, correct, fault);
    }
}

/// Returns the smallest parameters of the code builder.
const FEW_CODES: [(&str, &str); 2] = [("entries", "64"), ("max_code_bits", "12")];

#[test]
fn the_code_builder_gives_canonical_codes() {
    keeps_its_properties("sc_code_builder", &FEW_CODES);
}

#[test]
fn the_code_builder_of_a_larger_table_gives_canonical_codes() {
    if is_long_run("the_code_builder_of_a_larger_table_gives_canonical_codes") {
        keeps_its_properties("sc_code_builder", &[]);
    }
}

#[test]
fn codes_that_are_not_canonical_are_found() {
    for (correct, fault) in
        [("code_q <= code_q << 1;", "code_q <= code_q;"), ("(length_q != MAX_LENGTH) & ", "")]
    {
        fault_has_no_proof("sc_code_builder", &FEW_CODES, correct, fault);
    }
}

#[test]
fn bpc_takes_its_cycles_and_keeps_what_it_cannot_compress() {
    keeps_its_properties("bpc_compressor", &[("line_bytes", "32")]);
    keeps_its_properties("bpc_decompressor", &[("line_bytes", "32")]);
}

#[test]
fn bpc_of_longer_lines_takes_its_cycles_and_keeps_what_it_cannot_compress() {
    if is_long_run("bpc_of_longer_lines_takes_its_cycles_and_keeps_what_it_cannot_compress") {
        for line_bytes in ["64", "128"] {
            keeps_its_properties("bpc_compressor", &[("line_bytes", line_bytes)]);
            keeps_its_properties("bpc_decompressor", &[("line_bytes", line_bytes)]);
        }
    }
}

#[test]
fn wrong_cycles_and_lines_of_bpc_are_found() {
    let line = [("line_bytes", "32")];
    fault_has_no_proof("bpc_compressor", &line, "(last_length > MOST)", "(last_length > MOST + 11'd8)");
    for (correct, fault) in [
        ("done_o = behind >= 8'd32;", "done_o = behind >= 8'd33;"),
        ("decoded_q <= ~compressed_i;", "decoded_q <= 1'b0;"),
    ] {
        fault_has_no_proof("bpc_decompressor", &line, correct, fault);
    }
}

#[test]
fn fpc_keeps_the_bits_that_its_table_of_patterns_allows() {
    keeps_its_properties("fpc_compressor", &[("line_bytes", "32")]);
    keeps_its_properties("fpc_decompressor", &[("line_bytes", "32")]);
}

#[test]
fn longer_lines_of_fpc_keep_the_bits_that_the_table_allows() {
    if is_long_run("longer_lines_of_fpc_keep_the_bits_that_the_table_allows") {
        keeps_its_properties("fpc_compressor", &[("line_bytes", "64")]);
        keeps_its_properties("fpc_decompressor", &[("line_bytes", "64")]);
    }
}

#[test]
fn wrong_patterns_of_fpc_are_found() {
    let line = [("line_bytes", "32")];
    fault_has_no_proof(
        "fpc_compressor",
        &line,
        "end else if (is_repeated) begin",
        "end else if (is_repeated & is_sign16) begin",
    );
    fault_has_no_proof(
        "fpc_decompressor",
        &line,
        "above24 = above16 | ((pattern == TWO_BYTES) & half[15]);",
        "above24 = above16;",
    );
}

#[test]
fn cpack_codes_each_word_by_its_shortest_code() {
    if !is_long_run("cpack_codes_each_word_by_its_shortest_code") {
        return;
    }
    keeps_its_properties("cpack_compressor", &[("line_bytes", "32")]);
    keeps_its_properties("cpack_decompressor", &[("line_bytes", "32")]);
}

#[test]
fn cpack_codes_each_word_of_longer_lines_by_its_shortest_code() {
    if is_long_run("cpack_codes_each_word_of_longer_lines_by_its_shortest_code") {
        keeps_its_properties("cpack_compressor", &[("line_bytes", "64")]);
        keeps_its_properties("cpack_decompressor", &[("line_bytes", "64")]);
    }
}

#[test]
fn wrong_codes_of_cpack_are_found() {
    if !is_long_run("wrong_codes_of_cpack_are_found") {
        return;
    }
    let line = [("line_bytes", "32")];
    for (correct, fault) in [
        ("if (places_i[i] & ~found) begin", "if (places_i[i]) begin"),
        ("(enters0 & equal[8]) | (enters1 & equal[9]);", "(enters0 & equal[8]);"),
    ] {
        fault_has_no_proof("cpack_compressor", &line, correct, fault);
    }
    for (correct, fault) in [
        ("error_o = error_o | kind[6] | ", "error_o = error_o | "),
        ("word[15:8] = entry[15:8];", "word[15:8] = 8'd0;"),
    ] {
        fault_has_no_proof("cpack_decompressor", &line, correct, fault);
    }
}

#[test]
fn sc_codes_words_by_the_codes_that_were_loaded_last() {
    if is_long_run("sc_codes_words_by_the_codes_that_were_loaded_last") {
        // with 8 words at once, several claims do not end in a minute
        keeps_its_properties("sc_compressor", &[("symbols_per_cycle", "4")]);
    }
}

#[test]
fn wrong_codes_of_sc_are_found() {
    if !is_long_run("wrong_codes_of_sc_are_found") {
        return;
    }
    let symbols = [("symbols_per_cycle", "4")];
    for (correct, fault) in [
        ("code = reversed >> (CODE_BITS - load_length_i);", "code = reversed;"),
        (" & (entry[ENTRY_TAG +: 24] == tag_q)) begin", ") begin"),
        ("if (!fits) begin", "if (!loaded_q) begin"),
    ] {
        fault_has_no_proof("sc_compressor", &symbols, correct, fault);
    }
}

#[test]
fn sc_gives_the_values_whose_codes_were_loaded_last() {
    if is_long_run("sc_gives_the_values_whose_codes_were_loaded_last") {
        for symbols in ["1", "2", "4"] {
            keeps_its_properties("sc_decompressor", &[("symbols_per_cycle", symbols)]);
        }
    }
}

#[test]
fn wrong_values_of_sc_are_found() {
    if !is_long_run("wrong_values_of_sc_are_found") {
        return;
    }
    for (correct, fault) in [
        ("code_rank - load_code_i[10:0];", "rank_q - load_code_i[10:0];"),
        ("served_o[i] = pending_i[i] & ~waits;", "served_o[i] = pending_i[i];"),
        ("line_q <= {payload_q[991:0], blocks_q[63:32]};", "line_q <= {payload_q[991:0], blocks_q[31:0]};"),
    ] {
        fault_has_no_proof("sc_decompressor", &[], correct, fault);
    }
}

#[test]
fn the_assist_warp_controller_maps_events_and_throttles_low_priority() {
    keeps_its_properties("awc", &[]);
}

#[test]
fn a_wrong_map_of_the_assist_warp_controller_is_found() {
    for (correct, fault) in [
        ("known_q[map_event_i] <= map_enable_i;", "known_q[map_event_i] <= 1'b1;"),
        ("assist_warps_low_room = low_room_i & ~throttle_throttled;", "assist_warps_low_room = low_room_i;"),
    ] {
        fault_has_no_proof("awc", &[], correct, fault);
    }
}

#[test]
fn spp_predicts_the_requested_sectors() {
    for sectors in ["4", "8"] {
        keeps_its_properties("spp", &[("sectors", sectors)]);
    }
    let correct = "sectors_q <= pattern | requested_i;";
    fault_has_no_proof("spp", &[], correct, "sectors_q <= pattern;");
}

#[test]
fn every_block_with_properties_is_proved() {
    let text = include_str!("formal.rs");
    for name in properties::BLOCKS {
        assert!(text.contains(&format!("keeps_its_properties(\"{name}\"")), "{name}");
    }
}
