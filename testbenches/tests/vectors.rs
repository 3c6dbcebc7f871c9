//! Tests that the default vectors of `gen --cocotb` and `gen --uvm-vectors` reach each block's corner cases, and that wrong
//! circuits fail them.
use selvedge_blocks::{built_in, find};
use selvedge_gen::{EmitOptions, Language, ResetStyle};
use selvedge_hw::BlockEntry;
use selvedge_testbenches::emitted::{Emitted, VerilogFile};
use selvedge_testbenches::icarus::{self, IcarusError};
use selvedge_testbenches::vector_file::{self, VectorExtent, VectorFile};
use selvedge_testbenches::{parallel, testbench};
use std::sync::Mutex;

/// The vectors that `gen` writes by default.
const DEFAULT: VectorExtent = VectorExtent { operations: None, seed: 1, reset: ResetStyle::Control };

/// Max size of a vector file, bytes. The largest fills the table of `sc_compressor`.
const LARGEST: usize = 32 << 20;

fn vectors(block: &dyn BlockEntry) -> VectorFile {
    vector_file::write(block, &block.defaults(), DEFAULT).unwrap()
}

#[test]
fn every_corner_case_is_reached_and_stated() {
    parallel::each(built_in(), |block| {
        let file = vectors(*block);
        let (name, kilobytes) = (block.name(), file.text.len() / 1000);
        println!("{name}: {} cycles, {} operations, {kilobytes} KB", file.vectors.len(), file.operations);
        assert_eq!(file.unreached(), [""; 0], "{name}");
        for corner in &file.corners {
            let line = format!("\n# reached {} times: {}\n", corner.times, corner.name);
            print!("{name}: {}", line.trim_start());
            assert!(file.text.contains(&line), "{name}: {line}");
        }
        assert!(!file.corners.is_empty() && !file.text.contains("NOT reached"), "{name}");
        assert!(file.text.len() <= LARGEST, "{name}: {kilobytes} KB");
    });
}

/// A wrong circuit: the block's Verilog with one text, which must occur once, replaced.
struct Wrong {
    block: &'static str,
    what: &'static str,
    find: &'static str,
    replace: &'static str,
}

