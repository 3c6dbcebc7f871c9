//! The routines of BDI: decompression for each encoding, and compression, which tries the encodings in turn.
//!
//! Decompression is CABA's algorithm 1. It loads base and deltas, adds the base in the lanes whose word is a difference from
//! the base, and stores the words. Those lanes are the active mask. The mask and the encoding come with the trigger. A lane has
//! two words of 2 bytes, so for these the routine reads the mask from the line instead.
//!
//! Compression is algorithm 2 with the base of the hardware codec: the first word that is not a short difference from zero. It
//! tries the encodings in the order of their sizes, and ends with the first that fits.
use super::assembly::assemble;
use super::instruction::AssistOp;
use super::lanes::LINE_BYTES;
use super::routine::Routine;
use selvedge_hw_codecs::bdi::{BdiCompressed, BdiEncoding};
use selvedge_hw_codecs::line::bytes_of;
use std::fmt::Write as _;

const LANES: usize = 32;

/// Returns the routine that decompresses lines of an encoding, or nothing for uncompressed lines.
pub fn decompression(encoding: BdiEncoding) -> Option<Routine> {
    let (base, delta) = (encoding.base_bytes(), encoding.delta_bytes());
    let body = match (encoding, base, delta) {
        (BdiEncoding::Uncompressed, ..) => return None,
        (BdiEncoding::Zeros, ..) => "li r0, 0\nst.4 r0, 0, 4\n".into(),
        (_, 2, 0) => "ldu.2 r4, 0, 0\nst.2 r4, 0, 2\nst.2 r4, 64, 2\n".into(),
        (_, 2, _) => "ldu.2 r4, 0, 0\nldu.8 r0, 2, 0\nlds.1 r5, 10, 1\nlds.1 r6, 42, 1\nbit p1, r0, 0\nbit p2, r0, 32\n\
                      @!p1 add r5, r5, r4\n@!p2 add r6, r6, r4\nst.2 r5, 0, 2\nst.2 r6, 64, 2\n"
            .into(),
        (_, _, 0) => format!("ldu.{base} r0, 0, 0\nst.{base} r0, 0, {base}\n"),
        _ => {
            // Words of at most 4 bytes use 32-bit registers. The active mask selects the lanes that add ([`base_lanes`]).
            let [lanes, b, d] = if base == 8 { ["@p7 ", "r0", "r1"] } else { ["", "r5", "r6"] };
            format!(
                "every {lanes}ldu.{base} {b}, 0, 0\nevery {lanes}lds.{delta} {d}, {}, {delta}\nadd {d}, {d}, {b}\n\
                 every {lanes}st.{base} {d}, 0, {base}\n",
                base + encoding.mask_bytes(LINE_BYTES)
            )
        }
    };
    let lanes = if base == 8 { LINE_BYTES / base } else { LANES };
    let code = assemble(&format!("every addr r11\n{body}")).expect("the routine is right");
    Some(Routine { code, mask: u32::MAX >> (LANES - lanes) })
}

/// Returns the active mask of a line's decompression: the lanes of words that are differences from the base, by the head of the
/// line. Returns nothing if all lanes do the same, or if a lane has two words.
pub(crate) fn base_lanes(form: &BdiCompressed) -> Option<u32> {
    let (encoding, base) = (form.encoding, form.encoding.base_bytes());
    if encoding.delta_bytes() == 0 || base == 2 {
        return None;
    }
    let payload = bytes_of(&form.payload);
    let mask = &payload[base..base + encoding.mask_bytes(LINE_BYTES)];
    let from_zero = mask.iter().rev().fold(0, |all, byte| all << 8 | u32::from(*byte));
    Some(!from_zero & u32::MAX >> (LANES - encoding.words(LINE_BYTES)))
}

/// Returns the routine for direct load (section 7.6). It writes the words of a compressed line to the parent's registers
/// instead of the line. The coalescing unit selects the deltas of the load's lanes.
pub(crate) fn extraction(encoding: BdiEncoding) -> Option<Routine> {
    let mut routine = decompression(encoding)?;
    for instruction in routine.code.iter_mut().filter(|instruction| instruction.op == AssistOp::St) {
        instruction.op = AssistOp::Out;
    }
    Some(routine)
}

