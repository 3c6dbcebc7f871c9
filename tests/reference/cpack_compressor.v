// Reference for the area of cpack_compressor, written by hand. A first step compares four words with the dictionary, a second step
// writes their codes. All lengths are even, so that they are counted in pairs of bits.

`default_nettype none

module cpack_compressor (
  input  wire          clk_i,
  input  wire          rst_ni,
  input  wire          valid_i,
  input  wire [1023:0] line_i,
  output wire          ready_o,
  output wire          valid_o,
  output wire    [1:0] encoding_o,
  output wire   [10:0] size_o,
  output wire [1023:0] payload_o,
  input  wire          ready_i
);

  reg done;
  wire moves = ready_i | !done;

  // Step 1. The line rotates by four words in each cycle. Positions of the dictionary are one-hot.
  reg [1023:0] line;
  reg [511:0] dictionary;
  reg [15:0] known, next;
  reg [2:0] group;
  reg busy;
  wire takes = busy | valid_i;
  wire [1023:0] source = busy ? line : line_i;

  // Matches of each word in 4, 3 and 2 bytes: bits of the dictionary's positions, then of the words before it.
  reg [75:0] fours, threes, twos;
  reg [31:0] word, other;
  integer i, j, k;
  always @* begin
    fours = 76'd0;
    threes = 76'd0;
    twos = 76'd0;
    for (k = 0; k < 4; k = k + 1) begin
      word = source[32*k +: 32];
      for (i = 0; i < 16 + k; i = i + 1) begin
        other = i < 16 ? dictionary[32*(i&15) +: 32] : source[32*(i&3) +: 32];
        twos[19*k+i] = word[31:16] == other[31:16];
        threes[19*k+i] = twos[19*k+i] & (word[15:8] == other[15:8]);
        fours[19*k+i] = threes[19*k+i] & (word[7:0] == other[7:0]);
      end
    end
  end

  // Word by word: a word that enters takes the place of the oldest one.
  reg [15:0] place, kept, match4, match3, match2;
  reg [63:0] entered, places_now;
  reg [19:0] kinds_now;
  reg is_wide;
  always @* begin
    place = next;
    kept = known;
    entered = 64'd0;
    for (k = 0; k < 4; k = k + 1) begin
      is_wide = |source[32*k+8 +: 24];
      match4 = fours[19*k +: 16] & kept;
      match3 = threes[19*k +: 16] & kept;
      match2 = twos[19*k +: 16] & kept;
      for (j = 0; j < k; j = j + 1) begin
        match4 = match4 | (entered[16*j +: 16] & {16{fours[19*k+16+j]}});
        match3 = match3 | (entered[16*j +: 16] & {16{threes[19*k+16+j]}});
        match2 = match2 | (entered[16*j +: 16] & {16{twos[19*k+16+j]}});
      end
      places_now[16*k +: 16] = |match4 ? match4 : |match3 ? match3 : match2;
      kinds_now[5*k +: 5] = !is_wide ? {3'd0, |source[32*k +: 8], ~|source[32*k +: 8]}
          : |match4 ? 5'b00100 : |match3 ? 5'b01000 : {|match2, 4'd0};
      if (is_wide & ~|match4) begin
        entered[16*k +: 16] = place;
        kept = kept & ~place;
        place = {place[14:0], place[15]};
      end
    end
  end

  reg [19:0] kinds;
  reg [63:0] places;
  reg compared, is_first, is_last;
  always @(posedge clk_i or negedge rst_ni)
    if (!rst_ni) begin
      busy <= 1'b0;
      group <= 3'd0;
      known <= 16'd0;
      next <= 16'd1;
      compared <= 1'b0;
    end else if (moves) begin
      compared <= takes;
      if (takes) begin
        busy <= group != 3'd7;
        group <= group + 3'd1;
        known <= group == 3'd7 ? 16'd0 : known | entered[15:0] | entered[31:16] | entered[47:32] | entered[63:48];
        next <= group == 3'd7 ? 16'd1 : place;
      end
    end

  always @(posedge clk_i)
    if (moves & takes) begin
      line <= {source[127:0], source[1023:128]};
      for (i = 0; i < 16; i = i + 1)
        for (k = 0; k < 4; k = k + 1)
          if (entered[16*k+i])
            dictionary[32*i +: 32] <= source[32*k +: 32];
      kinds <= kinds_now;
      places <= places_now;
      is_first <= !busy;
      is_last <= group == 3'd7;
    end

  // Step 2.
  function [3:0] index(input [15:0] p);
    index = {
      ~|p[7:0],
      ~|p[3:0] & (|p[7:4] | ~|p[11:8]),
      ~|p[1:0] & (|p[3:2] | (~|p[5:4] & (|p[7:6] | (~|p[9:8] & (|p[11:10] | ~|p[13:12]))))),
      !p[0] & (p[1] | (!p[2] & (p[3] | (!p[4] & (p[5] | (!p[6] & (p[7] | (!p[8] & (p[9] | (!p[10] & (p[11] | (!p[12]
          & (p[13] | !p[14])))))))))))))
    };
  endfunction

  // Length and bits of a code.
  function [38:0] code(input [31:0] w, input [4:0] kind, input [3:0] at);
    casez (kind)
      5'b????1: code = {5'd1, 34'd0};
      5'b???1?: code = {5'd6, 22'd0, w[7:0], 4'b0111};
      5'b??1??: code = {5'd3, 28'd0, at, 2'b10};
      5'b?1???: code = {5'd8, 18'd0, w[7:0], at, 4'b1011};
      5'b1????: code = {5'd12, 10'd0, w[15:0], at, 4'b0011};
      default: code = {5'd17, w, 2'b01};
    endcase
  endfunction

  wire [127:0] words = line[1023:896];
  wire [38:0] code0 = code(words[31:0], kinds[4:0], index(places[15:0]));
  wire [38:0] code1 = code(words[63:32], kinds[9:5], index(places[31:16]));
  wire [38:0] code2 = code(words[95:64], kinds[14:10], index(places[47:32]));
  wire [38:0] code3 = code(words[127:96], kinds[19:15], index(places[63:48]));

  reg [9:0] half;
  reg [1023:0] payload;
  reg [1:0] encoding;
  reg is_nonzero;
  wire [9:0] used = is_first ? 10'd0 : half;
  wire [5:0] half01 = code0[38:34] + code1[38:34];
  wire [5:0] half23 = code2[38:34] + code3[38:34];
  wire [67:0] pair01 = {34'd0, code0[33:0]} | ({34'd0, code1[33:0]} << {code0[38:34], 1'b0});
  wire [67:0] pair23 = {34'd0, code2[33:0]} | ({34'd0, code3[33:0]} << {code2[38:34], 1'b0});
  wire [6:0] behind = {1'b0, used[5:0]} + {1'b0, half01};
  wire [263:0] joined = ({196'd0, pair01} << {used[5:0], 1'b0}) | ({196'd0, pair23} << {behind, 1'b0});
  wire [9:0] length = used + half01 + half23;
  wire nonzero = |words | (is_nonzero & !is_first);

  always @(posedge clk_i or negedge rst_ni)
    if (!rst_ni)
      done <= 1'b0;
    else if (moves)
      done <= compared & is_last;

  always @(posedge clk_i)
    if (moves & compared) begin
      is_nonzero <= nonzero;
      if (is_last & !nonzero) begin
        encoding <= 2'd2;
        half <= 10'd0;
      end else if (is_last & length[9]) begin
        encoding <= 2'd0;
        half <= 10'd512;
      end else begin
        encoding <= 2'd1;
        half <= length;
      end
      for (i = 0; i < 8; i = i + 1)
        payload[128*i +: 128] <= is_last & nonzero & length[9] ? line[128*i +: 128]
            : (payload[128*i +: 128] & {128{!is_first}})
            | (joined[127:0] & {128{used[9:6] == i}})
            | (joined[255:128] & {128{used[9:6] + 4'd1 == i}})
            | ({120'd0, joined[263:256]} & {128{used[9:6] + 4'd2 == i}});
    end

  assign ready_o = moves & !busy;
  assign valid_o = done;
  assign encoding_o = encoding;
  assign size_o = {half, 1'b0};
  assign payload_o = payload;

endmodule

`default_nettype wire
