//! System calls of CUDA's device runtime, by which kernels launch kernels.

use super::functional::{MAX_CTA_THREADS, MAX_GRID};
use super::instr::{Instr, NONE};
use super::kernel::Kernel;
use super::signatures::RuntimeCall;
use super::warp::Warp;
use super::{Env, LaunchDims, system};
use crate::requests::{KernelRequest, RequestedLaunch, RequestedWork};

/// Results of the system calls. CUDA's device runtime converts them to CUDA's codes.
const SUCCESS: u64 = 0;
const INVALID_VALUE: u64 = 1;
const INVALID_CONFIGURATION: u64 = 7;

/// Handle of the legacy default stream, which is the default stream of the block.
const LEGACY_STREAM: u64 = 1;

/// Executes `call` in a lane. Returns a result of the system calls, or an address.
///
/// # Errors
/// No host takes the requests, or a pointer is wrong.
pub(super) fn call(
    warp: &mut Warp,
    kernel: &Kernel,
    env: &mut Env,
    instr: &Instr,
    call: RuntimeCall,
    lane: usize,
) -> Result<u64, String> {
    if !env.memory.requests().is_accepted() {
        return Err("uses CUDA's device runtime, which only programs of `selvedge cuda` can".to_owned());
    }
    let word = |index: u16| warp.word(kernel, index)[lane];
    let wide = |index: u16| if index == NONE { 0 } else { warp.double(kernel, index)[lane] };
    let words = |indices: [u16; 3]| indices.map(word);
    let (cta, slot) = (warp.cta, env.slot);
    let request = |env: &mut Env, stream: u64, work: RequestedWork| {
        let stream = if stream == LEGACY_STREAM { 0 } else { stream };
        env.memory.requests_mut().push(KernelRequest { slot, cta, stream, work });
        SUCCESS
    };
    let result = match call {
        RuntimeCall::ParameterBuffer => {
            let [grid_z, x, y, z, shared, ..] = instr.vector;
            let (grid, block) = (words([instr.b, instr.c, grid_z]), words([x, y, z]));
            let dims = LaunchDims { dynamic_shared: word(shared), ..LaunchDims::new(grid, block) };
            open(kernel, env, wide(instr.a), dims)
        }
        RuntimeCall::Launch => match close(env, wide(instr.a)) {
            Ok(launch) => request(env, wide(instr.b), RequestedWork::Launch(launch)),
            Err(code) => code,
        },
        RuntimeCall::RecordEvent => request(env, wide(instr.b), RequestedWork::Record(wide(instr.a))),
        RuntimeCall::AwaitEvent => request(env, wide(instr.a), RequestedWork::Wait(wide(instr.b))),
        // The work of a destroyed stream or event goes on.
        RuntimeCall::Destroy => SUCCESS,
        RuntimeCall::LastError => env.memory.requests().last_error(slot).into(),
        RuntimeCall::SetLastError => {
            env.memory.requests_mut().set_last_error(slot, word(instr.a));
            word(instr.a).into()
        }
        RuntimeCall::Create => {
            let pointer = wide(instr.a);
            let handle = env.memory.requests_mut().new_handle();
            system::write(warp, kernel, env, lane, pointer, &handle.to_le_bytes())?;
            SUCCESS
        }
        RuntimeCall::DeviceNumber | RuntimeCall::DeviceCount => {
            let pointer = wide(instr.a);
            let value = u32::from(call == RuntimeCall::DeviceCount);
            system::write(warp, kernel, env, lane, pointer, &value.to_le_bytes())?;
            SUCCESS
        }
    };
    Ok(result)
}

/// Begins a launch of the kernel at `address`. Returns the address of its parameters, or 0 if it cannot be launched.
fn open(kernel: &Kernel, env: &mut Env, address: u64, dims: LaunchDims) -> u64 {
    let Some(target) = kernel.launchable.iter().find(|target| target.address == address) else { return 0 };
    let Ok(buffer) = env.memory.alloc(target.param_bytes.max(1), "parameters of a launch") else { return 0 };
    let LaunchDims { grid, block, dynamic_shared, .. } = dims;
    let params = vec![0; target.param_bytes as usize];
    let launch =
        RequestedLaunch { kernel: target.name.clone(), grid, block, cluster: None, dynamic_shared, params };
    env.memory.requests_mut().open(buffer, launch);
    buffer
}

/// Returns the launch whose parameters are at `buffer`, or an error.
fn close(env: &mut Env, buffer: u64) -> Result<RequestedLaunch, u64> {
    let mut launch = env.memory.requests_mut().close(buffer).ok_or(INVALID_VALUE)?;
    let read = env.memory.read(buffer, &mut launch.params);
    read.and_then(|()| env.memory.free(buffer)).map_err(|_| INVALID_VALUE)?;
    let dims = LaunchDims::new(launch.grid, launch.block);
    let is_empty = launch.grid.contains(&0) || launch.block.contains(&0);
    let is_large = launch.grid.iter().zip(MAX_GRID).any(|(side, most)| *side > most);
    if is_empty || is_large || dims.threads_per_cta() > MAX_CTA_THREADS {
        return Err(INVALID_CONFIGURATION);
    }
    Ok(launch)
}
