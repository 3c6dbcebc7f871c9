// SPDX-License-Identifier: MIT OR Apache-2.0
// awb_slots
//
// The high-priority instructions of every second warp, two slots each.
//
// Part of: awb
// Source: CABA, section 4.3
// Written by selvedge 0.1.0 with reset control

`default_nettype none

module awb_slots #(
  // Bits of an instruction; verified with 32, 64
  parameter integer INSTRUCTION_BITS = 64
) (
  // clock
  input  wire                        clk_i,
  // write an instruction
  input  wire                        write_i,
  // the warp of the instruction, without its lowest bit
  input  wire                  [4:0] write_pair_i,
  // its slot
  input  wire                        write_slot_i,
  // the instruction
  input  wire [INSTRUCTION_BITS-1:0] instruction_i,
  // what goes with it
  input  wire                 [64:0] context_i,
  // the warp to look at, without its lowest bit
  input  wire                  [4:0] pair_i,
  // the slot to look at
  input  wire                        slot_i,
  // the instruction there
  output wire [INSTRUCTION_BITS-1:0] instruction_o,
  // what goes with it
  output wire                 [64:0] context_o
);

  reg [5:0] write_address;
  reg [5:0] read_address;

  selvedge_mem #(.A (6), .BITS (INSTRUCTION_BITS)) instructions (
    .clk_i           (clk_i),
    .write_i         (write_i),
    .write_address_i (write_address),
    .write_data_i    (instruction_i),
    .read_address_i  (read_address),
    .read_data_o     (instruction_o)
  );

  selvedge_mem #(.A (6), .BITS (65)) contexts (
    .clk_i           (clk_i),
    .write_i         (write_i),
    .write_address_i (write_address),
    .write_data_i    (context_i),
    .read_address_i  (read_address),
    .read_data_o     (context_o)
  );

  always @(*) begin
    write_address = {5'd0, write_slot_i};
    write_address[5:1] = write_pair_i;
  end

  always @(*) begin
    read_address = {5'd0, slot_i};
    read_address[5:1] = pair_i;
  end

endmodule

`default_nettype wire
