// bdi_compressor_bdi_pack_one_64_16
//
// Packs a line under one encoding: the base, the mask in whole bytes, then the deltas in the order of the
// words.
//
// BASE and DELTA are the bits of a word and of a delta, HEAD those of base and mask together. Only the low
// bits of each word are subtracted again: it is known that the upper ones repeat the sign.
//
// Parameters: BASE = 64, DELTA = 16, WORDS = 16, HEAD = 80, LINE = 1024, LW = 16
// Part of: bdi_compressor
// Source: CABA, section 5.1; LATTE-CC, section IV.C.1
// Written by selvedge 0.1.0 with reset async-low

`default_nettype none

module bdi_compressor_bdi_pack_one_64_16 (
  // the line
  input  wire [1023:0] line_i,
  // the base
  input  wire   [63:0] base_i,
  // one bit per word: it is a delta from zero
  input  wire   [15:0] mask_i,
  // the payload; zero beyond the last delta
  output wire [1023:0] payload_o
);

  localparam BASE = 64;
  localparam DELTA = 16;
  localparam HEAD = 80;
  reg [15:0] delta;
  reg [1023:0] payload;

  always @(*) begin : comb_delta
    integer i;
    delta = 16'd0;
    payload = 1024'd0;
    payload[63:0] = base_i;
    payload[79:64] = mask_i;
    for (i = 0; i < 16; i = i + 1) begin : each_delta
      delta = line_i[i*BASE +: 16];
      if (!mask_i[i]) begin
        delta = delta - base_i[15:0];
      end
      payload[HEAD+i*DELTA +: 16] = delta;
    end
  end

  assign payload_o = payload;

endmodule

`default_nettype wire
