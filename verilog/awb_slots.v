// SPDX-License-Identifier: MIT OR Apache-2.0
// awb_slots
//
// Holds the high-priority instructions of every second warp, in two slots per warp.
//
// Part of: awb
// Source: CABA, section 4.3
// Written by selvedge 0.2.0 with reset control

`default_nettype none

module awb_slots #(
  // Bits of an instruction; verified with 32, 64
  parameter integer INSTRUCTION_BITS = 64
) (
  // clock
  input  wire                        clk_i,
  // write an instruction
  input  wire                        write_i,
  // warp of the instruction to write, without its lowest bit
  input  wire                  [4:0] write_pair_i,
  // slot of the instruction to write
  input  wire                        write_slot_i,
  // the instruction to write
  input  wire [INSTRUCTION_BITS-1:0] instruction_i,
  // its lanes, live-in and live-out registers, and last flag
  input  wire                 [64:0] context_i,
  // warp to read, without its lowest bit
  input  wire                  [4:0] pair_i,
  // slot to read
  input  wire                        slot_i,
  // the warp has an instruction; without one, the outputs are zero
  input  wire                        valid_i,
  // the instruction in that slot
  output reg  [INSTRUCTION_BITS-1:0] instruction_o,
  // its lanes, live-in and live-out registers, and last flag
  output reg                  [64:0] context_o
);

  // a parameter with a value that is not verified: the message is the name of a missing module
  generate
    if (INSTRUCTION_BITS != 32 && INSTRUCTION_BITS != 64) begin : gen_wrong_instruction_bits
      awb_slots_INSTRUCTION_BITS_must_be_32_or_64 wrong_instruction_bits ();
    end
  endgenerate

  reg [5:0] write_address;
  reg [5:0] read_address;
  wire [INSTRUCTION_BITS-1:0] instructions_read_data;
  wire [64:0] contexts_read_data;

  selvedge_mem #(.A (6), .BITS (INSTRUCTION_BITS)) instructions (
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
    instruction_o = {INSTRUCTION_BITS{1'b0}};
    context_o = 65'd0;
    if (valid_i) begin
      instruction_o = instructions_read_data;
      context_o = contexts_read_data;
    end
  end

endmodule

`default_nettype wire