/// At least one wrong circuit per block. Most need many operations to be detected.
const WRONG: &[Wrong] = &[
    Wrong {
        block: "awb",
        what: "a pop of an empty slot counts",
        find: "popped = popped & one_q;",
        replace: "popped = popped;",
    },
    Wrong {
        block: "awb",
        what: "a flush leaves what waits",
        find: "one_q <= (stay | placed) & ~flushed;",
        replace: "one_q <= stay | placed;",
    },
    Wrong {
        block: "awc",
        what: "nothing is throttled",
        find: "throttled_d = scarce;",
        replace: "throttled_d = 1'b0;",
    },
    Wrong {
        block: "awc",
        what: "an event that is disabled stays known",
        find: "known_q[map_event_i] <= map_enable_i;",
        replace: "known_q[map_event_i] <= 1'b1;",
    },
    Wrong {
        block: "aws",
        what: "the address has no carry",
        find: "memory_read_address = start + ",
        replace: "memory_read_address = start | ",
    },
    Wrong {
        block: "awt",
        what: "turns start over with each row",
        find: "behind_last_q <= next_entry_behind;",
        replace: "behind_last_q <= 8'd0;",
    },
    Wrong {
        block: "awt",
        what: "killing both priorities spares the high one",
        find: "killed = killed | ~high_q;",
        replace: "killed = ~high_q;",
    },
    Wrong {
        block: "bdi_compressor",
        what: "a negative base of one byte in four has no sign",
        find: "four = {32{near_i[NEAR_BASE_B4D1+15]}};",
        replace: "four = 32'd0;",
    },
    Wrong {
        block: "bdi_decompressor",
        what: "an unknown encoding is no error",
        find: "error_o = operands_i[2051:2048] > B2D1;",
        replace: "error_o = 1'b0;",
    },
    Wrong {
        block: "bgp",
        what: "the default never flips",
        find: "(next_insertions > SKEW_LIMIT)",
        replace: "(next_insertions > 10'd999)",
    },
    Wrong {
        block: "bgp",
        what: "the halves never swap",
        find: "active_q <= both_fill_q & ~active_q;",
        replace: "active_q <= 1'b0;",
    },
    Wrong {
        block: "bpc_compressor",
        what: "a run ends with its group of planes",
        find: "run = here + run_i;",
        replace: "run = here;",
    },
    Wrong {
        block: "bpc_decompressor",
        what: "codes beyond the line are no error",
        find: "failed_q | (length_q > LINE_BITS)",
        replace: "failed_q",
    },
    Wrong {
        block: "bpg",
        what: "failures do not fade",
        find: "faded = rsfails_q >> 1;",
        replace: "faded = rsfails_q;",
    },
    Wrong {
        block: "bpg",
        what: "an interval without hits decides",
        find: "ended_q & hit_q",
        replace: "ended_q",
    },
    Wrong {
        block: "cpack_compressor",
        what: "the third word enters the second place",
        find: "place2 = next2;",
        replace: "place2 = next1;",
    },
    Wrong {
        block: "cpack_compressor",
        what: "a line that grows is sent compressed",
        find: "end else if (length[9]) begin",
        replace: "end else if (1'b0) begin",
    },
    Wrong {
        block: "cpack_decompressor",
        what: "an error counts in the last group alone",
        find: "seen_wrong = seen_wrong | wrong_q;",
        replace: "seen_wrong = seen_wrong;",
    },
    Wrong {
        block: "decompression_queue",
        what: "a line that leaves as one enters is counted twice",
        find: "begins & ~enters",
        replace: "begins",
    },
    Wrong {
        block: "decompression_queue",
        what: "a latency of zero is kept",
        find: "latency_i : 4'd1;",
        replace: "latency_i : 4'd0;",
    },
    Wrong {
        block: "fpc_compressor",
        what: "a raw line is called compressed",
        find: "result[RESULT_ENCODING] = ~(&prefixes);",
        replace: "result[RESULT_ENCODING] = 1'b1;",
    },
    Wrong {
        block: "fpc_decompressor",
        what: "a raw line is taken apart",
        find: "prefixes = RAW;",
        replace: "prefixes = 24'd0;",
    },
    Wrong {
        block: "latte_controller",
        what: "the high mode is never chosen",
        find: "mode_q <= 2'd2;",
        replace: "mode_q <= 2'd1;",
    },
    Wrong {
        block: "latte_controller",
        what: "a tie is better",
        find: "(|next_difference) &",
        replace: "1'b1 &",
    },
    Wrong {
        block: "latte_controller",
        what: "hits count in the first period alone",
        find: "(ep_q < 4'd2)",
        replace: "(ep_q < 4'd1)",
    },
    Wrong {
        block: "md_cache",
        what: "a block that was written back stays dirty",
        find: "next_dirty = dirty & ~chosen;",
        replace: "next_dirty = dirty;",
    },
    Wrong {
        block: "md_cache",
        what: "a use of the last way is forgotten",
        find: "next_order = order & 6'd11;",
        replace: "next_order = order;",
    },
    Wrong {
        block: "milg",
        what: "the limit never changes",
        find: "limit_q <= divider_quotient;",
        replace: "limit_q <= limit_q;",
    },
    Wrong {
        block: "milg",
        what: "failures wrap",
        find: "if (rsfail_i & ~(&rsfails_q)) begin",
        replace: "if (rsfail_i) begin",
    },
    Wrong {
        block: "milg",
        what: "what exceeds the limit counts as the maximum",
        find: "? limit_q : max_inflight_q;",
        replace: "? max_inflight_q : max_inflight_q;",
    },
    Wrong {
        block: "qbmi",
        what: "a quota wraps",
        find: "end else if (left > room) begin",
        replace: "end else if (1'b0) begin",
    },
    Wrong {
        block: "qbmi",
        what: "averages never change quotas",
        find: "renewed_q <= 1'b1;",
        replace: "renewed_q <= 1'b0;",
    },
    Wrong {
        block: "sc_code_builder",
        what: "a node that was just made is read old",
        find: "bypass_q <= make & (taken_next == made_q);",
        replace: "bypass_q <= 1'b0;",
    },
    Wrong {
        block: "sc_code_builder",
        what: "a code that is too short is not lengthened",
        find: "shortening_d = excess_next[15];",
        replace: "shortening_d = 1'b0;",
    },
    Wrong {
        block: "sc_compressor",
        what: "words without a code are sent",
        find: "fits = loaded_q & ~next_uncoded & ",
        replace: "fits = loaded_q & ",
    },
    Wrong {
        block: "sc_decompressor",
        what: "an escape's word has no length",
        find: "code_end_at = code_end_at + 11'd32;",
        replace: "code_end_at = code_end_at;",
    },
    Wrong {
        block: "sc_vft",
        what: "counts stay when one is full",
        find: "next_count = count[way*12 +: 12] >> 1;",
        replace: "next_count = count[way*12 +: 12];",
    },
    Wrong {
        block: "sc_vft",
        what: "a set that is written is read old",
        find: "forward_q <= training_q & (next_set == set_q);",
        replace: "forward_q <= 1'b0;",
    },
    Wrong {
        block: "set_index_a_prime",
        what: "the prime itself is a remainder",
        find: "if (rest >= MULTIPLE[i*9 +: 9]) begin",
        replace: "if (rest > MULTIPLE[i*9 +: 9]) begin",
    },
    Wrong {
        block: "set_index_bmod",
        what: "the lowest bit is lost",
        find: "index_q <= line_i[K-1:0];",
        replace: "index_q <= line_i[K:1];",
    },
    Wrong {
        block: "set_index_bxor",
        what: "tags are added without carry by OR",
        find: "line_i[K-1:0] ^ line_i[",
        replace: "line_i[K-1:0] | line_i[",
    },
    Wrong {
        block: "set_index_d_prime",
        what: "tags have the factor one",
        find: "(tag * PRIME[K-1:0])",
        replace: "tag",
    },
    Wrong {
        block: "set_index_i_poly",
        what: "one bit has another power",
        find: "{5'd1, 5'd18, 5'd9,",
        replace: "{5'd1, 5'd18, 5'd8,",
    },
    Wrong {
        block: "set_index_pmod",
        what: "the prime itself is a remainder",
        find: "if (rest >= MULTIPLE) begin",
        replace: "if (rest > MULTIPLE) begin",
    },
    Wrong {
        block: "spp",
        what: "words from before a reset are patterns",
        find: "found = swept & patterns",
        replace: "found = patterns",
    },
    Wrong {
        block: "spp",
        what: "a pattern that is committed is not seen at once",
        find: "pattern = used_i;",
        replace: "pattern = UNKNOWN_PATTERN;",
    },
];

