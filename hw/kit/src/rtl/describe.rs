//! Descriptions of blocks: [`rtl_block!`](crate::rtl_block) keeps a struct's doc comments and parameters, so that the Verilog
//! back end can name the module and comment its ports and signals in the same words.
//!
//! rust-hdl passes a probe only `&dyn Block`. Only one method of that trait can carry our data: `Logic::timing`.
//! `#[hdl_gen]` generates it, and it returns [`Described::describe`] and the records among the attribute's arguments.

use super::layout::SignalLayout;
use rust_hdl_core::prelude::{Logic, TimingInfo};

const BLOCK: &str = "selvedge:block";
const PARAMETER: &str = "selvedge:parameter";
const FIELD: &str = "selvedge:field";

/// The description of a block.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Description {
    /// Name of its Rust type: `Encoder`.
    pub type_name: String,
    /// Path of the Rust module that declares it: `selvedge_hw::rtl::mem`.
    pub module: String,
    /// Lines of its doc comment.
    pub doc: Vec<String>,
    /// Const generics and [`sizes`] with their values, in the order of declaration.
    pub parameters: Vec<(String, usize)>,
    /// Fields with the lines of their doc comments, in the order of declaration.
    pub fields: Vec<(String, Vec<String>)>,
    /// Layouts of wide vectors.
    pub layouts: Vec<SignalLayout>,
}

/// The text of a [`Description`], the same for all values of a block's parameters. It is data instead of code, because blocks
/// have hundreds of instances: code for each instance's strings took a fifth of the compiler's work.
pub struct DescriptionText {
    /// See [`Description::type_name`].
    pub type_name: &'static str,
    /// See [`Description::module`].
    pub module: &'static str,
    /// See [`Description::doc`].
    pub doc: &'static [&'static str],
    /// Names of [`Description::parameters`].
    pub parameters: &'static [&'static str],
    /// See [`Description::fields`].
    pub fields: &'static [(&'static str, &'static [&'static str])],
}

/// A block with a [`Description`]; implemented by [`rtl_block!`](crate::rtl_block).
pub trait Described {
    /// Text of the description.
    const WORDS: &'static DescriptionText;
    /// Values of the parameters, in the order of [`DescriptionText::parameters`].
    const VALUES: &'static [usize];

    /// Returns the description in the form that `Logic::timing` returns.
    #[inline]
    fn describe(&self) -> Vec<TimingInfo> {
        Description::new(Self::WORDS, Self::VALUES).encode()
    }
}

/// A struct that [`rtl_block!`](crate::rtl_block) did not declare.
pub trait Undescribed {
    /// Returns no records.
    fn describe(&self) -> Vec<TimingInfo> {
        vec![]
    }
}

impl<B: ?Sized> Undescribed for &B {}

/// Returns records with sizes that are known only at run time: `#[hdl_gen(sizes(&[("STAGES", self._stages)]))]`. Index
/// expressions of the body may use their names, as they may use const generics.
pub fn sizes(sizes: &[(&str, usize)]) -> Vec<TimingInfo> {
    sizes.iter().map(|(name, value)| record(PARAMETER, name, vec![value.to_string()])).collect()
}

/// Returns one record of a description in the form of rust-hdl's timing records.
fn record(kind: &str, name: &str, lines: Vec<String>) -> TimingInfo {
    TimingInfo { name: kind.into(), clock: name.into(), inputs: lines, outputs: vec![] }
}

impl Description {
    /// Returns a description. `values` are the values of the parameters that `words` names.
    pub fn new(words: &DescriptionText, values: &[usize]) -> Self {
        let own = |lines: &[&str]| lines.iter().map(|line| line.to_string()).collect::<Vec<_>>();
        let parameters = words.parameters.iter().zip(values);
        Description {
            type_name: words.type_name.to_string(),
            module: words.module.to_string(),
            doc: own(words.doc),
            parameters: parameters.map(|(name, value)| (name.to_string(), *value)).collect(),
            fields: words.fields.iter().map(|(name, doc)| (name.to_string(), own(doc))).collect(),
            layouts: vec![],
        }
    }

