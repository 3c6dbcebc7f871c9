// SPDX-License-Identifier: MIT OR Apache-2.0
// fpc_compressor_fpc_classify
//
// Finds the pattern of each group of words: GROUPS groups of GROUP words each.
//
// A group of one word is the original algorithm, with zero runs of up to eight words. A larger
// group is a segment, whose words all have its pattern. The symbols of a group are nine bits: its
// prefix, the words minus one of the zero run that ends here, and the number of these bits in the
// head (0 within a run, 6 at its end, otherwise 3).
//
// Parameters: GROUPS = 8, GROUP = 4
// Part of: fpc_compressor
// Source: LATTE-CC, table I; CABA, section 5.1.4
// Written by selvedge 0.2.0 with reset control

`default_nettype none

module fpc_compressor_fpc_classify (
  // the line
  input  wire [1023:0] line_i,
  // prefix, run and length for each group
  output reg    [71:0] symbols_o
);

  localparam GROUP = 4;
  localparam [2:0] ZEROS = 3'd0;
  localparam [2:0] SIGN4 = 3'd1;
  localparam [2:0] SIGN8 = 3'd2;
  localparam [2:0] SIGN16 = 3'd3;
  localparam [2:0] UPPER16 = 3'd4;
  localparam [2:0] TWO_BYTES = 3'd5;
  localparam [2:0] REPEATED = 3'd6;
  localparam [2:0] RAW = 3'd7;
  // zero words form runs
  localparam HAS_RUNS = 1'b0;

  always @(*) begin : comb_symbols_o
    integer g;
    integer w;
    reg [31:0] word;
    reg is_zero;
    reg is_sign4;
    reg is_sign8;
    reg is_sign16;
    reg is_upper16;
    reg is_two_bytes;
    reg is_repeated;
    // groups of zeros; the bit after the last group stays zero, which ends the run
    reg [32:0] zero_groups;
    reg [2:0] prefix;
    reg [2:0] length;
    // zero words of the run before this word
    reg [2:0] run;
    zero_groups = 33'd0;
    run = 3'd0;
    symbols_o = 72'd0;
    for (g = 0; g < 8; g = g + 1) begin
      is_zero = 1'b1;
      is_sign4 = 1'b1;
      is_sign8 = 1'b1;
      is_sign16 = 1'b1;
      is_upper16 = 1'b1;
      is_two_bytes = 1'b1;
      is_repeated = 1'b1;
      for (w = 0; w < 4; w = w + 1) begin
        word = line_i[(g*GROUP+w)*32 +: 32];
        if (|word) begin
          is_zero = 1'b0;
        end
        // sign-extended words: all upper bits equal the sign
        if ((|word[31:3]) & ~(&word[31:3])) begin
          is_sign4 = 1'b0;
        end
        if ((|word[31:7]) & ~(&word[31:7])) begin
          is_sign8 = 1'b0;
        end
        if ((|word[31:15]) & ~(&word[31:15])) begin
          is_sign16 = 1'b0;
        end
        if (|word[15:0]) begin
          is_upper16 = 1'b0;
        end
        if ((|word[15:7]) & ~(&word[15:7])) begin
          is_two_bytes = 1'b0;
        end
        if ((|word[31:23]) & ~(&word[31:23])) begin
          is_two_bytes = 1'b0;
        end
        if (word[23:0] != word[31:8]) begin
          is_repeated = 1'b0;
        end
      end
      // select the pattern with the fewest data bits
      if (is_zero) begin
        prefix = ZEROS;
      end else if (is_sign4) begin
        prefix = SIGN4;
      end else if (is_sign8) begin
        prefix = SIGN8;
      end else if (is_repeated) begin
        prefix = REPEATED;
      end else if (is_sign16) begin
        prefix = SIGN16;
      end else if (is_upper16) begin
        prefix = UPPER16;
      end else if (is_two_bytes) begin
        prefix = TWO_BYTES;
      end else begin
        prefix = RAW;
      end
      symbols_o[g*9 +: 3] = prefix;
      zero_groups[g] = is_zero;
    end
    for (g = 0; g < 8; g = g + 1) begin
      length = 3'd3;
      if (zero_groups[g] & HAS_RUNS) begin
        // a run ends at its eighth word or before a nonzero word
        if ((&run) | ~zero_groups[g+1]) begin
          symbols_o[g*9+3 +: 3] = run;
          length = 3'd6;
          run = 3'd0;
        end else begin
          length = 3'd0;
          run = run + 3'd1;
        end
      end
      symbols_o[g*9+6 +: 3] = length;
    end
  end

endmodule

`default_nettype wire
