// SPDX-License-Identifier: MIT OR Apache-2.0
// awc_slots
//
// Holds the high-priority instructions of every second warp, in two slots per warp.
//
// Part of: awc
// Source: CABA, sections 4.3 and 4.4
// Written by selvedge 0.2.0 with reset control

`default_nettype none

module awc_slots (
  // clock
  input  wire        clk_i,
  // write an instruction
  input  wire        write_i,
  // warp of the instruction to write, without its lowest bit
  input  wire  [4:0] write_pair_i,
  // slot of the instruction to write
  input  wire        write_slot_i,
  // the instruction to write
  input  wire [63:0] instruction_i,
  // its lanes, live-in and live-out registers, and last flag
  input  wire [64:0] context_i,
  // warp to read, without its lowest bit
  input  wire  [4:0] pair_i,
  // slot to read
  input  wire        slot_i,
  // the warp has an instruction; without one, the outputs are zero
  input  wire        valid_i,
  // the instruction in that slot
  output reg  [63:0] instruction_o,
  // its lanes, live-in and live-out registers, and last flag
  output reg  [64:0] context_o
);

  reg [5:0] write_address;
  reg [5:0] read_address;
  wire [63:0] instructions_read_data;
  wire [64:0] contexts_read_data;

  selvedge_mem #(.A (6), .BITS (64)) instructions (
    .clk_i           (clk_i),
    .write_i         (write_i),
    .write_address_i (write_address),
    .write_data_i    (instruction_i),
    .read_address_i  (read_address),
    .read_data_o     (instructions_read_data)
  );

  selvedge_mem #(.A (6), .BITS (65)) contexts (
    .clk_i           (clk_i),
    .write_i         (write_i),
    .write_address_i (write_address),
    .write_data_i    (context_i),
    .read_address_i  (read_address),
    .read_data_o     (contexts_read_data)
  );

  always @(*) begin
    write_address = {5'd0, write_slot_i};
    write_address[5:1] = write_pair_i;
  end

  always @(*) begin
    read_address = {5'd0, slot_i};
    read_address[5:1] = pair_i;
  end

  // slots without an instruction read as zero
  always @(*) begin
    instruction_o = 64'd0;
    context_o = 65'd0;
    if (valid_i) begin
      instruction_o = instructions_read_data;
      context_o = contexts_read_data;
    end
  end

endmodule

`default_nettype wire
