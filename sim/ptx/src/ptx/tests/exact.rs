//! A reference for floating-point arithmetic with integers of any length. Only the result is rounded, once.

use num_bigint::BigUint;
use num_traits::Zero;

/// Every finite number, and every product of two, is a multiple of 2^-SCALE.
const SCALE: u64 = 2200;

/// A floating-point format.
#[derive(Debug, Clone, Copy)]
pub(super) struct Format {
    pub bits: u32,
    /// Bits of the fraction, the leading one included.
    pub precision: u64,
    /// Exponent of the smallest positive number.
    pub lowest: i64,
}

pub(super) const SINGLE: Format = Format { bits: 32, precision: 24, lowest: -149 };
pub(super) const DOUBLE: Format = Format { bits: 64, precision: 53, lowest: -1074 };

/// A number of any size, an infinity or NaN.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Number {
    Nan,
    Infinite {
        negative: bool,
    },
    /// `magnitude` times 2^-[`SCALE`]. `more` adds a positive amount below that unit.
    Finite {
        negative: bool,
        magnitude: BigUint,
        more: bool,
    },
}

use Number::{Finite, Infinite, Nan};

impl Format {
    fn fraction_bits(self) -> u64 {
        self.precision - 1
    }

    fn top_exponent(self) -> u64 {
        (1 << (u64::from(self.bits) - self.precision)) - 1
    }

    pub(super) fn read(self, bits: u64) -> Number {
        let negative = bits >> (self.bits - 1) & 1 == 1;
        let exponent = bits >> self.fraction_bits() & self.top_exponent();
        let fraction = bits & ((1 << self.fraction_bits()) - 1);
        if exponent == self.top_exponent() {
            return if fraction == 0 { Infinite { negative } } else { Nan };
        }
        let whole = if exponent == 0 { fraction } else { fraction | 1 << self.fraction_bits() };
        let place = SCALE as i64 + self.lowest + exponent.max(1) as i64 - 1;
        Finite { negative, magnitude: BigUint::from(whole) << place, more: false }
    }

    /// Returns the bits of a number, rounded to nearest (`n`), to zero (`z`), down (`m`) or up (`p`); `None` for NaN.
    pub(super) fn write(self, number: &Number, rounding: char) -> Option<u64> {
        let sign = |negative: bool| u64::from(negative) << (self.bits - 1);
        let infinity = self.top_exponent() << self.fraction_bits();
        let (negative, magnitude, more) = match number {
            Nan => return None,
            Infinite { negative } => return Some(sign(*negative) | infinity),
            Finite { negative, magnitude, more } => (*negative, magnitude, *more),
        };
        // Last place of the result: it follows from the leading bit, but is at least the lowest place of the format.
        let place = magnitude.bits().saturating_sub(self.precision).max((SCALE as i64 + self.lowest) as u64);
        let mut whole = u64::try_from(magnitude >> place).expect("the precision is below 64 bits");
        let rest = magnitude - (BigUint::from(whole) << place);
        let half = BigUint::from(1u8) << (place - 1);
        let exact = rest.is_zero() && !more;
        let away = match rounding {
            'n' => rest > half || rest == half && (more || whole & 1 == 1),
            'm' => negative && !exact,
            'p' => !negative && !exact,
            _ => false,
        };
        whole += u64::from(away);
        // The addition also carries out of the fraction into the exponent, and adds the leading one of a normal
        // number.
        let steps = (place as i64 - SCALE as i64 - self.lowest) as u64;
        let bits = (steps << self.fraction_bits()) + whole;
        let outward = matches!((rounding, negative), ('n', _) | ('m', true) | ('p', false));
        Some(
            sign(negative)
                | if bits < infinity {
                    bits
                } else if outward {
                    infinity
                } else {
                    infinity - 1
                },
        )
    }
}

/// Returns `a + b`. An exact zero sum of opposite signs is positive, but negative when rounding down.
pub(super) fn add(a: &Number, b: &Number, rounding: char) -> Number {
    match (a, b) {
        (Nan, _) | (_, Nan) => Nan,
        (Infinite { negative: x }, Infinite { negative: y }) if x != y => Nan,
        (Infinite { .. }, _) => a.clone(),
        (_, Infinite { .. }) => b.clone(),
        (Finite { negative: x, magnitude: m, .. }, Finite { negative: y, magnitude: n, .. }) => {
            let (negative, magnitude) = match (x == y, m.cmp(n)) {
                (true, _) => (*x, m + n),
                (false, std::cmp::Ordering::Greater) => (*x, m - n),
                (false, std::cmp::Ordering::Less) => (*y, n - m),
                (false, std::cmp::Ordering::Equal) => (rounding == 'm', BigUint::zero()),
            };
            Finite { negative, magnitude, more: false }
        }
    }
}

pub(super) fn negate(a: &Number) -> Number {
    match a.clone() {
        Nan => Nan,
        Infinite { negative } => Infinite { negative: !negative },
        Finite { negative, magnitude, more } => Finite { negative: !negative, magnitude, more },
    }
}

fn is_zero(a: &Number) -> bool {
    matches!(a, Finite { magnitude, .. } if magnitude.is_zero())
}

fn is_negative(a: &Number) -> bool {
    matches!(a, Infinite { negative: true } | Finite { negative: true, .. })
}

pub(super) fn multiply(a: &Number, b: &Number) -> Number {
    let negative = is_negative(a) != is_negative(b);
    match (a, b) {
        (Nan, _) | (_, Nan) => Nan,
        (Infinite { .. }, other) | (other, Infinite { .. }) if is_zero(other) => Nan,
        (Infinite { .. }, _) | (_, Infinite { .. }) => Infinite { negative },
        (Finite { magnitude: m, .. }, Finite { magnitude: n, .. }) => {
            Finite { negative, magnitude: (m * n) >> SCALE, more: false }
        }
    }
}

pub(super) fn divide(a: &Number, b: &Number) -> Number {
    let negative = is_negative(a) != is_negative(b);
    match (a, b) {
        (Nan, _) | (_, Nan) | (Infinite { .. }, Infinite { .. }) => Nan,
        (Infinite { .. }, _) => Infinite { negative },
        (_, Infinite { .. }) => Finite { negative, magnitude: BigUint::zero(), more: false },
        (Finite { magnitude: m, .. }, Finite { magnitude: n, .. }) => match (m.is_zero(), n.is_zero()) {
            (true, true) => Nan,
            (false, true) => Infinite { negative },
            _ => {
                let dividend = m << SCALE;
                let magnitude = &dividend / n;
                let more = &magnitude * n != dividend;
                Finite { negative, magnitude, more }
            }
        },
    }
}

pub(super) fn square_root(a: &Number) -> Number {
    match a {
        Finite { magnitude, negative, .. } if magnitude.is_zero() || !negative => {
            let square = magnitude << SCALE;
            let root = square.sqrt();
            let more = &root * &root != square;
            Finite { negative: *negative, magnitude: root, more }
        }
        Infinite { negative: false } => a.clone(),
        _ => Nan,
    }
}
