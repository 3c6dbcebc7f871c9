// SPDX-License-Identifier: MIT OR Apache-2.0
// bdi_compressor_bdi_choose
//
// Chooses base and mask of the encoding that is taken, by AND and OR: of the bits that say which
// one it is, one is set at most.
//
// Parameters: LINE = 1024, LW = 16, N8 = 16, N4 = 32, N2 = 64, FIRST = 1379, NEAR = 1392, NW = 22
// Part of: bdi_compressor
// Source: CABA, section 5.1; LATTE-CC, section IV.C.1
// Written by selvedge 0.1.0 with reset control

`default_nettype none

module bdi_compressor_bdi_choose (
  // the line, bases, masks and tag, as BdiNears lays them out
  input  wire [1391:0] near_i,
  // the base, zero-extended; for equal words the word itself
  output wire   [63:0] base_o,
  // one bit per word: it is a delta from zero
  output wire   [63:0] mask_o
);

  // one bit for each tag from 2 on
  wire [8:0] takes;
  reg [63:0] eight;
  reg [15:0] eight_mask;
  reg [31:0] four;
  reg [31:0] four_mask;
  reg [63:0] base;
  reg [63:0] mask;

  assign takes = near_i[1391:1383];

  always @(*) begin
    base = 64'd0;
    mask = 64'd0;
    // equal words: the first one
    if (takes[0]) begin
      base = near_i[63:0];
    end
    if (takes[4]) begin
      base = base | {32'd0, near_i[31:0]};
    end
    if (takes[7]) begin
      base = base | {48'd0, near_i[15:0]};
    end
    // 8-byte words; the upper bits of a base are those of the next wider delta's, or copies of its
    // sign
    eight = near_i[1087:1024];
    eight_mask = near_i[1250:1235];
    if (takes[3]) begin
      base = base | eight;
      mask = mask | {48'd0, eight_mask};
    end
    if (near_i[1200]) begin
      eight = 64'd0;
      if (near_i[1119]) begin
        eight = ~eight;
      end
    end
    eight[31:0] = near_i[1119:1088];
    eight_mask = near_i[1234:1219];
    if (takes[2]) begin
      base = base | eight;
      mask = mask | {48'd0, eight_mask};
    end
    if (near_i[1201]) begin
      eight = 64'd0;
      if (near_i[1135]) begin
        eight = ~eight;
      end
    end
    eight[15:0] = near_i[1135:1120];
    eight_mask = near_i[1218:1203];
    if (takes[1]) begin
      base = base | eight;
      mask = mask | {48'd0, eight_mask};
    end
    // 4-byte words
    four = near_i[1167:1136];
    four_mask = near_i[1314:1283];
    if (takes[6]) begin
      base = base | {32'd0, four};
      mask = mask | {32'd0, four_mask};
    end
    if (near_i[1202]) begin
      four = 32'd0;
      if (near_i[1183]) begin
        four = ~four;
      end
    end
    four[15:0] = near_i[1183:1168];
    four_mask = near_i[1282:1251];
    if (takes[5]) begin
      base = base | {32'd0, four};
      mask = mask | {32'd0, four_mask};
    end
    // 2-byte words
    if (takes[8]) begin
      base = base | {48'd0, near_i[1199:1184]};
      mask = mask | near_i[1378:1315];
    end
  end

  assign base_o = base;
  assign mask_o = mask;

  // bits that nothing here looks at
  wire unused = &{1'b0, near_i[1023:64], near_i[1382:1379]};

endmodule

`default_nettype wire
