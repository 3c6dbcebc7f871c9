//! Elements of buffers and scalar arguments: every PTX parameter type, as bits and as text.
use selvedge_ptx::ptx::{Rounding, half_to_single, to_half};
use serde::Deserialize;

/// A PTX type of 8 to 64 bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Element {
    B8,
    U8,
    S8,
    B16,
    U16,
    S16,
    F16,
    Bf16,
    B32,
    U32,
    S32,
    F32,
    B64,
    U64,
    S64,
    F64,
}

/// Interpretation of a type's bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Class {
    /// Signed or unsigned, as written in the file. Displayed as unsigned.
    Bits,
    Unsigned,
    Signed,
    Float,
}

/// A number in a launch file. Integers keep all digits. Text represents numbers that TOML lacks.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(untagged, expecting = "expected a number, or a number in quotes")]
pub(super) enum FileNumber {
    Int(i64),
    Float(f64),
    Text(String),
}

impl FileNumber {
    /// Returns the number as a text file contains it.
    pub(super) fn text(&self) -> String {
        match self {
            Self::Int(int) => int.to_string(),
            Self::Float(float) => format!("{float:?}"),
            Self::Text(text) => text.clone(),
        }
    }
}

impl Element {
    /// Returns the size in bytes.
    pub(super) fn bytes(self) -> usize {
        match self {
            Self::B8 | Self::U8 | Self::S8 => 1,
            Self::B16 | Self::U16 | Self::S16 | Self::F16 | Self::Bf16 => 2,
            Self::B32 | Self::U32 | Self::S32 | Self::F32 => 4,
            Self::B64 | Self::U64 | Self::S64 | Self::F64 => 8,
        }
    }

    pub(super) fn class(self) -> Class {
        match self {
            Self::B8 | Self::B16 | Self::B32 | Self::B64 => Class::Bits,
            Self::U8 | Self::U16 | Self::U32 | Self::U64 => Class::Unsigned,
            Self::S8 | Self::S16 | Self::S32 | Self::S64 => Class::Signed,
            Self::F16 | Self::Bf16 | Self::F32 | Self::F64 => Class::Float,
        }
    }

    /// Returns the min and max integer of an integer type.
    pub(super) fn range(self) -> (i128, i128) {
        let bits = 8 * self.bytes() as u32;
        let (half, whole) = (1_i128 << (bits - 1), 1_i128 << bits);
        match self.class() {
            Class::Bits => (-half, whole - 1),
            Class::Unsigned => (0, whole - 1),
            Class::Signed | Class::Float => (-half, half - 1),
        }
    }

    /// Returns the bits of the number in `text`.
    ///
    /// # Errors
    /// A description of the valid values, if the type cannot represent the number exactly.
    pub(super) fn parse(self, text: &str) -> Result<u64, String> {
        if self.class() == Class::Float {
            let allowed = || "must be a number, inf or nan".to_string();
            // Parse directly to the type, so that the number is rounded once.
            return match self {
                Self::F32 => text.parse().map(|f: f32| f.to_bits().into()).map_err(|_| allowed()),
                _ => text.parse().map(|f| self.of_float(f)).map_err(|_| allowed()),
            };
        }
        let (low, high) = self.range();
        let whole = whole(text).filter(|int| (low..=high).contains(int));
        let int = whole.ok_or_else(|| format!("must be integers from {low} to {high}"))?;
        Ok(int as u64 & self.mask())
    }

    /// Returns a mask of the type's bits.
    pub(super) fn mask(self) -> u64 {
        u64::MAX >> (64 - 8 * self.bytes())
    }

    /// Returns the bits of the nearest number that the type can represent.
    pub(super) fn of_float(self, value: f64) -> u64 {
        match self {
            Self::F64 => value.to_bits(),
            Self::F32 => (value as f32).to_bits().into(),
            Self::F16 => to_half(value, Rounding::Nearest).into(),
            Self::Bf16 => u64::from(to_bfloat(value as f32)),
            _ => {
                let (low, high) = self.range();
                (value.round_ties_even() as i128).clamp(low, high) as u64 & self.mask()
            }
        }
    }

    /// Returns the number with these bits, rounded to double precision.
    pub(super) fn to_float(self, bits: u64) -> f64 {
        match self {
            Self::F64 => f64::from_bits(bits),
            Self::F32 => f32::from_bits(bits as u32).into(),
            Self::F16 => half_to_single(bits as u16).into(),
            Self::Bf16 => f32::from_bits((bits as u32) << 16).into(),
            _ => self.to_int(bits) as f64,
        }
    }

    /// Returns the integer with these bits, for an integer type.
    pub(super) fn to_int(self, bits: u64) -> i128 {
        let unused = 64 - 8 * self.bytes() as u32;
        match self.class() {
            Class::Signed => i128::from((bits << unused) as i64 >> unused),
            _ => i128::from(bits & self.mask()),
        }
    }

