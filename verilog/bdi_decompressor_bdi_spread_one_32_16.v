// bdi_decompressor_bdi_spread_one_32_16
//
// Spreads the deltas of one encoding: each sign-extended to a whole word, at that word's place in the line.
//
// BASE and DELTA are the bits of a word and of a delta, HEAD those of base and mask together.
//
// Parameters: BASE = 32, DELTA = 16, WORDS = 32, HEAD = 64, LINE = 1024, LW = 16
// Part of: bdi_decompressor
// Source: CABA, section 5.1; LATTE-CC, section IV.C.1
// Written by selvedge 0.1.0 with reset async-low

`default_nettype none

module bdi_decompressor_bdi_spread_one_32_16 (
  // the payload
  input  wire [1023:0] payload_i,
  // the deltas
  output wire [1023:0] deltas_o
);

  localparam BASE = 32;
  localparam DELTA = 16;
  localparam HEAD = 64;
  reg [15:0] delta;
  reg [31:0] word;
  reg [1023:0] deltas;

  always @(*) begin : comb_delta
    integer i;
    delta = 16'd0;
    word = 32'd0;
    deltas = 1024'd0;
    for (i = 0; i < 32; i = i + 1) begin : each_delta
      delta = payload_i[HEAD+i*DELTA +: 16];
      // extend the sign: all ones above a negative delta
      word = 32'd0;
      if (delta[15]) begin
        word = ~word;
      end
      word[15:0] = delta;
      deltas[i*BASE +: 32] = word;
    end
  end

  assign deltas_o = deltas;

endmodule

`default_nettype wire
