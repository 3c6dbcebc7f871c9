// fpc_decompressor_fpc_parse
//
// Reads the head symbol by symbol: the prefix of each of GROUPS groups, and where the data start.
//
// A group of one word is the original algorithm, in which the prefix of zeros is followed by the length of
// the run. HEAD is the bits in which the longest head lies.
//
// Parameters: LINE = 1024, LW = 16, GROUPS = 32, GROUP = 1, HEAD = 192, HEADW = 3, PRE = 96, PREW = 2
// Part of: fpc_decompressor
// Source: LATTE-CC, table I; CABA, section 5.1.4
// Written by selvedge 0.1.0 with reset async-low

`default_nettype none

module fpc_decompressor_fpc_parse (
  // 1: head and data; 0: the line as it was
  input  wire          encoding_i,
  // the payload
  input  wire [1023:0] payload_i,
  // a prefix for each group
  output wire   [95:0] prefixes_o,
  // bits of the head
  output wire    [7:0] start_o,
  // a zero run reaches beyond the line
  output wire          error_o
);

  // zero words are counted in runs
  localparam HAS_RUNS = 1'b1;
  // the head from the symbol at hand on
  reg [191:0] head;
  reg [2:0] prefix;
  // words that the zero run at hand still covers
  reg [2:0] run;
  reg [7:0] start;
  reg [95:0] prefixes;

  always @(*) begin : comb_head
    integer g;
    head = payload_i[191:0];
    prefix = 3'd0;
    run = 3'd0;
    start = 8'd0;
    prefixes = 96'd0;
    for (g = 0; g < 32; g = g + 1) begin
      prefix = 3'd0;
      if (|run) begin
        run = run - 3'd1;
      end else begin
        prefix = head[2:0];
        if (HAS_RUNS & !(|prefix)) begin
          run = head[5:3];
          head = head >> 6;
          start = start + 8'd6;
        end else begin
          head = head >> 3;
          start = start + 8'd3;
        end
      end
      prefixes[g*3 +: 3] = prefix;
    end
  end

  assign prefixes_o = prefixes;
  assign start_o = start;
  assign error_o = (|run) & encoding_i;

  // bits that nothing here looks at
  wire unused = &{1'b0, payload_i[1023:192]};

endmodule

`default_nettype wire