/// Returns the routine that compresses a line by an encoding of at most `most_bytes`. If none fits, it executes no `done`.
pub fn compression(most_bytes: usize) -> Routine {
    let mut text = String::from(EQUAL_WORDS);
    for encoding in BdiEncoding::by_size(LINE_BYTES).into_iter().filter(|e| e.size(LINE_BYTES) <= most_bytes)
    {
        match (encoding.base_bytes(), encoding.delta_bytes()) {
            (_, 0) => {}
            (2, _) => text.push_str(SHORT_WORDS),
            _ => test_of(encoding, &mut text),
        }
    }
    Routine { code: assemble(&text).expect("the routine is right"), mask: u32::MAX }
}

/// Tests for zeros, and for equal words of 8, 4 and 2 bytes.
const EQUAL_WORDS: &str = "
    addr r11
    @p7 ldu.8 r0, 0, 8
    ldu.4 r6, 0, 4
    li r1, 0
    @p7 eq.8 p1, r0, r1
    @p7 all p5, p1
    @p5 done 1, 0
    ldu.8 r1, 0, 0
    ldu.4 r2, 4, 0
    ldu.2 r4, 2, 0
    @p7 eq.8 p1, r0, r1
    @p7 all p1, p1
    eqand.4 p2, r2, r1, p1
    eqand.2 p3, r4, r1, p2
    @p3 st.2 r1, 0, 0
    @p3 done 9, 2
    @p2 st.4 r1, 0, 0
    @p2 done 6, 4
    @p1 st.8 r1, 0, 0
    @p1 done 2, 8
";

/// Tests for 2-byte words, two in each lane: r0 has the first 32 words, r1 the others.
const SHORT_WORDS: &str = "
    ldu.2 r0, 0, 2
    ldu.2 r1, 64, 2
    sext.1 r2, r0
    sext.1 r3, r1
    eq.2 p1, r2, r0
    eq.2 p2, r3, r1
    nobal r4, p1, 0
    ffs r4, r4
    shfl r5, r0, r4, 0
    all p3, p1
    nobal r4, p2, 0
    ffs r4, r4
    @p3 shfl r5, r1, r4, 0      ; none of the first 32 words is the base
    sub r2, r0, r5
    sub r3, r1, r5
    sext.1 r6, r2
    eqor.2 p3, r6, r2, p1
    sext.1 r6, r3
    eqor.2 p4, r6, r3, p2
    all p5, p3
    @p5 all p5, p4
    @p1 mov r2, r0
    @p2 mov r3, r1
    @p5 st.2 r5, 0, 0
    ballot r4, p1, 0
    @p5 st.4 r4, 2, 0
    ballot r4, p2, 0
    @p5 st.4 r4, 6, 0
    @p5 st.1 r2, 10, 1
    @p5 st.1 r3, 42, 1
    @p5 done 10, 74
";

