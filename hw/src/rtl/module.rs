//! [`rtl_module!`](crate::rtl_module): the top of a block, with each of its ports stated once.

/// Declares the top of a block: the typed structs of its ports ([`ports!`](crate::ports)), the RTL's struct with clock, reset and
/// the same ports ([`rtl_block!`](crate::rtl_block)), and the map between the two ([`rtl_top!`](crate::rtl_top)).
///
/// A port is `name: type of its value as type of its signal = width`, where the width is an expression over the parameters,
/// which are bound to the name after `as`. `registers` are those that planted faults strike; `parts`, which may be left out, has
/// whatever else the block consists of.
///
/// ```
/// use selvedge_hw::rtl::prelude::*;
///
/// rtl_module! {
///     /// Counts the cycles in which `enable_i` is high.
///     pub struct Counter<const N: usize> for u32 as width {
///         inputs CounterIn {
///             /// Count this cycle.
///             enable_i: bool as Bit = 1,
///         }
///         outputs CounterOut {
///             /// The count.
///             count_o: u8 as U<N> = *width as usize,
///         }
///         registers {
///             count: Reg<U<N>>,
///         }
///         parts {
///             next: Signal<Local, U<N>>,
///         }
///     }
/// }
/// impl<const N: usize> Logic for Counter<N> {
///     #[hdl_gen]
///     fn update(&mut self) {
///         dff_setup!(self, clk_i, count);
///         self.next.next = self.count.q.val() + self.enable_i.val();
///         self.count.d.next = self.next.val();
///         self.count_o.next = self.count.q.val();
///     }
///     fn timing(&self) -> Vec<TimingInfo> {
///         self.describe()
///     }
/// }
///
/// let mut counter = RtlInstance::boxed(Counter::<8>::default());
/// counter.step(&CounterIn { enable_i: true });
/// assert_eq!(counter.step(&CounterIn { enable_i: false }).count_o, 1);
/// ```
#[macro_export]
macro_rules! rtl_module {
    (
        $(#[doc = $doc:expr])*
        $vis:vis struct $top:ident $(<$(const $generic:ident: usize),+ $(,)?>)? for $params:ty as $bound:ident {
            inputs $inputs:ident {
                $($(#[doc = $input_doc:literal])+ $input:ident: $input_value:ty as $input_signal:ty = $input_width:expr),+ $(,)?
            }
            outputs $outputs:ident {
                $($(#[doc = $output_doc:literal])+ $output:ident: $output_value:ty as $output_signal:ty = $output_width:expr),+ $(,)?
            }
            registers {
                $($(#[doc = $register_doc:expr])* $register:ident: $register_type:ty),+ $(,)?
            }
            $(parts { $($parts:tt)* })?
        }
    ) => {
        $crate::ports! {
            /// Inputs.
            pub struct $inputs<$params>($bound) {
                $($(#[doc = $input_doc])+ $input: $input_value = $input_width),+
            }
        }
        $crate::ports! {
            /// Outputs.
            pub struct $outputs<$params>($bound) {
                $($(#[doc = $output_doc])+ $output: $output_value = $output_width),+
            }
        }
        $crate::rtl_block! {
            $(#[doc = $doc])*
            #[derive(LogicBlock, Default)]
            $vis struct $top $(<$(const $generic: usize),+>)? {
                /// clock
                pub clk_i: Signal<In, Clock>,
                /// asynchronous reset, active low
                pub rst_ni: Signal<In, Bit>,
                $($(#[doc = $input_doc])+ pub $input: Signal<In, $input_signal>,)+
                $($(#[doc = $output_doc])+ pub $output: Signal<Out, $output_signal>,)+
                $($(#[doc = $register_doc])* $register: $register_type,)+
                $($($parts)*)?
            }
        }
        $crate::rtl_top! {
            impl[$($(const $generic: usize),+)?] $top $(<$($generic),+>)?: $inputs { $($input),+ } => $outputs { $($output),+ },
            registers { $($register),+ }
        }
    };
}
