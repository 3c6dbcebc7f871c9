//! Floating-point formats below double precision, exactly rounded.

use super::float::Rounding;

/// A floating-point format with at most the precision and range of single precision.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SmallFloat {
    /// `f16`: 5 bits of exponent, 10 of fraction.
    Half,
    /// `bf16`: 8 bits of exponent, 7 of fraction.
    Brain,
    /// `e4m3`: 4 bits of exponent, 3 of fraction, no infinity.
    E4m3,
    /// `e5m2`: 5 bits of exponent, 2 of fraction.
    E5m2,
    /// `tf32`: 8 bits of exponent, 10 of fraction, at the upper end of 32 bits.
    Tf32,
    /// `f32`
    Single,
}

impl SmallFloat {
    /// Returns the format that PTX calls `name`.
    pub(crate) fn named(name: &str) -> Option<Self> {
        Some(match name {
            "f16" => Self::Half,
            "bf16" => Self::Brain,
            "e4m3" => Self::E4m3,
            "e5m2" => Self::E5m2,
            "tf32" => Self::Tf32,
            "f32" => Self::Single,
            _ => return None,
        })
    }

    /// Returns the bits of an element in a register.
    pub(crate) fn bits(self) -> u8 {
        match self {
            Self::Half | Self::Brain => 16,
            Self::E4m3 | Self::E5m2 => 8,
            Self::Tf32 | Self::Single => 32,
        }
    }

    /// Returns the bits of the fraction.
    fn fraction(self) -> i32 {
        match self {
            Self::Half | Self::Tf32 => 10,
            Self::Brain => 7,
            Self::E4m3 => 3,
            Self::E5m2 => 2,
            Self::Single => 23,
        }
    }

    /// Returns the exponent of the smallest normal number.
    fn lowest(self) -> i32 {
        match self {
            Self::Half | Self::E5m2 => -14,
            Self::E4m3 => -6,
            Self::Brain | Self::Tf32 | Self::Single => -126,
        }
    }

    /// Returns the code of the largest finite number.
    fn largest(self) -> u32 {
        match self {
            Self::Half => 0x7bff,
            Self::Brain => 0x7f7f,
            Self::E4m3 => 0x7e,
            Self::E5m2 => 0x7b,
            Self::Tf32 => 0x3_fbff,
            Self::Single => 0x7f7f_ffff,
        }
    }

    /// Returns the code after the largest finite number: infinity, or NaN in a format without infinity.
    fn beyond(self) -> u32 {
        self.largest() + 1
    }

    /// Returns the code of the NaN that operations return.
    fn nan(self) -> u32 {
        match self {
            Self::Half | Self::Brain => 0x7fff,
            Self::E4m3 | Self::E5m2 => 0x7f,
            Self::Tf32 => 0x3_ffff,
            Self::Single => 0x7fff_ffff,
        }
    }

    /// Returns the left shift of a code in its register.
    fn shift(self) -> u32 {
        if self == Self::Tf32 { 13 } else { 0 }
    }

    /// Returns the sign bit of a code.
    fn sign(self) -> u32 {
        match self {
            Self::Tf32 => 1 << 18,
            other => 1 << (other.bits() - 1),
        }
    }

    /// Returns the exact value of an element.
    pub(crate) fn decode(self, bits: u32) -> f64 {
        let code = bits >> self.shift();
        let magnitude = code & (self.sign() - 1);
        let fraction = self.fraction();
        let value = if magnitude > self.beyond() || (magnitude == self.beyond() && self == Self::E4m3) {
            f64::NAN
        } else if magnitude == self.beyond() {
            f64::INFINITY
        } else {
            let exponent = (magnitude >> fraction) as i32;
            let digits = magnitude & ((1 << fraction) - 1);
            let whole = if exponent == 0 { digits } else { digits | 1 << fraction };
            f64::from(whole) * power_of_two(self.lowest() + exponent.max(1) - 1 - fraction)
        };
        if code & self.sign() != 0 { -value } else { value }
    }