fn planted(wrong: &Wrong) -> Emitted {
    let block = find(wrong.block).unwrap();
    let mut emitted = Emitted::of(block, &block.defaults(), &EmitOptions::default()).unwrap();
    let count: usize = emitted.sources.iter().map(|source| source.text.matches(wrong.find).count()).sum();
    assert_eq!(count, 1, "{}: `{}`", wrong.block, wrong.find);
    for source in &mut emitted.sources {
        source.text = source.text.replace(wrong.find, wrong.replace);
    }
    emitted
}

/// Returns the line of the first difference between a circuit and the vectors, if there is one.
fn difference(file: &VectorFile, circuit: &Emitted) -> Option<String> {
    let block = find(&circuit.name).unwrap();
    let params = block.defaults();
    let bench = testbench::of_vectors(block, &params, &file.vectors, "a vector file", DEFAULT.reset).unwrap();
    let folder = tempfile::tempdir().unwrap();
    match icarus::run(&bench, circuit, folder.path()) {
        Ok(passed) => {
            assert_eq!(passed, file.vectors.len() as u64);
            None
        }
        Err(IcarusError::Failed { output, .. }) => {
            let line = output.lines().find(|line| line.starts_with("FAIL ") && line.contains(" at clock "));
            Some(line.unwrap_or_else(|| panic!("{}: {output}", circuit.name)).to_string())
        }
        Err(error) => panic!("{}: {error}", circuit.name),
    }
}

#[test]
fn a_wrong_circuit_of_each_block_fails() {
    let survivors = Mutex::new(Vec::new());
    parallel::each(built_in(), |block| {
        let wrongs: Vec<&Wrong> = WRONG.iter().filter(|wrong| wrong.block == block.name()).collect();
        assert!(!wrongs.is_empty(), "{}: no wrong circuit", block.name());
        let file = vectors(*block);
        for wrong in wrongs {
            let found = difference(&file, &planted(wrong));
            println!("{}: {}: {found:?}", wrong.block, wrong.what);
            if found.is_none() {
                survivors.lock().unwrap().push(format!("{}: {}", wrong.block, wrong.what));
            }
        }
    });
    assert_eq!(survivors.into_inner().unwrap(), [""; 0]);
}

/// A MILG that counts instructions in flight but never limits them.
const WITHOUT_A_LIMIT: &str = r"
module milg (
  input wire clk_i, input wire rst_ni, input wire [1:0] issued_i, input wire [1:0] completed_i,
  input wire request_i, input wire rsfail_i,
  output wire may_issue_o, output reg [6:0] inflight_o, output wire [6:0] limit_o, output wire update_o
);
  wire [8:0] up = {2'd0, inflight_o} + {7'd0, issued_i};
  wire [8:0] down = (up < {7'd0, completed_i}) ? 9'd0 : up - {7'd0, completed_i};
  assign limit_o = 7'd127;
  assign update_o = 1'b0;
  assign may_issue_o = inflight_o < limit_o;
  always @(posedge clk_i or negedge rst_ni)
    if (!rst_ni) inflight_o <= 7'd0;
    else inflight_o <= (down > 9'd127) ? 7'd127 : down[6:0];
endmodule
";

#[test]
fn a_milg_without_a_limiter_fails_the_default_vectors_alone() {
    let block = find("milg").unwrap();
    let text = WITHOUT_A_LIMIT.to_string();
    let own = Emitted {
        name: "milg".into(),
        ports: block.ports(&block.defaults()).unwrap(),
        reset: DEFAULT.reset,
        sources: vec![VerilogFile { module: "milg".into(), language: Language::Verilog, text }],
    };
    let found = difference(&vectors(block), &own).expect("it is wrong");
    assert!(found.contains("update_o is 0, expected 1"), "{found}");
    // A thousand operations end before the first decision; the file lists the unreached cases.
    let few = VectorExtent { operations: Some(1000), ..DEFAULT };
    let few = vector_file::write(block, &block.defaults(), few).unwrap();
    assert_eq!(difference(&few, &own), None);
    let unreached = few.unreached();
    assert!(unreached.contains(&"limit from the limit before"), "{unreached:?}");
    for name in unreached {
        assert!(few.text.contains(&format!("\n# NOT reached: {name}\n")), "{name}");
    }
}
