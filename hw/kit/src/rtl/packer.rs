//! Packs fields of variable length into one string of bits: the last step of every codec with words of variable size.
//!
//! ```text
//! field_i      a      bbb    --     cc        lengths 1, 3, 0, 2
//!               \    /         \   /
//!               bbba            cc            each level merges neighbors: the right one is shifted up by
//!                    \        /               the length of the left one
//! string_o           ccbbba                   bit 0 is the lowest bit of field 0
//! ```
//!
//! In a tree, the shifter of each pair is as wide as the pair. Its total width is log2(FIELDS) times the width of all fields.
//! Shifting each field directly to its position would take a shifter as wide as the whole string per field.

use super::mem::template;
use crate::rtl::prelude::*;
use std::fmt::Write;

rtl_block! {
    /// Packs FIELDS fields of at most F bits, field 0 lowest, without gaps into a string of OUT bits.
    ///
    /// A tree: each level merges neighbors. Bits of a field from its length on are ignored. Bits of the string from the sum of
    /// the lengths on are zero; bits from OUT on are dropped.
    #[require(FIELDS >= 2 && F <= OUT)]
    #[require(F < 1 << LEN && SUM == LEN + levels(FIELDS))]
    pub struct BitPacker<
        const FIELDS: usize, const F: usize, const LEN: usize, const OUT: usize, const OUTW: usize, const SUM: usize,
    > {
        /// the fields, each in the low bits
        pub field_i: [Signal<In, U<F>>; FIELDS] = array(),
        /// valid bits of each field, 0 to F
        pub length_i: [Signal<In, U<LEN>>; FIELDS] = array(),
        /// the string
        pub string_o: Signal<Out, W<OUT, OUTW>>,
        /// sum of all lengths
        pub length_o: Signal<Out, U<SUM>>,
    }
}

/// Returns the number of levels of a binary tree over `leaves`.
pub(super) const fn levels(leaves: usize) -> usize {
    leaves.next_power_of_two().ilog2() as usize
}

/// Returns the lowest `bits` bits of a word, 0 to 64.
pub(super) const fn low(word: u64, bits: usize) -> u64 {
    if bits >= 64 { word } else { word & ((1 << bits) - 1) }
}