    /// Rounds `value` to an element. Overflow follows the rounding direction.
    pub(crate) fn encode(self, value: f64, rounding: Rounding) -> u32 {
        if value.is_nan() {
            return self.nan() << self.shift();
        }
        let sign = if value.is_sign_negative() { self.sign() } else { 0 };
        let magnitude = value.abs();
        if magnitude.is_infinite() {
            return (sign | self.beyond()) << self.shift();
        }
        let away = match rounding {
            Rounding::Nearest | Rounding::Zero => false,
            Rounding::Down => sign != 0,
            Rounding::Up => sign == 0,
        };
        let exponent = (((magnitude.to_bits() >> 52) as i32) - 1023).max(self.lowest());
        let units = magnitude * power_of_two(self.fraction() - exponent);
        let whole = match rounding {
            Rounding::Nearest => units.round_ties_even(),
            _ if away => units.ceil(),
            _ => units.floor(),
        };
        // A carry out of the fraction increments the exponent. Above the last exponent the result is infinity.
        let code = (u64::from((exponent - self.lowest()) as u32) << self.fraction()) + whole as u64;
        let outermost = if away || rounding == Rounding::Nearest { self.beyond() } else { self.largest() };
        (sign | code.min(outermost.into()) as u32) << self.shift()
    }

    /// Rounds `value` to an element. Overflow gives the largest finite number.
    pub(crate) fn encode_finite(self, value: f64, rounding: Rounding) -> u32 {
        let bits = self.encode(value, rounding);
        let code = bits >> self.shift();
        if !value.is_nan() && code & (self.sign() - 1) == self.beyond() {
            return (code & self.sign() | self.largest()) << self.shift();
        }
        bits
    }

    /// Returns whether an element is subnormal.
    pub(crate) fn is_subnormal(self, bits: u32) -> bool {
        let magnitude = bits >> self.shift() & (self.sign() - 1);
        magnitude != 0 && magnitude >> self.fraction() == 0
    }

    /// Returns the element, or zero of the same sign if it is subnormal.
    pub(crate) fn flush(self, bits: u32) -> u32 {
        if self.is_subnormal(bits) { bits & (self.sign() << self.shift()) } else { bits }
    }

    /// Returns the sign bit of an element, in its position.
    pub(crate) fn sign_of(self, bits: u32) -> u32 {
        bits & (self.sign() << self.shift())
    }
}

