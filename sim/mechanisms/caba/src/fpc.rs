//! The routines of FPC in CABA's variant, in which the four words of a segment share a pattern.
//!
//! Algorithms 3 and 4 of the paper handle one segment after the other. Here every lane has one word, and all segments are
//! handled at once. The head gives the size of every segment, and a sum over the lanes gives its start.
use super::assembly::assemble;
use super::routine::Routine;
use selvedge_hw_codecs::fpc::Pattern;
use std::fmt::Write as _;

/// Number of the encoding, after the encodings of BDI.
pub const TAG: u8 = 11;

/// Appends a prefix sum of `sum` over the lanes with the given lane distances. `other` holds the shuffled values.
fn sums(sum: &str, other: &str, steps: &[u8], text: &mut String) {
    for step in steps {
        let _ = writeln!(text, "shfl {other}, {sum}, r5, {step}\nadd {sum}, {sum}, {other}");
    }
}

/// Returns the half bytes that each pattern keeps of a word, one hexadecimal digit for each prefix.
fn digits() -> u32 {
    Pattern::ALL.iter().rev().fold(0, |all, pattern| (all << 4) | (pattern.data_bits() as u32 / 4))
}

/// Appends instructions that load a constant into a register, 16 bits at a time.
fn constant(register: &str, value: u64, halves: u32, text: &mut String) {
    for half in (0..halves).rev() {
        let _ = writeln!(text, "lih {register}, {:#06x}", value >> (16 * half) & 0xffff);
    }
}

/// Returns the routine that decompresses a line.
pub fn decompression() -> Routine {
    let mut text = String::from(
        "addr r11
        ldu.4 r4, 0, 0
        lane r5
        shr r6, r5, 2
        muli r6, r6, 3
        shrv r4, r4, r6
        andi r4, r4, 7              ; prefix of the segment
        shl r6, r4, 2\n",
    );
    constant("r7", u64::from(digits()), 2, &mut text);
    text.push_str(
        "shrv r7, r7, r6
        andi r7, r7, 15             ; half bytes of each word
        shfl r8, r7, r5, 1
        add r8, r8, r7\n",
    );
    sums("r8", "r9", &[2, 4, 8, 16], &mut text);
    text.push_str(
        "sub r8, r8, r7              ; half bytes before this word
        andi r9, r8, 1
        shl r9, r9, 2
        shr r8, r8, 1
        ldx.4 r6, r8, 3
        shrv r6, r6, r9
        eqi p1, r4, 0
        @p1 li r6, 0
        eqi p1, r4, 1
        @p1 shl r6, r6, 28
        @p1 sar r6, r6, 28\n",
    );
    for (pattern, bytes) in [
        (Pattern::Sign8, "0x8880"),
        (Pattern::Sign16, "0x9910"),
        (Pattern::Upper16, "0x1044"),
        (Pattern::TwoBytes, "0x9180"),
        (Pattern::Repeated, "0x0000"),
    ] {
        let _ = writeln!(text, "eqi p1, r4, {}\n@p1 prmt r6, r6, {bytes}", pattern.prefix());
    }
    text.push_str("st.4 r6, 0, 4");
    Routine { code: assemble(&text).expect("the routine is right"), mask: u32::MAX }
}

