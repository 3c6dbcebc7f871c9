// SPDX-License-Identifier: MIT OR Apache-2.0
// bgp_hashes
//
// Indices of a block address into the banks: six linear hashes; hash h goes to bank h ^ skew.
//
// A is the width of an index into a bank.
//
// Parameters: A = 8
// Part of: bgp
// Source: LAMAR, section 3.4
// Written by selvedge 0.2.0 with reset control

`default_nettype none

module bgp_hashes (
  // the block address
  input  wire [31:0] address_i,
  // one index per bank
  output reg  [63:0] index_o,
  // banks that no hash goes to
  output reg   [7:0] unused_o
);

  // mask of address bits whose exclusive-or is one bit of one index
  localparam [1727:0] TAPS = {32'h28106000, 32'h80040058, 32'h10022042, 32'h52300, 32'h18500020,
      32'h80008c80, 32'h201000c8, 32'h30800420, 32'h201c001, 32'h20188002, 32'h9410010, 32'hc104400,
      32'h20400980, 32'h8002441, 32'h18a004, 32'h8094040, 32'h409006, 32'h428210, 32'h8094008,
      32'h812110, 32'h1a004400, 32'h2008013, 32'h21288000, 32'hc088400, 32'h2071000, 32'h4660000,
      32'h18408004, 32'h40043010, 32'h28204020, 32'ha0804100, 32'h94040040, 32'h20030084, 32'h42a10,
      32'h8002031, 32'h1040019, 32'h408a100, 32'h205081, 32'h20240003, 32'h1080068, 32'h80720,
      32'h340140, 32'h40502040, 32'hb000402, 32'h90822, 32'h20101900, 32'h2c200010, 32'h24004120,
      32'h20008403, 32'h89082000, 32'h800e0040, 32'h800e40, 32'h8007001, 32'h11091, 32'h15002002};
  localparam [95:0] SKEW_TAPS = {32'h88200180, 32'h43001004, 32'h20226};
  reg [63:0] hashed;
  reg [63:0] first;
  reg [63:0] second;
  reg [2:0] skew;

  always @(*) begin : comb_skew
    integer bit_index;
    for (bit_index = 0; bit_index < 3; bit_index = bit_index + 1) begin
      skew[bit_index] = ^(address_i & SKEW_TAPS[bit_index*32 +: 32]);
    end
  end

  always @(*) begin : comb_hashed
    integer bit_index;
    integer hash;
    hashed[55:48] = 8'd0;
    hashed[63:56] = 8'd0;
    for (hash = 0; hash < 6; hash = hash + 1) begin
      hashed[hash*8 +: 8] = 8'd0;
      for (bit_index = 0; bit_index < 8; bit_index = bit_index + 1) begin
        hashed[hash*8+bit_index] = ^(address_i & TAPS[(hash*9+bit_index)*32 +: 32]);
      end
    end
  end

  // hash h goes to bank h ^ skew: each bit of the skew swaps neighbors, pairs or fours
  always @(*) begin : comb_first
    integer i;
    for (i = 0; i < 4; i = i + 1) begin
      first[2*i*8 +: 8] = hashed[2*i*8 +: 8];
      first[(2*i+1)*8 +: 8] = hashed[(2*i+1)*8 +: 8];
      if (skew[0]) begin
        first[2*i*8 +: 8] = hashed[(2*i+1)*8 +: 8];
        first[(2*i+1)*8 +: 8] = hashed[2*i*8 +: 8];
      end
    end
  end

  always @(*) begin : comb_second
    integer i;
    integer j;
    for (i = 0; i < 2; i = i + 1) begin
      for (j = 0; j < 2; j = j + 1) begin
        second[(4*i+j)*8 +: 8] = first[(4*i+j)*8 +: 8];
        second[(4*i+2+j)*8 +: 8] = first[(4*i+2+j)*8 +: 8];
        if (skew[1]) begin
          second[(4*i+j)*8 +: 8] = first[(4*i+2+j)*8 +: 8];
          second[(4*i+2+j)*8 +: 8] = first[(4*i+j)*8 +: 8];
        end
      end
    end
  end

  always @(*) begin : comb_index_o
    integer i;
    for (i = 0; i < 4; i = i + 1) begin
      index_o[i*8 +: 8] = second[i*8 +: 8];
      index_o[(i+4)*8 +: 8] = second[(i+4)*8 +: 8];
      if (skew[2]) begin
        index_o[i*8 +: 8] = second[(i+4)*8 +: 8];
        index_o[(i+4)*8 +: 8] = second[i*8 +: 8];
      end
    end
  end

  // hashes 6 and 7 do not exist: their banks are unused by this address
  always @(*) begin : comb_unused_o
    integer bank;
    for (bank = 0; bank < 8; bank = bank + 1) begin
      unused_o[bank] = (skew ^ bank[2:0]) >= 3'd6;
    end
  end

endmodule

`default_nettype wire
