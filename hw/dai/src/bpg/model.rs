//! Golden model of the BPG, cycle by cycle: shadow tags as recency lists, the formula, and the choice.
use super::params::{ADJUSTED_OFFSET, BpgParams, HIT_BITS, LEVELS, RSFAIL_BITS, SAMPLED_SETS};
use super::rtl::{BpgIn, BpgOut};
use selvedge_hw::block::Clocked;
use selvedge_state::State;

/// Maximum value of a hit counter.
const MOST_HITS: u32 = (1 << HIT_BITS) - 1;

/// Maximum value of the failure counter.
const MOST_RSFAILS: u32 = (1 << RSFAIL_BITS) - 1;

/// One calculator: the lines that its warps would have in the sampled sets, and the hits they would have had.
#[derive(Clone, Debug, Default, State)]
struct Calculator {
    /// Tags of each set, the most recently used first.
    sets: [Vec<u64>; SAMPLED_SETS],
    hits: u32,
}

impl Calculator {
    /// Looks a tag up and makes it the most recently used. Returns whether the tag was in the set.
    fn access(&mut self, set: usize, tag: u64, ways: u32) -> bool {
        let tags = &mut self.sets[set];
        let place = tags.iter().position(|held| *held == tag);
        match place {
            Some(place) => tags[..=place].rotate_right(1),
            None => {
                tags.truncate(ways as usize - 1);
                tags.insert(0, tag);
            }
        }
        place.is_some()
    }
}

/// Returns the adjusted hits, with their offset, if the first `l` warps use the L1D. One of `sampling` sets is sampled.
fn adjusted(sampling: u32, hits: u32, rsfails: u32, l: u32) -> u32 {
    let estimated = rsfails * l.pow(3) / (LEVELS as u32).pow(3);
    ADJUSTED_OFFSET + hits * sampling - estimated / 2
}

/// Golden model of the BPG.
#[derive(Clone, Debug, State)]
pub struct BpgModel {
    params: BpgParams,
    calculators: [Calculator; LEVELS],
    accesses: u32,
    rsfails: u32,
    /// Adjusted hits of the interval that ended at the last clock edge, and `true` if any calculator had counted a hit.
    ended: Option<([u32; LEVELS], bool)>,
    l_max: u8,
    update: bool,
}

impl BpgModel {
    /// Returns the model in its reset state: all warps use the L1D. The parameters must be valid.
    pub fn new(params: &BpgParams) -> Self {
        BpgModel {
            params: *params,
            calculators: Default::default(),
            accesses: 0,
            rsfails: 0,
            ended: None,
            l_max: LEVELS as u8,
            update: false,
        }
    }

    /// Returns the hit counter of each calculator.
    pub fn hits(&self) -> [u32; LEVELS] {
        std::array::from_fn(|i| self.calculators[i].hits)
    }

    /// Returns the counter of reservation failures.
    pub fn rsfails(&self) -> u32 {
        self.rsfails
    }

    /// Sets L to that with the most adjusted hits; among equals, the largest L. Without a hit, L does not change.
    fn choose(&mut self) {
        self.update = self.ended.is_some();
        if let Some((adjusted, hit)) = self.ended.take() {
            let best = (0..LEVELS).max_by_key(|i| adjusted[*i]).expect("there are calculators");
            self.l_max = if hit { best as u8 + 1 } else { self.l_max };
        }
    }

    fn end_interval(&mut self) {
        self.accesses = 0;
        let (hits, rsfails, sampling) = (self.hits(), self.rsfails, self.params.group_size());
        let adjusted = std::array::from_fn(|i| adjusted(sampling, hits[i], rsfails, i as u32 + 1));
        self.ended = Some((adjusted, hits != [0; LEVELS]));
        self.calculators.iter_mut().for_each(|calculator| calculator.hits >>= 1);
        self.rsfails >>= 1;
    }

    fn access(&mut self, line: u64, warp: u8) {
        let BpgParams { sets, ways, .. } = self.params;
        let Some(set) = self.params.sampled(line % u64::from(sets)) else { return };
        for calculator in self.calculators.iter_mut().skip(usize::from(warp)) {
            let hit = calculator.access(set, line / u64::from(sets), ways);
            calculator.hits = (calculator.hits + u32::from(hit)).min(MOST_HITS);
        }
    }
}

impl Clocked<BpgIn, BpgOut> for BpgModel {
    fn step(&mut self, inputs: &BpgIn) -> BpgOut {
        let bypass_o = !(((1u16 << self.l_max) - 1) as u8);
        let outputs = BpgOut { l_max_o: self.l_max, bypass_o, update_o: self.update };
        self.choose();
        if inputs.access_i {
            self.accesses += 1;
            if self.accesses == self.params.interval {
                self.end_interval();
            }
            self.access(inputs.line_i, inputs.warp_i);
        }
        self.rsfails = (self.rsfails + u32::from(inputs.rsfail_i)).min(MOST_RSFAILS);
        outputs
    }