    fn encode(self) -> Vec<TimingInfo> {
        let mut records =
            vec![TimingInfo { outputs: vec![self.module], ..record(BLOCK, &self.type_name, self.doc) }];
        records.extend(
            self.parameters
                .into_iter()
                .map(|(name, value)| record(PARAMETER, &name, vec![value.to_string()])),
        );
        records.extend(self.fields.into_iter().map(|(name, doc)| record(FIELD, &name, doc)));
        records
    }

    /// Returns the description of `block`, or `None` if it has none.
    pub fn of<L: Logic + ?Sized>(block: &L) -> Option<Description> {
        let mut description = None;
        for entry in block.timing() {
            if entry.name == BLOCK {
                let module = entry.outputs.into_iter().next().unwrap_or_default();
                let (type_name, doc) = (entry.clock, entry.inputs);
                description = Some(Description { type_name, module, doc, ..Description::default() });
            } else if let Some(found) = &mut description {
                if entry.name == PARAMETER {
                    let value = entry.inputs.first().and_then(|text| text.parse().ok()).unwrap_or_default();
                    found.parameters.push((entry.clock, value));
                } else if entry.name == FIELD {
                    found.fields.push((entry.clock, entry.inputs));
                } else {
                    found.layouts.extend(SignalLayout::decode(&entry));
                }
            }
        }
        description
    }

    /// Returns whether the kit declares the block's type.
    pub fn is_of_kit(&self) -> bool {
        module_path!().strip_suffix("describe").is_some_and(|kit| self.module.starts_with(kit))
    }
}

