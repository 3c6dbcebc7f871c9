// SPDX-License-Identifier: MIT OR Apache-2.0
// bpg
//
// Decides how many warps use the L1D and which bypass it, from shadow tags and reservation
// failures.
//
// Dai, sections 2.5 and 2.6. ADDRESS and TAG are the widths of a line address and of a tag, WORD
// that of a tag with its valid bit. INDEX is the width of a set's index, of which PLACE bits are
// its place in its group. A set has WAYS tags. ADJUSTED is the width of adjusted hits.
//
// Parameters: sets = 32, ways = 4
// In this file: ADDRESS = TAG_BITS + 5, TAG = TAG_BITS, WORD = TAG_BITS + 1, INDEX = 5, PLACE = 3,
// WAYS = 4, ADJUSTED = 14
// Source: Dai, section 2.6
// Written by selvedge 0.2.0 with reset control
// rst_ni needs a reset synchronizer: asserted at any time, released synchronously to clk_i
//
// BPG, bypassing-parameter generator: decides how many of an SM's warps or CTAs should use the L1D;
// the others bypass it.
//
// Source: Dai, section 2.5 (the model) and section 2.6 (the hardware, figure 5), for the scheme
// MDB.
//
// The more warps use the L1D, the less space each has, and the more often they stall it because no
// line, MSHR or miss-queue entry is free. For each L from 1 to 8, an *adjusted-hits calculator*
// weighs hits against these reservation failures, as if the first L warps or CTAs used the L1D:
//
//   adjusted hits = hits - E x RF_estimated        RF_estimated = RF_base x (L/N)^3        E = 1/2
//
// Each calculator counts hits in a shadow tag array, which sees only the accesses of warps 0 to
// L-1. All calculators share one counter of reservation failures. Their decrease with the cube of L
// is an empirical fit. Every 1,000 accesses, the L with the most adjusted hits becomes `l_max_o`.
// All counters are then halved, so that history fades. L = 8 means that all use the L1D.
//
//    line_i --> set, sampled?, tag --+--> calculator 0: warp 0     --\
//    warp_i -------------------------+--> calculator 1: warps 0..1 ---+--> adjusted hits --> largest --> l_max_o, bypass_o
//                                    :             :                  |      (registered)
//                                    +--> calculator 7: warps 0..7 --/
//    rsfail_i --> [failures] --> x L^3 / 1024, for each L --^
//
//    calculator: [tags of 4 sets, youngest first] --> hit? --> [hits] x 8 --> (-) --> adjusted hits
//                                                 failures x (L/8)^3 x 1/2 ----^
//
// Choices where the paper is silent:
// - N is 8, the largest L. The precomputed (L/N)^3 is L^3 / 512, a constant of each calculator.
//   RF_base is the value of the counter, although the counter underestimates the baseline's
//   failures while some warps bypass.
// - Hits are counted in 4 sets, failures in all sets. With 32 sets, hits are therefore multiplied
//   by 8, which is only wiring, instead of dividing failures. The product failures x L^3 is shifted
//   right by 9 + 1 bits: 9 for the division by 512, 1 for E.
// - The low bits of the line address are the set index (BMOD). For any `sets`, one set of each
//   quarter is sampled, each at a different position: sets 0, 9, 18 and 27 of 32. Strides of 2 and
//   4 lines are then sampled like stride 1. With sets 0, 8, 16 and 24, a stride of 8 would be
//   sampled always or never.
// - The calculators estimate a hypothetical L1D in which a miss fills at once. They therefore see
//   every access, including bypassing accesses. An access that is retried after a reservation
//   failure counts once. Stores do not allocate in this L1D and must not be shown to the block.
// - Accesses of warps 8 and up count towards the interval, but no calculator watches them, as
//   printed. These warps bypass unless L = 8.
// - The interval ends with its last access. Its adjusted hits exclude that access. The halving
//   comes before the access's hit and a failure of that cycle are counted. The largest adjusted
//   hits are chosen one cycle later.
// - Among equal adjusted hits, the larger L is chosen: less bypassing. After reset, L is 8.
// - If no calculator has a hit, L does not change; after reset, all warps use the L1D. The adjusted
//   hits would otherwise depend only on the failures' model, which grows with L for any loads: a
//   few failures would set L to 1. Hits are sampled, and a working set of a few lines can map to
//   sets that are not sampled. The cost of bypassing is then unknown.
// - Counters saturate. A hit counter can saturate although an interval has fewer accesses: all can
//   fall into sampled sets, and half of the earlier count remains.
// - The tags of a set are kept in the order of their last use, in one memory for each position. An
//   access writes its tag to the first position. Earlier tags move one position further, up to the
//   old position of the tag or, on a miss, to the last one. This needs no ages and no victim
//   search. All memories have the same address, the set. An access reads and writes each memory at
//   most once.
// - The memories have no reset. One flip-flop per set, shared by all calculators, records whether
//   the set had an access since reset. The first access of a set ignores the memories' contents and
//   writes every position. Each word has a valid bit next to the tag. An ASIC technology may
//   implement memories of this size as flip-flops or latches. In simulation they are several times
//   faster than registers.
// - The eight products share their sums, since all multiply the same failures: five additions
//   replace eight multiplications.
//
// PARAMETERS
// - sets, default 32, allowed 16, 32, 64, 128, 256: sets of the L1D; 4 are sampled, for any value
// - ways, default 4, allowed 4, 6: ways of a set
// - tag_bits, default 32, allowed 20, 32: width of a tag; a line address has the bits of a set's
//   index more (20: byte addresses of 32 bits)
// - interval, default 1000, allowed 500, 1000: accesses after which a new L is chosen
//
// PORTS AND TIMING
// All outputs come from registers, `bypass_o` through a comparison.
//
//   clk_i     __/--\__/--\__/--\__/--\__/--\__
//   access_i  __/-----\_______________________     the 1000th access
//   line_i    ==< A   >=======================
//   l_max_o   ==< old             >< new >====
//   bypass_o  ==< old             >< new >====     bit w: warp or CTA w bypasses; those from 8 on use bit 7
//   update_o  ____________________/-----\_____     L is chosen again in this cycle, perhaps unchanged
//
// STORAGE
// The paper counts 35 bits per shadow tag (1 valid, 2 LRU, up to 32 tag bits), 8 x 16 tags per SM,
// a 10-bit hit counter per calculator and a 12-bit failure counter, "etc.": 4,572 bits per SM.
// CACTI gives 0.087 mm2 in 45 nm for the tags of 15 SMs (15 x 128 x 35 bits), with 0.001 nJ per
// access and 0.27 mW of leakage. This block holds 4,449 bits. It has 33 bits per tag and a flag per
// sampled set (4) instead of 35 bits per tag, and the same counters. It adds the access counter
// (10), the adjusted hits between subtraction and choice (8 x 14), and the choice (4) with its
// three flags (3). With the adjusted hits in registers, the multiplication and the choice are two
// paths of one cycle each instead of one long path.