/// Returns 2^`exponent`. The result must be a normal double-precision number.
fn power_of_two(exponent: i32) -> f64 {
    f64::from_bits(((exponent + 1023) as u64) << 52)
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALL: [SmallFloat; 6] = [
        SmallFloat::Half,
        SmallFloat::Brain,
        SmallFloat::E4m3,
        SmallFloat::E5m2,
        SmallFloat::Tf32,
        SmallFloat::Single,
    ];
    const ROUNDINGS: [Rounding; 4] = [Rounding::Nearest, Rounding::Zero, Rounding::Down, Rounding::Up];

    /// Returns the codes of a format without the sign: all, or every 65,537th for single precision.
    fn codes(format: SmallFloat) -> impl Iterator<Item = u32> {
        let step = if format == SmallFloat::Single { 65_537 } else { 1 };
        (0..=format.largest()).step_by(step)
    }

    #[test]
    fn known_numbers_have_their_codes() {
        let cases: [(SmallFloat, f64, u32); 18] = [
            (SmallFloat::Half, 1.0, 0x3c00),
            (SmallFloat::Half, -2.0, 0xc000),
            (SmallFloat::Half, 65504.0, 0x7bff),
            (SmallFloat::Half, 2f64.powi(-24), 1),
            (SmallFloat::Brain, 1.0, 0x3f80),
            (SmallFloat::Brain, -3.140_625, 0xc049),
            (SmallFloat::Brain, 2f64.powi(-133), 1),
            (SmallFloat::E4m3, 1.0, 0x38),
            (SmallFloat::E4m3, 448.0, 0x7e),
            (SmallFloat::E4m3, -2f64.powi(-9), 0x81),
            (SmallFloat::E5m2, 1.0, 0x3c),
            (SmallFloat::E5m2, 57344.0, 0x7b),
            (SmallFloat::E5m2, 2f64.powi(-16), 1),
            (SmallFloat::Tf32, 1.0, 0x3f80_0000),
            (SmallFloat::Tf32, -1.5, 0xbfc0_0000),
            (SmallFloat::Single, 0.1f32 as f64, 0x3dcc_cccd),
            (SmallFloat::Single, f32::MAX as f64, 0x7f7f_ffff),
            (SmallFloat::Single, 2f64.powi(-149), 1),
        ];
        for (format, value, bits) in cases {
            assert_eq!(format.encode(value, Rounding::Nearest), bits, "{format:?} {value}");
            assert_eq!(format.decode(bits), value, "{format:?} {bits:#x}");
        }
    }

    #[test]
    fn every_number_of_a_format_is_itself_in_every_rounding() {
        for format in ALL {
            for code in codes(format) {
                for bits in [code << format.shift(), (code | format.sign()) << format.shift()] {
                    for rounding in ROUNDINGS {
                        assert_eq!(
                            format.encode(format.decode(bits), rounding),
                            bits,
                            "{format:?} {bits:#x}"
                        );
                    }
                }
            }
        }
    }

    #[test]
    fn what_lies_between_two_numbers_goes_where_the_rounding_says() {
        for format in ALL {
            for code in codes(format).filter(|&code| code < format.largest()) {
                let [low, high] = [code, code + 1].map(|code| format.decode(code << format.shift()));
                let half = low + (high - low) / 2.0;
                let even = code + (code & 1);
                for (value, nearest) in
                    [(low + (high - low) / 4.0, code), (half, even), (half + (high - low) / 1024.0, code + 1)]
                {
                    let code_of = |value: f64, rounding| format.encode(value, rounding) >> format.shift();
                    assert_eq!(code_of(value, Rounding::Nearest), nearest, "{format:?} {value}");
                    assert_eq!(code_of(value, Rounding::Zero), code);
                    assert_eq!(code_of(value, Rounding::Down), code);
                    assert_eq!(code_of(value, Rounding::Up), code + 1);
                    assert_eq!(code_of(-value, Rounding::Down), (code + 1) | format.sign());
                    assert_eq!(code_of(-value, Rounding::Up), code | format.sign());
                }
            }
        }
    }

    #[test]
    fn what_is_too_large_is_infinite_or_the_largest() {
        for format in ALL {
            let most = format.decode(format.largest() << format.shift());
            let code = |value, rounding| format.encode(value, rounding) >> format.shift();
            assert_eq!(code(most * 1.5, Rounding::Nearest), format.beyond());
            assert_eq!(code(most * 1.5, Rounding::Zero), format.largest());
            assert_eq!(code(-most * 1.5, Rounding::Up), format.largest() | format.sign());
            let finite = |value| format.encode_finite(value, Rounding::Nearest) >> format.shift();
            assert_eq!(finite(f64::NEG_INFINITY), format.largest() | format.sign());
            assert_eq!(finite(f64::NAN), format.nan());
            assert!(format.decode(format.nan() << format.shift()).is_nan());
        }
    }

    #[test]
    fn half_precision_agrees_with_the_other_implementation() {
        for bits in 0..=u16::MAX {
            let value = SmallFloat::Half.decode(bits.into());
            let other = f64::from(super::super::float::half_to_single(bits));
            assert!(value == other || value.is_nan() && other.is_nan(), "{bits:#x}");
        }
    }
}
