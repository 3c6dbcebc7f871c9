//! Golden model of the QBMI: the averages, the quotas by least common multiple, and the ranks, cycle by cycle.
use super::params::{COUNT_BITS, MOST_REQUESTS, QbmiParams};
use super::rtl::{QbmiIn, QbmiOut};
use selvedge_hw::block::Clocked;
use selvedge_state::State;

/// Maximum number of kernels.
const KERNELS: usize = 4;

/// Maximum value of the instruction and request counters.
const MOST_COUNT: u32 = (1 << COUNT_BITS) - 1;

/// A set of quotas whose computation is in progress.
#[derive(Clone, Copy, Debug, State)]
struct Computation {
    set: [u32; KERNELS],
    /// Cycles until the set is in force.
    cycles: u32,
}

/// Golden model of the QBMI.
#[derive(Clone, Debug, State)]
pub struct QbmiModel {
    params: QbmiParams,
    instructions: [u32; KERNELS],
    requests: [u32; KERNELS],
    requests_per_instruction: [u32; KERNELS],
    /// `true` if a kernel's requests per instruction were updated at the last clock edge.
    renewed: bool,
    computation: Option<Computation>,
    set: [u32; KERNELS],
    quotas: [u32; KERNELS],
    replenish: bool,
    update: bool,
}

/// Returns the greatest common divisor.
fn gcd(a: u32, b: u32) -> u32 {
    if b == 0 { a } else { gcd(b, a % b) }
}

/// Returns the average over an interval, rounded to the nearest integer; halves are rounded up.
pub(super) fn average(instructions: u32) -> u32 {
    let requests = MOST_COUNT + 1;
    match instructions {
        0 => MOST_REQUESTS,
        _ => ((2 * requests + instructions) / (2 * instructions)).clamp(1, MOST_REQUESTS),
    }
}

impl QbmiModel {
    /// Returns the model in its reset state: one request per instruction for every kernel. The parameters must be valid.
    pub fn new(params: &QbmiParams) -> Self {
        QbmiModel {
            params: *params,
            instructions: [0; KERNELS],
            requests: [0; KERNELS],
            requests_per_instruction: [1; KERNELS],
            renewed: false,
            computation: None,
            set: [1; KERNELS],
            quotas: [1; KERNELS],
            replenish: false,
            update: false,
        }
    }

    /// Returns each kernel's requests per memory instruction.
    pub fn requests_per_instruction(&self) -> &[u32] {
        &self.requests_per_instruction[..self.kernels()]
    }

    /// Returns the set of quotas that is added when a quota reaches zero.
    pub fn set(&self) -> &[u32] {
        &self.set[..self.kernels()]
    }

    /// Returns the instructions of a kernel in its current interval.
    pub(super) fn instructions(&self, kernel: usize) -> u32 {
        self.instructions[kernel]
    }

    /// Returns whether the computation of a set restarts in this cycle, because an average has changed.
    pub(super) fn starts_over(&self) -> bool {
        self.renewed && self.computation.is_some()
    }

    fn kernels(&self) -> usize {
        self.params.kernels as usize
    }

    /// Returns the kernel with that number, if it exists.
    fn kernel(&self, valid: bool, number: u8) -> Option<usize> {
        Some(usize::from(number)).filter(|number| valid && *number < self.kernels())
    }

    /// Returns the ports in this cycle. They come from registers.
    pub(super) fn outputs(&self) -> QbmiOut {
        let kernels = self.kernels();
        let mut outputs =
            QbmiOut { replenish_o: self.replenish, update_o: self.update, ..QbmiOut::default() };
        for (kernel, quota) in self.quotas[..kernels].iter().enumerate() {
            let before = |other: usize| (self.quotas[other], kernel) > (*quota, other);
            let rank = (0..kernels).filter(|other| before(*other)).count();
            outputs.rank_o |= (rank as u8) << (kernel * self.params.kernel_bits());
            outputs.quotas_o |= u64::from(*quota) << (kernel * self.params.quota_bits());
        }
        outputs
    }

    /// Returns the quotas for the current averages, and the cycles that their computation takes.
    fn begin(&self) -> Computation {
        let averages = self.requests_per_instruction();
        let (mut multiple, mut cycles) = (1, 0);
        for average in averages {
            let factor = average / gcd(multiple, *average);
            multiple *= factor;
            cycles += factor;
        }
        let mut set = [1; KERNELS];
        set.iter_mut().zip(averages).for_each(|(quota, average)| *quota = multiple / average);
        Computation { set, cycles }
    }