`default_nettype none

module bpg #(
  // Width of a tag; a line address has the bits of a set's index more; verified with 20, 32
  parameter integer TAG_BITS = 32,
  // Accesses after which a new L is chosen; verified with 500, 1000
  parameter integer INTERVAL = 1000
) (
  // clock
  input  wire                clk_i,
  // asynchronous reset, active low: nothing is known, nobody bypasses
  input  wire                rst_ni,
  // a load accesses the L1D or bypasses it
  input  wire                access_i,
  // line address
  input  wire [TAG_BITS+4:0] line_i,
  // number of the warp or CTA
  input  wire          [5:0] warp_i,
  // a request fails to reserve a line, an MSHR or a miss-queue entry
  input  wire                rsfail_i,
  // number of warps or CTAs that may use the L1D
  output wire          [3:0] l_max_o,
  // bit w: warp or CTA w bypasses the L1D; those from 8 on use bit 7
  output reg           [7:0] bypass_o,
  // the number was chosen again at the last clock edge
  output wire                update_o
);

  // a parameter with a value that is not verified: the message is the name of a missing module
  generate
    if (TAG_BITS != 20 && TAG_BITS != 32) begin : gen_wrong_tag_bits
      bpg_TAG_BITS_must_be_20_or_32 wrong_tag_bits ();
    end
    if (INTERVAL != 500 && INTERVAL != 1000) begin : gen_wrong_interval
      bpg_INTERVAL_must_be_500_or_1000 wrong_interval ();
    end
  endgenerate

  // line: the first bit of each field
  localparam LINE_PLACE = 0;
  localparam LINE_SET_INDEX = 3;
  localparam LINE_TAG = 5;
  localparam LAST_OF_INTERVAL_INTEGER = INTERVAL - 1;
  localparam [9:0] LAST_OF_INTERVAL = LAST_OF_INTERVAL_INTEGER[9:0];
  wire [2:0] place;
  wire [1:0] group;
  wire sampled;
  wire [TAG_BITS-1:0] tag;
  wire set_known;
  wire interval_ends;
  reg [11:0] faded;
  wire [47:0] calculator_last_warp;
  wire [7:0] calculator_any_hit;
  wire [111:0] calculator_adjusted;
  wire [87:0] half_failures_half;
  wire [3:0] most_hits_l;
  // sampled sets that had an access since reset
  reg [3:0] known_q;
  reg [9:0] accesses_d;
  reg [9:0] accesses_q;
  reg [11:0] rsfails_q;
  // the interval ended at the last clock edge: choose
  reg ended_q;
  // at least one calculator has a hit in the interval that ended
  reg hit_q;
  reg [3:0] l_max_q;
  reg updated_q;

  genvar g;
  generate
    for (g = 0; g < 8; g = g + 1) begin : gen_calculator
      bpg_adjusted_hits #(.TAG_BITS (TAG_BITS)) calculator (
        .clk_i           (clk_i),
        .rst_ni          (rst_ni),
        .last_warp_i     (calculator_last_warp[g*6 +: 6]),
        .access_i        (sampled),
        .warp_i          (warp_i),
        .set_i           (group),
        .known_i         (set_known),
        .tag_i           (tag),
        .half_i          (half_failures_half[g*11 +: 11]),
        .interval_ends_i (interval_ends),
        .any_hit_o       (calculator_any_hit[g]),
        .adjusted_o      (calculator_adjusted[g*14 +: 14])
      );
    end
  endgenerate

  bpg_half_failures half_failures (
    .rsfails_i (rsfails_q),
    .half_o    (half_failures_half)
  );

  bpg_most_hits most_hits (
    .adjusted_i (calculator_adjusted),
    .l_o        (most_hits_l)
  );

  // sample one set of each group: the one whose position in the group is the group number
  assign place = line_i[LINE_PLACE +: 3];
  assign group = line_i[LINE_SET_INDEX +: 2];
  assign tag = line_i[LINE_TAG +: TAG_BITS];
  assign sampled = access_i & (place == {1'b0, group});

  assign set_known = known_q[group];
  // at the last access of the interval, register the adjusted hits and halve all counters
  assign interval_ends = access_i & (accesses_q == LAST_OF_INTERVAL);

  always @(*) begin
    accesses_d = accesses_q + {9'd0, access_i};
    faded = rsfails_q;
    if (interval_ends) begin
      accesses_d = 10'd0;
      faded = rsfails_q >> 1;
    end
  end

  assign calculator_last_warp = {6'd7, 6'd6, 6'd5, 6'd4, 6'd3, 6'd2, 6'd1, 6'd0};

  always @(*) begin : comb_bypass_o
    integer i;
    reg [3:0] level;
    for (i = 0; i < 8; i = i + 1) begin
      level = i[3:0];
      bypass_o[i] = l_max_q <= level;
    end
  end

  assign l_max_o = l_max_q;
  assign update_o = updated_q;

  // one cycle later, compare the adjusted hits; without any hit, keep the number
  always @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      ended_q <= 1'b0;
      updated_q <= 1'b0;
      accesses_q <= 10'd0;
    end else begin
      ended_q <= interval_ends;
      updated_q <= ended_q;
      accesses_q <= accesses_d;
    end
  end

  always @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      l_max_q <= 4'd8;
    end else if (ended_q & hit_q) begin
      l_max_q <= most_hits_l;
    end
  end

  always @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      known_q <= 4'd0;
    end else if (sampled) begin
      known_q[group] <= 1'b1;
    end
  end

  always @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      rsfails_q <= 12'd0;
    end else begin
      rsfails_q <= faded;
      if (rsfail_i & ~(&faded)) begin
        rsfails_q <= faded + 12'd1;
      end
    end
  end

  always @(posedge clk_i or negedge rst_ni) begin : update_hit_q
    integer i;
    if (!rst_ni) begin
      hit_q <= 1'b0;
    end else begin
      hit_q <= 1'b0;
      for (i = 0; i < 8; i = i + 1) begin
        if (calculator_any_hit[i]) begin
          hit_q <= 1'b1;
        end
      end
    end
  end

endmodule

`default_nettype wire
