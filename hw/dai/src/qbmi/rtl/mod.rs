//! RTL of the QBMI: the counters, the quotas and their ranks, with the average and the computation of a set as submodules.

mod average;
mod quota_set;

use super::params::{COUNT_BITS, QbmiParams, REQUESTS_BITS};
use average::RequestsPerInstruction;
use quota_set::QuotaSet;
use selvedge_hw::rtl::prelude::*;

rtl_module! {
    /// Ranks kernels by memory-instruction quotas, so that all make equally many memory requests.
    ///
    /// Dai, section 4.3.2. K is the number of kernels. N is the width of a kernel's number, SET that of a quota in a set, QUOTA
    /// that of a current quota.
    #[require(QUOTA == SET + 1 && RANKS == K * N && QUOTAS == K * QUOTA)]
    pub struct QbmiTop<
        const K: usize, const N: usize, const SET: usize, const QUOTA: usize, const RANKS: usize, const QUOTAS: usize,
    > for QbmiParams as p {
        reset "asynchronous reset, active low: one request per instruction, quotas of 1";
        inputs QbmiIn {
            /// a memory instruction issues
            issue_i: bool as Bit = 1,
            /// kernel of the instruction
            issue_kernel_i: u8 as U<N> = p.kernel_bits(),
            /// a memory request is made
            request_i: bool as Bit = 1,
            /// kernel of the request
            request_kernel_i: u8 as U<N> = p.kernel_bits(),
        }
        outputs QbmiOut {
            /// rank of each kernel; the kernel with rank 0 goes first
            rank_o: u8 as U<RANKS> = p.kernels as usize * p.kernel_bits(),
            /// each kernel's current quota
            quotas_o: u64 as U<QUOTAS> = p.kernels as usize * p.quota_bits(),
            /// a set of quotas was added at the last clock edge
            replenish_o: bool as Bit = 1,
            /// the set to add was computed again at the last clock edge
            update_o: bool as Bit = 1,
        }
        parts {
            /// memory instructions in each kernel's interval
            instructions: [Reg<U<COUNT_BITS>>; K] = array(),
            /// memory requests in each kernel's interval
            requests: [Reg<U<COUNT_BITS>>; K] = array(),
            /// requests per instruction of each kernel
            average: [Reg<U<REQUESTS_BITS>>; K] = std::array::from_fn(|_| Reg::new(1.into())),
            /// a kernel's average was updated at the last clock edge
            renewed: Reg<Bit>,
            quota: [Reg<U<QUOTA>>; K] = std::array::from_fn(|_| Reg::new(1.into())),
            replenished: Reg<Bit>,
            averager: Gate<RequestsPerInstruction>,
            set: QuotaSet<K, N, SET>,
            most_quota: Constant<U<QUOTA>> = Constant::new(U::new(U::<QUOTA>::MAX)),
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
        upset { quota, replenished, set.updated }
    }
}

#[hdl_gen(layouts! { rank_o: { rank[K]: N }, quotas_o: { quota[K]: QUOTA } })]
impl Logic for QbmiTop {
    fn update(&mut self) {
        dff_setup!(self, clk_i, renewed, replenished);
        for i in 0..K {
            dff_setup!(self, clk_i, instructions[i], requests[i], average[i], quota[i]);
        }
        drive!(self.set; clk_i, rst_ni);

        comment!("one bit per kernel: issues an instruction, makes a request");
        drive!(self; issues: 0, requested: 0);
        for i in 0..K {
            self.kernel.next = i.to_bits();
            self.issues.next[i] = self.issue_i.val() & (self.issue_kernel_i.val() == self.kernel.val());
            self.requested.next[i] =
                self.request_i.val() & (self.request_kernel_i.val() == self.kernel.val());
        }

        comment!(
            "the 1024th request of a kernel ends its interval: register its average, reset its counters"
        );
        self.interval_instructions.next = 0.into();
        for i in 0..K {
            if self.requested.val().get_bit(i) {
                self.interval_instructions.next = self.instructions[i].q.val();
            }
        }
        drive!(self; averager.instructions_i: interval_instructions, renewed.d: false);
        for i in 0..K {
            self.requests[i].d.next = self.requests[i].q.val() + self.requested.val().get_bit(i);
            if self.requested.val().get_bit(i) & self.requests[i].q.val().all() {
                drive!(self; renewed.d: true, average[i].d: averager.requests_o);
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

        comment!("an instruction decrements its kernel's quota; at zero, all kernels get new quotas");
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
            "rank of a kernel: the number of kernels with a larger quota, or an equal quota and a lower number"
        );
        drive!(self; ranks: 0, quotas: 0);
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
            self.ranks.next[i * N..] = self.rank.val();
            self.quotas.next[i * QUOTA..] = self.quota[i].q.val();
        }
        drive!(self; rank_o: ranks, quotas_o: quotas, replenish_o: replenished.q, set.update_o);
    }
}

elaborate! {
    /// Returns the QBMI for valid parameters.
    pub(super) fn qbmi(params: &QbmiParams as PARAMS) -> Box<dyn RtlBlock<QbmiIn, QbmiOut>> {
        for kernels in [2, 3, 4] {
            QbmiTop {
                K = PARAMS.kernels as usize,
                N = PARAMS.kernel_bits(),
                SET = PARAMS.set_bits(),
                QUOTA = PARAMS.quota_bits(),
                RANKS = K * N,
                QUOTAS = K * QUOTA,
            }
        }
    }
}
