//! [`rtl_module!`](crate::rtl_module): the top of a block, with each of its ports declared once.

/// Declares the top of a block: the typed structs of its ports ([`ports!`](crate::ports)), the RTL's struct with clock, reset and
/// the same ports ([`rtl_block!`](crate::rtl_block)), and the map between the two ([`rtl_top!`](crate::rtl_top)).
///
/// A port is `name: type of its value as type of its signal = width`. The width is an expression over the parameters, which are
/// bound to the name after `as`. A second `inputs` after the outputs has the inputs that follow the outputs in the Verilog.
/// `registers` lists the registers that planted faults can strike, `parts` all other parts of the block. If the struck
/// registers are among the parts, or inside one, `upset` names them instead of `registers`, as in [`rtl_top!`](crate::rtl_top). A
/// top with neither is a compile error, because a fault could strike nothing. A part with another initial value than its type's
/// default has that value after `=`; it may depend on the parameters. `reset` describes the effect of the reset.
///
/// The function `new` makes the block from the parameters. Each further struct after the first one, without `for` and without
/// ports, is another circuit with the same ports.
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
/// #[hdl_gen]
/// impl Logic for Counter {
///     fn update(&mut self) {
///         dff_setup!(self, clk_i, count);
///         self.next.next = self.count.q.val() + self.enable_i.val();
///         self.count.d.next = self.next.val();
///         self.count_o.next = self.count.q.val();
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
            inputs $inputs:ident $first:tt
            outputs $outputs:ident $output:tt
            $(inputs $last:tt)?
            $(registers $registers:tt)?
            $(parts $parts:tt)?
            $(upset { $($upset:tt)+ })?
            $(upset by $method:ident;)?
        }
        $($further:tt)*
    ) => {
        $crate::rtl_module!(@side "Inputs.", $inputs, $params, $bound, $first $($last)?);
        $crate::rtl_module!(@side "Outputs.", $outputs, $params, $bound, $output);
        $crate::rtl_module!(
            @top [$($doc),*] [$($require),*] [$vis] $top [$($(const $generic: usize),+)?] [$top $(<$($generic),+>)?]
            [$params] $bound [$($reset_doc)?] $inputs $first $outputs $output [$($last)?]
            $(registers $registers)? $(parts $parts)? $(upset { $($upset)+ })? $(upset by $method;)?
        );
        $crate::rtl_module!(@further [$params] $bound $inputs $first $outputs $output [$($last)?] $($further)*);
    };
    (@further $params:tt $bound:ident $inputs:ident $first:tt $outputs:ident $output:tt $last:tt) => {};
    (
        @further $params:tt $bound:ident $inputs:ident $first:tt $outputs:ident $output:tt $last:tt
        $(#[doc = $doc:expr])*
        $(#[require($require:expr)])*
        $vis:vis struct $top:ident $(<$(const $generic:ident: usize),+ $(,)?>)? {
            $(reset $reset_doc:literal;)?
            $(registers $registers:tt)?
            $(parts $parts:tt)?
            $(upset { $($upset:tt)+ })?
            $(upset by $method:ident;)?
        }
        $($further:tt)*
    ) => {
        $crate::rtl_module!(
            @top [$($doc),*] [$($require),*] [$vis] $top [$($(const $generic: usize),+)?] [$top $(<$($generic),+>)?]
            $params $bound [$($reset_doc)?] $inputs $first $outputs $output $last
            $(registers $registers)? $(parts $parts)? $(upset { $($upset)+ })? $(upset by $method;)?
        );
        $crate::rtl_module!(@further $params $bound $inputs $first $outputs $output $last $($further)*);
    };
    (
        @side $doc:literal, $side:ident, $params:ty, $bound:ident,
        $({
            $($(#[doc = $port_doc:literal])+ $port:ident: $value:ty as $signal:ty = $width:expr),+ $(,)?
        })+
    ) => {
        $crate::ports! {
            #[doc = $doc]
            pub struct $side<$params>($bound) {
                $($($(#[doc = $port_doc])+ $port: $value = $width,)+)+
            }
        }
    };
    (
        @top $docs:tt $requirements:tt $vis:tt $top:ident $generics:tt $type:tt $params:tt $bound:ident $reset:tt
        $inputs:ident $first:tt $outputs:ident $output:tt $last:tt
        $(registers {
            $($(#[doc = $register_doc:expr])* $register:ident: $register_type:ty $(= $register_value:expr)?),+ $(,)?
        })?
        $(parts { $($parts:tt)* })?
        $(upset { $($upset:tt)+ })?
        $(upset by $method:ident;)?
    ) => {
        $crate::rtl_module!(
            @block $docs $requirements $vis $top $generics $params $bound
            [$crate::rtl_module!(@reset $reset)] $first $output $last
            {
                $($($(#[doc = $register_doc])* $register: $register_type $(= $register_value)?,)+)?
                $($($parts)*)?
            }
        );
        $crate::rtl_module!(
            @map $generics $type $inputs $first $outputs $output $last
            [$(registers { $($register),+ })? $(registers { $($upset)+ })? $(upset by $method)?]
        );
    };
    (@reset []) => { " asynchronous reset, active low" };
    (@reset [$doc:literal]) => { concat!(" ", $doc) };
    (
        @block [$($doc:expr),*] [$($require:expr),*] [$vis:vis] $top:ident $generics:tt [$params:ty] $bound:ident
        [$reset_doc:expr]
        { $($(#[doc = $first_doc:literal])+ $first:ident: $first_value:ty as $first_signal:ty = $first_width:expr),+ $(,)? }
        { $($(#[doc = $output_doc:literal])+ $output:ident: $output_value:ty as $output_signal:ty = $output_width:expr),+ $(,)? }
        [$({
            $($(#[doc = $last_doc:literal])+ $last:ident: $last_value:ty as $last_signal:ty = $last_width:expr),+ $(,)?
        })?]
        { $($body:tt)* }
    ) => {
        $crate::rtl_module! {
            @generics $generics
            [
                $(#[doc = $doc])* #[new($bound: &$params)] $(#[require($require)])*
                $vis struct $top
            ]
            {
                /// clock
                pub clk_i: Signal<In, Clock>,
                #[doc = $reset_doc]
                pub rst_ni: Signal<In, Bit>,
                $($(#[doc = $first_doc])+ pub $first: Signal<In, $first_signal>,)+
                $($(#[doc = $output_doc])+ pub $output: Signal<Out, $output_signal>,)+
                $($($(#[doc = $last_doc])+ pub $last: Signal<In, $last_signal>,)+)?
                $($body)*
            }
        }
    };
    (@generics [] [$($head:tt)*] $body:tt) => { $crate::rtl_block! { $($head)* $body } };
    (@generics [$($generics:tt)+] [$($head:tt)*] $body:tt) => { $crate::rtl_block! { $($head)* <$($generics)+> $body } };
    (@map $generics:tt $type:tt $inputs:ident $first:tt $outputs:ident $output:tt $last:tt []) => {
        ::core::compile_error!(
            "rtl_module!: `registers { .. }` is missing; where all registers stand under `parts`, `upset { register, .. }` after it names \
             those that planted faults strike"
        );
    };
    (
        @map $generics:tt $type:tt $inputs:ident $first:tt $outputs:ident $output:tt $last:tt
        [registers $registers:tt $kind:ident $($upset:tt)+]
    ) => {
        ::core::compile_error!(
            "rtl_module!: `registers` and `upset` exclude each other; with `upset` the registers stand under `parts`"
        );
    };
    (
        @map [$($generics:tt)*] [$type:ty] $inputs:ident
        { $($(#[doc = $first_doc:literal])+ $first:ident: $first_value:ty as $first_signal:ty = $first_width:expr),+ $(,)? }
        $outputs:ident
        { $($(#[doc = $output_doc:literal])+ $output:ident: $output_value:ty as $output_signal:ty = $output_width:expr),+ $(,)? }
        [$({
            $($(#[doc = $last_doc:literal])+ $last:ident: $last_value:ty as $last_signal:ty = $last_width:expr),+ $(,)?
        })?]
        [$($struck:tt)+]
    ) => {
        $crate::rtl_top! {
            impl[$($generics)*] $type: $inputs { $($first,)+ $($($last,)+)? } => $outputs { $($output),+ }, $($struck)+
        }
    };
}
