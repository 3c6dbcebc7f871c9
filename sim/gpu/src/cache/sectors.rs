//! Sectors: the parts of a line that can be valid, dirty or fetched independently. A mask has one bit per 32 bytes.
//!
//! A cache with larger sectors, or without sectors, widens every mask to whole sectors. The rest of the simulator counts in units
//! of 32 bytes, the smallest request of an SM (LAMAR, section 3.2).

use selvedge_state::State;

/// Bytes per bit of a sector mask.
pub const SECTOR_BYTES: u32 = 32;

/// Max size of a line in bytes.
pub const MOST_LINE_BYTES: u32 = 256;

/// Max number of 32-byte sectors of a line.
pub const MOST_SECTORS: usize = (MOST_LINE_BYTES / SECTOR_BYTES) as usize;

/// Line and sector size of a cache.
#[derive(Clone, Copy, Debug, PartialEq, Eq, State)]
pub struct Sectors {
    line_bytes: u32,
    /// Mask of the first sector of this cache.
    one: u32,
    /// Mask bits per sector of this cache.
    width: u32,
}

impl Sectors {
    /// Creates the division of lines of `line_bytes` bytes into sectors of `sector_bytes` bytes. Both must be powers of two of at
    /// least 32.
    pub fn new(line_bytes: u32, sector_bytes: u32) -> Self {
        debug_assert!(line_bytes <= MOST_LINE_BYTES && (SECTOR_BYTES..=line_bytes).contains(&sector_bytes));
        let width = sector_bytes / SECTOR_BYTES;
        Self { line_bytes, one: mask(sector_bytes), width }
    }

    /// Returns the mask of all sectors of a line.
    pub fn all(&self) -> u32 {
        mask(self.line_bytes)
    }

    /// Widens the 32-byte sectors `part` to whole sectors of this cache.
    pub fn whole(&self, part: u32) -> u32 {
        if self.width == 1 {
            return part;
        }
        if self.width * SECTOR_BYTES == self.line_bytes {
            return if part == 0 { 0 } else { self.one };
        }
        let mut whole = 0;
        let mut sector = self.one;
        for _ in 0..self.line_bytes / (self.width * SECTOR_BYTES) {
            if part & sector != 0 {
                whole |= sector;
            }
            sector = sector.checked_shl(self.width).unwrap_or(0);
        }
        whole
    }

    /// Converts the mask `whole` of 32-byte sectors into a mask with one bit per sector of this cache. `whole` must contain only
    /// whole sectors of this cache.
    pub fn to_own(&self, whole: u32) -> u32 {
        debug_assert_eq!(self.whole(whole), whole, "part of a sector");
        self.places()
            .filter(|place| whole >> (place * self.width) & 1 == 1)
            .fold(0, |own, place| own | 1 << place)
    }

    /// Converts a mask with one bit per sector of this cache into a mask of 32-byte sectors. Inverse of [`Self::to_own`].
    pub fn from_own(&self, own: u32) -> u32 {
        let meant = self.places().filter(|place| own >> place & 1 == 1);
        meant.fold(0, |whole, place| whole | self.one << (place * self.width))
    }

    /// Returns the number of this cache's sectors per line.
    pub fn own_count(&self) -> u32 {
        self.line_bytes / (self.width * SECTOR_BYTES)
    }

    fn places(&self) -> std::ops::Range<u32> {
        0..self.own_count()
    }

    /// Converts the sectors `sectors` of a line at `line` into a part of a line of this cache. The given line must not be larger
    /// than this cache's lines. The result is not widened to whole sectors.
    pub fn part(&self, line: u64, sectors: u32) -> LinePart {
        let offset = line & u64::from(self.line_bytes - 1);
        LinePart { line: line - offset, sectors: sectors << (offset / u64::from(SECTOR_BYTES)) }
    }
}

/// Returns the mask of the 32-byte sectors of `bytes` bytes, up to [`MOST_LINE_BYTES`].
fn mask(bytes: u32) -> u32 {
    u32::MAX >> (32 - bytes / SECTOR_BYTES)
}

/// A set of sectors of one line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, State)]
pub struct LinePart {
    /// Byte address of the line.
    pub line: u64,
    /// Mask of 32-byte sectors. Bit 0 is at the lowest address.
    pub sectors: u32,
}

impl LinePart {
    /// Returns the number of 32-byte sectors.
    pub fn count(&self) -> u32 {
        self.sectors.count_ones()
    }

    /// Returns the byte address of the first sector.
    pub fn first_byte(&self) -> u64 {
        self.line + u64::from(self.sectors.trailing_zeros() * SECTOR_BYTES)
    }

    /// Returns the address and the mask in one number. The address of a line of N sectors ends in at least N zero bits, so they
    /// do not overlap.
    pub fn token(&self) -> u64 {
        self.line | u64::from(self.sectors)
    }

    /// Returns the part with the given token, of a line of `line_bytes` bytes. Inverse of [`Self::token`].
    pub fn of_token(token: u64, line_bytes: u32) -> Self {
        let low = u64::from(line_bytes - 1);
        Self { line: token & !low, sectors: (token & low) as u32 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn masks_are_widened_to_the_caches_own_sectors() {
        assert_eq!(Sectors::new(128, 128).whole(0b0100), 0b1111);
        assert_eq!(Sectors::new(128, 64).whole(0b0100), 0b1100);
        assert_eq!(Sectors::new(128, 32).whole(0b0101), 0b0101);
        assert_eq!(Sectors::new(256, 128).whole(0b1_0000), 0b1111_0000);
        assert_eq!(Sectors::new(32, 32).all(), 1);
    }

    #[test]
    fn a_part_begins_at_its_first_sector() {
        let part = LinePart { line: 256, sectors: 0b1010_1000 };
        assert_eq!((part.first_byte(), part.count()), (256 + 3 * 32, 3));
    }

    #[test]
    fn a_small_line_is_a_part_of_a_large_one() {
        let large = Sectors::new(256, 32);
        assert_eq!(large.part(0x1040, 0b11), LinePart { line: 0x1000, sectors: 0b1100 });
        assert_eq!(large.part(0x1000, 0xff), LinePart { line: 0x1000, sectors: 0xff });
    }

    #[test]
    fn a_caches_own_sectors_are_counted_by_themselves() {
        let halves = Sectors::new(128, 64);
        assert_eq!((halves.to_own(0b1100), halves.from_own(0b10), halves.own_count()), (0b10, 0b1100, 2));
        assert_eq!(Sectors::new(256, 32).to_own(0x81), 0x81);
        assert_eq!(Sectors::new(128, 128).from_own(1), 0xf);
    }

    proptest! {
        #[test]
        fn a_token_gives_its_part_back(bits in 5u32..9, number in 0u64..1 << 37, sectors in 1u32..256) {
            let line_bytes = 1 << bits;
            let sectors = sectors & Sectors::new(line_bytes, 32).all();
            let part = LinePart { line: number << bits, sectors };
            prop_assert_eq!(LinePart::of_token(part.token(), line_bytes), part);
        }

        #[test]
        fn widening_keeps_every_sector_and_is_done_once(part in 0u32..256, sector in 5u32..9) {
            let sectors = Sectors::new(256, 1 << sector);
            let whole = sectors.whole(part);
            prop_assert_eq!(whole & part, part);
            prop_assert_eq!(sectors.whole(whole), whole);
            prop_assert_eq!(whole & !sectors.all(), 0);
            prop_assert_eq!(sectors.from_own(sectors.to_own(whole)), whole);
        }
    }
}
