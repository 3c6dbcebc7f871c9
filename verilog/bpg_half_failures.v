// SPDX-License-Identifier: MIT OR Apache-2.0
// bpg_half_failures
//
// Half of the estimated reservation failures for L = 1 to 8: failures times L^3 / 1024.
//
// For an even L, the product is that of L / 2, shifted left by 3. The products of odd L share their
// sums: 27 = 3 + 8 x 3, 125 = 128 - 3, 343 = 8 x 27 + 128 - 1.
//
// Part of: bpg
// Source: Dai, section 2.6
// Written by selvedge 0.2.0 with reset control

`default_nettype none

module bpg_half_failures (
  // reservation failures
  input  wire [11:0] rsfails_i,
  // half of the estimate for L = 1 to 8
  output reg  [87:0] half_o
);

  wire [21:0] times_1;
  wire [21:0] times_3;
  wire [21:0] times_27;
  wire [21:0] times_125;
  wire [21:0] times_343;
  wire [21:0] part_0;
  wire [21:0] part_1;
  wire [21:0] part_2;
  wire [21:0] part_3;
  wire [21:0] part_4;
  wire [21:0] part_5;
  wire [21:0] part_6;
  wire [21:0] part_7;

  assign times_1 = {10'd0, rsfails_i};
  assign times_3 = times_1 + (times_1 << 1);
  assign times_27 = times_3 + (times_3 << 3);
  assign times_125 = (times_1 << 7) - times_3;
  assign times_343 = (times_27 << 3) + ((times_1 << 7) - times_1);
  assign part_0 = times_1 >> 10;

  always @(*) begin
    half_o[0*11 +: 11] = part_0[10:0];
    half_o[1*11 +: 11] = part_1[10:0];
    half_o[2*11 +: 11] = part_2[10:0];
    half_o[3*11 +: 11] = part_3[10:0];
    half_o[4*11 +: 11] = part_4[10:0];
    half_o[5*11 +: 11] = part_5[10:0];
    half_o[6*11 +: 11] = part_6[10:0];
    half_o[7*11 +: 11] = part_7[10:0];
  end

  assign part_1 = times_1 >> 7;
  assign part_2 = times_27 >> 10;
  assign part_3 = times_1 >> 4;
  assign part_4 = times_125 >> 10;
  assign part_5 = times_27 >> 7;
  assign part_6 = times_343 >> 10;
  assign part_7 = times_1 >> 1;

  // bits that nothing here looks at
  wire unused = &{1'b0, part_0[21:11], part_1[21:11], part_2[21:11], part_3[21:11], part_4[21:11],
      part_5[21:11], part_6[21:11], part_7[21:11]};

endmodule

`default_nettype wire
