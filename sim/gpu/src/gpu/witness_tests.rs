//! Checks in a whole GPU that the witness detects a mechanism that loses stored data, and reports no other.
use super::*;
use crate::has;
use crate::packet::Packet;
use crate::partition::{SlicePart, SliceParts};
use crate::sm::part::SmPart;
use crate::sm::parts::SmParts;
use crate::stage::{MechanismFault, Offer, Stage};
use selvedge_ptx::ptx::{Arg, LaunchDims, Module};

/// Holds each write, and returns it complete or without its data.
#[derive(selvedge_state::State)]
struct Keeper {
    loses: bool,
    held: Option<Packet>,
}

impl SlicePart for Keeper {
    fn busy(&self) -> bool {
        self.held.is_some()
    }

    has!(writes: Stage<Packet>);
}

impl Stage<Packet> for Keeper {
    fn offer(&mut self, _: u64, packet: &mut Packet, _: &DeviceMemory) -> Offer {
        if self.held.is_some() {
            return Offer::Full;
        }
        self.held = Some(*packet);
        Offer::Taken
    }

    fn pop(&mut self) -> Option<Packet> {
        let packet = self.held.take()?;
        // Store 0 is the host's initial data.
        Some(Packet { witness: if self.loses { 0 } else { packet.witness }, ..packet })
    }
}

/// Holds each store of an SM for 100 cycles. `hides`: it does not tell which lines it holds.
#[derive(selvedge_state::State)]
struct Delay {
    hides: bool,
    held: Option<(u64, Packet)>,
    now: u64,
}

impl SmPart for Delay {
    fn tick(&mut self, now: u64, _: &DeviceMemory) -> Result<(), MechanismFault> {
        self.now = now;
        Ok(())
    }

    fn busy(&self) -> bool {
        self.held.is_some()
    }

    has!(stores: Stage<Packet>);
}

impl Stage<Packet> for Delay {
    fn offer(&mut self, now: u64, packet: &mut Packet, _: &DeviceMemory) -> Offer {
        if self.held.is_some() {
            return Offer::Full;
        }
        self.held = Some((now + 100, *packet));
        Offer::Taken
    }

    fn pop(&mut self) -> Option<Packet> {
        self.held.take_if(|(until, _)| *until <= self.now).map(|(_, packet)| packet)
    }

    fn holds(&mut self, line: u64) -> bool {
        !self.hides && self.held.is_some_and(|(_, packet)| packet.line == line)
    }
}

/// Returns the witness's report on a warp that loads a line, stores to it and loads it again, with parts that `set` adds.
fn report(set: impl FnOnce(&mut Parts)) -> Option<String> {
    let config = Arc::new(GpuConfig::load("gtx480").expect("built in"));
    let mut parts = Parts::none(&config);
    set(&mut parts);
    let mut gpu = Gpu::new(&config, parts, Arc::new(Control::default()));
    gpu.watch();
    let text = ".version 6.0\n.target sm_60\n.address_size 64\n.entry k(.param .u64 p) {\n.reg .b32 %r<9>;\n.reg .b64 %rd<9>;\n\
                ld.param.u64 %rd1, [p];\nld.global.u32 %r1, [%rd1];\nadd.u32 %r1, %r1, 1;\nst.global.u32 [%rd1], %r1;\n\
                ld.global.u32 %r2, [%rd1];\nst.global.u32 [%rd1+128], %r2;\nret;\n}\n";
    let module = Module::parse("k.ptx", text).expect("PTX");
    let mut memory = DeviceMemory::new();
    let buffer = memory.alloc(1 << 16, "p").expect("room");
    let kernel = module.kernel("k").expect("there");
    let params = kernel.pack(&[Arg::Ptr(buffer)]).expect("an address");
    let launched = LaunchedKernel::new(kernel, LaunchDims::new([1; 3], [32, 1, 1]), params, 0, &config);
    gpu.run(launched.expect("it fits"), &mut memory).expect("it ends");
    gpu.witness().wrong()
}

#[test]
fn a_load_after_a_store_that_a_partition_loses_is_told() {
    let keep = |loses: bool| {
        report(|parts| parts.slices.fill_with(|| SliceParts::one(Keeper { loses, held: None })))
    };
    assert_eq!(keep(false), None);
    let wrong = keep(true).expect("the second load gets what was there before the store");
    assert!(
        wrong.contains("a load of cache 0 waited for sector") && wrong.contains("after store 1"),
        "{wrong}"
    );
}

#[test]
fn a_load_that_overtakes_a_store_in_a_stage_of_its_sm_is_told() {
    let delay = |hides: bool| {
        report(|parts| parts.sms.fill_with(|| SmParts::one(Delay { hides, held: None, now: 0 })))
    };
    assert_eq!(delay(false), None);
    let wrong = delay(true).expect("the second load leaves before the store");
    assert!(wrong.contains("as store 0 has left it, after store 1"), "{wrong}");
}