    fn compute(&mut self) {
        self.update = false;
        if self.renewed {
            self.computation = Some(self.begin());
        } else if let Some(computation) = &mut self.computation {
            computation.cycles -= 1;
            if computation.cycles == 0 {
                self.set = computation.set;
                self.computation = None;
                self.update = true;
            }
        }
    }

    fn issue(&mut self, kernel: usize, set: &[u32; KERNELS]) {
        self.quotas[kernel] -= 1;
        if self.quotas[kernel] == 0 {
            self.replenish = true;
            for (quota, more) in self.quotas.iter_mut().zip(set) {
                *quota = (*quota + more).min(self.params.most_quota());
            }
        }
        self.instructions[kernel] = (self.instructions[kernel] + 1).min(MOST_COUNT);
    }

    fn request(&mut self, kernel: usize) {
        self.renewed = self.requests[kernel] == MOST_COUNT;
        if self.renewed {
            self.requests[kernel] = 0;
            self.requests_per_instruction[kernel] = average(self.instructions[kernel]);
            self.instructions[kernel] = 0;
        } else {
            self.requests[kernel] += 1;
        }
    }
}

impl Clocked<QbmiIn, QbmiOut> for QbmiModel {
    fn step(&mut self, inputs: &QbmiIn) -> QbmiOut {
        let outputs = self.outputs();
        let set = self.set;
        self.compute();
        (self.renewed, self.replenish) = (false, false);
        // The request comes first: if an interval ends in this cycle, the cycle's instruction belongs to the next interval.
        if let Some(kernel) = self.kernel(inputs.request_i, inputs.request_kernel_i) {
            self.request(kernel);
        }
        if let Some(kernel) = self.kernel(inputs.issue_i, inputs.issue_kernel_i) {
            self.issue(kernel, &set);
        }
        outputs
    }

    fn reset(&mut self) {
        *self = QbmiModel::new(&self.params);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TWO: QbmiParams = QbmiParams { kernels: 2 };

    fn issue(kernel: u8) -> QbmiIn {
        QbmiIn { issue_i: true, issue_kernel_i: kernel, ..QbmiIn::default() }
    }

    fn request(kernel: u8) -> QbmiIn {
        QbmiIn { request_i: true, request_kernel_i: kernel, ..QbmiIn::default() }
    }

    #[test]
    fn an_average_is_rounded_and_kept_within_1_and_32() {
        let averages = [0, 1, 31, 32, 33, 341, 409, 410, 512, 682, 683, 1023].map(average);
        assert_eq!(averages, [32, 32, 32, 32, 31, 3, 3, 2, 2, 2, 1, 1]);
    }

    #[test]
    fn before_anything_is_known_kernels_take_turns() {
        let mut model = QbmiModel::new(&TWO);
        let mut order = Vec::new();
        let mut outputs = model.step(&QbmiIn::default());
        for _ in 0..6 {
            let first = u8::from(outputs.rank(&TWO, 0) != 0);
            order.push(first);
            model.step(&issue(first));
            outputs = model.step(&QbmiIn::default());
        }
        assert_eq!(order, [0, 1, 0, 1, 0, 1]);
    }

    /// Returns the cycles from the last request of an interval until a new set is visible, after `instructions` instructions of
    /// kernel 1.
    fn cycles_until_update(instructions: u32) -> (u32, QbmiModel) {
        let mut model = QbmiModel::new(&TWO);
        for _ in 0..instructions {
            model.step(&issue(1));
        }
        for _ in 0..1024 {
            assert!(!model.step(&request(1)).update_o);
        }
        let cycle = (1..200).find(|_| model.step(&QbmiIn::default()).update_o).unwrap();
        (cycle, model)
    }

    #[test]
    fn a_set_comes_two_cycles_and_the_sum_of_the_factors_after_the_request() {
        let (cycles, model) = cycles_until_update(33);
        assert_eq!((model.requests_per_instruction(), model.set()), (&[1, 31][..], &[31, 1][..]));
        assert_eq!(cycles, 2 + 1 + 31);
        let (cycles, model) = cycles_until_update(1023);
        assert_eq!((cycles, model.set()), (2 + 1 + 1, &[1, 1][..]));
    }

    #[test]
    fn kernels_that_do_not_exist_are_ignored() {
        let mut model = QbmiModel::new(&QbmiParams { kernels: 3 });
        let before = model.step(&issue(3));
        for _ in 0..1024 {
            model.step(&request(3));
        }
        assert_eq!(model.step(&QbmiIn::default()), before);
    }
}
