//! The codecs against the papers: their worked examples, and known words under their code tables.
//!
//! No codec computes the expected values. Lines and sizes come from the papers or are computed by hand from a paper's table, code
//! by code, as the comments show.
use crate::bdi::BdiEncoding;
use crate::line::{Line, bytes_of, words_of};
use crate::{bdi, bpc, cpack, fpc};
use bitvec::prelude::*;

/// Returns words of `BYTES` bytes in memory order.
fn line<const N: usize, const BYTES: usize>(words: [u64; N]) -> Vec<u8> {
    words.iter().flat_map(|word| word.to_le_bytes()[..BYTES].to_vec()).collect()
}

/// Returns the bits of a payload as text, first bit first.
fn text(payload: &[u64], bits: usize) -> String {
    payload.view_bits::<Lsb0>()[..bits].iter().map(|bit| if *bit { '1' } else { '0' }).collect()
}

/// Returns a field of `width` bits as text, lowest bit first.
fn field(value: u64, width: usize) -> String {
    text(&[value], width)
}

// BDI. Pekhimenko, Seshadri, Mutlu, Gibbons, Kozuch, Mowry: Base-Delta-Immediate Compression, PACT 2012. The paper's sizes
// exclude the mask of words with a delta from zero, one bit per word; here the mask is part of the payload.

/// Returns the bytes of the mask.
fn mask_bytes(words: usize) -> usize {
    words.div_ceil(8)
}

#[test]
fn bdi_compresses_the_line_of_h264ref_to_the_papers_12_bytes() {
    // Figure 3: narrow values; 4-byte base 0 and eight deltas of one byte.
    let compressed = bdi::compress(&line::<8, 4>([0, 0xb, 3, 1, 4, 0, 3, 4]));
    assert_eq!(compressed.encoding, BdiEncoding::B4D1);
    assert_eq!(compressed.encoding.size(32), 12 + mask_bytes(8));
    let bytes = bytes_of(&compressed.payload);
    assert_eq!(bytes[..13], [0, 0, 0, 0, 0xff, 0, 0xb, 3, 1, 4, 0, 3, 4]);
}

#[test]
fn bdi_compresses_the_line_of_perlbench_to_the_papers_12_bytes() {
    // Figure 4: pointers eight bytes apart; base 0xC04039C0 and eight deltas of one byte.
    let words: [u64; 8] = std::array::from_fn(|i| 0xc040_39c0 + 8 * i as u64);
    assert_eq!(words[7], 0xc040_39f8, "the last word of the figure");
    let compressed = bdi::compress(&line::<8, 4>(words));
    assert_eq!(compressed.encoding, BdiEncoding::B4D1);
    assert_eq!(compressed.encoding.size(32), 12 + mask_bytes(8));
    let bytes = bytes_of(&compressed.payload);
    assert_eq!(bytes[..13], [0xc0, 0x39, 0x40, 0xc0, 0, 0, 8, 0x10, 0x18, 0x20, 0x28, 0x30, 0x38]);
}

#[test]
fn bdi_leaves_the_line_of_mcf_which_needs_a_second_base_of_its_own() {
    // Figure 5: the paper needs two arbitrary bases for its 19 bytes. BDI's second base is zero. The pointers' differences from
    // the first base, 0xA6C0 and 0xC178, exceed two signed bytes.
    let words = [0, 0x09a4_0178, 0xb, 1, 0x09a4_a838, 0xa, 0xb, 0x09a4_c2f0];
    assert_eq!((words[4] - words[1], words[7] - words[1]), (0xa6c0, 0xc178), "the deltas of the figure");
    let compressed = bdi::compress(&line::<8, 4>(words));
    assert_eq!(compressed.encoding, BdiEncoding::Uncompressed);
    assert_eq!(bytes_of(&compressed.payload)[..32], line::<8, 4>(words));
}

/// Returns a line for which one of the paper's encodings is the shortest: every third word is a base, the others have the largest
/// delta.
fn suited(base_bytes: usize, delta_bytes: usize, line_bytes: usize) -> Vec<u8> {
    let word = |i: usize| -> u64 {
        let top = 0x5a_u64 << (8 * base_bytes - 8);
        let delta = (1_u64 << (8 * delta_bytes - 1)) - 1;
        if i.is_multiple_of(3) { top } else { top + delta }
    };
    (0..line_bytes / base_bytes).flat_map(|i| word(i).to_le_bytes()[..base_bytes].to_vec()).collect()
}

