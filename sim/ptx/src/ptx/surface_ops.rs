//! Surface loads and stores of a warp: raw bytes of a two-dimensional texture, without filter or conversion.

use super::access::{AccessKind, Fault, MemAccess};
use super::forms::{CacheOp, Outside, Space, SurfaceForm};
use super::instr::{Instr, NONE};
use super::kernel::Kernel;
use super::lane::{LANE_BIT, lanes};
use super::warp::Warp;
use super::{Env, memory_ops, texture_ops};
use crate::texture::Texture;

/// Executes a surface load or store.
pub(crate) fn access(
    warp: &mut Warp,
    kernel: &Kernel,
    env: &mut Env,
    instr: &Instr,
    form: SurfaceForm,
    mask: u32,
    access: &mut MemAccess,
) -> Result<(), Box<Fault>> {
    let handles = match instr.a {
        NONE => [instr.offset as u64; 32],
        index => *warp.double(kernel, index),
    };
    let [x, y] = [instr.b, instr.c].map(|index| *warp.word(kernel, index));
    access.kind = if form.store { AccessKind::Store } else { AccessKind::Load };
    access.space = Space::Global;
    access.cache = CacheOp::All;
    access.bytes = form.bytes * form.elements;
    access.mask = 0;
    access.more.clear();
    for lane in lanes(mask) {
        let wrong = |what: String| warp.fault(kernel, env.launch, lane as u32, handles[lane], what);
        let surface = texture_ops::by_handle(env, handles[lane]).map_err(wrong)?;
        let place = [x[lane] as i32, y[lane] as i32];
        if let Some(address) = address(surface, form, place).map_err(wrong)? {
            access.address[lane] = address;
            access.mask |= LANE_BIT[lane];
        }
    }
    let (size, count) = (usize::from(form.bytes), usize::from(form.elements));
    let mut values = [[0u64; 32]; 4];
    if form.store {
        for (values, &index) in values.iter_mut().zip(&instr.vector).take(count) {
            *values = warp.bits(kernel, index, form.register_bits == 64);
        }
    }
    if access.mask != 0 {
        memory_ops::each_lane(warp, kernel, env, access, |bytes, offset, lane| {
            for (element, values) in values.iter_mut().enumerate().take(count) {
                let place = &mut bytes[offset + element * size..][..size];
                if form.store {
                    place.copy_from_slice(&values[lane].to_le_bytes()[..size]);
                } else {
                    let mut word = [0; 8];
                    word[..size].copy_from_slice(place);
                    values[lane] = u64::from_le_bytes(word);
                }
            }
        })?;
    }
    if !form.store {
        for (values, &index) in values.iter().zip(&instr.vector).take(count) {
            if index != NONE {
                warp.set_bits(index, form.register_bits, values, mask);
            }
        }
    }
    Ok(())
}

/// Returns the address of the bytes at `x` and `y`; `None` if the access has no effect.
fn address(surface: &Texture, form: SurfaceForm, [x, y]: [i32; 2]) -> Result<Option<u64>, String> {
    let &[width, height] = surface.size.as_slice() else {
        return Err(format!("accesses 2 dimensions of a surface that has {}", surface.size.len()));
    };
    let bytes = i64::from(form.bytes * form.elements);
    let row = i64::from(width) * i64::from(surface.texel_bytes());
    let [mut column, mut line] = [i64::from(x), i64::from(y)];
    if column % bytes != 0 {
        return Err(format!("needs an x that is a multiple of {bytes} bytes, got {x}"));
    }
    let is_inside = (0..=row - bytes).contains(&column) && (0..i64::from(height)).contains(&line);
    match form.outside {
        _ if is_inside => {}
        Outside::Zero => return Ok(None),
        Outside::Clamp if row >= bytes => {
            column = column.clamp(0, (row - bytes) / bytes * bytes);
            line = line.clamp(0, i64::from(height) - 1);
        }
        _ => {
            return Err(format!("accesses ({x}, {y}), outside a surface of {row} bytes by {height} rows"));
        }
    }
    Ok(Some(surface.address + line as u64 * surface.pitch + column as u64))
}
