//! A recorded CUDA program: its operations once more, without the program.
use super::RecordedProgram;
use selvedge_cudart::device::{Device, DeviceError};
use selvedge_gpu::config::GpuConfig;
use selvedge_gpu::sm::launch::LaunchedKernel;
use selvedge_ptx::memory::DeviceMemory;
use std::sync::Arc;

/// A record, and how far it has been replayed.
pub(crate) struct Replay {
    program: Arc<RecordedProgram>,
    device: Device,
    /// The operation that comes next.
    next: usize,
}

impl Replay {
    /// Returns a replay at its beginning.
    pub fn new(program: &Arc<RecordedProgram>, config: &Arc<GpuConfig>) -> Self {
        Replay { program: Arc::clone(program), device: Device::new(config, None, Arc::default()), next: 0 }
    }

    /// Does everything up to the next launch, and returns that.
    ///
    /// # Errors
    /// An operation that the device refuses, such as a launch that is too large for the configuration.
    pub fn next(&mut self, memory: &mut DeviceMemory) -> Result<Option<LaunchedKernel>, DeviceError> {
        while let Some(operation) = self.program.record.operations.get(self.next) {
            self.next += 1;
            if let Some(launch) = self.device.apply(operation, memory)? {
                return Ok(Some(launch));
            }
        }
        Ok(None)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use selvedge_cudart::operation::{LaunchOperation, Operation, Record, Rows};
    use selvedge_ptx::memory::HEAP_BASE;

    const TEXT: &str = ".version 7.8\n.target sm_60\n.address_size 64\n.visible .entry k() {\nret;\n}\n";

    #[test]
    fn every_launch_comes_once_and_finds_what_was_done_before_it() {
        let launch = |blocks| {
            Operation::Launch(LaunchOperation {
                module: 0,
                kernel: "k".into(),
                grid: [blocks, 1, 1],
                block: [1, 1, 1],
                dynamic_shared: 0,
                params: Vec::new(),
            })
        };
        let fill = |byte| Operation::Fill { rows: Rows::one(HEAP_BASE, 1), byte };
        let operations = vec![
            Operation::Module { text: TEXT.into() },
            Operation::Allocate { address: HEAP_BASE, bytes: 4 },
            fill(1),
            launch(1),
            fill(2),
            launch(2),
            fill(3),
        ];
        let record = Record { operations, ..Record::default() };
        let program = Arc::new(RecordedProgram { file: None, record });
        let mut replay = Replay::new(&program, &Arc::new(GpuConfig::load("gtx480").expect("built in")));
        let mut memory = DeviceMemory::new();
        let mut seen = Vec::new();
        while let Some(launched) = replay.next(&mut memory).expect("valid operations") {
            seen.push((launched.dims.grid[0], memory.bytes(HEAP_BASE, 1).expect("allocated")[0]));
        }
        assert_eq!(seen, [(1, 1), (2, 2)]);
        assert_eq!(memory.bytes(HEAP_BASE, 1).expect("allocated"), [3]);
    }
}