    /// Returns the shortest text that [`Element::parse`] converts to `bits`.
    pub(super) fn show(self, bits: u64) -> String {
        match self {
            Self::F64 => format!("{:?}", f64::from_bits(bits)),
            Self::F32 | Self::F16 | Self::Bf16 => format!("{:?}", self.to_float(bits) as f32),
            _ => self.to_int(bits).to_string(),
        }
    }

    /// Appends `bits` in little-endian order.
    pub(super) fn push(self, out: &mut Vec<u8>, bits: u64) {
        out.extend_from_slice(&bits.to_le_bytes()[..self.bytes()]);
    }

    /// Writes the bits of each index to the elements of `out`, in little-endian order.
    pub(super) fn put(self, out: &mut [u8], mut bits: impl FnMut(u64) -> u64) {
        for (index, chunk) in (0..).zip(out.chunks_exact_mut(self.bytes())) {
            let word = bits(index).to_le_bytes();
            chunk.copy_from_slice(&word[..chunk.len()]);
        }
    }

    /// Returns the bits of each element in `bytes`.
    pub(super) fn each(self, bytes: &[u8]) -> impl Iterator<Item = u64> + '_ {
        bytes.chunks_exact(self.bytes()).map(|chunk| {
            let mut word = [0; 8];
            word[..chunk.len()].copy_from_slice(chunk);
            u64::from_le_bytes(word)
        })
    }
}

/// Parses a decimal or hexadecimal integer.
fn whole(text: &str) -> Option<i128> {
    match text.strip_prefix("0x") {
        Some(digits) if !digits.starts_with(['+', '-']) => i128::from_str_radix(digits, 16).ok(),
        Some(_) => None,
        None => text.parse().ok(),
    }
}

/// Returns the upper half of a single-precision number, rounded to nearest even.
fn to_bfloat(value: f32) -> u16 {
    let bits = value.to_bits();
    if value.is_nan() {
        return 0x7fff;
    }
    let odd = bits >> 16 & 1;
    ((bits + 0x7fff + odd) >> 16) as u16
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALL: [Element; 16] = {
        use Element::*;
        [B8, U8, S8, B16, U16, S16, F16, Bf16, B32, U32, S32, F32, B64, U64, S64, F64]
    };

    #[test]
    fn a_number_that_its_type_cannot_hold_is_refused_not_bent() {
        for (element, text) in [
            (Element::U8, "256"),
            (Element::S8, "-129"),
            (Element::B16, "65536"),
            (Element::B16, "-32769"),
            (Element::U32, "-1"),
            (Element::U32, "4294967296"),
            (Element::U32, "1.5"),
            (Element::U32, "nan"),
            (Element::S32, "2147483648"),
            (Element::U64, "18446744073709551616"),
            (Element::U64, "0x-1"),
        ] {
            let refused = element.parse(text).expect_err(text);
            assert!(refused.starts_with("must be integers from"), "{refused}");
        }
        assert!(Element::F32.parse("one").is_err());
    }

    #[test]
    fn the_ends_of_every_integer_type_are_its_own() {
        for element in ALL.into_iter().filter(|e| e.class() != Class::Float) {
            let (low, high) = element.range();
            assert_eq!(element.parse(&high.to_string()), Ok(high as u64), "{element:?}");
            assert_eq!(element.parse(&low.to_string()), Ok(low as u64 & element.mask()), "{element:?}");
            assert!(element.parse(&(high + 1).to_string()).is_err(), "{element:?}");
            assert!(element.parse(&(low - 1).to_string()).is_err(), "{element:?}");
        }
    }

    #[test]
    fn what_is_shown_reads_back_as_the_same_bits() {
        for element in ALL {
            for word in [0, 1, 0x3c00, 0x7bff, 0x8001, 0x3f80_1234, 0xc2f7_0001, 0x4009_21fb_5444_2d18] {
                let bits = word & element.mask();
                if element.class() == Class::Float && element.to_float(bits).is_nan() {
                    continue;
                }
                assert_eq!(element.parse(&element.show(bits)), Ok(bits), "{element:?} {bits:#x}");
            }
        }
    }

    #[test]
    fn half_formats_round_to_nearest_even() {
        assert_eq!(Element::Bf16.parse("1.00390625"), Ok(0x3f80), "half way to the next, down to even");
        assert_eq!(Element::Bf16.parse("1.01171875"), Ok(0x3f82), "half way to the next, up to even");
        assert_eq!(Element::F16.parse("65536"), Ok(0x7c00), "infinity");
        assert_eq!(Element::F16.parse("0.1"), Ok(0x2e66));
    }

    #[test]
    fn integers_keep_all_their_digits() {
        let number: std::collections::BTreeMap<String, FileNumber> =
            toml::from_str("v = 9007199254740993").expect("a number");
        assert_eq!(Element::U64.parse(&number["v"].text()), Ok(9_007_199_254_740_993));
        assert_eq!(Element::U64.parse("0xffffffffffffffff"), Ok(u64::MAX));
    }
}
