//! The routines of C-Pack in CABA's variant: at most four dictionary values.
//!
//! Compression is CABA's algorithm 6. Each dictionary value is the first word that no earlier value covers; the predicates show
//! which one. After four values the global predicate shows whether all words are covered.
use super::assembly::assemble;
use super::routine::Routine;
use selvedge_hw_codecs::cpack::VALUES;
use std::fmt::Write as _;

/// Number of the encoding, after the encodings of BDI and FPC.
pub const TAG: u8 = 12;

/// Bytes of the head, which has four bits for each word.
const HEAD: usize = 16;

/// Returns the routine that decompresses a line.
pub fn decompression() -> Routine {
    let mut text = String::from(
        "addr r11
        lane r5
        shr r6, r5, 1
        ldx.1 r6, r6, 0
        andi r7, r5, 1
        shl r7, r7, 2
        shrv r6, r6, r7
        andi r6, r6, 15             ; kind, below the value's number
        li r10, 0                   ; bytes of the dictionary\n",
    );
    // A word that matches in full exists for every dictionary value.
    for value in 0..VALUES {
        let _ = writeln!(text, "eqi p1, r6, {}\nany p2, p1\n@p2 li r10, {}", 4 * value + 2, 4 * (value + 1));
    }
    let _ = write!(
        text,
        "andi r7, r6, 12
        ldx.4 r7, r7, {HEAD}        ; its value
        add r8, r5, r10
        ldx.1 r8, r8, {HEAD}        ; its own byte
        tst p1, r6, 2
        @!p1 li r7, 0
        tst p2, r6, 1
        @p2 prmt r7, r7, 0x3214
        @p2 or r7, r7, r8
        st.4 r7, 0, 4"
    );
    Routine { code: assemble(&text).expect("the routine is right"), mask: u32::MAX }
}

/// Returns the routine that compresses a line. If that fails, it executes no `donev`, and the line stays uncompressed.
pub fn compression() -> Routine {
    let mut text = String::from(
        "addr r11
        ldu.4 r4, 0, 4
        lane r5
        li r6, 3                    ; kind and value of the word: partial match of the first
        li r7, 0                    ; its value
        li r10, 0                   ; bytes of the dictionary
        prmt r9, r4, 0x4440         ; lowest byte
        eq.4 p1, r9, r4             ; covered: zero, or a byte
        @p1 li r6, 1
        prmt r0, r4, 0x3214         ; the other bytes\n",
    );
    for value in 0..VALUES {
        let _ = writeln!(
            text,
            "nobal r8, p1, 0
            eqi p2, r8, 0
            @!p2 addi r10, r10, 4
            ffs r8, r8
            @!p1 shfl r7, r4, r8, 0
            @!p1 st.4 r7, {}, 0
            prmt r8, r7, 0x3214
            eqor.4 p1, r8, r0, p1",
            HEAD + 4 * value
        );
        if value + 1 < VALUES {
            text.push_str("@!p1 addi r6, r6, 4\n");
        }
    }
    let _ = write!(
        text,
        "all p5, p1
        eq.4 p3, r4, r7             ; zero or full match: no byte of its own
        @p3 xori r6, r6, 1
        all p6, p3
        @p3 li r9, 0
        xori r7, r5, 1              ; two words make a byte of the head
        andi r8, r5, 1
        shl r8, r8, 2
        shlv r6, r6, r8
        shfl r8, r6, r7, 0
        or r6, r6, r8
        shr r8, r5, 1
        stx.1 r6, r8, 0
        add r8, r5, r10
        @!p6 stx.1 r9, r8, {HEAD}
        @!p6 addi r10, r10, 32
        @p5 donev {TAG}, r10, {HEAD}"
    );
    Routine { code: assemble(&text).expect("the routine is right"), mask: u32::MAX }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lanes::{Lanes, Made, registers_of};
    use selvedge_hw_codecs::cpack::stimulus::CpackLineGenerator;
    use selvedge_hw_codecs::cpack::{CpackEncoding, CpackVariant, compress};
    use selvedge_hw_codecs::line::bytes_of;

    #[test]
    fn lines_are_compressed_and_decompressed_as_the_codec_does() {
        let mut lines = CpackLineGenerator::new(12, 128);
        let (pack, unpack) = (compression(), decompression());
        let (mut compressed, mut raw) = (0, 0);
        for _ in 0..20_000 {
            let line = lines.next_line();
            let form = compress(&line, 128, CpackVariant::Small4);
            let made = Lanes::run(&pack, bytes_of(&line));
            if form.encoding == CpackEncoding::Uncompressed {
                assert_eq!(made.made, None, "{line:x?}");
                raw += 1;
                continue;
            }
            let expected = Made { encoding: TAG, size: form.bits.div_ceil(8) as u8 };
            assert_eq!((made.made, made.output), (Some(expected), bytes_of(&form.payload)), "{line:x?}");
            assert_eq!(Lanes::run(&unpack, bytes_of(&form.payload)).output, bytes_of(&line));
            compressed += 1;
        }
        assert!(compressed > 1000 && raw > 1000, "{compressed} compressed, {raw} not");
    }

    #[test]
    fn the_routines_have_the_lengths_and_registers_that_the_page_states() {
        assert_eq!([decompression(), compression()].map(|routine| routine.code.len()), [31, 62]);
        assert_eq!([decompression(), compression()].map(|routine| registers_of(&routine.code)), [6, 10]);
    }
}