/// Returns the routine that compresses a line. If that saves no burst, no `donev` takes effect, and the line stays
/// uncompressed.
pub fn compression() -> Routine {
    let mut text = String::from(
        "addr r11
        ldu.4 r4, 0, 4
        lane r5
        li r6, 128                  ; patterns that the word has, from the fewest bits on: raw
        eqi p1, r4, 0
        @p1 ori r6, r6, 1           ; zero
        addi r8, r4, 8
        shr r8, r8, 4
        eqi p1, r8, 0
        @p1 ori r6, r6, 2           ; four bits\n",
    );
    // The patterns that a permutation of the kept bytes restores.
    for (place, pattern) in Pattern::BY_SIZE.iter().enumerate() {
        let bytes = match pattern {
            Pattern::Sign8 => "0x8880",
            Pattern::Sign16 => "0x9910",
            Pattern::Upper16 => "0x3244",
            Pattern::TwoBytes => "0xa280",
            Pattern::Repeated => "0x0000",
            Pattern::Zeros | Pattern::Sign4 | Pattern::Raw => continue,
        };
        let _ = writeln!(text, "prmt r8, r4, {bytes}\neq.4 p1, r8, r4\n@p1 ori r6, r6, {}", 1 << place);
    }
    text.push_str(
        "xori r7, r5, 1
        shfl r8, r6, r7, 0
        and r6, r6, r8
        xori r8, r5, 2
        shfl r8, r6, r8, 0
        and r6, r6, r8              ; patterns that all four words have
        ffs r6, r6
        shl r6, r6, 3\n",
    );
    let entry = |pattern: &Pattern| u64::from(pattern.prefix()) | (pattern.data_bits() as u64 / 2) << 3;
    constant("r0", Pattern::BY_SIZE.iter().rev().fold(0, |all, p| all << 8 | entry(p)), 4, &mut text);
    text.push_str(
        "shrv r8, r0, r6
        andi r9, r8, 7              ; prefix
        shr r8, r8, 3
        andi r8, r8, 31             ; bytes of the segment
        eqi p1, r9, 4
        @p1 prmt r4, r4, 0x4432
        eqi p1, r9, 5
        @p1 prmt r4, r4, 0x4420     ; what is kept of the word
        shr r10, r5, 2
        eqi p2, r10, 7              ; the last segment knows the sums
        muli r10, r10, 3
        addi r10, r10, 16
        shlv r0, r9, r10
        or r0, r0, r8               ; prefix in its place of the head, above the segment's bytes\n",
    );
    sums("r0", "r1", &[4, 8, 16], &mut text);
    let _ = write!(
        text,
        "shr r1, r0, 16
        @p2 st.4 r1, 0, 0
        andi r6, r0, 255
        sub r10, r6, r8
        andi r9, r5, 3
        mul r9, r9, r8
        shr r9, r9, 2
        add r10, r10, r9            ; bytes before this word
        eqi p1, r8, 4
        @p1 stx.1 r4, r10, 3
        eqi p1, r8, 8
        @p1 stx.2 r4, r10, 3
        eqi p1, r8, 16
        @p1 stx.4 r4, r10, 3
        andi r4, r4, 15             ; two words make a byte
        andi r9, r5, 1
        shl r9, r9, 2
        shlv r4, r4, r9
        shfl r9, r4, r7, 0
        or r4, r4, r9
        eqi p1, r8, 2
        @p1 stx.1 r4, r10, 3
        @p2 donev {TAG}, r6, 3"
    );
    Routine { code: assemble(&text).expect("the routine is right"), mask: u32::MAX }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lanes::{Lanes, Made, SAVING_BYTES, registers_of};
    use selvedge_hw_codecs::fpc::stimulus::FpcLineGenerator;
    use selvedge_hw_codecs::fpc::{FpcVariant, compress};
    use selvedge_hw_codecs::line::bytes_of;

    #[test]
    fn lines_are_compressed_and_decompressed_as_the_codec_does() {
        let mut lines = FpcLineGenerator::new(11, 128);
        let (pack, unpack) = (compression(), decompression());
        let (mut compressed, mut raw) = (0, 0);
        for _ in 0..20_000 {
            let line = lines.next_line();
            let form = compress(&line, 128, FpcVariant::Segments);
            let size = usize::from(form.bits).div_ceil(8);
            let made = Lanes::run(&pack, bytes_of(&line));
            if size > SAVING_BYTES {
                assert_eq!(made.made, None, "{line:x?}");
                raw += 1;
                continue;
            }
            let expected = Made { encoding: TAG, size: size as u8 };
            assert_eq!((made.made, made.output), (Some(expected), bytes_of(&form.payload)), "{line:x?}");
            assert_eq!(Lanes::run(&unpack, bytes_of(&form.payload)).output, bytes_of(&line));
            compressed += 1;
        }
        assert!(compressed > 1000 && raw > 1000, "{compressed} compressed, {raw} not");
    }

    #[test]
    fn the_routines_have_the_lengths_and_registers_that_the_page_states() {
        assert_eq!([decompression(), compression()].map(|routine| routine.code.len()), [44, 80]);
        assert_eq!([decompression(), compression()].map(|routine| registers_of(&routine.code)), [7, 12]);
    }
}