#[test]
fn bdi_gives_the_sizes_of_the_papers_table() {
    // Table 2: compressed sizes of 32-byte and 64-byte lines, in bytes. All zeros take a byte there; here the tag represents
    // them.
    for (base, delta, small, large) in
        [(8, 1, 12, 16), (8, 2, 16, 24), (8, 4, 24, 40), (4, 1, 12, 20), (4, 2, 20, 36), (2, 1, 18, 34)]
    {
        for (line_bytes, published) in [(32, small), (64, large)] {
            let compressed = bdi::compress(&suited(base, delta, line_bytes));
            assert_eq!(compressed.encoding.base_bytes(), base, "{base} {delta} {line_bytes}");
            assert_eq!(compressed.encoding.delta_bytes(), delta, "{base} {delta} {line_bytes}");
            let size = compressed.encoding.size(line_bytes);
            assert_eq!(size, published + mask_bytes(line_bytes / base), "{base} {delta} {line_bytes}");
        }
    }
    for line_bytes in [32, 64] {
        let repeated: Vec<u8> = [1, 2, 3, 4, 5, 6, 7, 8].repeat(line_bytes / 8);
        assert_eq!(bdi::compressed_size(&repeated), 8, "repeated values");
        assert_eq!(bdi::compressed_size(&vec![0; line_bytes]), 0, "zeros");
        let hard: Vec<u8> = (0..line_bytes).map(|i| (i * i * 37 + 11 * i) as u8).collect();
        assert_eq!(bdi::compressed_size(&hard), line_bytes, "not compressed");
    }
}

// FPC. Alameldeen, Wood: Frequent Pattern Compression: A Significance-Based Compression Scheme for L2 Caches, University of
// Wisconsin technical report 1500, 2004, table 1.

/// Known words, each with the prefix by the table and the number of data bits.
const FPC_WORDS: [(u32, u32, usize); 22] = [
    // 001: 4 bits, sign-extended.
    (0x0000_0001, 0b001, 4),
    (0x0000_0007, 0b001, 4),
    (0xffff_ffff, 0b001, 4),
    (0xffff_fff8, 0b001, 4),
    // 010: one byte, sign-extended.
    (0x0000_0008, 0b010, 8),
    (0x0000_007f, 0b010, 8),
    (0xffff_fff7, 0b010, 8),
    (0xffff_ff80, 0b010, 8),
    // 011: halfword, sign-extended.
    (0x0000_0080, 0b011, 16),
    (0x0000_7fff, 0b011, 16),
    (0xffff_ff7f, 0b011, 16),
    (0xffff_8000, 0b011, 16),
    // 100: halfword padded with a zero halfword.
    (0x0001_0000, 0b100, 16),
    (0xbeef_0000, 0b100, 16),
    (0x8000_0000, 0b100, 16),
    // 101: two halfwords, each a byte sign-extended.
    (0x0012_0034, 0b101, 16),
    (0xffe0_0041, 0b101, 16),
    (0x007f_ff80, 0b101, 16),
    // 110: word of repeated bytes.
    (0x4141_4141, 0b110, 8),
    (0xa5a5_a5a5, 0b110, 8),
    // 111: uncompressed. A zero upper halfword alone is no pattern.
    (0x0000_8000, 0b111, 32),
    (0xdead_beef, 0b111, 32),
];

#[test]
fn fpc_gives_known_words_the_prefixes_and_sizes_of_the_papers_table() {
    for (word, prefix, data_bits) in FPC_WORDS {
        // The word is followed by seven zero words: one run, which takes a prefix and three bits.
        let mut words = [0; 8];
        words[0] = u64::from(word);
        let packed = words_of(&line::<8, 4>(words));
        let compressed = fpc::compress(&packed, 32, fpc::FpcVariant::Words);
        assert_eq!(usize::from(compressed.bits), 3 + data_bits + 6, "{word:#010x}");
        let head = field(prefix.into(), 3) + &field(0, 3) + &field(7 - 1, 3);
        let kept = &text(&compressed.payload, usize::from(compressed.bits));
        assert_eq!(kept[..9], head, "{word:#010x}");
    }
}

