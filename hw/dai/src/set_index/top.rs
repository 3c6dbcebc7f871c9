//! Common parts of the tops of all set index blocks: they accept a line and output its set.

/// Declares a top with the ports of the family and the registers `valid` and `index`, and maps it to the typed ports. The const
/// generic `$bits` is the width of an index. Additional parts are given in braces.
macro_rules! set_index_top {
    (
        $(#[doc = $doc:literal])+
        $top:ident<$($size:ident),+>, $bits:ident, $input:ident => $output:ident,
        new($bound:ident: $params:ty) { $($parts:tt)* }
    ) => {
        rtl_block! {
            $(#[doc = $doc])+
            #[new($bound: $params)]
            pub struct $top<$(const $size: usize),+> {
                /// clock
                pub clk_i: Signal<In, Clock>,
                /// asynchronous reset, active low
                pub rst_ni: Signal<In, Bit>,
                /// a line is valid
                pub valid_i: Signal<In, Bit>,
                /// address of the line
                pub line_i: Signal<In, U<32>>,
                /// a line was valid in the last cycle
                pub valid_o: Signal<Out, Bit>,
                /// set of the last line
                pub index_o: Signal<Out, U<$bits>>,
                valid: Reg<Bit>,
                index: DataReg<U<$bits>>,
                $($parts)*
            }
        }

        rtl_top! {
            impl[$(const $size: usize),+] $top<$($size),+>:
            $input { valid_i, line_i } => $output { valid_o, index_o },
            registers { valid, index }
        }
    };
}

pub(super) use set_index_top;
