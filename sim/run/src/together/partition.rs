//! Computes how many CTAs of each kernel an SM holds: from fair shares of its resources (SMK) or from how each kernel scales
//! (Warped-Slicer). Dai, section 4.1, describes both.
//!
//! The first kernel of a program decides its partition. Both schemes give each kernel at least one CTA.
use super::machine::Machine;
use super::report::CtaPartition;
use super::spec::TogetherSpec;
use crate::mechanism::MechanismSpec;
use crate::run::{RunError, Source};
use selvedge_gpu::config::SmConfig;
use selvedge_gpu::gpu::Control;
use selvedge_gpu::mechanism::probe::ProbeSpec;
use selvedge_gpu::share::{Share, ShareError};
use selvedge_gpu::sm::launch::LaunchedKernel;
use std::sync::Arc;

/// Number of resource kinds of an SM: threads, 32-bit registers, bytes of shared memory, warp slots, CTA slots.
const KINDS: usize = 5;

/// Amount of each kind of resource.
type Amounts = [u32; KINDS];

/// Core cycles that a set of quotas would last if each kernel ran as fast as alone.
const QUOTA_CYCLES: u64 = 1000;

/// Returns the quota of a kernel. Alone, the kernel issues `instructions` warp instructions per SM in `cycles` core cycles.
fn quota(instructions: u64, cycles: u64) -> u32 {
    let quota = (instructions * QUOTA_CYCLES).div_ceil(cycles.max(1));
    u32::try_from(quota).unwrap_or(u32::MAX).max(1)
}

/// Returns the resources of an SM.
fn budget(sm: &SmConfig) -> Amounts {
    [sm.threads, sm.registers, sm.shared_bytes, sm.warps, sm.ctas]
}

/// Returns the resources that a CTA takes.
fn needs(kernel: &LaunchedKernel) -> Amounts {
    let warps = kernel.warps_per_cta;
    [warps * 32, kernel.registers_per_cta, kernel.shared_bytes, warps, 1]
}

/// Returns whether an SM has room for `ctas` CTAs of the kernels with these needs.
fn fit(ctas: &[u32], needs: &[Amounts], budget: &Amounts) -> bool {
    (0..KINDS).all(|kind| {
        let taken: u64 = ctas.iter().zip(needs).map(|(n, need)| u64::from(*n) * u64::from(need[kind])).sum();
        taken <= u64::from(budget[kind])
    })
}

/// Computes a partition by dominant-resource fairness. A kernel's dominant share is its largest share of any resource. Each
/// step adds a CTA of the kernel with the smallest dominant share, among the kernels whose CTA still fits.
fn fair(needs: &[Amounts], budget: &Amounts) -> Option<Vec<u32>> {
    let mut ctas = vec![1; needs.len()];
    if !fit(&ctas, needs, budget) {
        return None;
    }
    // Skips resources that the SM does not have.
    let dominant = |slot: usize, ctas: &[u32]| {
        let share = |kind: usize| f64::from(ctas[slot] * needs[slot][kind]) / f64::from(budget[kind]);
        (0..KINDS).filter(|kind| budget[*kind] > 0).map(share).fold(0.0, f64::max)
    };
    loop {
        let mut order: Vec<usize> = (0..needs.len()).collect();
        order.sort_by(|a, b| dominant(*a, &ctas).total_cmp(&dominant(*b, &ctas)));
        let with_one_more = |slot: usize| {
            let mut more = ctas.clone();
            more[slot] += 1;
            fit(&more, needs, budget).then_some(more)
        };
        match order.into_iter().find_map(with_one_more) {
            Some(more) => ctas = more,
            None => return Some(ctas),
        }
    }
}

/// Returns the partition that maximizes the min performance of any kernel, normalized to its best. Ties go to the largest sum of
/// normalized performance, then to the most CTAs of the first kernels.
fn sweet_point(curves: &[Vec<f64>], needs: &[Amounts], budget: &Amounts) -> Option<Vec<u32>> {
    let normalized: Vec<Vec<f64>> = curves
        .iter()
        .map(|curve| {
            let best = curve.iter().copied().fold(f64::MIN_POSITIVE, f64::max);
            curve.iter().map(|ipc| ipc / best).collect()
        })
        .collect();
    let mut best: Option<(f64, f64, Vec<u32>)> = None;
    let mut ctas = vec![1u32; curves.len()];
    loop {
        if fit(&ctas, needs, budget) {
            let each = || ctas.iter().zip(&normalized).map(|(n, curve)| curve[*n as usize - 1]);
            let (least, sum) = (each().fold(f64::MAX, f64::min), each().sum::<f64>());
            if best.as_ref().is_none_or(|(l, s, _)| least > *l || (least == *l && sum >= *s)) {
                best = Some((least, sum, ctas.clone()));
            }
        }
        // Enumerates all partitions in lexicographic order.
        let Some(slot) = (0..ctas.len()).rev().find(|slot| (ctas[*slot] as usize) < curves[*slot].len())
        else {
            return best.map(|(_, _, ctas)| ctas);
        };
        ctas[slot] += 1;
        ctas[slot + 1..].fill(1);
    }
}

/// Returns the needs of a workload's first kernel.
fn first_needs(spec: &TogetherSpec, workload: &Source, control: &Arc<Control>) -> Result<Amounts, RunError> {
    let mut machine = alone(spec, workload, Share::LeftOver, control)?;
    machine.launch_first()?;
    let kernel = machine.gpu.launches().next().expect("a launch has just started");
    Ok(needs(kernel))
}