    fn reset(&mut self) {
        *self = BpgModel::new(&self.params);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const IDLE: BpgIn = BpgIn { access_i: false, line_i: 0, warp_i: 0, rsfail_i: false };

    fn access(line_i: u64, warp_i: u8) -> BpgIn {
        BpgIn { access_i: true, line_i, warp_i, ..IDLE }
    }

    #[test]
    fn the_formula_by_hand() {
        assert_eq!(adjusted(8, 0, 0, 8), 2048);
        assert_eq!(adjusted(8, 100, 1000, 8), 2048 + 800 - 500);
        assert_eq!(adjusted(8, 100, 1000, 4), 2048 + 800 - 62, "125 failures, of which half, rounded down");
        assert_eq!(adjusted(8, 0, 4095, 8), 1);
        assert_eq!(adjusted(8, 1023, 0, 1), 2048 + 8184);
        assert_eq!(adjusted(64, 100, 1000, 8), 2048 + 6400 - 500, "one of 64 sets is sampled");
    }

    /// Returns L after one interval in which each of 8 warps cycles through its own lines of set 0, after `rsfails` reservation
    /// failures.
    fn l_max_after(lines_per_warp: u64, rsfails: u32) -> u8 {
        l_max_of(BpgParams::default(), lines_per_warp, rsfails)
    }

    /// Returns L as [`l_max_after`] does, with other parameters.
    fn l_max_of(params: BpgParams, lines_per_warp: u64, rsfails: u32) -> u8 {
        let mut model = BpgModel::new(&params);
        for _ in 0..rsfails {
            model.step(&BpgIn { rsfail_i: true, ..IDLE });
        }
        for count in 0..1000u64 {
            let (warp, turn) = (count % 8, count / 8);
            let line = (warp * lines_per_warp + turn % lines_per_warp) * u64::from(params.sets);
            assert!(!model.step(&access(line, warp as u8)).update_o);
        }
        assert!(!model.step(&IDLE).update_o, "the choice takes a cycle");
        let outputs = model.step(&IDLE);
        assert!(outputs.update_o);
        outputs.l_max_o
    }

    #[test]
    fn warps_that_thrash_are_kept_out() {
        assert_eq!(l_max_after(1, 0), 4, "four ways hold one line of four warps");
        assert_eq!(l_max_after(2, 0), 2);
        assert_eq!(l_max_after(4, 0), 1);
    }

    #[test]
    fn more_ways_hold_the_lines_of_more_warps() {
        let params = BpgParams { sets: 256, ways: 6, ..BpgParams::default() };
        assert_eq!([1, 2, 3].map(|lines| l_max_of(params, lines, 0)), [6, 3, 2]);
    }

    #[test]
    fn without_hits_and_failures_nobody_bypasses() {
        assert_eq!(l_max_after(5, 0), 8);
    }

    #[test]
    fn failures_without_a_hit_are_no_reason_to_bypass() {
        assert_eq!(l_max_after(5, 30), 8);
        assert_eq!(l_max_after(5, 4000), 8);
    }

    #[test]
    fn an_interval_without_a_hit_leaves_the_choice_as_it_is() {
        let mut model = BpgModel::new(&BpgParams::default());
        model.l_max = 3;
        for line in 0..1000 {
            model.step(&BpgIn { rsfail_i: true, ..access(line * 32, 0) });
        }
        model.step(&IDLE);
        let outputs = model.step(&IDLE);
        assert!(outputs.update_o);
        assert_eq!(outputs.l_max_o, 3);
    }

    #[test]
    fn failures_weigh_where_there_are_hits() {
        // Four lines per warp: only warp 0 alone hits its own lines again, about 120 times.
        assert_eq!(l_max_after(4, 4000), 1);
        // One line per warp: four warps hit theirs. 2,000 failures subtract 125 adjusted hits for four warps, 15 for two.
        assert_eq!(l_max_after(1, 2000), 4);
    }

    #[test]
    fn counters_are_halved_and_the_last_access_counts_after_that() {
        let mut model = BpgModel::new(&BpgParams::default());
        for _ in 0..999 {
            model.step(&access(0, 0));
        }
        assert_eq!(model.hits(), [998; LEVELS]);
        model.step(&BpgIn { rsfail_i: true, ..access(0, 7) });
        assert_eq!(model.hits(), [499, 499, 499, 499, 499, 499, 499, 500]);
        assert_eq!(model.rsfails(), 1);
    }

    #[test]
    fn bypass_is_a_bit_per_warp_from_l_max_on() {
        let mut model = BpgModel::new(&BpgParams::default());
        assert_eq!(model.step(&IDLE).bypass_o, 0);
        model.l_max = 3;
        assert_eq!(model.step(&IDLE).bypass_o, 0b1111_1000);
    }
}
