//! [`rtl_module!`](crate::rtl_module): the top of a block, with each of its ports stated once.

/// Declares the top of a block: the typed structs of its ports ([`ports!`](crate::ports)), the RTL's struct with clock, reset and
/// the same ports ([`rtl_block!`](crate::rtl_block)), and the map between the two ([`rtl_top!`](crate::rtl_top)).
///
/// A port is `name: type of its value as type of its signal = width`, where the width is an expression over the parameters,
/// which are bound to the name after `as`. A second `inputs` after the outputs has those that stand behind them in the Verilog.
/// `registers` are those that planted faults strike, and `parts` whatever else the block consists of. Where the struck registers
/// stand among the parts, or within one, `upset` names them as [`rtl_top!`](crate::rtl_top) does. A part that does not begin as its
/// type's default has its value after `=`; it may depend on the parameters. `reset` says what the reset does.
///
/// The block is made by its function `new` from the parameters.
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
/// let mut counter = RtlInstance::boxed(Counter::<8>::new(&8));
/// counter.step(&CounterIn { enable_i: true });
/// assert_eq!(counter.step(&CounterIn { enable_i: false }).count_o, 1);
/// ```
#[macro_export]
macro_rules! rtl_module {
    (
        $(#[doc = $doc:expr])*
        $(#[require($require:expr)])*
        $vis:vis struct $top:ident $(<$(const $generic:ident: usize),+ $(,)?>)? for $params:ty as $bound:ident {
            $(reset $reset_doc:literal;)?
            inputs $inputs:ident { $($first:tt)* }
            outputs $outputs:ident { $($output:tt)* }
            $(inputs { $($last:tt)* })?
            $(registers { $($(#[doc = $register_doc:expr])* $register:ident: $register_type:ty $(= $register_value:expr)?),+ $(,)? })?
            $(parts { $($parts:tt)* })?
            $(upset { $($upset:tt)+ })?
            $(upset by $method:ident;)?
        }
    ) => {
        $crate::rtl_module!(@ports "Inputs.", $inputs, $params, $bound, [$($first)*] [$($($last)*)?]);
        $crate::rtl_module!(@ports "Outputs.", $outputs, $params, $bound, [$($output)*] []);
        $crate::rtl_module!(
            @block [$($doc),*] [$($require),*] [$vis] $top [$($(const $generic: usize),+)?] $params, $bound,
            [$crate::rtl_module!(@reset $($reset_doc)?)]
            [$($first)*] [$($output)*] [$($($last)*)?]
            {
                $($($(#[doc = $register_doc])* $register: $register_type $(= $register_value)?,)+)?
                $($($parts)*)?
            }
        );
        $crate::rtl_module!(
            @top [$($(const $generic: usize),+)?] [$top $(<$($generic),+>)?] $inputs [$($first)* $($($last)*)?] $outputs [$($output)*]
            [$(registers { $($register),+ })? $(registers { $($upset)+ })? $(upset by $method)?]
        );
    };
    (@reset) => { " asynchronous reset, active low" };
    (@reset $doc:literal) => { concat!(" ", $doc) };
    (
        @ports $doc:literal, $side:ident, $params:ty, $bound:ident,
        [$($(#[doc = $first_doc:literal])+ $first:ident: $first_value:ty as $first_signal:ty = $first_width:expr),* $(,)?]
        [$($(#[doc = $last_doc:literal])+ $last:ident: $last_value:ty as $last_signal:ty = $last_width:expr),* $(,)?]
    ) => {
        $crate::ports! {
            #[doc = $doc]
            pub struct $side<$params>($bound) {
                $($(#[doc = $first_doc])+ $first: $first_value = $first_width,)*
                $($(#[doc = $last_doc])+ $last: $last_value = $last_width,)*
            }
        }
    };
    (
        @block [$($doc:expr),*] [$($require:expr),*] [$vis:vis] $top:ident [$($generics:tt)*] $params:ty, $bound:ident,
        [$reset_doc:expr]
        [$($(#[doc = $first_doc:literal])+ $first:ident: $first_value:ty as $first_signal:ty = $first_width:expr),* $(,)?]
        [$($(#[doc = $output_doc:literal])+ $output:ident: $output_value:ty as $output_signal:ty = $output_width:expr),* $(,)?]
        [$($(#[doc = $last_doc:literal])+ $last:ident: $last_value:ty as $last_signal:ty = $last_width:expr),* $(,)?]
        { $($body:tt)* }
    ) => {
        $crate::rtl_module! {
            @generics [$($generics)*]
            [$(#[doc = $doc])* #[derive(LogicBlock)] #[new($bound: &$params)] $(#[require($require)])* $vis struct $top]
            {
                /// clock
                pub clk_i: Signal<In, Clock>,
                #[doc = $reset_doc]
                pub rst_ni: Signal<In, Bit>,
                $($(#[doc = $first_doc])+ pub $first: Signal<In, $first_signal>,)*
                $($(#[doc = $output_doc])+ pub $output: Signal<Out, $output_signal>,)*
                $($(#[doc = $last_doc])+ pub $last: Signal<In, $last_signal>,)*
                $($body)*
            }
        }
    };
    (@generics [] [$($head:tt)*] $body:tt) => { $crate::rtl_block! { $($head)* $body } };
    (@generics [$($generics:tt)+] [$($head:tt)*] $body:tt) => { $crate::rtl_block! { $($head)* <$($generics)+> $body } };
    (
        @top $generics:tt [$top:ty] $inputs:ident
        [$($(#[doc = $input_doc:literal])+ $input:ident: $input_value:ty as $input_signal:ty = $input_width:expr),* $(,)?]
        $outputs:ident
        [$($(#[doc = $output_doc:literal])+ $output:ident: $output_value:ty as $output_signal:ty = $output_width:expr),* $(,)?]
        $struck:tt
    ) => {
        $crate::rtl_module!(@struck $generics $top, $inputs [$($input),*] $outputs [$($output),*] $struck);
    };
    (
        @struck [$($generics:tt)*] $top:ty, $inputs:ident [$($input:ident),*] $outputs:ident [$($output:ident),*]
        [$($struck:tt)+]
    ) => {
        $crate::rtl_top! {
            impl[$($generics)*] $top: $inputs { $($input),* } => $outputs { $($output),* }, $($struck)+
        }
    };
}
