//! RTL of the QBMI: the counters, the quotas and their ranks; below them the average and the computation of a set.

mod average;
mod quota_set;

use super::{COUNT_BITS, QbmiIn, QbmiOut, QbmiParams, REQUESTS_BITS};
use average::RequestsPerInstruction;
use quota_set::QuotaSet;
use selvedge_hw::block::RtlBlock;
use selvedge_hw::rtl::prelude::*;
use selvedge_hw::rtl::top::{RtlInstance, RtlTop};

rtl_block! {
    /// Ranks kernels by memory-instruction quotas, so that all make equally many memory requests.
    ///
    /// Dai, section 4.3.2. K is the number of kernels, N the bits of a kernel's number, SET those of a quota in a set,
    /// QUOTA those of a current quota.
    #[derive(LogicBlock)]
    pub struct QbmiTop<
        const K: usize, const N: usize, const SET: usize, const QUOTA: usize, const RANKS: usize, const QUOTAS: usize,
    > {
        /// clock
        pub clk_i: Signal<In, Clock>,
        /// asynchronous reset, active low: one request per instruction, quotas of 1
        pub rst_ni: Signal<In, Bit>,
        /// a memory instruction issues
        pub issue_i: Signal<In, Bit>,
        /// the kernel that it is of
        pub issue_kernel_i: Signal<In, U<N>>,
        /// a memory request is made
        pub request_i: Signal<In, Bit>,
        /// the kernel that it is of
        pub request_kernel_i: Signal<In, U<N>>,
        /// each kernel's rank: the one with rank 0 goes first
        pub rank_o: Signal<Out, U<RANKS>>,
        /// each kernel's current quota
        pub quotas_o: Signal<Out, U<QUOTAS>>,
        /// a set of quotas was added at the last clock edge
        pub replenish_o: Signal<Out, Bit>,
        /// the set that is added was computed anew at the last clock edge
        pub update_o: Signal<Out, Bit>,
        /// memory instructions in each kernel's interval
        instructions: [Reg<U<COUNT_BITS>>; K],
        /// memory requests in each kernel's interval
        requests: [Reg<U<COUNT_BITS>>; K],
        /// requests per instruction of each kernel
        average: [Reg<U<REQUESTS_BITS>>; K],
        /// an average is new
        renewed: Reg<Bit>,
        quota: [Reg<U<QUOTA>>; K],
        replenished: Reg<Bit>,
        averager: Gate<RequestsPerInstruction>,
        set: QuotaSet<K, N, SET>,
        most_quota: Constant<U<QUOTA>>,
        kernel: Signal<Local, U<N>>,
        issues: Signal<Local, U<K>>,
        requested: Signal<Local, U<K>>,
        interval_instructions: Signal<Local, U<COUNT_BITS>>,
        empty: Signal<Local, Bit>,
        left: Signal<Local, U<QUOTA>>,
        new_quota: Signal<Local, U<SET>>,
        room: Signal<Local, U<QUOTA>>,
        rank: Signal<Local, U<N>>,
        ranks: Signal<Local, U<RANKS>>,
        quotas: Signal<Local, U<QUOTAS>>,
        own: Signal<Local, U<N>>,
        rival: Signal<Local, U<N>>,
    }
}

impl<
    const K: usize,
    const N: usize,
    const SET: usize,
    const QUOTA: usize,
    const RANKS: usize,
    const QUOTAS: usize,
> Default for QbmiTop<K, N, SET, QUOTA, RANKS, QUOTAS>
{
    fn default() -> Self {
        const { assert!(QUOTA == SET + 1 && RANKS == K * N && QUOTAS == K * QUOTA) };
        QbmiTop {
            clk_i: Signal::default(),
            rst_ni: Signal::default(),
            issue_i: Signal::default(),
            issue_kernel_i: Signal::default(),
            request_i: Signal::default(),
            request_kernel_i: Signal::default(),
            rank_o: Signal::default(),
            quotas_o: Signal::default(),
            replenish_o: Signal::default(),
            update_o: Signal::default(),
            instructions: array(),
            requests: array(),
            average: std::array::from_fn(|_| Reg::new(1.into())),
            renewed: Reg::default(),
            quota: std::array::from_fn(|_| Reg::new(1.into())),
            replenished: Reg::default(),
            averager: Gate::default(),
            set: QuotaSet::default(),
            most_quota: Constant::new(U::new(U::<QUOTA>::MAX)),
            kernel: Signal::default(),
            issues: Signal::default(),
            requested: Signal::default(),
            interval_instructions: Signal::default(),
            empty: Signal::default(),
            left: Signal::default(),
            new_quota: Signal::default(),
            room: Signal::default(),
            rank: Signal::default(),
            ranks: Signal::default(),
            quotas: Signal::default(),
            own: Signal::default(),
            rival: Signal::default(),
        }
    }
}

impl<
    const K: usize,
    const N: usize,
    const SET: usize,
    const QUOTA: usize,
    const RANKS: usize,
    const QUOTAS: usize,