/// Declares the struct of a block.
///
/// Its doc comments, parameters and field docs become its [`Description`](crate::rtl::describe::Description). Its input ports
/// make it [`Pending`](crate::rtl::gate::Pending) for a [`Gate`](crate::rtl::gate::Gate). If its first two fields are
/// `pub clk_i: Signal<In, Clock>` and `pub rst_ni: Signal<In, Bit>`, it is a
/// [`ClockedBlock`](crate::rtl::step::ClockedBlock) that a [`Stepper`](crate::rtl::step::Stepper) can clock.
///
/// Doc comments come first. A field with another initial value than its type's default has that value after `=`. One or more
/// `#[require(...)]` state conditions on the parameters. If a condition is false, the code does not compile. With
/// `#[new(p: &Params)]`, the block has a function `new` instead of a default, so that values may depend on `p`. With
/// `#[derive(LogicBlock)]`, it has neither. Generics are `<const A: usize, ...>`, `<T: Synth>` or `<T: Synth, const A: usize, ...>`.
///
/// ```
/// use selvedge_hw::rtl::prelude::*;
///
/// rtl_block! {
///     /// Reports whether a number is at least half of WIDE's range.
///     #[require(WIDE == N + 1)]
///     pub struct Half<const N: usize, const WIDE: usize> {
///         /// the number
///         pub number_i: Signal<In, U<WIDE>>,
///         /// it is at least half of the range
///         pub upper_o: Signal<Out, Bit>,
///         half: Constant<U<WIDE>> = Constant::new(U::new(1 << N)),
///     }
/// }
/// #[hdl_gen]
/// impl Logic for Half {
///     fn update(&mut self) {
///         self.upper_o.next = self.number_i.val() >= self.half.val();
///     }
/// }
/// assert_eq!(Half::<7, 8>::default().half.val().to_u64(), 128);
/// ```
#[macro_export]
macro_rules! rtl_block {
    (
        $(#[doc = $doc:expr])* $(#[derive($derive:ident)])?
        $(#[new($bound:ident: $params:ty)])? $(#[require($require:expr)])*
        $vis:vis struct $name:ident { $($body:tt)* }
    ) => {
        $crate::rtl_block!(@all [$($doc),*] [$($derive)?] [$($bound: $params)?] [$($require),*] [$vis]
            $name [] [] [] { $($body)* });
    };
    (
        $(#[doc = $doc:expr])* $(#[derive($derive:ident)])?
        $(#[new($bound:ident: $params:ty)])? $(#[require($require:expr)])*
        $vis:vis struct $name:ident <$(const $size:ident : usize),+ $(,)?> { $($body:tt)* }
    ) => {
        $crate::rtl_block!(@all [$($doc),*] [$($derive)?] [$($bound: $params)?] [$($require),*] [$vis]
            $name [$(const $size: usize),+] [$($size),+] [$($size),+] { $($body)* });
    };
    (
        $(#[doc = $doc:expr])* $(#[derive($derive:ident)])?
        $(#[new($bound:ident: $params:ty)])? $(#[require($require:expr)])*
        $vis:vis struct $name:ident <$type:ident : Synth $(, const $size:ident : usize)* $(,)?> { $($body:tt)* }
    ) => {
        $crate::rtl_block!(@all [$($doc),*] [$($derive)?] [$($bound: $params)?] [$($require),*] [$vis]
            $name [$type: Synth $(, const $size: usize)*] [$type $(, $size)*] [$($size),*] { $($body)* });
    };
    (
        @all $docs:tt $derives:tt $new:tt $require:tt $vis:tt $name:ident $generics:tt $arguments:tt $sizes:tt $body:tt
    ) => {
        $crate::rtl_block!(@struct $docs $vis $name $generics $body);
        $crate::rtl_block!(@initial $derives $new $require $name $generics $arguments $body);
        $crate::rtl_block!(@describe $docs $name $generics $arguments $sizes $body);
        $crate::rtl_block!(@clocked $name $generics $arguments $body);
        $crate::rtl_block!(@logic ($) $name $generics $arguments);
    };
    (
        @struct [$($doc:expr),*] [$vis:vis] $name:ident [$($generics:tt)*]
        { $($(#[doc = $field_doc:expr])* $field_vis:vis $field:ident : $type:ty $(= $value:expr)?),* $(,)? }
    ) => {
        $(#[doc = $doc])*
        #[derive(LogicBlock, $crate::rtl::circuit::Part, $crate::selvedge_state::State)]
        #[state(in_place, crate = $crate::selvedge_state)]
        $vis struct $name<$($generics)*> {
            $($(#[doc = $field_doc])* $field_vis $field: $type,)*
            _activity: $crate::rtl::circuit::Activity,
        }
    };
    (
        @initial [] [] [$($require:expr),*] $name:ident [$($generics:tt)*] [$($arguments:tt)*]
        { $($(#[doc = $field_doc:expr])* $field_vis:vis $field:ident : $type:ty $(= $value:expr)?),* $(,)? }
    ) => {
        impl<$($generics)*> Default for $name<$($arguments)*> {
            fn default() -> Self {
                $(const { assert!($require) };)*
                $name { $($field: $crate::rtl_block!(@value $($value)?),)* _activity: Default::default() }
            }
        }
    };
    (
        @initial [] [$bound:ident: $params:ty] [$($require:expr),*]
        $name:ident [$($generics:tt)*] [$($arguments:tt)*]
        { $($(#[doc = $field_doc:expr])* $field_vis:vis $field:ident : $type:ty $(= $value:expr)?),* $(,)? }
    ) => {
        impl<$($generics)*> $name<$($arguments)*> {
            /// Returns the block for these parameters, which must match its generics.
            pub fn new($bound: $params) -> Self {
                $(const { assert!($require) };)*
                let _ = $bound;
                $name { $($field: $crate::rtl_block!(@value $($value)?),)* _activity: Default::default() }
            }
        }
    };
    (@initial [LogicBlock] [] [] $($other:tt)*) => {};
    (@value $value:expr) => { $value };
    (@value) => { Default::default() };
    (
        @describe [$($doc:expr),*] $name:ident [$($generics:tt)*] [$($arguments:tt)*] [$($size:ident),*]
        { $($(#[doc = $field_doc:expr])* $field_vis:vis $field:ident : $type:ty $(= $value:expr)?),* $(,)? }
    ) => {
        impl<$($generics)*> $crate::rtl::describe::Described for $name<$($arguments)*> {
            const WORDS: &'static $crate::rtl::describe::DescriptionText = {
                // One static for all values of the generics.
                static WORDS: $crate::rtl::describe::DescriptionText = $crate::rtl::describe::DescriptionText {
                    type_name: stringify!($name),
                    module: module_path!(),
                    doc: &[$($doc),*],
                    parameters: &[$(stringify!($size)),*],
                    fields: &[$((stringify!($field), &[$($field_doc),*] as &[&str])),*],
                };
                &WORDS
            };
            const VALUES: &'static [usize] = &[$($size),*];
        }
        impl<$($generics)*> $crate::rtl::gate::Pending for $name<$($arguments)*> {
            #[inline]
            fn pending(&self) -> bool {
                #[allow(unused_imports)]
                use $crate::rtl::gate::NotAnInput as _;
                false $(|| $crate::rtl::gate::FieldOf(&self.$field).pending())*
            }
        }
    };
    (
        @clocked $name:ident [$($generics:tt)*] [$($arguments:tt)*]
        {
            $(#[doc = $clock_doc:expr])* pub clk_i: Signal<In, Clock>,
            $(#[doc = $reset_doc:expr])* pub rst_ni: Signal<In, Bit>,
            $($rest:tt)*
        }
    ) => {
        impl<$($generics)*> $crate::rtl::step::ClockedBlock for $name<$($arguments)*> {
            #[inline(always)]
            fn set_clock(&mut self, level: bool) {
                self.clk_i.next = level.into();
            }
            #[inline(always)]
            fn clock(&self) -> (bool, bool) {
                (self.clk_i.next.clk, self.clk_i.val().clk)
            }
            #[inline(always)]
            fn set_reset_n(&mut self, level: bool) {
                self.rst_ni.next = level;
            }
        }
    };
    (@clocked $($other:tt)*) => {};
    // `#[hdl_gen] impl Logic for Block` gets the generics from this macro.
    (@logic ($dollar:tt) $name:ident [$($generics:tt)*] [$($arguments:tt)*]) => {
        #[allow(unused_macros)]
        macro_rules! $name {
            ($dollar($dollar items:tt)*) => {
                impl<$($generics)*> $crate::rtl::source::Logic for $name<$($arguments)*> { $dollar($dollar items)* }
            };
        }
    };
}

/// A comment that the Verilog back end writes at this position of a block's body: `comment!("text");`.
#[macro_export]
macro_rules! comment {
    ($text:literal) => {};
}

#[cfg(test)]
mod tests {
    use super::Description;
    use crate::rtl::prelude::*;

    rtl_block! {
        /// First line.
        /// Second line.
        pub struct Sample<T: Synth, const N: usize> {
            /// input
            pub x_i: Signal<In, T>,
            pub y_o: Signal<Out, U<N>>,
        }
    }
    #[hdl_gen(sizes(&[("_depth", 3)]))]
    impl Logic for Sample {
        fn update(&mut self) {
            comment!("nothing to see");
            self.y_o.next = 1.into();
        }
    }

    #[test]
    fn a_description_survives_the_trip_through_dyn_block() {
        let sample = Sample::<U<4>, 9>::default();
        let block: &dyn Block = &sample;
        let found = Description::of(block).unwrap();
        assert_eq!((found.type_name.as_str(), found.module.as_str()), ("Sample", module_path!()));
        assert_eq!(found.doc, [" First line.", " Second line."]);
        assert_eq!(found.parameters, [("N".to_string(), 9), ("_depth".to_string(), 3)]);
        assert_eq!(found.fields[0], ("x_i".to_string(), vec![" input".to_string()]));
        assert_eq!(found.fields[1], ("y_o".to_string(), vec![]));
    }
}
