// Reference for the area of cpack_decompressor, written by hand. A first step cuts four codes out of the payload, a second step
// makes words of them. All lengths are even, so that they are counted in pairs of bits.

`default_nettype none

module cpack_decompressor (
  input  wire          clk_i,
  input  wire          rst_ni,
  input  wire          valid_i,
  input  wire    [1:0] encoding_i,
  input  wire [1023:0] payload_i,
  output wire          ready_o,
  output wire          valid_o,
  output wire          error_o,
  output wire [1023:0] line_o,
  input  wire          ready_i
);

  localparam [7:0] BLOCK = 8'd68;

  // Pairs of bits of a code, by its first four bits. A code that is not valid may have any length.
  function [4:0] pairs(input [3:0] tag);
    casez (tag)
      4'b??00: pairs = 5'd1;
      4'b??01: pairs = 5'd17;
      4'b??10: pairs = 5'd3;
      4'b0011: pairs = 5'd12;
      4'b0111: pairs = 5'd6;
      default: pairs = 5'd8;
    endcase
  endfunction

  // What follows the first code of a string.
  function [101:0] rest(input [135:0] s);
    casez (s[3:0])
      4'b??00: rest = s[103:2];
      4'b??01: rest = s[135:34];
      4'b??10: rest = s[107:6];
      4'b0011: rest = s[125:24];
      4'b0111: rest = s[113:12];
      default: rest = s[117:16];
    endcase
  endfunction

  // Kind of a code: 32 bits, index alone, index and 16 bits, 8 bits, index and 8 bits, not valid.
  function [5:0] kind(input [3:0] tag);
    kind = {tag == 4'b1111, tag == 4'b1011, tag == 4'b0111, tag == 4'b0011, tag[1:0] == 2'b10, tag[1:0] == 2'b01};
  endfunction

  reg done;
  wire moves = ready_i | !done;

  // Step 1. At least the first 68 pairs of the payload have been used if a whole block has; then the payload moves by one block.
  // Four codes have 68 pairs at most, so that one move in each cycle is enough.
  reg [1023:0] payload;
  reg [7:0] used;
  reg [1:0] encoding;
  reg [2:0] group;
  reg busy;
  wire takes = busy | valid_i;
  wire [1:0] format = busy ? encoding : encoding_i;
  wire drops = used >= BLOCK;
  wire [407:0] ahead = payload[407:0] >> {used, 1'b0};
  wire [135:0] s0 = busy ? ahead[135:0] : payload_i[135:0];
  wire [101:0] s1 = rest(s0);
  wire [101:0] s2 = rest({34'd0, s1});
  wire [101:0] s3 = rest({34'd0, s2});
  wire [7:0] from = busy ? used - (drops ? BLOCK : 8'd0) : 8'd0;
  wire [7:0] upto = from + pairs(s0[3:0]) + pairs(s1[3:0]) + pairs(s2[3:0]) + pairs(s3[3:0]);
  wire is_raw = format == 2'd0;
  wire is_coded = format == 2'd1;

  // The codes and their kinds.
  reg [135:0] codes;
  reg [23:0] kinds;
  reg measured, is_first, is_last;

  always @(posedge clk_i or negedge rst_ni)
    if (!rst_ni) begin
      busy <= 1'b0;
      group <= 3'd0;
      measured <= 1'b0;
    end else if (moves) begin
      measured <= takes;
      if (takes) begin
        busy <= group != 3'd7;
        group <= group + 3'd1;
      end
    end

  always @(posedge clk_i)
    if (moves & takes) begin
      encoding <= format;
      if (!busy)
        payload <= payload_i;
      else if (drops)
        payload <= {136'd0, payload[1023:136]};
      used <= is_raw ? from + 8'd64 : upto;
      is_first <= !busy;
      is_last <= group == 3'd7;
      if (is_raw) begin
        codes <= {s0[127:96], 2'd0, s0[95:64], 2'd0, s0[63:32], 2'd0, s0[31:0], 2'd0};
        kinds <= {4{6'd1}};
      end else begin
        codes <= {s3[33:0], s2[33:0], s1[33:0], s0[33:0]};
        kinds <= {kind(s3[3:0]), kind(s2[3:0]), kind(s1[3:0]), kind(s0[3:0])} & {24{is_coded}};
      end
    end

  // Step 2. Positions of the dictionary are one-hot.
  reg [511:0] dictionary;
  reg [15:0] known, next;
  reg [127:0] words;
  reg [63:0] entered;
  reg [15:0] known_after, place, named;
  reg [33:0] code;
  reg [31:0] entry, word;
  reg is_word, is_m, is_mmxx, is_zzzx, is_mmmx, is_bad, uses, wrong_now;
  integer i, j, k;

  always @* begin
    words = 128'd0;
    entered = 64'd0;
    known_after = known;
    place = next;
    wrong_now = &encoding;
    for (k = 0; k < 4; k = k + 1) begin
      code = codes[34*k +: 34];
      {is_bad, is_mmmx, is_zzzx, is_mmxx, is_m, is_word} = kinds[6*k +: 6];
      uses = is_m | is_mmxx | is_mmmx;
      named = uses << (is_m ? code[5:2] : code[7:4]);
      wrong_now = wrong_now | is_bad | (uses & !(|(named & known_after)));
      entry = 32'd0;
      for (i = 0; i < 16; i = i + 1)
        entry = entry | (dictionary[32*i +: 32] & {32{named[i] & !entered[i] & !entered[16+i] & !entered[32+i]}});
      for (j = 0; j < k; j = j + 1)
        entry = entry | (words[32*j +: 32] & {32{|(named & entered[16*j +: 16])}});
      word[31:16] = (code[33:18] & {16{is_word}}) | entry[31:16];
      word[15:8] = (code[17:10] & {8{is_word}}) | (code[23:16] & {8{is_mmxx}}) | (entry[15:8] & {8{!is_mmxx}});
      word[7:0] = (code[9:2] & {8{is_word}}) | (code[15:8] & {8{is_mmxx | is_mmmx}}) | (code[11:4] & {8{is_zzzx}})
          | (entry[7:0] & {8{is_m}});
      words[32*k +: 32] = word;
      if ((encoding == 2'd1 & is_word) | is_mmxx | is_mmmx) begin
        entered[16*k +: 16] = place;
        known_after = known_after | place;
        place = {place[14:0], place[15]};
      end
    end
  end

  reg [1023:0] line;
  reg wrong;
  wire wrong_after = wrong_now | (wrong & !is_first);

  always @(posedge clk_i or negedge rst_ni)
    if (!rst_ni) begin
      known <= 16'd0;
      next <= 16'd1;
      done <= 1'b0;
    end else if (moves) begin
      done <= measured & is_last;
      if (measured) begin
        known <= is_last ? 16'd0 : known_after;
        next <= is_last ? 16'd1 : place;
      end
    end

  always @(posedge clk_i)
    if (moves & measured) begin
      for (i = 0; i < 16; i = i + 1)
        for (k = 0; k < 4; k = k + 1)
          if (entered[16*k+i])
            dictionary[32*i +: 32] <= words[32*k +: 32];
      wrong <= wrong_after;
      line <= wrong_after ? 1024'd0 : {words, line[1023:128]};
    end

  assign ready_o = moves & !busy;
  assign valid_o = done;
  assign error_o = wrong;
  assign line_o = line;

endmodule

`default_nettype wire
