// SPDX-License-Identifier: MIT OR Apache-2.0
// awc_assist_warp_store
//
// Stores the instructions of all assist-warp routines and reads one per cycle.
//
// CABA, section 4.3. The store has 2^ADDRESS words of BITS bits. A routine starts at a multiple of
// 2^SLOT.
//
// Parameters: BITS = 64, ADDRESS = 9, SLOT = 4
// Part of: awc
// Source: CABA, sections 4.3 and 4.4
// Written by selvedge 0.2.0 with reset control

`default_nettype none

module awc_assist_warp_store (
  // clock
  input  wire        clk_i,
  // asynchronous reset, active low; the instructions survive it
  input  wire        rst_ni,
  // write a word
  input  wire        write_i,
  // address of the word to write
  input  wire  [8:0] write_address_i,
  // the word to write
  input  wire [63:0] write_data_i,
  // fetch an instruction
  input  wire        fetch_i,
  // SR.ID of the instruction's routine
  input  wire  [4:0] sr_i,
  // Inst.ID: number of the instruction in its routine
  input  wire  [6:0] inst_i,
  // an instruction was fetched in the last cycle
  output wire        valid_o,
  // the word at the address of the last cycle, before a write of that cycle
  output wire [63:0] instruction_o
);

  reg [8:0] start;
  wire [8:0] memory_read_address;
  reg valid_q;

  selvedge_sync_mem #(.A (9), .BITS (64)) memory (
    .clk_i           (clk_i),
    .write_i         (write_i),
    .write_address_i (write_address_i),
    .write_data_i    (write_data_i),
    .read_address_i  (memory_read_address),
    .read_data_o     (instruction_o)
  );

  // a routine starts at its slot and can continue in the next slots
  always @(*) begin
    start = 9'd0;
    start[8:4] = sr_i;
  end

  assign memory_read_address = start + {2'd0, inst_i};

  assign valid_o = valid_q;

  always @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      valid_q <= 1'b0;
    end else begin
      valid_q <= fetch_i;
    end
  end

endmodule

`default_nettype wire