/// Creates a machine for one workload alone, without a mechanism.
fn alone<'a>(
    spec: &'a TogetherSpec,
    workload: &Source,
    share: Share,
    control: &Arc<Control>,
) -> Result<Machine<'a>, RunError> {
    let (base, probes) = (MechanismSpec::base(), ProbeSpec::default());
    Machine::new(spec, std::slice::from_ref(workload), &base, &probes, share, control)
}

fn all_needs(spec: &TogetherSpec, control: &Arc<Control>) -> Result<Vec<Amounts>, RunError> {
    spec.workloads.iter().map(|workload| first_needs(spec, workload, control)).collect()
}

fn no_room(spec: &TogetherSpec) -> RunError {
    ShareError::NoRoom { text: spec.share.to_string() }.into()
}

/// Computes SMK's partition from static resources.
pub(super) fn smk(spec: &TogetherSpec, control: &Arc<Control>) -> Result<CtaPartition, RunError> {
    let needs = all_needs(spec, control)?;
    let ctas = fair(&needs, &budget(&spec.config.sm)).ok_or_else(|| no_room(spec))?;
    Ok(CtaPartition { ctas, scalability: Vec::new(), quotas: Vec::new() })
}

/// Computes SMK's partition with quotas. Each quota is proportional to the warp instructions that an SM issues of the workload
/// when it runs alone. Each workload is measured for `cycles` core cycles, or to its end.
pub(super) fn smk_with_quotas(
    spec: &TogetherSpec,
    cycles: Option<u64>,
    control: &Arc<Control>,
) -> Result<CtaPartition, RunError> {
    let mut partition = smk(spec, control)?;
    let sms = u64::from(spec.config.sm.count);
    for workload in &spec.workloads {
        let mut machine = alone(spec, workload, Share::LeftOver, control)?;
        machine.run(cycles)?;
        let measured = machine.measure();
        partition.quotas.push(quota(measured.kernels[0].warp_instructions, measured.cycles * sms));
    }
    Ok(partition)
}

/// Computes Warped-Slicer's partition. Runs each workload alone with each number of CTAs, for `cycles` core cycles or to its end.
pub(super) fn warped_slicer(
    spec: &TogetherSpec,
    cycles: Option<u64>,
    control: &Arc<Control>,
) -> Result<CtaPartition, RunError> {
    let (needs, budget) = (all_needs(spec, control)?, budget(&spec.config.sm));
    let mut scalability = Vec::new();
    for (workload, need) in spec.workloads.iter().zip(&needs) {
        let mut curve = Vec::new();
        for ctas in (1..).take_while(|ctas| fit(&[*ctas], &[*need], &budget)) {
            let mut machine = alone(spec, workload, Share::PerSm(vec![ctas]), control)?;
            machine.run(cycles)?;
            curve.extend(machine.measure().ipcs());
        }
        scalability.push(curve);
    }
    let ctas = sweet_point(&scalability, &needs, &budget).ok_or_else(|| no_room(spec))?;
    Ok(CtaPartition { ctas, scalability, quotas: Vec::new() })
}

#[cfg(test)]
mod tests {
    use super::*;

    const BUDGET: Amounts = [1536, 32_768, 49_152, 48, 8];

    fn need(threads: u32, registers: u32, shared: u32) -> Amounts {
        [threads, registers, shared, threads / 32, 1]
    }

    #[test]
    fn a_quota_is_what_an_sm_issues_alone_in_a_thousand_cycles() {
        assert_eq!((quota(20_000, 20_000), quota(5_001, 20_000), quota(0, 20_000)), (1000, 251, 1));
    }

    #[test]
    fn equal_kernels_get_equal_shares() {
        assert_eq!(fair(&[need(256, 4096, 0); 2], &BUDGET), Some(vec![3, 3]));
    }

    /// Shares per CTA: the first kernel takes 1/4 of the registers, the second 1/8 of the CTA slots (its largest share). The
    /// shares start at 1/4 and 1/8, and continue with 1/4, 2/8 (a tie, which goes to the first); 2/4, 2/8; 2/4, 4/8; 3/4, 5/8.
    /// Then all 8 slots are taken.
    #[test]
    fn the_dominant_resource_counts() {
        assert_eq!(fair(&[need(128, 8192, 0), need(128, 1024, 0)], &BUDGET), Some(vec![3, 5]));
    }

    #[test]
    fn what_does_not_fit_together_has_no_partition() {
        assert_eq!(fair(&[need(1024, 0, 0), need(1024, 0, 0)], &BUDGET), None);
        assert_eq!(sweet_point(&[vec![1.0], vec![1.0]], &[need(1024, 0, 0); 2], &BUDGET), None);
    }

    #[test]
    fn the_sweet_point_takes_ctas_from_the_kernel_that_does_not_need_them() {
        let saturates = vec![8.0, 9.9, 10.0, 10.0, 10.0, 10.0];
        let scales = vec![1.0, 2.0, 3.0, 4.0, 5.0, 6.0];
        let needs = [need(256, 0, 0); 2];
        assert_eq!(sweet_point(&[saturates, scales], &needs, &BUDGET), Some(vec![1, 5]));
    }

    #[test]
    fn the_sweet_point_is_the_best_of_all_partitions() {
        // The first kernel's curve has its peak at two CTAs.
        let curves = [vec![5.0, 10.0, 7.0, 4.0], vec![3.0, 6.0, 9.0, 12.0]];
        let needs = [need(192, 0, 0), need(192, 0, 0)];
        assert_eq!(sweet_point(&curves, &needs, &BUDGET), Some(vec![2, 4]));
    }
}
