//! The sectors of a line that were fetched and used, and the classes of prediction results (LAMAR, section 5.1).
//!
//! A sector is fetched on demand if the access that misses asks for it. Other sectors are fetched by prediction. The policy that
//! selects the sectors receives a [`Fetched`] for each fetch. It also receives the number of predicted sectors that an access is
//! the first to use.

use selvedge_state::State;

/// Numbers of 32-byte sectors of one fetch, by the reason for the fetch.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, State)]
pub struct Fetched {
    /// Sectors that the missing access asks for, except `not_predicted` (DEMAND).
    pub demand: u32,
    /// Sectors that the missing access asks for, and that an earlier fetch of the line left out (NPRED_REF).
    pub not_predicted: u32,
    /// Sectors that the access does not ask for: PRED_REF if a later access asks for them, else PRED_NREF.
    pub predicted: u32,
}

/// State that a cache keeps for each line, as masks of 32-byte sectors.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, State)]
pub struct SectorUse {
    /// Sectors that accesses have asked for since the line was allocated.
    pub used: u32,
    /// Sectors that have arrived, even if they are invalid again.
    fetched: u32,
    /// Valid sectors that a prediction fetched and no access has asked for.
    waiting: u32,
}

/// Sectors of a line that are in flight, and sectors that were asked for.
#[derive(Clone, Copy, Debug, Default, State)]
pub struct SectorsInFlight {
    /// Sectors in flight.
    pub coming: u32,
    /// Sectors that accesses have asked for since the line's MSHR was allocated.
    pub wanted: u32,
}

impl SectorUse {
    /// Records an access to `sectors`. Returns the predicted sectors among them that no access has asked for before.
    pub fn ask(&mut self, sectors: u32) -> u32 {
        let first = self.waiting & sectors;
        self.used |= sectors;
        self.waiting &= !sectors;
        first
    }

    /// Records the arrival of `sectors`. Accesses have asked for the sectors `wanted`.
    pub fn arrive(&mut self, sectors: u32, wanted: u32) {
        self.used |= wanted;
        self.fetched |= sectors;
        self.waiting = (self.waiting | sectors) & !wanted;
    }

    /// Records that `sectors` are no longer valid.
    pub fn leave(&mut self, sectors: u32) {
        self.waiting &= !sectors;
    }

    /// Classifies the fetched `sectors` of an access that misses the sectors `missing`.
    pub fn judge(&self, sectors: u32, missing: u32, under_way: SectorsInFlight) -> Fetched {
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

impl SectorsInFlight {
    /// Returns the sectors among `sectors` that a prediction requested and that no access has asked for before.
    pub fn first_asked(self, sectors: u32) -> u32 {
        sectors & self.coming & !self.wanted
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NONE: SectorsInFlight = SectorsInFlight { coming: 0, wanted: 0 };

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
        // A store invalidated a sector that had been fetched. The predictor did not leave it out, so it counts as demand.
        assert_eq!(line.judge(0b0001, 0b0001, NONE), Fetched { demand: 1, ..Fetched::default() });
    }

    #[test]
    fn sectors_on_their_way_count_as_fetched() {
        let under_way = SectorsInFlight { coming: 0b0110, wanted: 0b0010 };
        let line = SectorUse::default();
        assert_eq!(line.judge(0b1000, 0b1000, under_way).not_predicted, 1);
        assert_eq!(under_way.first_asked(0b1110), 0b0100);
        let predicted = SectorsInFlight { coming: 0b0100, wanted: 0 };
        assert_eq!(line.judge(0b1000, 0b1000, predicted).not_predicted, 1);
        // The sector was valid before and is in flight again.
        let mut line = SectorUse::default();
        line.arrive(0b0110, 0);
        assert_eq!(line.judge(0b0100, 0b0100, predicted), Fetched { demand: 1, ..Fetched::default() });
    }
}
