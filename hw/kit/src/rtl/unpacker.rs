//! Splits a string of bits into fields of known lengths: the reverse of [`BitPacker`].
//!
//! ```text
//! string_i           ccbbba                   lengths 1, 3, 0, 2
//!                    /        \
//!               bbba            cc            each level halves: the right half is shifted down by
//!               /    \         /   \          the length of the left half
//! field_o      a      bbb     0     cc
//! ```
//!
//! [`BitSplitter`] is the upper levels of the tree. [`BitUnpacker`] is the lower levels or all of them. A register may be placed
//! between the two.

use super::mem::template;
use super::packer::{levels, low, sums};
use crate::rtl::prelude::*;

rtl_block! {
    /// Splits a string of FIELDS times F bits into FIELDS fields of at most F bits, field 0 lowest.
    ///
    /// A tree: each level splits a string in two. Bits of a field from its length on are zero. The first DONE levels have been
    /// split already.
    #[require(FIELDS >= 2 && FIELDS.is_power_of_two())]
    #[require(F < 1 << LEN && IN == FIELDS * F)]
    #[require(DONE < levels(FIELDS))]
    pub struct BitUnpacker<
        const FIELDS: usize, const F: usize, const LEN: usize, const IN: usize, const INW: usize, const DONE: usize,
    > {
        /// the string, or 2 to the power of DONE strings of equal width, each beginning with its first field
        pub string_i: Signal<In, W<IN, INW>>,
        /// bits of each field, 0 to F
        pub length_i: [Signal<In, U<LEN>>; FIELDS] = array(),
        /// the fields, each in the low bits
        pub field_o: [Signal<Out, U<F>>; FIELDS] = array(),
    }
}

impl<
    const FIELDS: usize,
    const F: usize,
    const LEN: usize,
    const IN: usize,
    const INW: usize,
    const DONE: usize,
> Logic for BitUnpacker<FIELDS, F, LEN, IN, INW, DONE>
{
    #[inline]
    fn update(&mut self) {
        let string = self.string_i.val();
        let in_piece = FIELDS >> DONE;
        let mut place = 0;
        for (index, (field, length)) in self.field_o.iter_mut().zip(&self.length_i).enumerate() {
            if index % in_piece == 0 {
                place = index * F;
            }
            let length = length.val().index();
            assert!(length <= F, "a field of {F} bits has no length of {length}");
            field.next = U::new(low(string.get_bits::<F>(place).to_u64(), length));
            place += length;
        }
    }

    fn connect(&mut self) {
        for field in &mut self.field_o {
            field.connect();
        }
    }

    fn hdl(&self) -> Verilog {
        unpacker(FIELDS, F, LEN, IN, DONE)
    }

    fn timing(&self) -> Vec<TimingInfo> {
        self.describe()
    }
}