#[test]
fn fpc_cuts_runs_of_zeros_after_eight_words() {
    // Table 1: a zero run has 3 bits of data, "for runs up to 8 zeros".
    for (line_bytes, runs) in [(32, 1), (64, 2), (128, 4)] {
        let bits = fpc::compressed_bits(&Line::default(), line_bytes, fpc::FpcVariant::Words);
        assert_eq!(bits, runs * (3 + 3), "{line_bytes} bytes");
    }
}

#[test]
fn fpc_adds_up_to_the_size_worked_out_by_hand() {
    // 3+4, 3+8, 3+16, 3+16, 3+16, 3+8, 3+32, and nine consecutive zeros: 6 for eight and 6 for one.
    let words = [7, 0x7f, 0x7fff, 0xbeef_0000, 0x0012_0034, 0x4141_4141, 0xdead_beef];
    let mut all = [0; 16];
    all[..7].copy_from_slice(&words);
    let packed = words_of(&line::<16, 4>(all));
    assert_eq!(
        fpc::compressed_bits(&packed, 64, fpc::FpcVariant::Words),
        7 + 11 + 19 + 19 + 19 + 11 + 35 + 6 + 6
    );
}

// C-Pack. Chen, Yang, Dick, Shang, Lekatsas: C-Pack: A High-Performance Microprocessor Cache Compression Algorithm, IEEE
// Transactions on VLSI Systems 18 (8), 2010, table I: zzzz 00, 2 bits; xxxx 01 BBBB, 34; mmmm 10 bbbb, 6; mmxx 1100 bbbb BB, 24;
// zzzx 1101 B, 12; mmmx 1110 bbbb B, 16. Here the first two bits of a code come first, then the next two, each pair with its
// lower bit first.

/// A line of 16 words with the pattern of each and its dictionary entry.
const CPACK_LINE: [(u64, PublishedCode); 16] = [
    (0x0000_0000, PublishedCode::Zzzz),
    (0x1234_5678, PublishedCode::Xxxx),            // enters entry 0
    (0x1234_5678, PublishedCode::Mmmm(0)),         // the same word
    (0x1234_5699, PublishedCode::Mmmx(0, 0x99)),   // enters entry 1
    (0x1234_abcd, PublishedCode::Mmxx(0, 0xabcd)), // enters entry 2
    (0x0000_0042, PublishedCode::Zzzx(0x42)),      // does not enter
    (0x1234_abcd, PublishedCode::Mmmm(2)),
    (0x1234_5699, PublishedCode::Mmmm(1)),
    (0x0000_0042, PublishedCode::Zzzx(0x42)),      // still no match
    (0xabcd_0000, PublishedCode::Xxxx),            // enters entry 3
    (0xabcd_0001, PublishedCode::Mmmx(3, 0x01)),   // enters entry 4
    (0xabcd_ff00, PublishedCode::Mmxx(3, 0xff00)), // enters entry 5
    (0x0000_0100, PublishedCode::Xxxx),            // two bytes: no zzzx; enters entry 6
    (0x0000_0101, PublishedCode::Mmmx(6, 0x01)),   // enters entry 7
    (0xabcd_ff00, PublishedCode::Mmmm(5)),
    (0x0000_0000, PublishedCode::Zzzz),
];

#[derive(Clone, Copy)]
enum PublishedCode {
    Zzzz,
    Xxxx,
    Mmmm(u64),
    Mmxx(u64, u64),
    Zzzx(u64),
    Mmmx(u64, u64),
}

/// Returns a code's bits as text.
fn cpack_code(word: u64, code: PublishedCode) -> String {
    // The digits of the paper's code in pairs, each pair with its lower bit first.
    let pair = |value: u64| field(value, 2);
    match code {
        PublishedCode::Zzzz => pair(0b00),
        PublishedCode::Xxxx => pair(0b01) + &field(word, 32),
        PublishedCode::Mmmm(place) => pair(0b10) + &field(place, 4),
        PublishedCode::Mmxx(place, low) => pair(0b11) + &pair(0b00) + &field(place, 4) + &field(low, 16),
        PublishedCode::Zzzx(low) => pair(0b11) + &pair(0b01) + &field(low, 8),
        PublishedCode::Mmmx(place, low) => pair(0b11) + &pair(0b10) + &field(place, 4) + &field(low, 8),
    }
}

