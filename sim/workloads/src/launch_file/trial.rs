//! Finds sizes with which a kernel runs, for inputs that the user has not stated. Tries several.
use super::template::{Guess, guesses};
use selvedge_ptx::memory::DeviceMemory;
use selvedge_ptx::ptx::{Arg, Kernel, LaunchDims, Module, TextureSource, TextureUse, run_limited};
use selvedge_ptx::texture::{AddressMode, ChannelKind, FilterMode, Texture};

/// Max warp instructions of a trial.
const MOST_INSTRUCTIONS: u64 = 1 << 20;
/// Max bytes of all buffers in a trial.
const MOST_BYTES: u64 = 1 << 28;

/// Sizes of a kernel's inputs in a template.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct TrialSizes {
    /// Value of integers. They often count the points along a side, so buffers hold a cube of that side.
    pub side: u64,
    /// Elements of each buffer.
    pub count: u64,
    /// Threads per CTA.
    pub threads: u32,
    /// `true`: an 8-byte integer is an address, even if it reaches no memory access.
    pub addresses: bool,
}

/// Returns the sizes to try, the most likely first.
fn candidates() -> impl Iterator<Item = TrialSizes> {
    let sides = [(16, 32), (8, 32), (16, 256), (32, 32), (64, 64), (4, 32), (1, 32), (256, 256), (16, 1)];
    sides.into_iter().flat_map(|(side, threads)| {
        [4096, 1 << 16, 1 << 20].into_iter().flat_map(move |count| {
            [false, true].map(|addresses| TrialSizes { side, count, threads, addresses })
        })
    })
}

/// Finds sizes with which `kernel` completes on buffers of zeros.
///
/// # Errors
/// The first candidate and its error, if every candidate fails.
pub(super) fn find(module: &Module, kernel: &Kernel) -> Result<TrialSizes, (TrialSizes, String)> {
    let mut first = None;
    for sizes in candidates() {
        match run(module, kernel, sizes) {
            Ok(()) => return Ok(sizes),
            Err(why) => {
                first.get_or_insert((sizes, why));
            }
        }
    }
    Err(first.unwrap_or_else(|| unreachable!("there are candidates")))
}

/// Runs `kernel` with `sizes`. The error describes why it stops.
fn run(module: &Module, kernel: &Kernel, sizes: TrialSizes) -> Result<(), String> {
    let mut memory = DeviceMemory::with_capacity(MOST_BYTES);
    module.load(&mut memory).map_err(|error| error.to_string())?;
    let textures = kernel.textures();
    for texture in &textures {
        let TextureSource::Variable(address) = texture.source else { continue };
        let handle = sample(&mut memory, texture, sizes)?;
        memory.write_u64s(address, &[handle]).map_err(|error| error.to_string())?;
    }
    let mut arguments = Vec::with_capacity(kernel.params.len());
    for (param, guess) in kernel.params.iter().zip(guesses(kernel, sizes)) {
        arguments.push(match guess {
            Guess::Texture(texture) => Arg::U64(sample(&mut memory, &texture, sizes)?),
            Guess::Buffer { bits, .. } => {
                let bytes = sizes.count * u64::from(bits / 8);
                Arg::Ptr(memory.alloc(bytes, &param.name).map_err(|error| error.to_string())?)
            }
            Guess::Integer => Arg::Bytes(sizes.side.to_le_bytes()[..param.bytes as usize].to_vec()),
            Guess::Float if param.bytes == 4 => Arg::F32(1.0),
            Guess::Float => Arg::F64(1.0),
            Guess::Structure => Arg::Bytes(vec![0; param.bytes as usize]),
        });
    }
    let params = kernel.pack(&arguments).map_err(|error| error.to_string())?;
    let mut launch = LaunchDims::new([1; 3], block(kernel, sizes));
    launch.dynamic_shared = dynamic_shared(kernel, sizes);
    run_limited(module, kernel, &launch, &params, &mut memory, MOST_INSTRUCTIONS)
        .map(drop)
        .map_err(|error| error.to_string())
}

/// Returns the CTA size of a template's launch.
pub(super) fn block(kernel: &Kernel, sizes: TrialSizes) -> [u32; 3] {
    match kernel.cta_limit {
        Some((limit, true)) => limit,
        Some((limit, false)) if limit.iter().product::<u32>() < sizes.threads => [1; 3],
        _ => [sizes.threads, 1, 1],
    }
}

/// Returns the bytes of dynamic shared memory in a template.
pub(super) fn dynamic_shared(kernel: &Kernel, sizes: TrialSizes) -> u32 {
    let wanted = 4 * (sizes.side * sizes.side).clamp(256, 4096) as u32;
    if kernel.dynamic_shared { wanted } else { 0 }
}

/// Returns the texels of a template's texture in each direction.
pub(super) fn texels(texture: &TextureUse, sizes: TrialSizes) -> Vec<u64> {
    let side = sizes.side.clamp(16, 64);
    let mut size = vec![side; usize::from(texture.dimensions)];
    if texture.cube {
        size[2] = 6;
    }
    size
}

/// Creates a texture of zeros, and returns its handle.
fn sample(memory: &mut DeviceMemory, texture: &TextureUse, sizes: TrialSizes) -> Result<u64, String> {
    let size: Vec<u32> = texels(texture, sizes).into_iter().map(|side| side as u32).collect();
    let bytes = 4 * size.iter().map(|side| u64::from(*side)).product::<u64>();
    let address = memory.alloc(bytes, "texels").map_err(|error| error.to_string())?;
    let pitch = 4 * u64::from(size[0]);
    let kind = if texture.float { ChannelKind::Float } else { ChannelKind::Unsigned };
    let texture = Texture {
        address,
        size,
        pitch,
        kind,
        bits: 32,
        channels: 1,
        normalized: texture.cube,
        address_mode: AddressMode::Clamp,
        filter: FilterMode::Point,
    };
    memory.create_texture(texture).map_err(|error| error.to_string())
}
