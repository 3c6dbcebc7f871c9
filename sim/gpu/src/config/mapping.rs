//! Mapping of address bits to row, bank and column of a channel, in GPGPU-Sim's notation.
//!
//! An example is `dramid@8;00000000.00000000.00000000.00000000.0000RRRR.RRRRRRRR.BBBCCCCB.CCSSSSSS`. The channel bits begin at
//! bit 8 of the address. The remaining bits have a letter each, the highest bit first. `R` is a bit of the row, `B` of the bank,
//! and `C` of the column. `S` is a bit of the byte in a burst, which is a part of the column. `0` leaves a bit out and is allowed
//! only above all letters: these bits extend the row, so that no two addresses share a location. `.`, `|` and spaces are
//! separators.
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::fmt;

/// Max characters of a mapping: 64 letters and separators.
const MOST: usize = 96;
/// Bits of an address.
const ADDRESS_BITS: usize = 64;

/// A field of a location in a channel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AddressField {
    /// Row of a bank.
    Row,
    /// Number of the bank.
    Bank,
    /// Byte in the row.
    Column,
}

/// A mapped bit of an address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MappedBit {
    /// Number of the bit, 0 for the lowest.
    pub bit: u32,
    /// Field to which the bit belongs.
    pub field: AddressField,
    /// Position of the bit's letter in the text, from 1.
    pub position: usize,
}

/// A mapping with valid syntax. An empty mapping is the default: rows above banks above columns.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct AddressMapping {
    text: [u8; MOST],
    length: usize,
}

/// The text is not a mapping. The message has the position of the error and the allowed characters.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct BadMapping(pub String);

impl AddressMapping {
    /// Parses `text`.
    ///
    /// # Errors
    /// Returns one line with the position of the error, from 1, and the allowed characters.
    pub fn parse(text: &str) -> Result<Self, BadMapping> {
        Self::read(text).map_err(BadMapping)
    }

    fn read(text: &str) -> Result<Self, String> {
        if text.len() > MOST {
            return Err(format!("position {}: must be at most {MOST} characters", MOST + 1));
        }
        let mut letters = 0;
        let mut first = None;
        for (at, c) in characters(text)? {
            match c {
                'R' | 'B' | 'C' | 'S' => first = first.or(Some(at)),
                '0' => {
                    if let Some(first) = first {
                        return Err(format!(
                            "position {at}: `0` below the letter of position {first}: must be R, B, C or S, since \
                             a bit that is left out would give two addresses one place"
                        ));
                    }
                }
                'D' => {
                    return Err(format!(
                        "position {at}: `D`: must be dramid@BIT; in front, since l2.partition_index finds the channel"
                    ));
                }
                other => return Err(format!("position {at}: `{other}`: must be R, B, C, S, 0 or .")),
            }
            letters += 1;
            if letters > ADDRESS_BITS {
                return Err(format!("position {at}: must be {ADDRESS_BITS} letters"));
            }
        }
        if first.is_none() && !text.is_empty() {
            return Err(format!("position {}: must be a letter R, B, C or S", text.chars().count() + 1));
        }
        let mut mapping = AddressMapping { text: [0; MOST], length: text.len() };
        mapping.text[..text.len()].copy_from_slice(text.as_bytes());
        Ok(mapping)
    }

    /// Returns the mapping as text.
    pub fn text(&self) -> &str {
        std::str::from_utf8(&self.text[..self.length]).unwrap_or_default()
    }

    /// Returns whether the mapping is the default order.
    pub fn is_usual(&self) -> bool {
        self.length == 0
    }

    /// Returns the lowest channel bit, if the mapping contains it.
    pub fn channel_bit(&self) -> Option<u32> {
        self.text().strip_prefix(PREFIX)?.split(';').next()?.parse().ok()
    }

    /// Returns the mapped bits, the highest first.
    pub fn bits(&self) -> Vec<MappedBit> {
        let all = characters(self.text()).unwrap_or_default();
        let numbered = (0..all.len() as u32).rev().zip(all);
        let mapped = numbered.filter_map(|(bit, (position, letter))| {
            let field = match letter {
                'R' => AddressField::Row,
                'B' => AddressField::Bank,
                'C' | 'S' => AddressField::Column,
                _ => return None,
            };
            Some(MappedBit { bit, field, position })
        });
        mapped.collect()
    }
}

