//! Properties of the QBMI: quotas are the least common multiple divided by each kernel's requests, and each set is issued
//! exactly. All kernels make equally many requests and none starves. Quotas stay in range, and the RTL does the same.
use crate::qbmi::{MOST_REQUESTS, Qbmi, QbmiIn, QbmiOut, QbmiParams};
use proptest::prelude::*;
use selvedge_hw::Clocked;
use selvedge_hw::lockstep::{CycleInputs, Lockstep, assert_agree};

/// Requests of an interval.
const INTERVAL: u32 = 1024;

fn traffic(kernels: u32) -> impl Strategy<Value = CycleInputs<Qbmi>> {
    let number = if kernels == 2 { 0u8..2 } else { 0u8..4 };
    // Mostly one kernel, so that its interval ends.
    let kernel = prop_oneof![3 => Just(1u8), 1 => number];
    let inputs = (any::<bool>(), kernel.clone(), prop::bool::weighted(0.9), kernel).prop_map(
        |(issue, a, request, b)| {
            Some(QbmiIn { issue_i: issue, issue_kernel_i: a, request_i: request, request_kernel_i: b })
        },
    );
    let operation = prop_oneof![3000 => inputs, 1 => Just(None)];
    proptest::collection::vec(operation, 1..6000)
}

fn idle() -> QbmiIn {
    QbmiIn::default()
}

fn issue(kernel: u32) -> QbmiIn {
    QbmiIn { issue_i: true, issue_kernel_i: kernel as u8, ..idle() }
}

/// Returns the instructions in an interval whose average is `requests`, capped at the block's counter.
fn instructions(requests: u32) -> u32 {
    ((INTERVAL + requests / 2) / requests).min(1023)
}

/// Returns the smallest number that all `numbers` divide, by trial.
fn least_common_multiple(numbers: &[u32]) -> u32 {
    let largest = *numbers.iter().max().unwrap();
    (1..).map(|factor| factor * largest).find(|n| numbers.iter().all(|r| n % r == 0)).unwrap()
}

/// Returns a block that has measured these requests per instruction, with the resulting set of quotas in force and in use.
fn measured(requests: &[u32]) -> (QbmiParams, Lockstep<Qbmi>) {
    let params = QbmiParams { kernels: requests.len() as u32 };
    let mut qbmi = Lockstep::<Qbmi>::new(&params);
    for (kernel, requests) in requests.iter().enumerate() {
        for _ in 0..instructions(*requests) {
            qbmi.step(&issue(kernel as u32));
        }
        for _ in 0..INTERVAL {
            let kernel = kernel as u8;
            qbmi.step(&QbmiIn { request_i: true, request_kernel_i: kernel, ..idle() });
        }
    }
    for _ in 0..200 {
        qbmi.step(&idle());
    }
    // Uses up the quotas left by the measurement, until the first set is about to end by rank.
    let mut outputs = qbmi.step(&idle());
    for _ in 0..400_000 {
        if (0..params.kernels).all(|kernel| outputs.quota(&params, kernel) == 1) {
            break;
        }
        qbmi.step(&issue(first(&params, &outputs)));
        outputs = qbmi.step(&idle());
    }
    (params, qbmi)
}

/// Returns the kernel with rank 0.
fn first(params: &QbmiParams, outputs: &QbmiOut) -> u32 {
    (0..params.kernels).find(|kernel| outputs.rank(params, *kernel) == 0).unwrap()
}

/// Issues by rank until `sets` sets have been added. Returns the instructions of each kernel between consecutive additions, and
/// the longest wait of each kernel.
fn issued_per_set(params: &QbmiParams, qbmi: &mut Lockstep<Qbmi>, sets: usize) -> (Vec<Vec<u32>>, Vec<u32>) {
    let kernels = params.kernels as usize;
    let (mut per_set, mut counts) = (Vec::new(), vec![0; kernels]);
    let (mut waits, mut longest) = (vec![0; kernels], vec![0; kernels]);
    let mut outputs = qbmi.step(&idle());
    while per_set.len() < sets {
        let kernel = first(params, &outputs) as usize;
        counts[kernel] += 1;
        waits.iter_mut().for_each(|wait| *wait += 1);
        waits[kernel] = 0;
        longest.iter_mut().zip(&waits).for_each(|(longest, wait)| *longest = (*longest).max(*wait));
        qbmi.step(&issue(kernel as u32));
        outputs = qbmi.step(&idle());
        if outputs.replenish_o {
            per_set.push(std::mem::replace(&mut counts, vec![0; kernels]));
        }
    }
    (per_set, longest)
}

