// SPDX-License-Identifier: MIT OR Apache-2.0
// aws
//
// Stores the instructions of all assist-warp routines and reads one per cycle.
//
// CABA, section 4.3. The store has 2^ADDRESS words of BITS bits. A routine starts at a multiple of
// 2^SLOT.
//
// In this file: BITS = INSTRUCTION_BITS, ADDRESS = $clog2(INSTRUCTIONS), SLOT = 4
// Source: CABA, section 4.3
// Written by selvedge 0.2.0 with reset control
// rst_ni needs a reset synchronizer: asserted at any time, released synchronously to clk_i
//
// AWS, assist warp store: the instructions of all assist-warp routines, indexed by SR.ID and
// Inst.ID.
//
// Source: CABA, section 4.3: "Preloaded with these instructions before application execution". The
// store is on chip.
//
//    write_i, write_address_i, write_data_i --------------> [ memory of `instructions` words ] --> instruction_o
//    fetch_i, sr_i, inst_i --> sr_i x slot + inst_i ------>
//
// Choices where the paper is silent:
// - Layout. The store has 32 slots, one per SR.ID, of `instructions` / 32 words each. A routine
//   starts at the slot of its SR.ID and may continue through the following slots; their SR.IDs are
//   then unused. Long routines take several slots, for example compression, which tests one
//   encoding after the other. This layout needs no table of start addresses and wastes little on
//   short routines. After the last word the address wraps to the first.
// - Length. The store does not know where a routine ends; the controller's table holds SR.End.
// - Words. 64 bits hold an instruction of any GPU of the paper's time. 32 bits are enough if a word
//   only identifies an instruction that is already decoded. The store does not interpret its words.
// - Port. The store reads one word per cycle, because one instruction is deployed per cycle. The
//   memory is read in every cycle; `valid_o` reports whether a fetch asked for the word. A word
//   that was never written is unknown; the paper preloads the store. A word that is written while
//   it is read gives its old value.
//
// PARAMETERS
// - instructions, default 512, allowed 512, 1024: words of the store, divided equally among its 32
//   slots
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
// By default the memory has 512 x 64 = 32,768 bits (4 KB); the output register and the valid flag
// have 65 bits. The paper gives no size. The memory has no reset, so routines survive a reset.
//
// Assist warps: short subroutines that an SM runs on behalf of its warps, in CABA to decompress and
// compress lines.
//
// Source: CABA, sections 4 and 5. Its hardware consists of three structures (section 4.3): the
// store, the controller with its table, and the buffer. Here the table is a separate block. The
// controller contains the other three blocks, so that an SM steps one instance.
//
//              event, warp, lanes                     SR.ID, Inst.ID            word
//    [ SM ] --------------------> awc: [ map, awt ] -----------------> [ aws ] ------> [ awb ] --high--> beats the parent
//       |        busy, idle            [ throttle ] <---------- room ----------------     |  +---low---> idle cycles
//       +--------- kill ---------------------^------------------------ flush -------------^
//
// - aws: the assist warp store: the instructions of the routines, loaded before a kernel starts
// - awt: the assist warp table: the active assist warps, deployed round-robin
// - awb: the assist warp buffer: deployed instructions until they issue
// - awc: the assist warp controller: trigger events, throttling, and the other three
//
// Terms that all four blocks share: a *routine* is a subroutine in the store. *SR.ID* is the slot
// where it starts, *Inst.ID* the number of its next instruction, and *SR.End* the number of its
// last instruction. A *high-priority* assist warp is needed for correctness, and its parent waits
// for it (decompression of a load). A *low-priority* assist warp runs in idle cycles and may be
// dropped (compression of a store).

`default_nettype none

module aws #(
  // Words of the store, divided equally among its 32 slots; verified with 512, 1024
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
  // address of the word to write
  input  wire [$clog2(INSTRUCTIONS)-1:0] write_address_i,
  // the word to write
  input  wire     [INSTRUCTION_BITS-1:0] write_data_i,
  // fetch an instruction
  input  wire                            fetch_i,
  // SR.ID of the instruction's routine
  input  wire                      [4:0] sr_i,
  // Inst.ID: number of the instruction in its routine
  input  wire                      [6:0] inst_i,
  // an instruction was fetched in the last cycle
  output wire                            valid_o,
  // the word at the address of the last cycle, before a write of that cycle
  output wire     [INSTRUCTION_BITS-1:0] instruction_o
);

  // a parameter with a value that is not verified: the message is the name of a missing module
  generate
    if (INSTRUCTIONS != 512 && INSTRUCTIONS != 1024) begin : gen_wrong_instructions
      aws_INSTRUCTIONS_must_be_512_or_1024 wrong_instructions ();
    end
    if (INSTRUCTION_BITS != 32 && INSTRUCTION_BITS != 64) begin : gen_wrong_instruction_bits
      aws_INSTRUCTION_BITS_must_be_32_or_64 wrong_instruction_bits ();
    end
  endgenerate

  localparam ADDRESS = $clog2(INSTRUCTIONS);
  reg [ADDRESS-1:0] start;
  wire [ADDRESS-1:0] memory_read_address;
  reg valid_q;

  selvedge_sync_mem #(.A (ADDRESS), .BITS (INSTRUCTION_BITS)) memory (
    .clk_i           (clk_i),
    .write_i         (write_i),
    .write_address_i (write_address_i),
    .write_data_i    (write_data_i),
    .read_address_i  (memory_read_address),
    .read_data_o     (instruction_o)
  );

  // a routine starts at its slot and can continue in the next slots
  always @(*) begin
    start = {ADDRESS{1'b0}};
    start[ADDRESS-1:ADDRESS-5] = sr_i;
  end

  assign memory_read_address = start + {{(ADDRESS-7){1'b0}}, inst_i};

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
