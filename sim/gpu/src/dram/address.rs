//! Bank, row and column of an address in a DRAM channel.
use crate::config::{AddressField, DramConfig};
use selvedge_state::State;

/// Address bits that map to bank, row and column. Higher bits distinguish lines that share a location.
pub const ADDRESS_BITS: u32 = 48;

/// A location in a channel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, State)]
pub struct Location {
    /// Number of the bank in the channel.
    pub bank: u32,
    /// Number of the row in the bank.
    pub row: u64,
    /// Byte offset in the row.
    pub column: u32,
}

/// Consecutive bits of the address that are also consecutive in the row, bank or column number.
#[derive(Clone, Copy, Debug, State)]
struct AddressRun {
    /// Lowest bit in the address.
    from: u32,
    /// Lowest bit in the number.
    to: u32,
    mask: u64,
}

/// Splits the addresses of a channel into row, bank and column with the configured mapping. In the default mapping the row has
/// the highest bits, then bank, then column. Consecutive rows of addresses then lie in consecutive banks, so that a stream can
/// open the next bank while it reads the current one.
#[derive(Clone, Debug, State)]
pub struct BankMap {
    row: Vec<AddressRun>,
    bank: Vec<AddressRun>,
    column: Vec<AddressRun>,
}

impl BankMap {
    /// Creates the map of a channel. The number of banks and the row size must be powers of two.
    pub fn new(dram: &DramConfig) -> Self {
        let mut fields: Vec<(u32, AddressField)> =
            dram.mapping.bits().iter().rev().map(|b| (b.bit, b.field)).collect();
        if dram.mapping.is_usual() {
            let column_bits = dram.row_bytes.trailing_zeros();
            let bank_bits = dram.banks.trailing_zeros();
            let field = |bit| if bit < column_bits { AddressField::Column } else { AddressField::Bank };
            fields = (0..column_bits + bank_bits).map(|bit| (bit, field(bit))).collect();
        }
        let mapped = fields.len() as u32;
        fields.extend((mapped..ADDRESS_BITS.max(mapped)).map(|bit| (bit, AddressField::Row)));
        let runs = |wanted| runs(fields.iter().filter(|(_, field)| *field == wanted).map(|(bit, _)| *bit));
        Self {
            row: runs(AddressField::Row),
            bank: runs(AddressField::Bank),
            column: runs(AddressField::Column),
        }
    }

    /// Returns the location of byte `address` of the channel.
    pub fn locate(&self, address: u64) -> Location {
        let part =
            |runs: &[AddressRun]| runs.iter().fold(0, |part, r| part | (address >> r.from & r.mask) << r.to);
        Location { bank: part(&self.bank) as u32, row: part(&self.row), column: part(&self.column) as u32 }
    }

    /// Returns the byte address of a location. Inverse of [`Self::locate`].
    pub fn address(&self, at: Location) -> u64 {
        let spread = |runs: &[AddressRun], part: u64| {
            runs.iter().fold(0, |address, r| address | (part >> r.to & r.mask) << r.from)
        };
        spread(&self.row, at.row)
            | spread(&self.bank, u64::from(at.bank))
            | spread(&self.column, u64::from(at.column))
    }
}

/// Groups the ascending address bits `bits`, which are the bits of a number from bit 0 up, into runs.
fn runs(bits: impl Iterator<Item = u32>) -> Vec<AddressRun> {
    let mut runs: Vec<AddressRun> = Vec::new();
    for (to, from) in (0..).zip(bits) {
        match runs.last_mut() {
            Some(last) if from - last.from == to - last.to => last.mask = last.mask << 1 | 1,
            _ => runs.push(AddressRun { from, to, mask: 1 }),
        }
    }
    runs
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::{AddressMapping, GpuConfig};
    use proptest::prelude::*;

    fn map() -> BankMap {
        BankMap::new(&GpuConfig::load("gtx480").expect("built in").dram)
    }

    fn mapped(text: &str) -> BankMap {
        let mapping = AddressMapping::parse(text).expect("valid");
        BankMap::new(&DramConfig { mapping, ..GpuConfig::load("gtx480").expect("built in").dram })
    }

    #[test]
    fn consecutive_rows_lie_in_consecutive_banks() {
        assert_eq!(map().locate(0), Location { bank: 0, row: 0, column: 0 });
        assert_eq!(map().locate(2047), Location { bank: 0, row: 0, column: 2047 });
        assert_eq!(map().locate(2048), Location { bank: 1, row: 0, column: 0 });
        assert_eq!(map().locate(16 * 2048 + 5), Location { bank: 0, row: 1, column: 5 });
    }

    #[test]
    fn letters_place_their_bits() {
        let map = mapped("dramid@8;0000RRRR.RRRRRRRR.BBBCCCCB.CCSSSSSS");
        // Bits 15, 14, 13 and 8 are the bank. Bits 12 to 9 and 7 to 0 are the column. Bits from 16 up are the row.
        assert_eq!(map.locate(0x1ff), Location { bank: 1, row: 0, column: 0xff });
        assert_eq!(map.locate(0x1e00), Location { bank: 0, row: 0, column: 0xf00 });
        assert_eq!(map.locate(0xa100), Location { bank: 0b1011, row: 0, column: 0 });
        assert_eq!(map.locate(0x1234_5000_0000).row, 0x1234_5000, "rows go on above the letters");
    }

    proptest! {
        #[test]
        fn addresses_map_back(address in 0u64..1 << 40) {
            prop_assert_eq!(map().address(map().locate(address)), address);
        }

        /// For all letters in any order, address and location are inverses of each other.
        #[test]
        fn every_mapping_is_a_bijection(
            letters in prop::collection::vec(prop::sample::select(vec!['R', 'B', 'C']), 1..24),
            address in 0u64..1 << ADDRESS_BITS,
            row in any::<u64>(),
        ) {
            let text: String = letters.iter().chain(&['S'; 7]).collect();
            let map = mapped(&text);
            let at = map.locate(address);
            prop_assert_eq!(map.address(at), address, "{}", text);
            let bits = |letter| letters.iter().filter(|l| **l == letter).count() as u32;
            prop_assert!(u64::from(at.bank) < 1 << bits('B'));
            prop_assert!(u64::from(at.column) < 1 << (bits('C') + 7));
            let row_bits = ADDRESS_BITS - bits('B') - bits('C') - 7;
            let other = Location { row: row & ((1 << row_bits) - 1), ..at };
            prop_assert_eq!(map.locate(map.address(other)), other, "{}", text);
        }
    }
}
