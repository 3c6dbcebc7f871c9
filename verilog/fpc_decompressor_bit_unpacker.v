// fpc_decompressor_bit_unpacker
//
// Takes a string of FIELDS times F bits apart into FIELDS fields of at most F bits, field 0 lowest.
//
// A tree: each level splits a string in two. Bits of a field from its length on are zero.
//
// Parameters: FIELDS = 32, F = 32, LEN = 6, IN = 1024, INW = 16
// Part of: fpc_decompressor
// Source: LATTE-CC, table I; CABA, section 5.1.4
// Written by selvedge 0.1.0 with reset async-low

`default_nettype none

module fpc_decompressor_bit_unpacker (
  // the string
  input  wire [1023:0] string_i,
  // bits of each field, 0 to F
  input  wire  [191:0] length_i,
  // the fields, each in the low bits
  output wire [1023:0] field_o
);

  genvar g;

  // the lengths of all strings, from the fields up
  wire [32*6-1:0] length_0;
  assign length_0 = length_i;
  wire [16*7-1:0] length_1;
  generate
    for (g = 0; g < 16; g = g + 1) begin : sum_1
      assign length_1[g*7 +: 7] = {1'd0, length_0[2*g*6 +: 6]} + {1'd0, length_0[(2*g+1)*6 +: 6]};
    end
  endgenerate
  wire [8*8-1:0] length_2;
  generate
    for (g = 0; g < 8; g = g + 1) begin : sum_2
      assign length_2[g*8 +: 8] = {1'd0, length_1[2*g*7 +: 7]} + {1'd0, length_1[(2*g+1)*7 +: 7]};
    end
  endgenerate
  wire [4*9-1:0] length_3;
  generate
    for (g = 0; g < 4; g = g + 1) begin : sum_3
      assign length_3[g*9 +: 9] = {1'd0, length_2[2*g*8 +: 8]} + {1'd0, length_2[(2*g+1)*8 +: 8]};
    end
  endgenerate
  wire [2*10-1:0] length_4;
  generate
    for (g = 0; g < 2; g = g + 1) begin : sum_4
      assign length_4[g*10 +: 10] = {1'd0, length_3[2*g*9 +: 9]} + {1'd0, length_3[(2*g+1)*9 +: 9]};
    end
  endgenerate

  // the strings, halved level by level
  wire [1024-1:0] string_5;
  assign string_5 = string_i;
  wire [1024-1:0] string_4;
  generate
    for (g = 0; g < 1; g = g + 1) begin : split_4
      wire [1023:0] whole = string_5[g*1024 +: 1024];
      assign string_4[2*g*512 +: 512] = whole[511:0];
      assign string_4[(2*g+1)*512 +: 512] = whole[length_4[2*g*10 +: 10] +: 512];
    end
  endgenerate
  wire [1024-1:0] string_3;
  generate
    for (g = 0; g < 2; g = g + 1) begin : split_3
      wire [511:0] whole = string_4[g*512 +: 512];
      assign string_3[2*g*256 +: 256] = whole[255:0];
      assign string_3[(2*g+1)*256 +: 256] = whole[length_3[2*g*9 +: 9] +: 256];
    end
  endgenerate
  wire [1024-1:0] string_2;
  generate
    for (g = 0; g < 4; g = g + 1) begin : split_2
      wire [255:0] whole = string_3[g*256 +: 256];
      assign string_2[2*g*128 +: 128] = whole[127:0];
      assign string_2[(2*g+1)*128 +: 128] = whole[length_2[2*g*8 +: 8] +: 128];
    end
  endgenerate
  wire [1024-1:0] string_1;
  generate
    for (g = 0; g < 8; g = g + 1) begin : split_1
      wire [127:0] whole = string_2[g*128 +: 128];
      assign string_1[2*g*64 +: 64] = whole[63:0];
      assign string_1[(2*g+1)*64 +: 64] = whole[length_1[2*g*7 +: 7] +: 64];
    end
  endgenerate
  wire [1024-1:0] string_0;
  generate
    for (g = 0; g < 16; g = g + 1) begin : split_0
      wire [63:0] whole = string_1[g*64 +: 64];
      assign string_0[2*g*32 +: 32] = whole[31:0];
      assign string_0[(2*g+1)*32 +: 32] = whole[length_0[2*g*6 +: 6] +: 32];
    end
  endgenerate

  // the fields without what follows them
  generate
    for (g = 0; g < 32; g = g + 1) begin : fields
      assign field_o[g*32 +: 32] = string_0[g*32 +: 32] & ~({32{1'b1}} << length_0[g*6 +: 6]);
    end
  endgenerate

  // the length of the right half places nothing
  wire unused;
  assign unused = &{1'b0, length_4[19:10]};

endmodule

`default_nettype wire