/// Returns the Verilog of a [`BitUnpacker`]. All levels are in one process, as in the packer.
fn unpacker(fields: usize, f: usize, len: usize, input: usize, done: usize) -> Verilog {
    let (declarations, body) = halves(fields, f, len, input, levels(fields) - done, 0);
    let body = format!(
        "{body}  // the fields without what follows them
  for (g = 0; g < {fields}; g = g + 1) begin
    fields[g*{f} +: {f}] = string_0[g*{f} +: {f}] & ~({{{f}{{1'b1}}}} << length_0[g*{len} +: {len}]);
  end
"
    );
    let unused = unused(levels(fields) - done, fields, len);
    template(format!(
        "{declarations}reg [{fields}*{f}-1:0] fields;

always @(*) begin : unpack
  integer g;
  integer b;
{body}end

assign field_o = fields;
{unused}"
    ))
}

/// Returns the Verilog of a [`BitSplitter`].
fn splitter(fields: usize, f: usize, len: usize, input: usize, split: usize) -> Verilog {
    let top = levels(fields);
    if split == 0 {
        return template(
            "assign strings_o = string_i;\n\nwire unused;\nassign unused = &{1'b0, length_i};\n".to_string(),
        );
    }
    let down = top - split;
    let (declarations, body) = halves(fields, f, len, input, top, down);
    let unused = unused(top, fields, len);
    template(format!(
        "{declarations}
always @(*) begin : split
  integer g;
  integer b;
{body}end

assign strings_o = string_{down};
{unused}"
    ))
}

/// Returns declarations and body of the levels from `from` down to `to`. `string_i` holds the strings of level `from`; each
/// level's strings are twice as wide as the next lower level's. `string_{to}` gets the strings of level `to`.
fn halves(fields: usize, f: usize, len: usize, input: usize, from: usize, to: usize) -> (String, String) {
    let mut declarations = format!("reg [{fields}*{len}-1:0] length_0;\n");
    let mut body =
        "  // the lengths of all strings, from the fields up\n  length_0 = length_i;\n".to_string();
    for level in 1..from {
        let count = fields >> (level - 1);
        let (declaration, sum, _) = sums(level, count, len + level - 1);
        declarations += &declaration;
        body += &format!("  for (g = 0; g < {}; g = g + 1) begin\n    {sum}  end\n", count / 2);
    }
    declarations += &format!("reg [{input}-1:0] string_{from};\n");
    body += &format!("  // the strings, halved level by level\n  string_{from} = string_i;\n");
    for level in (to..from).rev() {
        let (count, half, length_bits) = (fields >> (level + 1), f << level, len + level);
        let both = 2 * half;
        let above = level + 1;
        // A left half of maximum length selects the upper half unshifted; all other positions are in the bits below.
        let is_power = half.is_power_of_two() && 1 << (length_bits - 1) == half;
        let steps = if is_power { length_bits - 1 } else { length_bits };
        let (low, high) = (half - 1, both - 1);
        let right = if is_power {
            format!(
                "(length_{level}[2*g*{length_bits}+{steps}] ? string_{above}[g*{both}+{half} +: {half}] : moved_{level}[{low}:0])"
            )
        } else {
            format!("moved_{level}[{low}:0]")
        };
        declarations += &format!("reg [{input}-1:0] string_{level};\nreg [{high}:0] moved_{level};\n");
        body += &format!(
            "  for (g = 0; g < {count}; g = g + 1) begin
    // the longest step first, so that the others need fewer bits
    moved_{level} = string_{above}[g*{both} +: {both}];
    for (b = {}; b >= 0; b = b - 1) begin
      if (length_{level}[2*g*{length_bits}+b]) moved_{level} = moved_{level} >> (1 << b);
    end
    string_{level}[2*g*{half} +: {half}] = string_{above}[g*{both} +: {half}];
    string_{level}[(2*g+1)*{half} +: {half}] = {right};
  end
",
            steps - 1,
        );
    }
    (declarations, body)
}

/// Returns a use of the lengths of the right halves of the highest level, which place nothing.
fn unused(top: usize, fields: usize, length_bits: usize) -> String {
    if top < 2 {
        return String::new();
    }
    let (level, bits) = (top - 1, length_bits + top - 1);
    // One wire for all, because each incoming string has a right half.
    let rights: Vec<String> = (0..fields >> top)
        .map(|g| format!("length_{level}[{}:{}]", (2 * g + 2) * bits - 1, (2 * g + 1) * bits))
        .collect();
    format!(
        "\n// the lengths of right halves place nothing\nwire unused;\nassign unused = &{{1'b0, {}}};\n",
        rights.join(", ")
    )
}

rtl_block! {
    /// The upper LEVELS levels of a [`BitUnpacker`]: splits a string into 2 to the power of LEVELS strings of equal width.
    ///
    /// Each string begins with its first field; bits after its last field are undefined. With zero levels it is a wire.
    #[require(FIELDS.is_power_of_two() && LEVELS < levels(FIELDS))]
    #[require(F < 1 << LEN && IN == FIELDS * F)]
    #[require((IN >> LEVELS).is_multiple_of(32))]
    pub struct BitSplitter<
        const FIELDS: usize, const F: usize, const LEN: usize, const IN: usize, const INW: usize, const LEVELS: usize,
    > {
        /// the string
        pub string_i: Signal<In, W<IN, INW>>,
        /// bits of each field, 0 to F
        pub length_i: [Signal<In, U<LEN>>; FIELDS] = array(),
        /// the strings, string 0 lowest
        pub strings_o: Signal<Out, W<IN, INW>>,
    }
}

impl<
    const FIELDS: usize,
    const F: usize,
    const LEN: usize,
    const IN: usize,
    const INW: usize,
    const LEVELS: usize,
> Logic for BitSplitter<FIELDS, F, LEN, IN, INW, LEVELS>
{
    #[inline]
    fn update(&mut self) {
        let string = self.string_i.val();
        let (fields, bits) = (FIELDS >> LEVELS, IN >> LEVELS);
        let mut strings = [0; INW];
        let mut place = 0;
        for (index, length) in self.length_i.iter().enumerate() {
            if index % fields == 0 {
                for at in (0..bits).step_by(32) {
                    let to = index / fields * bits + at;
                    strings[to / 64] |= string.get_bits::<32>(place + at).to_u64() << (to % 64);
                }
            }
            let length = length.val().index();
            assert!(length <= F, "a field of {F} bits has no length of {length}");
            place += length;
        }
        self.strings_o.next = W::from_words(strings);
    }

    fn connect(&mut self) {
        self.strings_o.connect();
    }

    fn hdl(&self) -> Verilog {
        splitter(FIELDS, F, LEN, IN, LEVELS)
    }

    fn timing(&self) -> Vec<TimingInfo> {
        self.describe()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn what_was_packed_comes_back(fields in prop::collection::vec((any::<u64>(), 0usize..=32), 16)) {
            let mut packer = BitPacker::<16, 32, 6, 512, 8, 10>::default();
            let mut unpacker = BitUnpacker::<16, 32, 6, 512, 8, 0>::default();
            let mut splitter = BitSplitter::<16, 32, 6, 512, 8, 2>::default();
            let mut rest = BitUnpacker::<16, 32, 6, 512, 8, 2>::default();
            for (index, (value, length)) in fields.iter().enumerate() {
                packer.field_i[index].next = U::new(*value);
                packer.length_i[index].next = U::new(*length as u64);
                for lengths in [&mut unpacker.length_i, &mut splitter.length_i, &mut rest.length_i] {
                    lengths[index].next = U::new(*length as u64);
                }
            }
            settle(&mut packer).unwrap();
            unpacker.string_i.next = packer.string_o.val();
            settle(&mut unpacker).unwrap();
            splitter.string_i.next = packer.string_o.val();
            settle(&mut splitter).unwrap();
            rest.string_i.next = splitter.strings_o.val();
            settle(&mut rest).unwrap();
            for (field, in_two) in unpacker.field_o.iter().zip(&rest.field_o) {
                prop_assert_eq!(field.val(), in_two.val());
            }
            for (field, (value, length)) in unpacker.field_o.iter().zip(&fields) {
                prop_assert_eq!(field.val().to_u64(), low(*value, *length));
            }
        }
    }
}
