//! A string of bits taken apart into fields of known lengths: the reverse of [`BitPacker`].
//!
//! ```text
//! string_i           ccbbba                   lengths 1, 3, 0, 2
//!                    /        \
//!               bbba            cc            each level halves: the right half moves down by
//!               /    \         /   \          the length of the left one
//! field_o      a      bbb     0     cc
//! ```

use super::mem::template;
use super::packer::{levels, low, sums};
use crate::rtl::prelude::*;

rtl_block! {
    /// Takes a string of FIELDS times F bits apart into FIELDS fields of at most F bits, field 0 lowest.
    ///
    /// A tree: each level splits a string in two. Bits of a field from its length on are zero.
    #[derive(LogicBlock)]
    pub struct BitUnpacker<const FIELDS: usize, const F: usize, const LEN: usize, const IN: usize, const INW: usize> {
        /// the string
        pub string_i: Signal<In, W<IN, INW>>,
        /// bits of each field, 0 to F
        pub length_i: [Signal<In, U<LEN>>; FIELDS],
        /// the fields, each in the low bits
        pub field_o: [Signal<Out, U<F>>; FIELDS],
    }
}

impl<const FIELDS: usize, const F: usize, const LEN: usize, const IN: usize, const INW: usize> Default
    for BitUnpacker<FIELDS, F, LEN, IN, INW>
{
    fn default() -> Self {
        const { assert!(FIELDS >= 2 && FIELDS.is_power_of_two(), "BitUnpacker: 2, 4, 8, ... fields") };
        const { assert!(F < 1 << LEN && IN == FIELDS * F, "BitUnpacker: LEN holds F, IN is FIELDS times F") };
        BitUnpacker { string_i: Signal::default(), length_i: array(), field_o: array() }
    }
}

impl<const FIELDS: usize, const F: usize, const LEN: usize, const IN: usize, const INW: usize> Logic
    for BitUnpacker<FIELDS, F, LEN, IN, INW>
{
    #[inline]
    fn update(&mut self) {
        let string = self.string_i.val();
        let mut place = 0;
        for (field, length) in self.field_o.iter_mut().zip(&self.length_i) {
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

    // All levels stand in one process, as the packer's do.
    fn hdl(&self) -> Verilog {
        let top = levels(FIELDS);
        let mut declarations = format!("reg [{FIELDS}*{LEN}-1:0] length_0;\n");
        let mut body =
            "  // the lengths of all strings, from the fields up\n  length_0 = length_i;\n".to_string();
        for level in 1..top {
            let count = FIELDS >> (level - 1);
            let (declaration, sum, _) = sums(level, count, LEN + level - 1);
            declarations += &declaration;
            body += &format!("  for (g = 0; g < {}; g = g + 1) begin\n    {sum}  end\n", count / 2);
        }
        declarations += &format!("reg [{IN}-1:0] string_{top};\n");
        body += &format!("  // the strings, halved level by level\n  string_{top} = string_i;\n");
        for level in (0..top).rev() {
            let (count, half, length_bits) = (FIELDS >> (level + 1), F << level, LEN + level);
            let both = 2 * half;
            let length = format!("length_{level}[2*g*{length_bits} +: {length_bits}]");
            // An index has as many bits as the string has places.
            let place = match (both.next_power_of_two().ilog2() as usize).saturating_sub(length_bits) {
                0 => length,
                missing => format!("{{{missing}'d0, {length}}}"),
            };
            declarations += &format!("reg [{IN}-1:0] string_{level};\nreg [{}:0] whole_{level};\n", both - 1);
            body += &format!(
                "  for (g = 0; g < {count}; g = g + 1) begin
    whole_{level} = string_{}[g*{both} +: {both}];
    string_{level}[2*g*{half} +: {half}] = whole_{level}[{}:0];
    string_{level}[(2*g+1)*{half} +: {half}] = whole_{level}[{place} +: {half}];
  end
",
                level + 1,
                half - 1,
            );
        }
        body += &format!(
            "  // the fields without what follows them
  for (g = 0; g < {FIELDS}; g = g + 1) begin
    fields[g*{F} +: {F}] = string_0[g*{F} +: {F}] & ~({{{F}{{1'b1}}}} << length_0[g*{LEN} +: {LEN}]);
  end
"
        );
        let mut unused = String::new();
        if top > 1 {
            let bits = LEN + top - 1;
            unused = format!(
                "\n// the length of the right half places nothing\nwire unused;\nassign unused = &{{1'b0, length_{}[{}:{bits}]}};\n",
                top - 1,
                2 * bits - 1,
            );
        }
        template(format!(
            "{declarations}reg [{FIELDS}*{F}-1:0] fields;

always @(*) begin : unpack
  integer g;
{body}end

assign field_o = fields;
{unused}"
        ))
    }

    fn timing(&self) -> Vec<TimingInfo> {
        self.describe()
    }
}

impl<const FIELDS: usize, const F: usize, const LEN: usize, const IN: usize, const INW: usize> PureLogic
    for BitUnpacker<FIELDS, F, LEN, IN, INW>
{
    #[inline]
    fn take_inputs(&mut self) {
        self.string_i.update_all();
        for length in &mut self.length_i {
            length.update_all();
        }
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
            let mut unpacker = BitUnpacker::<16, 32, 6, 512, 8>::default();
            for (index, (value, length)) in fields.iter().enumerate() {
                packer.field_i[index].next = U::new(*value);
                packer.length_i[index].next = U::new(*length as u64);
                unpacker.length_i[index].next = U::new(*length as u64);
            }
            settle(&mut packer).unwrap();
            unpacker.string_i.next = packer.string_o.val();
            settle(&mut unpacker).unwrap();
            for (field, (value, length)) in unpacker.field_o.iter().zip(&fields) {
                prop_assert_eq!(field.val().to_u64(), low(*value, *length));
            }
        }
    }
}
