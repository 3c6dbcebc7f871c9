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
  output wire [87:0] half_o
);

  wire [21:0] times_1;
  wire [21:0] times_3;
  wire [21:0] times_27;
  wire [21:0] times_125;
  wire [21:0] times_343;

  assign times_1 = {10'd0, rsfails_i};
  assign times_3 = times_1 + (times_1 << 1);
  assign times_27 = times_3 + (times_3 << 3);
  assign times_125 = (times_1 << 7) - times_3;
  assign times_343 = (times_27 << 3) + ((times_1 << 7) - times_1);
  assign half_o = {times_1[11:1], times_343[20:10], times_27[17:7], times_125[20:10], times_1[14:4],
      times_27[20:10], times_1[17:7], times_1[20:10]};

  // unused bits
  wire unused = &{1'b0, times_125[9:0], times_125[21], times_343[9:0], times_343[21]};

endmodule

`default_nettype wire
