//! Warp-instruction quotas of the kernels that share an SM: the W of SMK-(P+W) (Dai, section 4.4).
//!
//! Each issued instruction reduces the quota of its kernel by one. A kernel whose quota is used up stops issuing. When the quotas
//! of all kernels with warps on the SM are used up, every kernel gets a new one.
use super::scheduler::WarpMask;
use crate::kernel_slots::PROGRAMS;
use selvedge_state::State;

/// The quotas of an SM.
#[derive(Clone, Debug, State)]
pub struct Quotas {
    size: [u32; PROGRAMS],
    left: [u32; PROGRAMS],
    /// Number of quota sets that were granted.
    pub sets: u64,
}

impl Quotas {
    /// Returns full quotas for the first kernels, each at least 1. The other kernels are practically unlimited.
    pub fn new(sizes: &[u32]) -> Self {
        let mut size = [u32::MAX; PROGRAMS];
        size.iter_mut().zip(sizes).for_each(|(size, given)| *size = (*given).max(1));
        Quotas { size, left: size, sets: 1 }
    }

    /// Returns quotas that let no kernel issue.
    pub fn none() -> Self {
        Quotas { size: [0; PROGRAMS], left: [0; PROGRAMS], sets: 0 }
    }

    /// Counts an instruction that a warp of `kernel` has issued.
    pub fn issued(&mut self, kernel: u8) {
        let left = &mut self.left[usize::from(kernel)];
        debug_assert!(*left > 0, "a kernel without quota has issued");
        *left -= 1;
    }

    /// Grants new quotas if no kernel with warps has any left.
    pub fn settle(&mut self, warps: &[WarpMask; PROGRAMS]) {
        let mut here = self.left.iter().zip(warps).filter(|(_, warps)| **warps != 0).peekable();
        if here.peek().is_some() && here.all(|(left, _)| *left == 0) {
            self.left = self.size;
            self.sets += 1;
        }
    }

    /// Returns the warps whose kernels must not issue.
    pub fn stopped(&self, warps: &[WarpMask; PROGRAMS]) -> WarpMask {
        let without = self.left.iter().zip(warps).filter(|(left, _)| **left == 0);
        without.fold(0, |mask, (_, warps)| mask | warps)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_kernel_stops_at_its_quota_until_all_have_used_theirs() {
        let warps = [0b0011, 0b1100, 0, 0];
        let mut quotas = Quotas::new(&[1, 2]);
        let mut issue = |kernel| {
            quotas.issued(kernel);
            quotas.settle(&warps);
            quotas.stopped(&warps)
        };
        assert_eq!([issue(0), issue(1), issue(1)], [0b0011, 0b0011, 0]);
        assert_eq!(quotas.sets, 2);
    }

    #[test]
    fn a_kernel_that_has_left_is_not_waited_for() {
        let mut quotas = Quotas::new(&[1, 2]);
        quotas.issued(0);
        quotas.settle(&[1, 0, 0, 0]);
        assert_eq!(quotas.stopped(&[1, 0, 0, 0]), 0);
    }
}
