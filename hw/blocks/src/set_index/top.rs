//! What the tops of all set index blocks have in common: how they take a line, give a set, and are upset.

/// Implements [`RtlTop`](selvedge_hw::rtl::top::RtlTop) for a top with `valid_i`, `line_i`, `valid_o`, `index_o` and the
/// registers `valid` and `index`, whose last const generic is the width of an index.
macro_rules! set_index_top {
    ($top:ident<$($size:ident),+>, $bits:ident, $input:ty, $output:ty) => {
        impl<$(const $size: usize),+> selvedge_hw::rtl::top::RtlTop for $top<$($size),+> {
            type In = $input;
            type Out = $output;

            fn drive(&mut self, inputs: &$input) {
                self.valid_i.next = inputs.valid_i;
                self.line_i.next = U::new(u64::from(inputs.line_i));
            }

            fn sample(&self) -> $output {
                <$output as crate::set_index::SetOut>::of(self.valid_o.val(), self.index_o.val().to_u64() as u32)
            }

            fn upset(&mut self, bit: usize) {
                match bit % ($bits + 1) {
                    0 => self.valid.q.next = !self.valid.q.val(),
                    bit => {
                        let index = self.index.q.val();
                        self.index.q.next = index.replace_bit(bit - 1, !index.get_bit(bit - 1));
                    }
                }
            }
        }
    };
}

pub(super) use set_index_top;
