//! Texture samples of a warp.

use super::access::{AccessKind, Fault, MemAccess};
use super::forms::{CacheOp, Space, TextureForm, TextureShape};
use super::instr::{Instr, NONE};
use super::kernel::Kernel;
use super::lane::{LANE_BIT, lanes};
use super::warp::Warp;
use super::{Env, GLOBALS_BASE};
use crate::memory::HEAP_BASE;
use crate::texture::{ChannelKind, MAX_TAPS, Taps, Texture};

type Result<T> = std::result::Result<T, Box<Fault>>;

/// Samples a texture in the lanes of `mask`. Texels are read as read-only global memory. Lanes outside the texture
/// access no memory.
pub(crate) fn sample(
    warp: &mut Warp,
    kernel: &Kernel,
    env: &mut Env,
    instr: &Instr,
    form: TextureForm,
    mask: u32,
    access: &mut MemAccess,
) -> Result<()> {
    let coordinates: [[u32; 32]; 3] = std::array::from_fn(|axis| match instr.vector[4 + axis] {
        NONE => [0; 32],
        index => *warp.word(kernel, index),
    });
    let handles = match instr.a {
        NONE => [instr.offset as u64; 32],
        index => *warp.double(kernel, index),
    };
    let mut rounds = [(0u32, [0u64; 32]); MAX_TAPS];
    let mut out = [[0u32; 32]; 4];
    for lane in lanes(mask) {
        let wrong = |what: String| warp.fault(kernel, env.launch, lane as u32, handles[lane], what);
        let texture = find(env, handles[lane], form).map_err(wrong)?;
        let place = coordinates.map(|values| values[lane]);
        let taps = taps(texture, form, place);
        access.bytes = texture.texel_bytes();
        for (round, address) in rounds.iter_mut().zip(taps.iter().filter_map(|(address, _)| *address)) {
            round.0 |= LANE_BIT[lane];
            round.1[lane] = address;
        }
        let texel = read(env, texture, &taps);
        for (channel, value) in out.iter_mut().zip(texel) {
            channel[lane] = value;
        }
    }
    access.kind = AccessKind::Load;
    access.space = Space::Global;
    access.cache = CacheOp::ReadOnly;
    (access.mask, access.address) = rounds[0];
    access.more.clear();
    access.more.extend(rounds[1..].iter().filter(|(lanes, _)| *lanes != 0));
    for (index, values) in instr.vector.iter().zip(&out) {
        if *index != NONE {
            warp.set_bits(*index, 32, &values.map(u64::from), mask);
        }
    }
    Ok(())
}

/// Returns the texels of a sample at `place`. In layered textures the layer is the last coordinate.
fn taps(texture: &Texture, form: TextureForm, place: [u32; 3]) -> Taps {
    let layer_axis = usize::from(form.dimensions) - 1;
    match (form.shape, form.float_coordinates) {
        (TextureShape::Plain, true) => texture.sample(place.map(f32::from_bits)),
        (TextureShape::Plain, false) => texture.fetch(place.map(|bits| bits as i32)),
        (TextureShape::Layered, true) => texture.sample_layer(place.map(f32::from_bits), place[layer_axis]),
        (TextureShape::Layered, false) => {
            let mut place = place.map(|bits| bits as i32);
            place[layer_axis] = place[layer_axis].clamp(0, texture.size[layer_axis] as i32 - 1);
            texture.fetch(place)
        }
        (TextureShape::Cube, _) => {
            let (face, [s, t]) = cube_face(place.map(f32::from_bits));
            texture.sample_layer([s, t, 0.0], face)
        }
    }
}

/// Returns the cube face that a direction hits, and the position on it, 0 to 1 in both directions. If two axes have
/// equal magnitude, the later one decides.
fn cube_face([x, y, z]: [f32; 3]) -> (u32, [f32; 2]) {
    let (face, major, s, t) = if z.abs() >= x.abs() && z.abs() >= y.abs() {
        if z >= 0.0 { (4, z, x, -y) } else { (5, -z, -x, -y) }
    } else if y.abs() >= x.abs() {
        if y >= 0.0 { (2, y, x, z) } else { (3, -y, x, -z) }
    } else if x >= 0.0 {
        (0, x, -z, -y)
    } else {
        (1, -x, z, -y)
    };
    (face, [s, t].map(|side| (side / major + 1.0) / 2.0))
}

/// Returns the texture of a handle. The handle may also be the address of a texture reference among the module's
/// variables.
pub(crate) fn by_handle<'a>(env: &'a Env, handle: u64) -> std::result::Result<&'a Texture, String> {
    let mut handle = handle;
    if (GLOBALS_BASE..HEAP_BASE).contains(&handle) {
        let mut bytes = [0; 8];
        env.memory.read(handle, &mut bytes).map_err(|error| error.to_string())?;
        handle = u64::from_le_bytes(bytes);
    }
    let texture = env.memory.texture(handle);
    texture.ok_or_else(|| format!("samples {handle:#x}, which is no texture that the host made"))
}

/// Returns the texture of a handle, if its form matches the instruction.
fn find<'a>(env: &'a Env, handle: u64, form: TextureForm) -> std::result::Result<&'a Texture, String> {
    let texture = by_handle(env, handle)?;
    let dimensions = texture.size.len();
    if dimensions != usize::from(form.dimensions) {
        return Err(format!("samples {} dimensions of a texture that has {dimensions}", form.dimensions));
    }
    if form.shape == TextureShape::Cube {
        let [width, height, faces] = [0, 1, 2].map(|axis| texture.size[axis]);
        if width != height || faces != 6 || !texture.normalized {
            let size = &texture.size;
            return Err(format!(
                "samples a cube: the texture must be square, have 6 faces and normalized coordinates, got size {size:?}"
            ));
        }
    }
    // Normalized samples may go to registers of any kind as single-precision bits: clang emits integer registers.
    let is_normalized =
        matches!(texture.kind, ChannelKind::SignedNormalized | ChannelKind::UnsignedNormalized);
    if texture.is_float() != form.float_result && !is_normalized {
        let kind = texture.kind;
        return Err(format!("samples a texture of {kind:?} channels into registers of another kind"));
    }
    Ok(texture)
}

/// Returns the value of a sample: the bits of a single texel, or the weighted sum of several, rounded once.
fn read(env: &Env, texture: &Texture, taps: &Taps) -> [u32; 4] {
    let texel = |address: &Option<u64>| {
        let mut bytes = [0; 16];
        let bytes = &mut bytes[..usize::from(texture.texel_bytes())];
        // Texels outside the texture are zero. A buffer freed after the texture's creation also reads zero.
        if let Some(address) = address
            && env.memory.read(*address, bytes).is_err()
        {
            bytes.fill(0);
        }
        if address.is_some() { texture.channels(bytes) } else { [0; 4] }
    };
    let mut list = taps.iter();
    let (Some((first, _)), 1) = (list.next(), taps.iter().count()) else {
        let mut sums = [0f64; 4];
        for (address, weight) in taps.iter() {
            for (sum, bits) in sums.iter_mut().zip(texel(address)) {
                *sum += f64::from(f32::from_bits(bits)) * f64::from(*weight);
            }
        }
        return sums.map(|sum| (sum as f32).to_bits());
    };
    texel(first)
}
