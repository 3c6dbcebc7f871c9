//! Which sectors of a line were fetched and asked for, and what a fetch's sectors are by their prediction (LAMAR, section 5.1).
//!
//! A sector is fetched on demand, because the access that misses asks for it, or by a prediction, beside those. Whoever chooses
//! the sectors hears how good the choice was: by a [`Fetched`] at each fetch, and by the number of predicted sectors that
//! an access asks for as the first one.

use selvedge_state::State;

/// The 32-byte sectors of one fetch, counted by why they are fetched.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, State)]
pub struct Fetched {
    /// Asked for by the access that misses (DEMAND).
    pub demand: u32,
    /// Asked for likewise, of a line of which other sectors had been fetched without them (NPRED_REF).
    pub not_predicted: u32,
    /// Not asked for: PRED_REF if that comes later, else PRED_NREF.
    pub predicted: u32,
}

/// What a cache keeps with a line; masks of 32-byte sectors.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, State)]
pub struct SectorUse {
    /// Sectors that accesses have asked for since the line came.
    pub used: u32,
    /// Sectors that have come, those that have left since included.
    fetched: u32,
    /// Sectors that are there by a prediction, and that no access has asked for.
    waiting: u32,
}

/// What is known of a line's sectors in flight.
#[derive(Clone, Copy, Debug, Default, State)]
pub struct UnderWay {
    /// Sectors in flight.
    pub coming: u32,
    /// Sectors that accesses have asked for since the line's register was taken.
    pub wanted: u32,
}

impl SectorUse {
    /// An access asks for `sectors`; gives those among them that a prediction has brought and that were not asked for before.
    pub fn ask(&mut self, sectors: u32) -> u32 {
        let first = self.waiting & sectors;
        self.used |= sectors;
        self.waiting &= !sectors;
        first
    }

    /// `sectors` have come, of which accesses have asked for those in `wanted`.
    pub fn arrive(&mut self, sectors: u32, wanted: u32) {
        self.used |= wanted;
        self.fetched |= sectors;
        self.waiting = (self.waiting | sectors) & !wanted;
    }

    /// `sectors` are there no more.
    pub fn leave(&mut self, sectors: u32) {
        self.waiting &= !sectors;
    }

    /// What `sectors` are that are fetched for an access that misses those of `missing`.
    pub fn judge(&self, sectors: u32, missing: u32, under_way: UnderWay) -> Fetched {
        let known = self.fetched | under_way.coming | under_way.wanted;
        let asked = sectors & missing;
        let late = if known == 0 { 0 } else { asked & !known };
        Fetched {
            demand: (asked & !late).count_ones(),
            not_predicted: late.count_ones(),
            predicted: (sectors & !missing).count_ones(),
        }
    }
}

impl UnderWay {
    /// The sectors among `sectors` that a prediction has sent for and that no access has asked for before.
    pub fn first_asked(self, sectors: u32) -> u32 {
        sectors & self.coming & !self.wanted
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NONE: UnderWay = UnderWay { coming: 0, wanted: 0 };

    #[test]
    fn a_predicted_sector_is_used_once() {
        let mut line = SectorUse::default();
        line.arrive(0b1111, 0b0001);
        assert_eq!((line.ask(0b0011), line.ask(0b0011)), (0b0010, 0));
        assert_eq!(line.used, 0b0011);
        line.leave(0b0100);
        assert_eq!(line.ask(0b0100), 0, "what has left was no use");
    }

    #[test]
    fn sectors_are_judged_by_what_was_fetched_before() {
        let mut line = SectorUse::default();
        let fresh = line.judge(0b0011, 0b0001, NONE);
        assert_eq!(fresh, Fetched { demand: 1, not_predicted: 0, predicted: 1 });
        line.arrive(0b0011, 0b0001);
        assert_eq!(line.judge(0b0100, 0b0100, NONE), Fetched { not_predicted: 1, ..Fetched::default() });
        // A store has taken a sector away: that is nobody's mistake.
        assert_eq!(line.judge(0b0001, 0b0001, NONE), Fetched { demand: 1, ..Fetched::default() });
    }

    #[test]
    fn sectors_on_their_way_count_as_fetched() {
        let under_way = UnderWay { coming: 0b0110, wanted: 0b0010 };
        let line = SectorUse::default();
        assert_eq!(line.judge(0b1000, 0b1000, under_way).not_predicted, 1);
        assert_eq!(under_way.first_asked(0b1110), 0b0100);
        let predicted = UnderWay { coming: 0b0100, wanted: 0 };
        assert_eq!(line.judge(0b1000, 0b1000, predicted).not_predicted, 1);
        // A sector that was there and is in flight once more.
        let mut line = SectorUse::default();
        line.arrive(0b0110, 0);
        assert_eq!(line.judge(0b0100, 0b0100, predicted), Fetched { demand: 1, ..Fetched::default() });
    }
}
