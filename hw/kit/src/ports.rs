//! Ports: a block's input or output values in one clock, as typed structs that convert to and from plain bits.
use std::fmt::Debug;

/// The direction of a port.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// Into the block.
    Input,
    /// Out of the block.
    Output,
}

/// Description of a port of an elaborated block, for tools.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Port {
    /// Name, the same in the typed struct, in the RTL and in the Verilog.
    pub name: &'static str,
    /// Width in bits under the given parameters.
    pub bits: usize,
    /// Input or output.
    pub direction: Direction,
    /// The meaning of the port.
    pub doc: &'static str,
    /// The output that is high in the cycles in which the value is valid; none if it always is. In other cycles the value is
    /// undefined and is not compared.
    pub valid: Option<&'static str>,
}

impl Port {
    /// Returns the number of 64-bit words of a value of the port.
    pub fn words(&self) -> usize {
        self.bits.div_ceil(64)
    }
}

/// Outputs that are valid only while another one is high, because they come from registers without reset.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Payload {
    /// The output that is high while they are valid.
    pub valid: &'static str,
    /// The payload outputs.
    pub ports: &'static [&'static str],
}

/// Returns the index of the first output whose seen value is not the expected one. Outputs that are invalid in this cycle, by
/// the expected values, are not compared. `ports` are the outputs in order.
pub fn first_difference<'a>(
    ports: impl Iterator<Item = &'a Port> + Clone,
    expected: &[Vec<u64>],
    seen: &[Vec<u64>],
) -> Option<usize> {
    let is_high = |name: &str| {
        let of_name = ports.clone().position(|port| port.name == name);
        of_name.is_none_or(|valid| expected[valid][0] & 1 != 0)
    };
    let mut values = ports.clone().zip(expected.iter().zip(seen));
    values.position(|(port, (expected, seen))| expected != seen && port.valid.is_none_or(is_high))
}

/// The type of a port field, which converts to and from little-endian 64-bit words.
pub trait PortValue: Copy + Default + PartialEq + Debug {
    /// Max words of the type, enough for the widest elaboration of the port.
    const WORDS: usize;
    /// Writes the value into `words`. Their number is given by the port's width, and is at most [`Self::WORDS`].
    fn store(&self, words: &mut [u64]);
    /// Returns the value of these words; missing words are zero.
    fn load(words: &[u64]) -> Self;
}

impl PortValue for bool {
    const WORDS: usize = 1;
    fn store(&self, words: &mut [u64]) {
        words[0] = u64::from(*self);
    }
    fn load(words: &[u64]) -> Self {
        words[0] & 1 != 0
    }
}

macro_rules! integer_port_value {
    ($($integer:ty),*) => { $(
        impl PortValue for $integer {
            const WORDS: usize = 1;
            fn store(&self, words: &mut [u64]) {
                words[0] = u64::from(*self);
            }
            fn load(words: &[u64]) -> Self {
                words[0] as $integer
            }
        }
    )* };
}
integer_port_value!(u8, u16, u32, u64);

impl<const K: usize> PortValue for [u64; K]
where
    [u64; K]: Default,
{
    const WORDS: usize = K;
    fn store(&self, words: &mut [u64]) {
        words.copy_from_slice(&self[..words.len()]);
    }
    fn load(words: &[u64]) -> Self {
        let mut value = Self::default();
        value[..words.len()].copy_from_slice(words);
        value
    }
}

/// All inputs or all outputs of a block in one clock. Declared with [`ports!`](crate::ports!).
///
/// A field has its value zero-extended: bits beyond the port's width are zero. Port `i` is the `i`-th field.
pub trait Ports: Copy + Default + PartialEq + Debug + Send + 'static {
    /// The block's parameters, on which widths may depend.
    type Params;
    /// Field names in order, which are also the port names of RTL and Verilog.
    const NAMES: &'static [&'static str];
    /// The meaning of each field, in the order of [`Self::NAMES`].
    const DOCS: &'static [&'static str];
    /// Returns the width in bits of port `index`.
    fn width(params: &Self::Params, index: usize) -> usize;
    /// Writes port `index` into `words`, whose length is the port's width in whole words.
    fn store(&self, index: usize, words: &mut [u64]);
    /// Sets port `index` from `words`, whose length is the port's width in whole words.
    fn load(&mut self, index: usize, words: &[u64]);

    /// Returns the description of every port.
    fn describe(params: &Self::Params, direction: Direction) -> Vec<Port> {
        describe(Self::NAMES, Self::DOCS, direction, &|index| Self::width(params, index))
    }

    /// Returns every port's value as words, in the order of the ports.
    fn to_bits(&self, params: &Self::Params) -> Vec<Vec<u64>> {
        let width = |index| Self::width(params, index);
        values(Self::NAMES.len(), &width, &|index, words| self.store(index, words))
    }

    /// Returns the ports with the given values.
    ///
    /// # Panics
    /// If `bits` has not one entry per port with the words of the port's width, which is a bug of the caller.
    fn from_bits(bits: &[Vec<u64>]) -> Self {
        assert!(bits.len() == Self::NAMES.len(), "one value per port");
        let mut ports = Self::default();
        for (index, words) in bits.iter().enumerate() {
            ports.load(index, words);
        }
        ports
    }
}