/// Appends the test of an encoding of 8-byte words, in r0 of the lower lanes, or of 4-byte words, in r6.
fn test_of(encoding: BdiEncoding, text: &mut String) {
    let (base, delta) = (encoding.base_bytes(), encoding.delta_bytes());
    let mask = encoding.mask_bytes(LINE_BYTES);
    let (words, lanes) = if base == 8 { ("r0", "@p7 ") } else { ("r6", "") };
    let _ = write!(
        text,
        "sext.{delta} r2, {words}
        {lanes}eq.{base} p1, r2, {words}
        {lanes}nobal r4, p1, 0
        ffs r4, r4
        shfl r1, {words}, r4, 0
        sub r2, {words}, r1
        sext.{delta} r3, r2
        {lanes}eqor.{base} p2, r3, r2, p1
        {lanes}all p5, p2
        @p1 mov r2, {words}
        {lanes}ballot r4, p1, 0
        @p5 st.{base} r1, 0, 0
        @p5 st.{mask} r4, {base}, 0
        @p5 st.{delta} r2, {}, {delta}
        @p5 done {}, {}
        ",
        base + mask,
        encoding.tag(),
        encoding.size(LINE_BYTES)
    );
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lanes::{Lanes, Made, SAVING_BYTES, registers_of};
    use selvedge_hw_codecs::bdi::stimulus::BdiLineGenerator;
    use selvedge_hw_codecs::bdi::{compress_words, decompress};
    use selvedge_hw_codecs::line::Line;
    use std::collections::BTreeMap;

    /// Runs a routine on a line.
    fn run(routine: &Routine, input: &Line) -> Lanes {
        Lanes::run(routine, bytes_of(input))
    }

    /// Decompresses a line by the routine of its encoding, or returns nothing if the line is uncompressed.
    fn decompressed(form: &BdiCompressed) -> Option<Lanes> {
        let routine = decompression(form.encoding)?;
        let mask = base_lanes(form).unwrap_or(routine.mask);
        Some(run(&Routine { mask, ..routine }, &form.payload))
    }

    /// Returns a line with the extreme deltas of an encoding, from zero and from the base. With `beyond`, one delta is too
    /// large by one.
    fn corner(encoding: BdiEncoding, beyond: bool) -> Line {
        let (base, delta) = (encoding.base_bytes(), encoding.delta_bytes());
        let bits = 8 * base as u32;
        let word = |index: usize| -> u64 {
            if delta == 0 {
                return if base == 0 { 0 } else { 0x1234_5678_9abc_def0 >> (64 - bits) };
            }
            let half = 1i64 << (8 * delta - 1);
            let anchor = (0x5aa5_1234_7689_4321u64 >> (64 - bits)) as i64;
            let deltas = [0, half - 1, -half, 1, -1];
            let near = deltas[index % deltas.len()];
            let value = match index {
                0 => 0,
                1 => anchor,
                _ if beyond && index == LINE_BYTES / base - 1 => anchor + half,
                _ if index.is_multiple_of(3) => near,
                _ => anchor + near,
            };
            value as u64
        };
        let mut bytes = [0u8; LINE_BYTES];
        let width = if base == 0 { 8 } else { base };
        for (index, chunk) in bytes.chunks_exact_mut(width).enumerate() {
            chunk.copy_from_slice(&word(index).to_le_bytes()[..width]);
        }
        selvedge_hw_codecs::line::words_of(&bytes)
    }

    /// Returns lines at the limits of every encoding, and generated ones.
    fn lines() -> Vec<Line> {
        let corners = BdiEncoding::ALL.into_iter().flat_map(|e| [corner(e, false), corner(e, true)]);
        let mut generator = BdiLineGenerator::new(7, LINE_BYTES);
        corners.chain((0..4000).map(|_| generator.next_line())).collect()
    }

    #[test]
    fn every_encoding_is_decompressed_as_the_codec_does() {
        let mut seen = BTreeMap::<BdiEncoding, u32>::new();
        for line in lines() {
            let form = compress_words(&line, LINE_BYTES);
            let Some(lanes) = decompressed(&form) else { continue };
            assert_eq!(lanes.output, bytes_of(&line), "{:?}", form.encoding);
            *seen.entry(form.encoding).or_default() += 1;
        }
        assert_eq!(seen.len(), 10, "every encoding: {seen:?}");
    }

    #[test]
    fn payloads_of_any_bits_are_decompressed_as_the_codec_does() {
        let mut generator = BdiLineGenerator::new(9, LINE_BYTES);
        for encoding in BdiEncoding::ALL {
            for _ in 0..200 {
                let size = encoding.size(LINE_BYTES) as u8;
                let form = BdiCompressed { encoding, size, payload: generator.next_line() };
                let Some(lanes) = decompressed(&form) else { continue };
                assert_eq!(lanes.output, bytes_of(&decompress(&form, LINE_BYTES)), "{encoding:?}");
            }
        }
    }

    #[test]
    fn every_line_is_compressed_as_the_codec_does() {
        for most_bytes in [SAVING_BYTES, 64] {
            let routine = compression(most_bytes);
            let mut seen = BTreeMap::<BdiEncoding, u32>::new();
            for line in lines() {
                let form = compress_words(&line, LINE_BYTES);
                let lanes = run(&routine, &line);
                let made = Made { encoding: form.encoding.tag(), size: form.size };
                if usize::from(form.size) > most_bytes {
                    assert_eq!(lanes.made, None);
                } else {
                    assert_eq!(
                        (lanes.made, lanes.output),
                        (Some(made), bytes_of(&form.payload)),
                        "{line:x?}"
                    );
                }
                *seen.entry(form.encoding).or_default() += 1;
            }
            assert_eq!(seen.len(), 11, "every encoding: {seen:?}");
        }
    }

    #[test]
    fn the_routines_have_the_lengths_and_registers_that_the_page_states() {
        let lengths = BdiEncoding::ALL.map(|e| decompression(e).map_or(0, |routine| routine.code.len()));
        assert_eq!(lengths, [0, 3, 3, 5, 5, 5, 3, 5, 5, 4, 11]);
        assert_eq!([SAVING_BYTES, 64].map(|most| compression(most).code.len()), [126, 65]);
        let all = BdiEncoding::ALL.into_iter().filter_map(decompression);
        assert_eq!(all.map(|routine| registers_of(&routine.code)).max(), Some(6));
        assert_eq!(registers_of(&compression(SAVING_BYTES).code), 12);
    }
}
