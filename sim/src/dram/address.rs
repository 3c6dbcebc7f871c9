//! Where an address of a channel lies: bank, row, column.
use crate::config::Dram;

/// A place in a channel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Location {
    /// Bank number.
    pub bank: u32,
    /// Row of the bank.
    pub row: u64,
    /// Byte within the row.
    pub column: u32,
}

/// Splits a channel's dense addresses, from the highest bits to the lowest, into row, bank and column: consecutive
/// rows lie in consecutive banks, so that a stream opens the next bank while it reads this one.
#[derive(Clone, Copy, Debug)]
pub struct BankMap {
    column_bits: u32,
    bank_bits: u32,
}

impl BankMap {
    /// The map of a channel; banks and row size are powers of two.
    pub fn new(dram: &Dram) -> Self {
        Self { column_bits: dram.row_bytes.trailing_zeros(), bank_bits: dram.banks.trailing_zeros() }
    }

    /// The place of byte `address` of the channel.
    pub fn locate(&self, address: u64) -> Location {
        let low = |value: u64, bits: u32| (value & ((1 << bits) - 1)) as u32;
        Location {
            bank: low(address >> self.column_bits, self.bank_bits),
            row: address >> (self.column_bits + self.bank_bits),
            column: low(address, self.column_bits),
        }
    }

    /// The byte address of a place: the inverse of [`Self::locate`].
    pub fn address(&self, at: Location) -> u64 {
        ((at.row << self.bank_bits | u64::from(at.bank)) << self.column_bits) | u64::from(at.column)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::GpuConfig;
    use proptest::prelude::*;

    fn map() -> BankMap {
        BankMap::new(&GpuConfig::load("gtx480").expect("built in").dram)
    }

    #[test]
    fn consecutive_rows_lie_in_consecutive_banks() {
        assert_eq!(map().locate(0), Location { bank: 0, row: 0, column: 0 });
        assert_eq!(map().locate(2047), Location { bank: 0, row: 0, column: 2047 });
        assert_eq!(map().locate(2048), Location { bank: 1, row: 0, column: 0 });
        assert_eq!(map().locate(16 * 2048 + 5), Location { bank: 0, row: 1, column: 5 });
    }

    proptest! {
        #[test]
        fn addresses_map_back(address in 0u64..1 << 40) {
            prop_assert_eq!(map().address(map().locate(address)), address);
        }
    }
}
