//! Checks that the scarcest resource limits the number of CTAs in an SM.
use super::Sm;
use super::launch::LaunchedKernel;
use super::parts::SmParts;
use crate::config::GpuConfig;
use proptest::prelude::*;
use selvedge_ptx::memory::DeviceMemory;
use selvedge_ptx::ptx::{LaunchDims, Module};
use std::sync::Arc;

/// Returns a kernel with `registers` live 32-bit registers and `shared` bytes of shared memory.
fn module(registers: u32, shared: u32) -> Module {
    let all: String = (0..registers).map(|r| format!("add.u32 %r{r}, %ctaid.x, {r};\n")).collect();
    let sum: String = (1..registers).map(|r| format!("add.u32 %r0, %r0, %r{r};\n")).collect();
    let body = all + &sum;
    let text = format!(
        ".version 4.3\n.target sm_20\n.address_size 64\n.visible .entry k() {{\n.reg .b32 %r<{registers}>;\n\
         .shared .align 4 .b8 s[{shared}];\n{body}ret;\n}}\n"
    );
    Module::parse("k.ptx", &text).expect("valid")
}

/// Returns the number of CTAs of `kernel` that an empty SM takes.
fn resident(config: &Arc<GpuConfig>, kernel: LaunchedKernel) -> u32 {
    let mut sm = Sm::new(0, config, SmParts::default());
    let kernel = Arc::new(kernel);
    let mut count = 0;
    while sm.can_launch(&kernel) {
        sm.launch(&kernel, [count, 0, 0], None);
        count += 1;
    }
    count
}

proptest! {
    #[test]
    fn an_sm_holds_what_its_scarcest_resource_allows(
        threads in 1u32..1025, registers in 1u32..40, shared in 4u32..20_000, dynamic in 0u32..20_000,
        ctas in 1u32..17, warps in 32u32..97,
    ) {
        let text = format!("base = \"gtx480\"\n[sm]\nctas = {ctas}\nwarps = {warps}\n");
        let config = Arc::new(GpuConfig::parse("my.toml", &text).expect("valid"));
        let kernel = module(registers, shared).kernel("k").expect("there is a kernel");
        let allotted = kernel.registers;
        let mut dims = LaunchDims::new([64, 1, 1], [threads, 1, 1]);
        dims.dynamic_shared = dynamic;
        let cta_warps = threads.div_ceil(32);
        let sm = &config.sm;
        let formula = [
            sm.ctas,
            sm.warps / cta_warps,
            sm.threads / (32 * cta_warps),
            sm.registers / (allotted * 32 * cta_warps),
            sm.shared_bytes / (shared + dynamic),
        ];
        let most = formula.into_iter().min().unwrap_or(0);
        match LaunchedKernel::new(kernel, dims, Vec::new(), 0, &config) {
            Ok(launched) => prop_assert_eq!(resident(&config, launched), most),
            Err(refused) => prop_assert_eq!(most, 0, "{}", refused),
        }
    }
}

#[test]
fn each_resource_can_be_the_scarcest() {
    let config = Arc::new(GpuConfig::load("gtx480").expect("built in"));
    let fit = |threads: u32, dynamic: u32, registers: u32| {
        let kernel = module(registers, 4).kernel("k").expect("there is a kernel");
        let mut dims = LaunchDims::new([64, 1, 1], [threads, 1, 1]);
        dims.dynamic_shared = dynamic;
        resident(&config, LaunchedKernel::new(kernel, dims, Vec::new(), 0, &config).expect("it fits"))
    };
    assert_eq!(fit(32, 0, 4), 8, "CTA slots");
    assert_eq!(fit(512, 0, 4), 3, "threads");
    assert_eq!(fit(32, 16_380, 4), 3, "shared memory");
    assert!(fit(512, 0, 40) < 3, "registers");
}

#[test]
fn a_cta_that_is_too_large_names_a_configuration_that_has_room() {
    let config = GpuConfig::load("gtx480").expect("built in");
    let refused = |registers: u32, dynamic: u32| {
        let kernel = module(registers, 4).kernel("k").expect("there is a kernel");
        let mut dims = LaunchDims::new([1, 1, 1], [1024, 1, 1]);
        dims.dynamic_shared = dynamic;
        LaunchedKernel::new(kernel, dims, Vec::new(), 0, &config).err().expect("it is too large").to_string()
    };
    let text = refused(40, 0);
    let (need, fits) = text.split_once("; ").expect("two parts");
    let says = "registers, an SM of `gtx480` has 32768";
    assert!(need.starts_with("kernel k: a CTA needs ") && need.ends_with(says), "{text}");
    let name = fits.strip_prefix("`--config ").and_then(|rest| rest.strip_suffix("` has room for it"));
    let fitting = GpuConfig::load(name.unwrap_or_else(|| panic!("{text}"))).expect("built in");
    let dims = LaunchDims::new([1, 1, 1], [1024, 1, 1]);
    let kernel = module(40, 4).kernel("k").expect("there is a kernel");
    LaunchedKernel::new(kernel, dims, Vec::new(), 0, &fitting).expect("it fits");
    // No built-in configuration has that much shared memory.
    let text = refused(4, 1 << 30);
    assert!(text.ends_with("bytes of shared memory, an SM of `gtx480` has 49152"), "{text}");
}

#[test]
fn the_local_memory_of_all_resident_warps_needs_room() {
    let text = ".version 4.3\n.target sm_20\n.address_size 64\n.visible .entry k() {\n.local .align 4 .b8 x[4096];\n\
                .reg .b64 %rd<2>;\nmov.u64 %rd1, x;\nst.local.u32 [%rd1], 1;\nret;\n}\n";
    let kernel = Module::parse("k.ptx", text).expect("valid").kernel("k").expect("there is a kernel");
    let config = GpuConfig::load("gtx480").expect("built in");
    let a_warp = 32 * u64::from(kernel.local_bytes);
    let launched = |ctas: u32| {
        let dims = LaunchDims::new([ctas, 1, 1], [64, 1, 1]);
        LaunchedKernel::new(Arc::clone(&kernel), dims, Vec::new(), 0, &config).expect("it fits")
    };
    // A small grid counts its own CTAs, a large one 8 CTAs on each of 15 SMs.
    for (ctas, warps) in [(3, 6), (1000, 240)] {
        let launch = launched(ctas);
        assert_eq!(launch.local_bytes(&config.sm), warps * a_warp, "{ctas}");
        let memory = |bytes: u64| DeviceMemory::with_capacity(bytes);
        assert!(launch.check_room(&config.sm, 0, &memory(warps * a_warp)).is_ok(), "{ctas}");
        let refused = launch
            .check_room(&config.sm, 0, &memory(warps * a_warp - 1))
            .expect_err("too little")
            .to_string();
        let says = format!(
            "kernel 'k' cannot be launched: {warps} warps at the same time take {} bytes",
            warps * a_warp
        );
        assert!(refused.starts_with(&says), "{refused}");
        assert!(launch.check_room(&config.sm, 1, &memory(warps * a_warp)).is_err(), "beside another launch");
    }
}