/// Returns the packer's Verilog.
///
/// All levels are in one process. With an assignment per element, an event-driven simulator would propagate each changed bit
/// separately, level by level.
fn packer(fields: usize, f: usize, len: usize, out: usize) -> Verilog {
    let mut declarations = format!("reg [{fields}*{f}-1:0] string_0;\nreg [{fields}*{len}-1:0] length_0;\n");
    let mut body = format!(
        "  length_0 = length_i;
  // clear the bits beyond the length of each field
  for (g = 0; g < {fields}; g = g + 1) begin
    string_0[g*{f} +: {f}] = field_i[g*{f} +: {f}] & ~({{{f}{{1'b1}}}} << length_0[g*{len} +: {len}]);
  end
"
    );
    let (mut count, mut bits, mut length_bits) = (fields, f, len);
    for level in 1..=levels(fields) {
        let wide = (2 * bits).min(out);
        let (below, above) = (format!("string_{}", level - 1), format!("string_{level}"));
        let of = |index: &str| extended(&element(&below, index, bits), wide - bits);
        let (declaration, sum, lonely_sum) = sums(level, count, length_bits);
        let (pairs, after) = (count / 2, count.div_ceil(2));
        declarations += &format!("reg [{after}*{wide}-1:0] {above};\n{declaration}");
        write!(
            body,
            "  // merged: {after} strings of up to {wide} bits
  for (g = 0; g < {pairs}; g = g + 1) begin
    {} = {} | ({} << {});
    {sum}  end
",
            element(&above, "g", wide),
            of("2*g"),
            of("2*g+1"),
            element(&format!("length_{}", level - 1), "2*g", length_bits),
        )
        .expect("a String takes all text");
        if count % 2 == 1 {
            let last = of(&(count - 1).to_string());
            body += &format!("  {} = {last};\n  {lonely_sum}", element(&above, &pairs.to_string(), wide));
        }
        (count, bits, length_bits) = (after, wide, length_bits + 1);
    }
    let top = levels(fields);
    let string = extended(&format!("string_{top}"), out - bits);
    template(format!(
        "{declarations}
always @(*) begin : pack
  integer g;
{body}end

assign string_o = {string};
assign length_o = length_{top};
"
    ))
}

/// Returns a slice of `bits` bits: element `index` of the array `name`.
fn element(name: &str, index: &str, bits: usize) -> String {
    let index = if index.contains('+') { format!("({index})") } else { index.to_string() };
    format!("{name}[{index}*{bits} +: {bits}]")
}

/// Returns `text` with `zeros` zero bits above it.
fn extended(text: &str, zeros: usize) -> String {
    if zeros == 0 { text.to_string() } else { format!("{{{zeros}'d0, {text}}}") }
}

/// Returns the lengths of level `level` as sums of the lengths below: the declaration, the body of its loop over pairs `g`, and
/// the unpaired last element.
pub(super) fn sums(level: usize, count: usize, length_bits: usize) -> (String, String, String) {
    let (below, above) = (format!("length_{}", level - 1), format!("length_{level}"));
    let wide = length_bits + 1;
    let of = |index: &str| extended(&element(&below, index, length_bits), 1);
    let declaration = format!("reg [{}*{wide}-1:0] {above};\n", count.div_ceil(2));
    let pair = format!("{} = {} + {};\n", element(&above, "g", wide), of("2*g"), of("2*g+1"));
    let last =
        format!("{} = {};\n", element(&above, &(count / 2).to_string(), wide), of(&(count - 1).to_string()));
    (declaration, pair, last)
}

impl<
    const FIELDS: usize,
    const F: usize,
    const LEN: usize,
    const OUT: usize,
    const OUTW: usize,
    const SUM: usize,
> Logic for BitPacker<FIELDS, F, LEN, OUT, OUTW, SUM>
{
    #[inline]
    fn update(&mut self) {
        let mut words = [0u64; OUTW];
        let mut place = 0;
        for (field, length) in self.field_i.iter().zip(&self.length_i) {
            let length = length.val().index();
            assert!(length <= F, "a field of {F} bits has no length of {length}");
            let value = low(field.val().to_u64(), length);
            let (word, shift) = (place / 64, place % 64);
            if word < OUTW {
                words[word] |= value << shift;
                if shift + length > 64 && word + 1 < OUTW {
                    words[word + 1] |= value >> (64 - shift);
                }
            }
            place += length;
        }
        self.string_o.next = W::from_words(words);
        self.length_o.next = U::new(place as u64);
    }

    fn connect(&mut self) {
        self.string_o.connect();
        self.length_o.connect();
    }

    fn hdl(&self) -> Verilog {
        packer(FIELDS, F, LEN, OUT)
    }

    fn timing(&self) -> Vec<TimingInfo> {
        self.describe()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Returns the packer's string and sum for fields given as value and length.
    fn packed<const FIELDS: usize, const OUT: usize, const OUTW: usize, const SUM: usize>(
        fields: &[(u64, usize)],
    ) -> (Vec<bool>, usize) {
        let mut packer = BitPacker::<FIELDS, 35, 6, OUT, OUTW, SUM>::default();
        for (index, (value, length)) in fields.iter().enumerate() {
            packer.field_i[index].next = U::new(*value);
            packer.length_i[index].next = U::new(*length as u64);
        }
        settle(&mut packer).unwrap();
        let string = packer.string_o.val();
        ((0..OUT).map(|bit| string.get_bit(bit)).collect(), packer.length_o.val().index())
    }

    proptest! {
        #[test]
        fn fields_follow_each_other_bit_by_bit(fields in prop::collection::vec((any::<u64>(), 0usize..=35), 33)) {
            let mut bits: Vec<bool> =
                fields.iter().flat_map(|(value, length)| (0..*length).map(move |bit| value >> bit & 1 != 0)).collect();
            let sum = bits.len();
            bits.resize(33 * 35, false);
            prop_assert_eq!(packed::<33, 1155, 19, 12>(&fields), (bits.clone(), sum));
            bits.truncate(256);
            prop_assert_eq!(packed::<33, 256, 4, 12>(&fields), (bits, sum), "what is beyond the string is dropped");
        }
    }
}
