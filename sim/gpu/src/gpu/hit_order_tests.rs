//! Checks in a whole GPU that hits which wait for a mechanism's stage enter it in order.
use super::*;
use crate::has;
use crate::sm::part::{Hit, SmPart};
use crate::sm::parts::SmParts;
use crate::stage::{MechanismFault, Offer, Stage};
use selvedge_ptx::ptx::{Arg, LaunchDims, Module};
use std::sync::{Mutex, PoisonError};

/// Warps of hits, in the order in which they were offered first, and in which the stage took them. A warp has one hit at a time.
#[derive(Default)]
struct HitOrder {
    offered: Vec<u8>,
    taken: Vec<u8>,
    waiting: Vec<u8>,
    most_waiting: usize,
}

/// Holds one hit at a time, for 20 cycles each.
#[derive(selvedge_state::State)]
struct Narrow {
    held: Option<(u64, Hit)>,
    now: u64,
    #[state(skip = "the test reads it")]
    order: Arc<Mutex<HitOrder>>,
}

impl SmPart for Narrow {
    fn tick(&mut self, now: u64, _: &DeviceMemory) -> Result<(), MechanismFault> {
        self.now = now;
        Ok(())
    }

    fn busy(&self) -> bool {
        self.held.is_some()
    }

    has!(hits: Stage<Hit>);
}

impl Stage<Hit> for Narrow {
    fn offer(&mut self, now: u64, hit: &mut Hit, _: &DeviceMemory) -> Offer {
        if hit.after_fill {
            return Offer::Pass;
        }
        let mut order = self.order.lock().unwrap_or_else(PoisonError::into_inner);
        if !order.waiting.contains(&hit.warp) {
            order.offered.push(hit.warp);
            order.waiting.push(hit.warp);
            order.most_waiting = order.most_waiting.max(order.waiting.len());
        }
        if self.held.is_some() {
            return Offer::Full;
        }
        order.waiting.retain(|warp| *warp != hit.warp);
        order.taken.push(hit.warp);
        self.held = Some((now + 20, *hit));
        Offer::Taken
    }

    fn pop(&mut self) -> Option<Hit> {
        self.held.take_if(|(until, _)| *until <= self.now).map(|(_, hit)| hit)
    }
}

#[test]
fn the_hit_that_has_waited_longest_enters_a_full_stage_first() {
    let config = Arc::new(GpuConfig::load("gtx480").expect("built in"));
    let order = Arc::new(Mutex::new(HitOrder::default()));
    let mut parts = Parts::none(&config);
    parts.sms[0] = SmParts::one(Narrow { held: None, now: 0, order: Arc::clone(&order) });
    let mut gpu = Gpu::new(&config, parts, Arc::new(Control::default()));
    // The first load brings the line. At least the second one of each warp hits it.
    let text = ".version 6.0\n.target sm_60\n.address_size 64\n.entry k(.param .u64 p) {\n.reg .b32 %r<9>;\n.reg .b64 %rd<9>;\n\
                ld.param.u64 %rd1, [p];\nld.global.u32 %r1, [%rd1];\ncvt.u64.u32 %rd2, %r1;\nadd.u64 %rd1, %rd1, %rd2;\n\
                ld.global.u32 %r2, [%rd1+4];\nst.global.u32 [%rd1+128], %r2;\nret;\n}\n";
    let module = Module::parse("k.ptx", text).expect("PTX");
    let mut memory = DeviceMemory::new();
    let buffer = memory.alloc(1 << 16, "p").expect("room");
    let kernel = module.kernel("k").expect("there");
    let params = kernel.pack(&[Arg::Ptr(buffer)]).expect("an address");
    let launched = LaunchedKernel::new(kernel, LaunchDims::new([1; 3], [512, 1, 1]), params, 0, &config);
    gpu.run(launched.expect("it fits"), &mut memory).expect("it ends");
    let order = order.lock().unwrap_or_else(PoisonError::into_inner);
    assert!(order.most_waiting > 2, "the stage is too wide: {:?}", order.offered);
    assert_eq!(order.taken, order.offered);
}