/// Returns the description of ports with these names, meanings and widths.
fn describe(
    names: &'static [&'static str],
    docs: &'static [&'static str],
    direction: Direction,
    width: &dyn Fn(usize) -> usize,
) -> Vec<Port> {
    let port = |index: usize| Port {
        name: names[index],
        bits: width(index),
        direction,
        doc: docs[index],
        valid: None,
    };
    (0..names.len()).map(port).collect()
}

/// Returns the values of `count` ports with these widths, each as `store` writes it.
fn values(count: usize, width: &dyn Fn(usize) -> usize, store: &dyn Fn(usize, &mut [u64])) -> Vec<Vec<u64>> {
    let value = |index: usize| {
        let mut words = vec![0; width(index).div_ceil(64)];
        store(index, &mut words);
        words
    };
    (0..count).map(value).collect()
}

/// Ends a look-up of a port that does not exist.
///
/// # Panics
/// Always, because this is a bug of the caller.
#[cold]
pub fn no_port(beyond: usize) -> ! {
    panic!("the index of a port must be less than their number, not {beyond} more")
}

/// Declares the inputs or outputs of a block: a plain `Copy` struct with public fields and its [`Ports`] implementation.
///
/// ```
/// selvedge_hw::ports! {
///     /// Inputs of an adder whose width is its parameter.
///     pub struct AdderIn<u32>(width) {
///         /// First summand.
///         a_i: u64 = *width as usize,
///         /// Carry.
///         carry_i: bool = 1,
///     }
/// }
/// use selvedge_hw::Ports;
/// assert_eq!(AdderIn::width(&24, 0), 24);
/// assert_eq!(AdderIn::NAMES, ["a_i", "carry_i"]);
/// ```
///
/// Each field gives its type ([`PortValue`]) and, after `=`, its width in bits as an expression over the parameters,
/// which are bound by reference to the name in parentheses.
#[macro_export]
macro_rules! ports {
    (
        $(#[$attribute:meta])*
        pub struct $side:ident<$params:ty>($bound:ident) {
            $( $(#[doc = $doc:literal])+ $field:ident : $value:ty = $width:expr ),+ $(,)?
        }
    ) => {
        $(#[$attribute])*
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, $crate::selvedge_state::State)]
        #[state(crate = $crate::selvedge_state)]
        pub struct $side {
            $( $(#[doc = $doc])+ pub $field: $value ),+
        }

        impl $crate::Ports for $side {
            type Params = $params;
            const NAMES: &'static [&'static str] = &[$(stringify!($field)),+];
            const DOCS: &'static [&'static str] = &[$(concat!($($doc),+)),+];

            fn width($bound: &$params, index: usize) -> usize {
                let _ = $bound;
                let widths = [$($width),+];
                widths[index]
            }

            fn store(&self, index: usize, words: &mut [u64]) {
                let mut left = index;
                $(
                    if left == 0 {
                        return $crate::PortValue::store(&self.$field, words);
                    }
                    left -= 1;
                )+
                $crate::ports::no_port(left)
            }

            fn load(&mut self, index: usize, words: &[u64]) {
                let mut left = index;
                $(
                    if left == 0 {
                        self.$field = $crate::PortValue::load(words);
                        return;
                    }
                    left -= 1;
                )+
                $crate::ports::no_port(left)
            }
        }
    };
}

#[cfg(test)]
mod tests {
    use super::*;

    ports! {
        /// A side with every kind of value.
        pub struct Mixed<usize>(bits) {
            /// One bit.
            valid_i: bool = 1,
            /// A few bits.
            count_i: u16 = 10,
            /// Many bits.
            line_i: [u64; 16] = *bits,
        }
    }

    #[test]
    fn values_survive_the_way_through_bits() {
        let mut side = Mixed { valid_i: true, count_i: 0x3a5, ..Mixed::default() };
        side.line_i[0] = 7;
        side.line_i[3] = u64::MAX;
        let bits = side.to_bits(&256);
        assert_eq!(bits, vec![vec![1], vec![0x3a5], vec![7, 0, 0, u64::MAX]]);
        assert_eq!(Mixed::from_bits(&bits), side);
    }

    #[test]
    fn what_means_nothing_is_not_compared() {
        let mut ports = Mixed::describe(&64, Direction::Output);
        ports[2].valid = Some("valid_i");
        let differs = |valid: u64, count: u64| {
            let expected = [vec![valid], vec![7], vec![1]];
            first_difference(ports.iter(), &expected, &[vec![valid], vec![count], vec![2]])
        };
        assert_eq!((differs(0, 7), differs(1, 7), differs(0, 8)), (None, Some(2), Some(1)));
    }

    #[test]
    fn widths_follow_the_parameters() {
        let widths =
            |bits| Mixed::describe(&bits, Direction::Input).iter().map(|p| p.bits).collect::<Vec<_>>();
        assert_eq!(widths(256), [1, 10, 256]);
        assert_eq!(widths(1024), [1, 10, 1024]);
    }
}
