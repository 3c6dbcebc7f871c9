//! Measures clusters of two CTAs: loads from the other CTA's shared memory, and the barrier.
use super::bench::FidelityBench;
use super::cores::memory_issue;
use super::measurement::{FidelityError, Measurement};
use selvedge_gpu::cache::SECTOR_BYTES;
use selvedge_gpu::config::GpuConfig;
use std::sync::Arc;

const SYNC: &str = "barrier.cluster.arrive.aligned;\nbarrier.cluster.wait.aligned;\n";

/// Measures nothing on a GPU without clusters.
pub fn measure(config: &Arc<GpuConfig>) -> Result<Vec<Measurement>, FidelityError> {
    let cluster = &config.sm.cluster;
    if cluster.ctas < 2 {
        return Ok(Vec::new());
    }
    let cycles = |segments: u32| (segments * SECTOR_BYTES).div_ceil(cluster.bytes);
    // Each load returns its address.
    let load = step(config, "ld.shared::cluster.u32 %r9, [%r9];\n", 1)?;
    let latency = memory_issue(config) + cluster.latency + cycles(1) - 1;
    let loads: String = (20..60).map(|r| format!("ld.shared::cluster.u32 %r{r}, [%r9];\n")).collect();
    let rate = 40.0 * 128.0 / step(config, &loads, 32)?;
    let segments = 128 / SECTOR_BYTES;
    let barrier = step(config, SYNC, 32)?;
    let expected = cluster.latency + 2 * config.sm.branch_latency;
    Ok(vec![
        Measurement::exact("load from another CTA of the cluster", "cycles", latency.into(), load),
        Measurement::exact(
            "loads from another CTA of the cluster, rate",
            "bytes per cycle and SM",
            128.0 / f64::from(cycles(segments)),
            rate,
        ),
        Measurement::exact("barrier of a cluster", "cycles", expected.into(), barrier),
    ])
}

/// Returns the cycles of one more `unit` in each CTA. `%r9` is the address of the thread's word in the other CTA, which holds this
/// address.
fn step(config: &Arc<GpuConfig>, unit: &str, threads: u32) -> Result<f64, FidelityError> {
    let mut bench = FidelityBench::new(config);
    let head = format!(
        ".shared .align 4 .b8 s[4096];\nmov.u32 %r5, %cluster_ctarank;\nxor.b32 %r5, %r5, 1;\nmov.u32 %r9, s;\n\
         mapa.shared::cluster.u32 %r9, %r9, %r5;\nmov.u32 %r6, %tid.x;\nmad.lo.u32 %r9, %r6, 4, %r9;\n{SYNC}\
         st.shared::cluster.u32 [%r9], %r9;\n{SYNC}"
    );
    let mut time =
        |count: usize| bench.run_cluster(&format!("{head}{}{SYNC}", unit.repeat(count)), 2, threads);
    let (short, long) = (time(8)?, time(40)?);
    Ok((long as f64 - short as f64) / 32.0)
}
