// SPDX-License-Identifier: MIT OR Apache-2.0
// aws
//
// Stores the instructions of all assist-warp routines and gives one per cycle.
//
// CABA, section 4.3. The store has 2^ADDRESS words of BITS bits; a routine starts at a multiple of
// 2^SLOT.
//
// In this file: BITS = INSTRUCTION_BITS, ADDRESS = $clog2(INSTRUCTIONS), SLOT = 4
// Source: CABA, section 4.3
// Written by selvedge 0.1.0 with reset control
//
// AWS, assist warp store: the instructions of all assist-warp routines, indexed by SR.ID and
// Inst.ID.
//
// Source: CABA, section 4.3. "Preloaded with these instructions before application execution", on
// chip.
//
//    write_i, write_address_i, write_data_i --------------> [ memory of `instructions` words ] --> instruction_o
//    fetch_i, sr_i, inst_i --> sr_i x slot + inst_i ------>
//
// Choices where the paper is silent:
// - Layout. The store has 32 slots, one per SR.ID, of `instructions` / 32 words each. A routine
//   starts at the slot of its SR.ID and goes on for as long as it needs, through the slots that
//   follow: a long routine (compression tests every encoding in turn) takes several slots, whose
//   SR.IDs are then not used. So no table of start addresses is needed, and little is wasted on
//   short routines. Past the last word the address starts over at the first.
// - Length. The store does not know where a routine ends. The controller's table has SR.End for
//   that.
// - Words. 64 bits hold an instruction of any GPU of the paper's time; 32 bits are enough where
//   instructions are looked up decoded. The store does not look into them.
// - Port. One word per cycle, which is all that one instruction per cycle needs. The memory is read
//   in every cycle; `valid_o` says whether that was asked for. A word that is written while it is
//   read gives its old value.
//
// PARAMETERS
// - instructions, default 512, allowed 512, 1024: words of the store; a slot has a 32nd of them
// - instruction_bits, default 64, allowed 32, 64: bits of a word
//
// PORTS AND TIMING
// All outputs come from registers.
//
//   clk_i          __/--\__/--\__/--\__/--\__
//   fetch_i        __/-----------\___________
//   sr_i, inst_i   ==< 3, 0 >< 3, 1 >========
//   valid_o        ________/-----------\_____
//   instruction_o  ========< I0  >< I1 >=====    the words at 3 x 16 + 0 and + 1
//
// STORAGE
// The memory, by default 512 x 64 = 32,768 bits (4 KB), and 65 bits of output register and valid
// flag. The paper gives no size. The memory has no reset: routines survive it.
//
// Assist warps: short subroutines that an SM runs on behalf of its warps, in CABA to decompress and
// compress lines.
//
// Source: CABA, sections 4 and 5. Its hardware is three structures (section 4.3): store, controller
// with table, and buffer. The table is a block by itself here, and the controller contains all of
// them, because an SM steps one instance.
//
//              event, warp, lanes                     SR.ID, Inst.ID            word
//    [ SM ] --------------------> awc: [ map, awt ] -----------------> [ aws ] ------> [ awb ] --high--> beats the parent
//       |        busy, idle            [ throttle ] <---------- room ----------------     |  +---low---> idle cycles
//       +--------- kill ---------------------^------------------------ flush -------------^
//
// - aws: the assist warp store: the instructions of the routines, loaded before a kernel starts
// - awt: the assist warp table: the active assist warps, deployed in turn
// - awb: the assist warp buffer: deployed instructions until they issue
// - awc: the assist warp controller: trigger events, throttling, and the other three
//
// Words that all of them share: a *routine* is a subroutine in the store; *SR.ID* says where it
// starts, *Inst.ID* which of its instructions is next, *SR.End* which is the last. A
// *high-priority* assist warp is needed for correctness and blocks what waits for it (decompression
// of a load); a *low-priority* one runs in idle cycles and may be given up (compression of a
// store).

`default_nettype none

module aws #(
  // Words of the store; a slot has a 32nd of them; verified with 512, 1024
  parameter integer INSTRUCTIONS = 512,
  // Bits of an instruction; verified with 32, 64
  parameter integer INSTRUCTION_BITS = 64
) (
  // clock
  input  wire                            clk_i,
  // asynchronous reset, active low; the instructions survive it
  input  wire                            rst_ni,
  // write a word
  input  wire                            write_i,
  // where to write
  input  wire [$clog2(INSTRUCTIONS)-1:0] write_address_i,
  // the word
  input  wire     [INSTRUCTION_BITS-1:0] write_data_i,
  // fetch an instruction
  input  wire                            fetch_i,
  // SR.ID of its routine
  input  wire                      [4:0] sr_i,
  // Inst.ID within the routine
  input  wire                      [6:0] inst_i,
  // an instruction was asked for in the last cycle
  output wire                            valid_o,
  // the word at the address of the last cycle, as it was then
  output wire     [INSTRUCTION_BITS-1:0] instruction_o
);

  localparam ADDRESS = $clog2(INSTRUCTIONS);
  reg [ADDRESS-1:0] start;
  wire [ADDRESS-1:0] memory_read_address_i;
  reg valid_q;

  selvedge_sync_mem #(.A (ADDRESS), .BITS (INSTRUCTION_BITS)) memory (
    .clk_i           (clk_i),
    .write_i         (write_i),
    .write_address_i (write_address_i),
    .write_data_i    (write_data_i),
    .read_address_i  (memory_read_address_i),
    .read_data_o     (instruction_o)
  );

  // a routine starts at its slot and may go on through those that follow
  always @(*) begin
    start = {ADDRESS{1'b0}};
    start[ADDRESS-1:ADDRESS-5] = sr_i;
  end

  assign memory_read_address_i = start + {{(ADDRESS-7){1'b0}}, inst_i};

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
