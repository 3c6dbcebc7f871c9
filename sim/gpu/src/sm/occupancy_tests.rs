//! How many CTAs does an SM hold? As many as the scarcest of its resources allows.
use super::Sm;
use super::launch::LaunchedKernel;
use super::parts::SmParts;
use crate::config::GpuConfig;
use proptest::prelude::*;
use selvedge_ptx::ptx::{LaunchDims, Module};
use std::sync::Arc;

/// A kernel of which `registers` 32-bit registers live at a time, and with `shared` bytes of shared memory.
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

/// CTAs of `kernel` that a fresh SM takes.
fn resident(config: &Arc<GpuConfig>, kernel: LaunchedKernel) -> u32 {
    let mut sm = Sm::new(0, config, SmParts::default());
    let kernel = Arc::new(kernel);
    let mut count = 0;
    while sm.can_launch(&kernel) {
        sm.launch(&kernel, [count, 0, 0]);
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
