//! Properties of the MILG under random traffic. For each interval, the limit is the maximum instructions in flight divided by the
//! failures per request; with less than one failure per request, it does not change. Counters saturate, and issue is gated at the
//! limit.
use crate::milg::{Milg, MilgIn, MilgParams};
use proptest::prelude::*;
use selvedge_hw::lockstep::Lockstep;
use selvedge_hw::{Clocked, Prng};

fn params() -> impl Strategy<Value = MilgParams> {
    let select = |values: &'static [u32]| prop::sample::select(values);
    (select(&[6, 7, 8]), select(&[12, 14]), select(&[8, 10])).prop_map(
        |(inflight_bits, rsfail_bits, request_bits)| MilgParams { inflight_bits, rsfail_bits, request_bits },
    )
}

/// Percentages of cycles with each event in an interval of requests.
#[derive(Clone, Copy, Debug)]
struct EventRates {
    issue: u64,
    complete: u64,
    request: u64,
    rsfail: u64,
}

/// Returns phases of any kind. In some, instructions only complete, so that the interval's maximum is the number in flight at its
/// start.
fn phase() -> impl Strategy<Value = EventRates> {
    let occupancy = prop_oneof![2 => (0u64..=100, 0u64..=100), 1 => Just((90, 10)), 2 => Just((0, 100))];
    let contention = prop_oneof![Just((90, 2)), Just((50, 60)), Just((40, 90)), Just((25, 99))];
    (occupancy, contention).prop_map(|((issue, complete), (request, rsfail))| EventRates {
        issue,
        complete,
        request,
        rsfail,
    })
}

/// Counts of one interval, with unlimited width.
#[derive(Default)]
struct Interval {
    /// Instructions in flight before the first cycle and after each counted cycle.
    inflight: Vec<u32>,
    requests: u32,
    rsfails: u32,
}

impl Interval {
    /// Returns an interval that begins with the events of the cycle that ended the previous one.
    fn new(inflight: u32, rsfail: bool) -> Self {
        Interval { inflight: vec![inflight], requests: 0, rsfails: u32::from(rsfail) }
    }

    /// Returns the limit after this interval, during which the limit was `before`.
    fn limit(&self, params: &MilgParams, before: u32) -> u32 {
        let failures = self.rsfails.min((1 << params.rsfail_bits) - 1);
        let most = *self.inflight.iter().max().expect("the first count");
        match failures / (1 << params.request_bits) {
            0 => before,
            per_request => (most.min(before) / per_request).max(1),
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn each_limit_is_that_of_the_interval_before(
        params in params(),
        phases in proptest::collection::vec(phase(), 2..12),
        seed in any::<u64>(),
    ) {
        let mut milg = Lockstep::<Milg>::new(&params);
        let mut prng = Prng::new(seed);
        let most = u32::from(params.no_limit());
        let (mut inflight, mut limit) = (0u32, most);
        let mut interval = Interval::new(0, false);
        for phase in phases {
            loop {
                let mut count = |percent| if prng.chance(percent) { 1 + prng.below(3) as u8 } else { 0 };
                let (issued_i, completed_i) = (count(phase.issue), count(phase.complete));
                let (request_i, rsfail_i) = (prng.chance(phase.request), prng.chance(phase.rsfail));
                let outputs = milg.step(&MilgIn { issued_i, completed_i, request_i, rsfail_i });
                let seen = (u32::from(outputs.inflight_o), u32::from(outputs.limit_o), outputs.may_issue_o);
                prop_assert_eq!(seen, (inflight, limit, inflight < limit));
                inflight = (inflight + u32::from(issued_i)).saturating_sub(completed_i.into()).min(most);
                interval.requests += u32::from(request_i);
                if interval.requests == 1 << params.request_bits {
                    limit = interval.limit(&params, limit);
                    interval = Interval::new(inflight, rsfail_i);
                    break;
                }
                interval.inflight.push(inflight);
                interval.rsfails += u32::from(rsfail_i);
            }
        }
    }
}

const IDLE: MilgIn = MilgIn { issued_i: 0, completed_i: 0, request_i: false, rsfail_i: false };

/// Steps an interval with one failure per request and `completed_i` completed instructions in each cycle.
fn interval(milg: &mut Lockstep<Milg>, params: &MilgParams, completed_i: u8) {
    for _ in 0..1 << params.request_bits {
        milg.step(&MilgIn { completed_i, request_i: true, rsfail_i: true, ..IDLE });
    }
}

#[test]
fn the_maximum_starts_from_what_is_in_flight_even_if_it_falls_at_once() {
    for request_bits in [8, 10] {
        let params = MilgParams { request_bits, ..MilgParams::default() };
        let mut milg = Lockstep::<Milg>::new(&params);
        milg.step(&MilgIn { rsfail_i: true, ..IDLE });
        (0..20).for_each(|_| _ = milg.step(&MilgIn { issued_i: 3, ..IDLE }));
        interval(&mut milg, &params, 0);
        interval(&mut milg, &params, 3);
        assert_eq!(
            milg.step(&IDLE).limit_o,
            60,
            "none issues and all complete: 60 were in flight at the beginning"
        );
    }
}

#[test]
fn the_counters_hold_at_their_ends() {
    let params = MilgParams::default();
    let mut milg = Lockstep::<Milg>::new(&params);
    milg.step(&MilgIn { completed_i: 3, ..IDLE });
    assert_eq!(milg.step(&IDLE).inflight_o, 0);
    (0..50).for_each(|_| _ = milg.step(&MilgIn { issued_i: 3, ..IDLE }));
    assert_eq!(milg.step(&IDLE).inflight_o, 127);
    // The counter holds at most three failures per request: 4095, and a thousand more.
    (0..5095).for_each(|_| _ = milg.step(&MilgIn { rsfail_i: true, ..IDLE }));
    (0..1024).for_each(|_| _ = milg.step(&MilgIn { request_i: true, ..IDLE }));
    assert_eq!(milg.step(&IDLE).limit_o, 127 / 3);
}

#[test]
fn a_limit_below_one_is_one() {
    let params = MilgParams::default();
    let mut milg = Lockstep::<Milg>::new(&params);
    milg.step(&MilgIn { issued_i: 1, ..IDLE });
    // Two failures per request, and one instruction in flight.
    (0..2048).for_each(|_| _ = milg.step(&MilgIn { rsfail_i: true, ..IDLE }));
    (0..1024).for_each(|_| _ = milg.step(&MilgIn { request_i: true, ..IDLE }));
    let outputs = milg.step(&MilgIn { completed_i: 1, ..IDLE });
    assert_eq!((outputs.limit_o, outputs.may_issue_o), (1, false));
    assert!(milg.step(&IDLE).may_issue_o, "a kernel never stops for good");
}
