//! BDI against its definition, computed bit by bit without the codec's arithmetic.
use crate::bdi::stimulus::BdiLineGenerator;
use crate::bdi::{BaseRule, BdiEncoding, compress_words_from, decompress};
use crate::line::{Bits, LINE_BYTES, bytes_of, words_of};
use bitvec::prelude::*;
use num_traits::{PrimInt, WrappingSub};
use proptest::prelude::*;

/// Returns the line as words of type `T`.
fn words<T: PrimInt>(line: &[u8]) -> Vec<T> {
    let bytes = size_of::<T>();
    let word = |chunk: &[u8]| {
        let byte = |b: &u8| T::from(*b).expect("a byte fits every word");
        chunk.iter().rev().fold(T::zero(), |word, b| word << 8 | byte(b))
    };
    line.chunks_exact(bytes).map(word).collect()
}

/// Returns the word as a signed number.
fn signed<T: PrimInt>(word: T) -> i128 {
    let value = word.to_i128().expect("words have at most 64 bits");
    let bits = 8 * size_of::<T>();
    if value >> (bits - 1) & 1 == 1 { value - (1 << bits) } else { value }
}

/// Returns whether the word is in -2^(8k-1) ..= 2^(8k-1)-1, where k is `delta_bytes`.
fn fits<T: PrimInt>(word: T, delta_bytes: usize) -> bool {
    let half = 1i128 << (8 * delta_bytes - 1);
    (-half..half).contains(&signed(word))
}

fn push<T: PrimInt>(bits: &mut Bits, word: T, bytes: usize) {
    let value = word.to_u64().expect("words are unsigned");
    bits.extend_from_bitslice(&value.view_bits::<Lsb0>()[..8 * bytes]);
}

/// Returns the payload with words of type `T` and deltas of `delta_bytes`, or `None` if they cannot represent the line.
fn payload<T: PrimInt + WrappingSub>(line: &[u8], rule: BaseRule, delta_bytes: usize) -> Option<Bits> {
    let words = words::<T>(line);
    let base_bytes = size_of::<T>();
    let mut bits = Bits::new();
    if delta_bytes == 0 {
        push(&mut bits, words[0], base_bytes);
        return words.iter().all(|w| *w == words[0]).then_some(bits);
    }
    let base = match rule {
        BaseRule::FirstFit => words.iter().copied().find(|w| !fits(*w, delta_bytes)).unwrap_or(T::zero()),
        BaseRule::FirstWord => words[0],
    };
    push(&mut bits, base, base_bytes);
    bits.extend(words.iter().map(|w| fits(*w, delta_bytes)));
    bits.resize(bits.len().div_ceil(8) * 8, false);
    for word in words {
        let delta = if fits(word, delta_bytes) { word } else { word.wrapping_sub(&base) };
        if !fits(delta, delta_bytes) {
            return None;
        }
        push(&mut bits, delta, delta_bytes);
    }
    Some(bits)
}

/// Returns the smallest encoding by definition and its payload. Ties go to the wider base.
fn defined(line: &[u8], rule: BaseRule) -> (BdiEncoding, Bits) {
    let candidates = [
        (BdiEncoding::Zeros, line.iter().all(|b| *b == 0).then(Bits::new)),
        (BdiEncoding::B8D0, payload::<u64>(line, rule, 0)),
        (BdiEncoding::B8D1, payload::<u64>(line, rule, 1)),
        (BdiEncoding::B8D2, payload::<u64>(line, rule, 2)),
        (BdiEncoding::B8D4, payload::<u64>(line, rule, 4)),
        (BdiEncoding::B4D0, payload::<u32>(line, rule, 0)),
        (BdiEncoding::B4D1, payload::<u32>(line, rule, 1)),
        (BdiEncoding::B4D2, payload::<u32>(line, rule, 2)),
        (BdiEncoding::B2D0, payload::<u16>(line, rule, 0)),
        (BdiEncoding::B2D1, payload::<u16>(line, rule, 1)),
        (
            BdiEncoding::Uncompressed,
            Some(line.iter().flat_map(|b| b.view_bits::<Lsb0>().to_bitvec()).collect()),
        ),
    ];
    let found = candidates.into_iter().filter_map(|(encoding, bits)| Some((encoding, bits?)));
    found.min_by_key(|(_, bits)| bits.len()).expect("a line can always be left as it is")
}

fn check(line: &[u8]) {
    check_from(line, BaseRule::FirstFit);
    check_from(line, BaseRule::FirstWord);
}

fn check_from(line: &[u8], rule: BaseRule) {
    let (encoding, bits) = defined(line, rule);
    let compressed = compress_words_from(&words_of(line), line.len(), rule);
    assert_eq!(
        (compressed.encoding, usize::from(compressed.size)),
        (encoding, bits.len() / 8),
        "{rule:?} of {line:02x?}"
    );
    let got = compressed.payload.view_bits::<Lsb0>();
    assert_eq!(got[..bits.len()], bits, "{encoding:?} of {line:02x?}");
    assert!(got[bits.len()..].not_any(), "bits beyond the payload");
    assert_eq!(bytes_of(&decompress(&compressed, line.len()))[..line.len()], *line);
}

#[test]
fn lines_of_every_encoding_are_as_defined() {
    for bytes in LINE_BYTES {
        let mut lines = BdiLineGenerator::new(7, bytes);
        for _ in 0..20_000 {
            let line = lines.next_line();
            check(&bytes_of(&line)[..bytes]);
        }
    }
}

proptest! {
    #[test]
    fn any_line_is_as_defined(line in prop::sample::select(LINE_BYTES.to_vec())
        .prop_flat_map(|bytes| prop::collection::vec(prop_oneof![3 => Just(0u8), 1 => Just(0xff), 1 => any::<u8>()], bytes)))
    {
        check(&line);
    }
}
