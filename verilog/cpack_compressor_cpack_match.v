// SPDX-License-Identifier: MIT OR Apache-2.0
// cpack_compressor_cpack_match
//
// Compares four words with the dictionary before them and with each other, and enters the new
// words.
//
// A word that enters replaces the oldest word, which a later word of the four then no longer
// matches. So each word is compared for every number of words that may have entered before it. Only
// that number is computed word by word.
//
// Part of: cpack_compressor
// Source: LATTE-CC, table I; CABA, section 5.1.4
// Written by selvedge 0.2.0 with reset control

`default_nettype none

module cpack_compressor_cpack_match (
  // the words, the first in the low bits
  input  wire [127:0] words_i,
  // the dictionary before these words
  input  wire [511:0] dictionary_i,
  // positions that hold a word, one bit each
  input  wire  [15:0] known_i,
  // position of the next word, one-hot
  input  wire  [15:0] next_i,
  // kind of each word, one-hot in five bits: zero, single byte, equal to a dictionary word in four,
  // three or two bytes; 0 if none
  output reg   [19:0] kinds_o,
  // positions that match each word
  output reg   [63:0] places_o,
  // the dictionary after these words
  output reg  [511:0] dictionary_o,
  // positions that hold a word after these words
  output wire  [15:0] known_o,
  // position of the next word after these words
  output wire  [15:0] next_o
);

  // position of the next word after one, two, three and four entries
  wire [15:0] next1;
  wire [15:0] next2;
  wire [15:0] next3;
  wire [15:0] next4;
  // positions that still hold their word after one, two and three entries
  wire [15:0] known1;
  wire [15:0] known2;
  wire [15:0] known3;
  // words that are more than a byte, one bit each
  reg [3:0] wide;
  wire enters3;
  // position of each word if it enters the dictionary
  wire [15:0] place0;
  reg [15:0] place3;
  wire found0;
  reg found3;
  // position that each of the four words entered, one-hot; 0 if it did not enter
  reg [15:0] entered0;
  reg [15:0] entered1;
  reg [15:0] entered2;
  wire [15:0] entered3;
  // pairs of the four words that are equal
  reg [15:0] equal;
  reg [31:0] entry;
  reg [127:0] compare_word;
  wire [63:0] compare_four;
  wire [63:0] compare_three;
  wire [63:0] compare_two;

  genvar g;
  generate
    for (g = 0; g < 4; g = g + 1) begin : gen_compare
      cpack_compressor_cpack_compare compare (
        .word_i       (compare_word[g*32 +: 32]),
        .dictionary_i (dictionary_i),
        .four_o       (compare_four[g*16 +: 16]),
        .three_o      (compare_three[g*16 +: 16]),
        .two_o        (compare_two[g*16 +: 16])
      );
    end
  endgenerate

  always @(*) begin : comb_compare_word
    integer k;
    for (k = 0; k < 4; k = k + 1) begin
      compare_word[k*32 +: 32] = words_i[k*32 +: 32];
    end
  end

  // positions that the four words take, and the entries that remain
  assign next1 = {next_i[14:0], next_i[15]};
  assign next2 = {next_i[13:0], next_i[15:14]};
  assign next3 = {next_i[12:0], next_i[15:13]};
  assign next4 = {next_i[11:0], next_i[15:12]};
  assign known1 = known_i & ~next_i;
  assign known2 = known1 & ~next1;
  assign known3 = known2 & ~next2;
  // words that enter the dictionary: the only dependence from word to word
  assign found0 = |(compare_four[15:0] & known_i);
  // position of each word, and the entries that remain before it
  assign place0 = next_i;

  // bit 4k + j: word k is equal to word j before it
  always @(*) begin : comb_equal
    integer j;
    integer k;
    // words that enter the dictionary
    reg enters0;
    reg enters1;
    reg enters2;
    reg [15:0] place1;
    reg [15:0] place2;
    // positions that still hold their word before words 1, 2 and 3
    reg [15:0] left1;
    reg [15:0] left2;
    reg [15:0] left3;
    reg found1;
    reg found2;
    // positions that match each word in four, three and two bytes
    reg [63:0] fours;
    reg [63:0] threes;
    reg [63:0] twos;
    reg [31:0] word;
    reg [15:0] four;
    reg [15:0] three;
    reg [15:0] two;
    reg [31:0] difference;
    equal = 16'd0;
    for (k = 0; k < 4; k = k + 1) begin
      word = words_i[k*32 +: 32];
      wide[k] = |word[31:8];
      for (j = 0; j < 4; j = j + 1) begin
        equal[k*4+j] = word == words_i[j*32 +: 32];
      end
    end
    enters0 = wide[0] & ~found0;
    found1 = |(compare_four[31:16] & known_i);
    if (enters0) begin
      found1 = (|(compare_four[31:16] & known1)) | equal[4];
    end
    enters1 = wide[1] & ~found1;
    found2 = |(compare_four[47:32] & known_i);
    if (enters0 ^ enters1) begin
      found2 = |(compare_four[47:32] & known1);
    end
    if (enters0 & enters1) begin
      found2 = |(compare_four[47:32] & known2);
    end
    found2 = found2 | (enters0 & equal[8]) | (enters1 & equal[9]);
    enters2 = wide[2] & ~found2;
    place1 = next_i;
    left1 = known_i;
    if (enters0) begin
      place1 = next1;
      left1 = known1;
    end
    place2 = next_i;
    left2 = known_i;
    if (enters0 ^ enters1) begin
      place2 = next1;
      left2 = known1;
    end
    if (enters0 & enters1) begin
      place2 = next2;
      left2 = known2;
    end
    place3 = next_i;
    left3 = known_i;
    found3 = |(compare_four[63:48] & known_i);
    if (enters0 ^ enters1 ^ enters2) begin
      place3 = next1;
      left3 = known1;
      found3 = |(compare_four[63:48] & known1);
    end
    if ((enters0 & enters1) | (enters0 & enters2) | (enters1 & enters2)) begin
      place3 = next2;
      left3 = known2;
      found3 = |(compare_four[63:48] & known2);
    end
    if (enters0 & enters1 & enters2) begin
      place3 = next3;
      left3 = known3;
      found3 = |(compare_four[63:48] & known3);
    end
    found3 = found3 | (enters0 & equal[12]) | (enters1 & equal[13]) | (enters2 & equal[14]);
    entered0 = 16'd0;
    if (enters0) begin
      entered0 = place0;
    end
    entered1 = 16'd0;
    if (enters1) begin
      entered1 = place1;
    end
    entered2 = 16'd0;
    if (enters2) begin
      entered2 = place2;
    end
    // matches of each word with the remaining entries of the dictionary
    fours = 64'd0;
    threes = 64'd0;
    twos = 64'd0;
    fours[15:0] = compare_four[15:0] & known_i;
    threes[15:0] = compare_three[15:0] & known_i;
    twos[15:0] = compare_two[15:0] & known_i;
    fours[31:16] = compare_four[31:16] & left1;
    threes[31:16] = compare_three[31:16] & left1;
    twos[31:16] = compare_two[31:16] & left1;
    fours[47:32] = compare_four[47:32] & left2;
    threes[47:32] = compare_three[47:32] & left2;
    twos[47:32] = compare_two[47:32] & left2;
    fours[63:48] = compare_four[63:48] & left3;
    threes[63:48] = compare_three[63:48] & left3;
    twos[63:48] = compare_two[63:48] & left3;
    // matches with the earlier words of this group
    difference = 32'd0;
    kinds_o = 20'd0;
    places_o = 64'd0;
    entry = 32'd0;
    for (k = 0; k < 4; k = k + 1) begin
      word = words_i[k*32 +: 32];
      four = fours[k*16 +: 16];
      three = threes[k*16 +: 16];
      two = twos[k*16 +: 16];
      for (j = 0; j < 3; j = j + 1) begin
        if (j < k) begin
          entry = {16'd0, entered0};
          if (j == 1) begin
            entry = {16'd0, entered1};
          end else if (j == 2) begin
            entry = {16'd0, entered2};
          end
          difference = word ^ words_i[j*32 +: 32];
          if (!(|difference[31:16])) begin
            two = two | entry[15:0];
            if (!(|difference[15:8])) begin
              three = three | entry[15:0];
              if (!(|difference[7:0])) begin
                four = four | entry[15:0];
              end
            end
          end
        end
      end
      if (!wide[k]) begin
        // words of one byte do not enter the dictionary
        kinds_o[k*5] = ~(|word);
        kinds_o[k*5+1] = |word;
      end else if (|four) begin
        kinds_o[k*5+2] = 1'b1;
        places_o[k*16 +: 16] = four;
      end else if (|three) begin
        kinds_o[k*5+3] = 1'b1;
        places_o[k*16 +: 16] = three;
      end else begin
        kinds_o[k*5+4] = |two;
        places_o[k*16 +: 16] = two;
      end
    end
  end

  assign enters3 = wide[3] & ~found3;
  assign entered3 = enters3 ? place3 : 16'd0;

  always @(*) begin : comb_dictionary_o
    integer i;
    dictionary_o = dictionary_i;
    for (i = 0; i < 16; i = i + 1) begin
      if (entered0[i]) begin
        dictionary_o[i*32 +: 32] = words_i[31:0];
      end
      if (entered1[i]) begin
        dictionary_o[i*32 +: 32] = words_i[63:32];
      end
      if (entered2[i]) begin
        dictionary_o[i*32 +: 32] = words_i[95:64];
      end
      if (entered3[i]) begin
        dictionary_o[i*32 +: 32] = words_i[127:96];
      end
    end
  end

  assign known_o = known_i | entered0 | entered1 | entered2 | entered3;
  assign next_o = enters3 ? {place3[14:0], place3[15]} : place3;

  // unused bits
  wire unused = &{1'b0, next4, equal[3:0], equal[7:5], equal[11:10], equal[15], entry[31:16]};

endmodule

`default_nettype wire
