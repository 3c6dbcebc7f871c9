//! Does the witness notice in a whole GPU that a mechanism gives loads what stores have overtaken, and nothing else?
use super::*;
use crate::cache::LinePart;
use crate::packet::Packet;
use crate::partition::{DramPlan, MechanismFault, NoPolicy, Stage};
use crate::ptx::{Arg, LaunchDims, Module};
use crate::sm::policy::NoSmPolicy;

/// Keeps each write for so many cycles, and lets the reads behind it pass.
struct Late {
    whole: NoPolicy,
    cycles: u64,
    now: u64,
    held: Option<(u64, Packet)>,
}

impl PartitionPolicy for Late {
    fn tick(&mut self, now: u64, _: &DeviceMemory) -> Result<(), MechanismFault> {
        self.now = now;
        Ok(())
    }

    fn busy(&self) -> bool {
        self.held.is_some()
    }

    fn read_plan(&mut self, part: LinePart, memory: &DeviceMemory) -> DramPlan {
        self.whole.read_plan(part, memory)
    }

    fn write_plan(&mut self, part: LinePart, memory: &DeviceMemory) -> DramPlan {
        self.whole.write_plan(part, memory)
    }

    fn fill_enter(&mut self, _: LinePart, _: &DeviceMemory) -> Stage {
        Stage::Through
    }

    fn fill_leave(&mut self) -> Option<LinePart> {
        None
    }

    fn evict_enter(&mut self, _: LinePart, _: &DeviceMemory) -> Stage {
        Stage::Through
    }

    fn evict_leave(&mut self) -> Option<LinePart> {
        None
    }

    fn write_enter(&mut self, packet: &Packet, _: &DeviceMemory) -> Stage {
        match self.held {
            _ if self.cycles == 0 => Stage::Through,
            Some(_) => Stage::Full,
            None => {
                self.held = Some((self.now + self.cycles, *packet));
                Stage::Taken
            }
        }
    }

    fn write_leave(&mut self) -> Option<Packet> {
        self.held.take_if(|(until, _)| *until <= self.now).map(|(_, packet)| packet)
    }

    fn reply(&mut self, _: &mut Packet, _: bool, _: &DeviceMemory) {}
}

/// What the witness says of a warp that loads a line, stores to it and loads it again, where partitions keep writes.
fn told(cycles: u64) -> Option<String> {
    let config = Arc::new(GpuConfig::load("gtx480").expect("built in"));
    let whole = NoPolicy { burst_bytes: config.dram.burst_bytes };
    let late = |_| Box::new(Late { whole, cycles, now: 0, held: None }) as Box<dyn PartitionPolicy>;
    let policies = Policies {
        sms: (0..config.sm.count).map(|_| Box::new(NoSmPolicy) as Box<dyn SmPolicy>).collect(),
        partitions: (0..config.l2.partitions).map(late).collect(),
    };
    let mut gpu = Gpu::new(&config, policies, Arc::new(Control::default()));
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
fn a_load_that_overtakes_the_store_before_it_in_a_partition_is_told() {
    assert_eq!(told(0), None);
    let wrong = told(500).expect("the second load comes first");
    assert!(
        wrong.contains("a load of cache 0 waited for sector") && wrong.contains("after store 1"),
        "{wrong}"
    );
}