> Logic for QbmiTop<K, N, SET, QUOTA, RANKS, QUOTAS>
{
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clk_i, renewed, replenished);
        for i in 0..K {
            dff_setup!(self, clk_i, instructions[i], requests[i], average[i], quota[i]);
        }
        self.set.clk_i.next = self.clk_i.val();
        self.set.rst_ni.next = self.rst_ni.val();

        comment!("which kernel issues and which makes a request, a bit each");
        self.issues.next = 0.into();
        self.requested.next = 0.into();
        for i in 0..K {
            self.kernel.next = i.to_bits();
            self.issues.next = self
                .issues
                .val()
                .replace_bit(i, self.issue_i.val() & (self.issue_kernel_i.val() == self.kernel.val()));
            self.requested.next = self
                .requested
                .val()
                .replace_bit(i, self.request_i.val() & (self.request_kernel_i.val() == self.kernel.val()));
        }

        comment!(
            "the 1024th request of a kernel ends its interval: its average is taken, its counters start over"
        );
        self.interval_instructions.next = 0.into();
        for i in 0..K {
            if self.requested.val().get_bit(i) {
                self.interval_instructions.next = self.instructions[i].q.val();
            }
        }
        self.averager.instructions_i.next = self.interval_instructions.val();
        self.renewed.d.next = false;
        for i in 0..K {
            self.requests[i].d.next = self.requests[i].q.val() + self.requested.val().get_bit(i);
            if self.requested.val().get_bit(i) & self.requests[i].q.val().all() {
                self.renewed.d.next = true;
                self.average[i].d.next = self.averager.requests_o.val();
                comment!("an instruction of this cycle belongs to the next interval");
                self.instructions[i].d.next = 0.into();
                if self.issues.val().get_bit(i) {
                    self.instructions[i].d.next = 1.into();
                }
            } else if self.issues.val().get_bit(i) & !self.instructions[i].q.val().all() {
                self.instructions[i].d.next = self.instructions[i].q.val() + 1;
            }
            self.set.requests_i[i].next = self.average[i].q.val();
        }
        self.set.start_i.next = self.renewed.q.val();

        comment!("an instruction costs its kernel one; when that leaves none, all kernels get a new set");
        self.empty.next = false;
        for i in 0..K {
            self.empty.next =
                self.empty.val() | (self.issues.val().get_bit(i) & (self.quota[i].q.val() == 1));
        }
        self.replenished.d.next = self.empty.val();
        for i in 0..K {
            self.left.next = self.quota[i].q.val();
            if self.issues.val().get_bit(i) {
                self.left.next = self.quota[i].q.val() - 1;
            }
            self.new_quota.next = self.set.quota_o[i].val();
            self.room.next = self.most_quota.val() - bit_cast::<QUOTA, SET>(self.new_quota.val());
            if !self.empty.val() {
                self.quota[i].d.next = self.left.val();
            } else if self.left.val() > self.room.val() {
                self.quota[i].d.next = self.most_quota.val();
            } else {
                self.quota[i].d.next = self.left.val() + bit_cast::<QUOTA, SET>(self.new_quota.val());
            }
        }

        comment!(
            "a kernel's rank is the number of those with a larger quota, or an equal one and a lower number"
        );
        self.ranks.next = 0.into();
        self.quotas.next = 0.into();
        for i in 0..K {
            self.own.next = i.to_bits();
            self.rank.next = 0.into();
            for j in 0..K {
                self.rival.next = j.to_bits();
                if (self.quota[j].q.val() > self.quota[i].q.val())
                    | ((self.quota[j].q.val() == self.quota[i].q.val()) & (self.rival.val() < self.own.val()))
                {
                    self.rank.next = self.rank.val() + 1;
                }
            }
            self.ranks.next = self.ranks.val().replace_bit(i * N, self.rank.val());
            self.quotas.next = self.quotas.val().replace_bit(i * QUOTA, self.quota[i].q.val());
        }
        self.rank_o.next = self.ranks.val();
        self.quotas_o.next = self.quotas.val();
        self.replenish_o.next = self.replenished.q.val();
        self.update_o.next = self.set.update_o.val();
    }

    fn timing(&self) -> Vec<TimingInfo> {
        self.describe()
    }
}

impl<
    const K: usize,
    const N: usize,
    const SET: usize,
    const QUOTA: usize,
    const RANKS: usize,
    const QUOTAS: usize,
> RtlTop for QbmiTop<K, N, SET, QUOTA, RANKS, QUOTAS>
{
    type In = QbmiIn;
    type Out = QbmiOut;

    fn drive(&mut self, inputs: &QbmiIn) {
        self.issue_i.next = inputs.issue_i;
        self.issue_kernel_i.next = U::new(u64::from(inputs.issue_kernel_i));
        self.request_i.next = inputs.request_i;
        self.request_kernel_i.next = U::new(u64::from(inputs.request_kernel_i));
    }

    fn sample(&self) -> QbmiOut {
        QbmiOut {
            rank_o: self.rank_o.val().to_u64() as u8,
            quotas_o: self.quotas_o.val().to_u64(),
            replenish_o: self.replenish_o.val(),
            update_o: self.update_o.val(),
        }
    }

    fn upset(&mut self, bit: usize) {
        let bit = bit % (QUOTAS + 2);
        match bit.checked_sub(QUOTAS) {
            None => {
                let register = &mut self.quota[bit / QUOTA].q;
                let value = register.val();
                register.next = value.replace_bit(bit % QUOTA, !value.get_bit(bit % QUOTA));
            }
            Some(0) => self.replenished.q.next = !self.replenished.q.val(),
            Some(_) => self.set.updated.q.next = !self.set.updated.q.val(),
        }
    }
}

/// The QBMI for valid parameters. Widths that follow from others are spelled out, and checked by the block.
pub(in crate::qbmi) fn qbmi(params: &QbmiParams) -> Box<dyn RtlBlock<QbmiIn, QbmiOut>> {
    match params.kernels {
        2 => RtlInstance::boxed(QbmiTop::<2, 1, 6, 7, 2, 14>::default()),
        3 => RtlInstance::boxed(QbmiTop::<3, 2, 10, 11, 6, 33>::default()),
        _ => RtlInstance::boxed(QbmiTop::<4, 2, 15, 16, 8, 64>::default()),
    }
}