#[test]
fn cpack_codes_a_known_line_as_the_papers_table_says() {
    let packed = words_of(&line::<16, 4>(CPACK_LINE.map(|(word, _)| word)));
    let compressed = cpack::compress(&packed, 64, cpack::CpackVariant::Fifo16);
    // Lengths by table I: 2 zzzz, 3 xxxx, 4 mmmm, 2 mmxx, 2 zzzx, 3 mmmx.
    assert_eq!(usize::from(compressed.bits), 2 * 2 + 3 * 34 + 4 * 6 + 2 * 24 + 2 * 12 + 3 * 16);
    let codes: String = CPACK_LINE.iter().map(|(word, code)| cpack_code(*word, *code)).collect();
    assert_eq!(text(&compressed.payload, usize::from(compressed.bits)), codes);
}

#[test]
fn cpack_lines_of_one_pattern_have_the_papers_ratios() {
    // A repeated word: one xxxx and fifteen mmmm. Sixteen new words: 34 bits each, more than the line.
    let size =
        |words| cpack::compressed_bits(&words_of(&line::<16, 4>(words)), 64, cpack::CpackVariant::Fifo16);
    assert_eq!(size([0x89ab_cdef; 16]), 34 + 15 * 6);
    assert_eq!(size(std::array::from_fn(|i| (0x0101_0101 * (i as u64 + 1)) << 4 | 0xf)), 512);
    assert_eq!(size([0x7f; 16]), 16 * 12, "zzzx never enters the dictionary");
}

// BPC. Kim, Sullivan, Choukse, Erez: Bit-Plane Compression: Transforming Data for Better Compression in Many-Core Architectures,
// ISCA 2016: 128-byte lines, a base symbol of 3, 7, 11, 19 or 33 bits, 33 planes of 31 bits. Plane 32 is the first, plane 0 the
// last.

/// Returns a line of 32 words from its first word and the differences between neighbors, which are 0 unless given.
fn planes(base: u32, deltas: &[(usize, i64)]) -> Vec<u8> {
    let mut words = vec![base];
    for place in 0..31 {
        let delta = deltas.iter().find(|(at, _)| *at == place).map_or(0, |(_, delta)| *delta);
        words.push((i64::from(words[place]) + delta) as u32);
    }
    words.iter().flat_map(|word| word.to_le_bytes()).collect()
}

/// Bits of a run of at least two zero planes in the paper's table.
const RUN: usize = 7;

#[test]
fn bpc_gives_known_planes_the_sizes_of_the_papers_table() {
    let all_one: Vec<(usize, i64)> = (0..31).map(|place| (place, 1)).collect();
    let cases: [(&str, Vec<u8>, usize); 9] = [
        // Base 0: 3 bits. 33 planes of zeros.
        ("zeros", planes(0, &[]), 3 + RUN),
        // Base 1000: 16 bits, sign-extended. Plane 0 is all ones: 5.
        ("counter", planes(1000, &all_one), 19 + RUN + 5),
        // Plane 0 has a single one: 10.
        ("one step up", planes(0, &[(30, 1)]), 3 + RUN + 10),
        // The difference -1 has a one in all 33 planes: 10 bits for the highest. The others equal it and become 32 zero planes.
        ("one step down", planes(1, &[(0, -1)]), 7 + 10 + RUN),
        // Two neighboring ones: 10.
        ("two steps", planes(0, &[(3, 1), (4, 1)]), 3 + RUN + 10),
        // Two separate ones: the raw plane, 32.
        ("two steps apart", planes(0, &[(3, 1), (7, 1)]), 3 + RUN + 32),
        // Plane 1 is raw. Plane 0 is zero but differs from the plane above it: 5.
        ("two steps of two", planes(0, &[(3, 2), (7, 2)]), 3 + RUN + 32 + 5),
        // Base 100: 8 bits. Plane 1 has a single one. Plane 0 is zero and differs from plane 1 in a single one: in the table, the
        // zero plane precedes the exclusive-or.
        ("a step of two", planes(100, &[(9, 2)]), 11 + RUN + 10 + 5),
        // Base 0x12345678: raw. A step of 4: plane 2 has a single one, plane 1 is zero, plane 0 is a single zero plane, 3 bits.
        ("a step of four", planes(0x1234_5678, &[(9, 4)]), 33 + RUN + 10 + 5 + 3),
    ];
    for (name, line, bits) in cases {
        assert_eq!(bpc::code_bits(&line), bits, "{name}");
        assert_eq!(usize::from(bpc::compress(&line).size), bits.div_ceil(8), "{name}");
    }
}