/// Returns averages that 1024 requests can give exactly or by rounding. Few are large and coprime: a set would take minutes.
fn requests(kernels: std::ops::RangeInclusive<usize>) -> impl Strategy<Value = Vec<u32>> {
    let one = prop_oneof![3 => 1u32..=12, 1 => 1u32..=MOST_REQUESTS];
    proptest::collection::vec(one, kernels)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn quotas_are_the_least_common_multiple_over_the_requests(
        requests in proptest::collection::vec(1..=MOST_REQUESTS, 2..=4),
    ) {
        let (_, qbmi) = measured(&requests);
        prop_assert_eq!(qbmi.requests_per_instruction(), &requests[..]);
        let multiple = least_common_multiple(&requests);
        for (quota, requests) in qbmi.set().iter().zip(&requests) {
            prop_assert_eq!(quota * requests, multiple);
        }
    }

    #[test]
    fn each_set_is_issued_exactly_and_nobody_starves(requests in requests(2..=4)) {
        let (params, mut qbmi) = measured(&requests);
        // Skips the rest of the measurement, up to the first whole set.
        issued_per_set(&params, &mut qbmi, 1);
        let (per_set, waits) = issued_per_set(&params, &mut qbmi, 4);
        for counts in per_set {
            prop_assert_eq!(&counts[..], qbmi.set());
        }
        let all: u32 = qbmi.set().iter().sum();
        for (kernel, wait) in waits.iter().enumerate() {
            let others = all - qbmi.set()[kernel];
            prop_assert!(*wait <= others, "kernel {kernel} waited for {wait}, the others have {others}");
        }
    }

    #[test]
    fn whatever_issues_no_quota_is_zero_and_ranks_are_the_order_of_the_quotas(
        (kernels, traffic) in (2u32..=4).prop_flat_map(|kernels| (Just(kernels), traffic(kernels))),
    ) {
        let params = QbmiParams { kernels };
        let mut qbmi = Lockstep::<Qbmi>::new(&params);
        for inputs in &traffic {
            let Some(inputs) = inputs else {
                qbmi.reset();
                continue;
            };
            let outputs = qbmi.step(inputs);
            let mut by_rank: Vec<u32> = (0..kernels).collect();
            by_rank.sort_by_key(|kernel| outputs.rank(&params, *kernel));
            for (rank, kernel) in by_rank.iter().enumerate() {
                prop_assert_eq!(outputs.rank(&params, *kernel), rank as u32, "every rank once");
                prop_assert!(outputs.quota(&params, *kernel) > 0);
            }
            for pair in by_rank.windows(2) {
                let quotas = (outputs.quota(&params, pair[0]), outputs.quota(&params, pair[1]));
                prop_assert!(quotas.0 > quotas.1 || (quotas.0 == quotas.1 && pair[0] < pair[1]));
            }
        }
    }

    #[test]
    fn model_and_rtl_agree_with_resets_in_mid_flight(
        (kernels, traffic) in (2u32..=4).prop_flat_map(|kernels| (Just(kernels), traffic(kernels))),
    ) {
        let params = QbmiParams { kernels };
        assert_agree::<Qbmi>(&params, &traffic);
    }
}

#[test]
fn the_quotas_are_right_for_every_pair_of_averages() {
    let params = QbmiParams::default();
    let mut qbmi = Lockstep::<Qbmi>::new(&params);
    for (first, second) in
        (1..=MOST_REQUESTS).flat_map(|first| (1..=first).map(move |second| (first, second)))
    {
        // Kernel 0 twice: its first interval includes instructions of the quota test below.
        for (kernel, requests) in [(0, first), (0, first), (1, second)] {
            for count in 0..INTERVAL {
                let issue_i = count < instructions(requests);
                let inputs =
                    QbmiIn { issue_i, issue_kernel_i: kernel, request_i: true, request_kernel_i: kernel };
                qbmi.step(&inputs);
            }
        }
        for _ in 0..70 {
            qbmi.step(&idle());
        }
        assert_eq!(qbmi.requests_per_instruction(), [first, second]);
        // Only kernel 0 issues. When its quota is used up, both kernels get the set, kernel 1 up to its maximum quota.
        let mut before = qbmi.step(&idle());
        for _ in 0..=params.most_quota() {
            qbmi.step(&issue(0));
            let after = qbmi.step(&idle());
            if after.replenish_o {
                let multiple = least_common_multiple(&[first, second]);
                assert_eq!(after.quota(&params, 0), multiple / first);
                let collected = before.quota(&params, 1) + multiple / second;
                assert_eq!(after.quota(&params, 1), collected.min(params.most_quota()));
                break;
            }
            before = after;
        }
    }
}

#[test]
fn the_largest_set_of_four_fits() {
    let (_, qbmi) = measured(&[32, 31, 29, 27]);
    assert_eq!(qbmi.set(), [24_273, 25_056, 26_784, 28_768]);
}

#[test]
fn a_kernel_that_was_idle_goes_first_but_not_for_ever() {
    let (params, mut qbmi) = measured(&[1, 1]);
    for _ in 0..1000 {
        qbmi.step(&issue(0));
    }
    assert_eq!(qbmi.step(&idle()).quota(&params, 1), params.most_quota());
    let mut turns = 0;
    while first(&params, &qbmi.step(&idle())) == 1 {
        qbmi.step(&issue(1));
        turns += 1;
    }
    assert_eq!(turns, params.most_quota() - 1);
}

#[test]
fn an_instruction_of_the_cycle_that_ends_an_interval_counts_in_the_next_one() {
    let params = QbmiParams { kernels: 2 };
    let mut qbmi = Lockstep::<Qbmi>::new(&params);
    let request = QbmiIn { request_i: true, ..idle() };
    (1..INTERVAL).for_each(|_| _ = qbmi.step(&request));
    qbmi.step(&QbmiIn { issue_i: true, ..request });
    (0..33).for_each(|_| _ = qbmi.step(&issue(0)));
    (0..INTERVAL).for_each(|_| _ = qbmi.step(&request));
    (0..200).for_each(|_| _ = qbmi.step(&idle()));
    assert_eq!(qbmi.requests_per_instruction()[0], 30, "1,024 requests over 34 instructions; 31 over 33");
    // The quotas of the next sets follow from it, in the model and in the RTL.
    issued_per_set(&params, &mut qbmi, 2);
}
