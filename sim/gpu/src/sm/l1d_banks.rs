//! Banks of the L1D. They are interleaved by sectors of 32 bytes, and each takes one transaction per cycle.
use super::coalescer::Transaction;
use crate::cache::SECTOR_BYTES;
use crate::config::MOST_L1D_BANKS;
use selvedge_state::State;

/// The banks of an L1D.
#[derive(Clone, Copy, Debug, State)]
pub struct L1dBanks {
    /// A power of two.
    count: u32,
}

/// A set of banks, one bit each.
pub type BankSet = u32;

impl L1dBanks {
    /// Returns `count` banks. If there is more than one, each sector of a line is in another bank.
    pub fn new(count: u32) -> Self {
        debug_assert!(count.is_power_of_two() && count <= MOST_L1D_BANKS, "{count} banks");
        L1dBanks { count }
    }

    /// Returns whether there is more than one bank.
    #[inline(always)]
    pub fn are_several(self) -> bool {
        self.count > 1
    }

    /// Returns the banks that hold the sectors of a transaction. A single bank takes whole lines.
    #[inline(always)]
    pub fn of(self, transaction: &Transaction) -> BankSet {
        if self.count == 1 {
            return 1;
        }
        let first = (transaction.line / u64::from(SECTOR_BYTES)) as u32 & (self.count - 1);
        transaction.sectors << first
    }
}

/// Returns the numbers of the banks in a set.
#[inline]
pub fn banks_in(mut set: BankSet) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        let bank = (set != 0).then(|| set.trailing_zeros() as usize)?;
        set &= set - 1;
        Some(bank)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn neighboring_sectors_are_in_different_banks() {
        let banks = |count, line, sectors| {
            L1dBanks::new(count).of(&Transaction { line, sectors, ..Transaction::default() })
        };
        assert_eq!(banks(4, 0x1280, 0b1001), 0b1001);
        assert_eq!(banks(8, 0x1280, 0b1001), 0b1001_0000, "the second line of two");
        assert_eq!(banks(8, 0x1300, 0b1001), 0b1001);
        assert_eq!(banks(1, 0x1280, 0b1000), 1, "one bank has all sectors");
        assert_eq!(banks(32, 0x1f80, 0b1000), 1 << 31);
    }
}