/// Text in front of the lowest channel bit.
const PREFIX: &str = "dramid@";

/// Returns the letters after `dramid@BIT;` in upper case, with their positions from 1.
///
/// # Errors
/// Returns one line if the bit in the prefix is invalid.
fn characters(text: &str) -> Result<Vec<(usize, char)>, String> {
    let mut front = 0;
    if let Some(rest) = text.strip_prefix(PREFIX) {
        let (bit, _) = rest.split_once(';').unwrap_or((rest, ""));
        if !bit.parse::<u32>().is_ok_and(|bit| bit < ADDRESS_BITS as u32) {
            return Err(format!(
                "position {}: `{bit}`: must be a bit from 0 to 63, then `;`",
                PREFIX.len() + 1
            ));
        }
        front = PREFIX.len() + bit.len() + 1;
    }
    let numbered = text.chars().enumerate().skip(front);
    let letters = numbered.filter(|(_, c)| !matches!(c, '.' | '|' | ' '));
    Ok(letters.map(|(at, c)| (at + 1, c.to_ascii_uppercase())).collect())
}

impl fmt::Debug for AddressMapping {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}", self.text())
    }
}

impl Serialize for AddressMapping {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.text())
    }
}

impl<'de> Deserialize<'de> for AddressMapping {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        Self::parse(&text).map_err(|why| D::Error::custom(format!("address mapping `{text}`: {why}")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const FERMI: &str = "dramid@8;00000000.00000000.00000000.00000000.0000RRRR.RRRRRRRR.BBBCCCCB.CCSSSSSS";

    #[test]
    fn the_gtx480s_mapping_has_its_fields() {
        let mapping = AddressMapping::parse(FERMI).expect("valid");
        assert_eq!((mapping.channel_bit(), mapping.text()), (Some(8), FERMI));
        let of = |field| -> Vec<u32> {
            mapping.bits().iter().filter(|b| b.field == field).map(|b| b.bit).collect()
        };
        assert_eq!(of(AddressField::Bank), [15, 14, 13, 8]);
        assert_eq!(of(AddressField::Column), [12, 11, 10, 9, 7, 6, 5, 4, 3, 2, 1, 0]);
        assert_eq!(of(AddressField::Row), (16..28).rev().collect::<Vec<_>>());
        assert_eq!(mapping.bits().last().map(|b| b.position), Some(FERMI.len()));
    }

    #[test]
    fn mistakes_name_their_position() {
        for (text, says) in [
            ("dramid@8;RRBBXCC", "position 14: `X`: must be R, B, C, S, 0 or ."),
            ("dramid@8;RRB0CC", "position 13: `0` below the letter of position 10"),
            ("RRDDCC", "position 3: `D`: must be dramid@BIT"),
            ("dramid@q;RRCC", "position 8: `q`: must be a bit from 0 to 63"),
            ("dramid@64;RRCC", "position 8: `64`: must be a bit from 0 to 63"),
            ("dramid@8", "position 9: must be a letter"),
            ("0000.0000", "position 10: must be a letter"),
            ("é", "position 1: `é`: must be R"),
        ] {
            let error = AddressMapping::parse(text).expect_err("wrong").to_string();
            assert!(error.starts_with(says), "`{error}` should begin with `{says}`");
        }
        let long = AddressMapping::parse(&"C".repeat(65)).expect_err("too long").to_string();
        assert!(long.starts_with("position 65: "), "{long}");
        let longer = AddressMapping::parse(&".".repeat(97)).expect_err("too long").to_string();
        assert!(longer.starts_with("position 97: "), "{longer}");
    }

    proptest! {
        #[test]
        fn no_text_makes_it_panic(text in "(dramid@[0-9]{0,3};)?[RBCSD0. |x\u{e9}]{0,80}") {
            match AddressMapping::parse(&text) {
                Ok(mapping) => prop_assert_eq!(mapping.text(), text),
                Err(BadMapping(why)) => prop_assert!(why.starts_with("position ") && !why.contains('\n')),
            }
        }
    }
}
