//! A fixed share of bypassing warps or CTAs (Dai, section 2.4): of each N warps or CTAs of an SM, by number, the last M bypass the
//! L1D. The dissertation writes (w, M, N) and (b, M, N). It is the experiment from which MDB's model is built, not hardware.
use crate::BYPASS_COUNTERS;
use crate::mdb::LimitUnit;
use selvedge_gpu::mechanism::{Claim, Counter, Mechanism, MechanismCounters, Setup, Site, Values, count};
use selvedge_gpu::sm::part::{Bypass, Load, SmPart};
use selvedge_gpu::{has, mechanism_options};
use selvedge_state::State;

mechanism_options! {
    /// Options of `fixed-bypass`.
    pub struct FixedBypassOptions {
        /// of each n units so many bypass the L1D, at most n
        m: u32 = 4, Values::range(0, 64);
        /// units of which m bypass the L1D
        n: u32 = 8, Values::range(1, 64);
        /// unit that is counted; auto: CTAs, or the warps of the only CTA on an SM
        unit: LimitUnit = LimitUnit::Auto, Values::names::<LimitUnit>();
    }
}

/// The mechanism `fixed-bypass`.
#[derive(Debug)]
pub struct FixedBypassing;

impl Mechanism for FixedBypassing {
    const NAME: &'static str = "fixed-bypass";
    const SUMMARY: &'static str = "lets a fixed number of each n warps or CTAs bypass the L1D";
    const SOURCE: &'static str = "Dai, section 2.4 (figures 3 and 4)";
    const CLAIMS: &'static [Claim] = &[Claim::Bypass];
    const COUNTERS: &'static [&'static [Counter]] = &[BYPASS_COUNTERS];
    type Options = FixedBypassOptions;

    fn attach(setup: &Setup<FixedBypassOptions>, site: &mut Site<'_>) {
        let FixedBypassOptions { m, n, unit } = setup.options;
        site.each_sm(|_| FixedBypass { unit, using: n.saturating_sub(m), of: n, bypassed: 0 });
    }
}

/// The share of an SM.
#[derive(State)]
struct FixedBypass {
    unit: LimitUnit,
    /// Units of each `of` that use the L1D.
    using: u32,
    of: u32,
    /// Line transactions that bypassed the L1D.
    bypassed: u64,
}

impl SmPart for FixedBypass {
    fn counters(&self, out: &mut MechanismCounters) {
        count(out, "bypassed_loads", self.bypassed);
    }

    has!(bypass: Bypass);
}

impl Bypass for FixedBypass {
    fn bypasses(&mut self, _: u64, load: &Load) -> bool {
        let passes = u32::from(self.unit.number(load, 0)) % self.of >= self.using;
        self.bypassed += u64::from(passes);
        passes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_m_of_each_n_units_bypass() {
        let mut sm = FixedBypass { unit: LimitUnit::Warps, using: 5, of: 8, bypassed: 0 };
        let bypassing: Vec<u8> =
            (0..16).filter(|warp| sm.bypasses(0, &Load { warp: *warp, ..Load::default() })).collect();
        assert_eq!(bypassing, [5, 6, 7, 13, 14, 15]);
        assert_eq!(sm.bypassed, 6);
    }

    #[test]
    fn ctas_count_where_an_sm_holds_several_and_the_warps_of_the_only_one_else() {
        let mut sm = FixedBypass { unit: LimitUnit::Auto, using: 1, of: 2, bypassed: 0 };
        let load = Load { cta: 1, warp: 4, warp_of_cta: 2, resident_ctas: 2, ..Load::default() };
        assert!(sm.bypasses(0, &load), "CTA 1");
        assert!(!sm.bypasses(0, &Load { resident_ctas: 1, ..load }), "warp 2 of the CTA");
    }
}
