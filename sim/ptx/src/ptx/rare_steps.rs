//! Execution of operations that few kernels use, lane by lane.

use super::instr::{Instr, NONE};
use super::kernel::Kernel;
use super::lane::lanes;
use super::lane_ops::LaneForm;
use super::video::{Selectors, VideoForm};
use super::warp::Warp;

impl Warp {
    pub(super) fn lane_op(&mut self, kernel: &Kernel, instr: &Instr, form: LaneForm, mask: u32) {
        let load = |index: u16| match index {
            NONE => [0; 32],
            index => self.bits(kernel, index, form.bits == 64),
        };
        let (a, b, c) = (load(instr.a), load(instr.b), load(instr.c));
        let mut out = [0; 32];
        for lane in lanes(mask) {
            out[lane] = form.op.compute([a[lane], b[lane], c[lane]]);
        }
        self.set_bits(instr.d, form.bits, &out, mask);
    }

    pub(super) fn video(&mut self, kernel: &Kernel, instr: &Instr, form: VideoForm, mask: u32) {
        let (a, b) = (*self.word(kernel, instr.a), *self.word(kernel, instr.b));
        let c = if instr.c == NONE { [0; 32] } else { *self.word(kernel, instr.c) };
        let selectors = Selectors::unpack(instr.offset);
        let mut out = [0; 32];
        for lane in lanes(mask) {
            out[lane] = form.compute(selectors, [a[lane], b[lane], c[lane]]).into();
        }
        self.set_bits(instr.d, 32, &out, mask);
    }
}
