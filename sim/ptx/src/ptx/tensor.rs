//! Copies of boxes of a tensor between global and shared memory.

use super::access::{AccessKind, Fault, MemAccess};
use super::bulk::{self, CopyTargets, PIECE};
use super::forms::{BulkDirection, TensorForm};
use super::instr::Instr;
use super::kernel::Kernel;
use super::lane::lanes;
use super::warp::{Step, Warp};
use super::{Env, system};
use crate::tensor_map::{BYTES, MOST_DIMENSIONS, TensorMap};

/// Alignment of a box in shared memory.
const BOX_ALIGNMENT: u64 = 128;

type Result<T> = std::result::Result<T, String>;

/// A row of a box: adjacent elements in global memory.
struct Row {
    /// First byte of the row in the box.
    at: u64,
    /// Address of the first element inside the tensor.
    global: u64,
    /// Bytes of the row in front of the tensor, and bytes inside.
    before: u64,
    inside: u64,
}

/// Returns the rows of a box whose first element has these coordinates.
fn rows(map: &TensorMap, first: [i32; MOST_DIMENSIONS]) -> Vec<Row> {
    let element = map.element_bytes();
    let row_bytes = map.count(0) * element;
    let outer: u64 = (1..MOST_DIMENSIONS).map(|dimension| map.count(dimension)).product();
    let side = |dimension: usize| i64::from(map.sides[dimension]);
    let row = |number: u64| {
        let (mut rest, mut address, mut is_inside) = (number, map.address, true);
        for (dimension, first) in first.iter().enumerate().skip(1) {
            let step = (rest % map.count(dimension)) as i64 * i64::from(map.steps[dimension]);
            rest /= map.count(dimension);
            let at = i64::from(*first) + step;
            is_inside &= (0..side(dimension)).contains(&at);
            address = address.wrapping_add((at as u64).wrapping_mul(map.strides[dimension]));
        }
        let start = i64::from(first[0]);
        let (from, to) = (start.clamp(0, side(0)), (start + map.count(0) as i64).clamp(0, side(0)));
        let count = if is_inside { (to - from) as u64 } else { 0 };
        Row {
            at: number * row_bytes,
            global: address.wrapping_add(from as u64 * element),
            before: (from - start).clamp(0, map.count(0) as i64) as u64 * element,
            inside: count * element,
        }
    };
    (0..outer).map(row).collect()
}

/// Copies a box to shared memory, or back. Elements outside the tensor are filled, or not written.
fn copy_box(map: &TensorMap, rows: &[Row], shared: u64, to_shared: bool, env: &mut Env) -> Result<()> {
    let element = map.element_bytes() as usize;
    let row_bytes = (map.count(0) * map.element_bytes()) as usize;
    let mut bytes = vec![0; row_bytes];
    for row in rows {
        let inside = row.before as usize..(row.before + row.inside) as usize;
        let pieces = (row.at..).step_by(PIECE as usize).map(|at| map.place(shared, at));
        if to_shared {
            bytes.chunks_exact_mut(element).for_each(|to| to.copy_from_slice(&map.fill()[..element]));
            bulk::read(env.memory, row.global, &mut bytes[inside])?;
            for (place, piece) in pieces.zip(bytes.chunks_exact(PIECE as usize)) {
                env.shared_at(place, piece.len() as u64)?.copy_from_slice(piece);
            }
        } else {
            for (place, piece) in pieces.zip(bytes.chunks_exact_mut(PIECE as usize)) {
                piece.copy_from_slice(env.shared_at(place, PIECE)?);
            }
            bulk::write(env.memory, row.global, &bytes[inside])?;
        }
    }
    Ok(())
}

/// Executes a copy of a box. The tensor map is at the generic address [`Instr::a`] plus [`Instr::offset`]. The shared address is
/// [`Instr::b`] plus [`Instr::target`]. The mbarrier is at the last vector register plus [`Instr::reconvergence`]. The second to
/// sixth vector registers are the coordinates, and [`Instr::c`] has the ranks of a multicast.
pub(crate) fn copy(
    warp: &mut Warp,
    kernel: &Kernel,
    env: &mut Env,
    instr: &Instr,
    form: TensorForm,
    mask: u32,
    access: &mut MemAccess,
) -> std::result::Result<Step, Box<Fault>> {
    let maps = bulk::addresses(warp, kernel, instr.a, true, instr.offset as u64);
    let shared = bulk::addresses(warp, kernel, instr.b, form.wide_shared, instr.target.into());
    let targets = CopyTargets::new(warp, kernel, env, form.direction, instr.c);
    let to_shared = form.direction != BulkDirection::ToGlobal;
    let (mut pieces, mut box_bytes) = (Vec::new(), [0; 32]);
    for lane in lanes(mask) {
        let mut first = [0; MOST_DIMENSIONS];
        for (number, coordinate) in first.iter_mut().enumerate().take(form.rank.into()) {
            *coordinate = warp.word(kernel, instr.vector[1 + number])[lane] as i32;
        }
        let copied = read_map(warp, kernel, env, lane, maps[lane], form.rank).and_then(|map| {
            if !shared[lane].is_multiple_of(BOX_ALIGNMENT) {
                return Err(format!(
                    "needs a shared address that is a multiple of {BOX_ALIGNMENT}, got {:#x}",
                    shared[lane]
                ));
            }
            box_bytes[lane] = map.box_bytes() as u32;
            let rows = rows(&map, first);
            for shared in targets.places(lane, shared[lane]) {
                bulk::check_shared(shared, map.box_bytes(), env)?;
                copy_box(&map, &rows, shared, to_shared, env)?;
            }
            for row in rows.iter().filter(|row| row.inside > 0) {
                pieces.extend((row.global / PIECE * PIECE..row.global + row.inside).step_by(PIECE as usize));
            }
            Ok(())
        });
        copied.map_err(|what| warp.fault(kernel, env.launch, lane as u32, maps[lane], what))?;
    }
    access.then.clear();
    if to_shared {
        bulk::complete_at(warp, kernel, env, instr, form.wide_barrier, &targets, mask, &box_bytes, access)?;
    }
    let kind = if to_shared { AccessKind::Load } else { AccessKind::Store };
    bulk::describe(access, kind, pieces.into_iter());
    warp.advance();
    Ok(Step::Async)
}

/// Reads the tensor map at a generic address. It must have `rank` dimensions.
fn read_map(
    warp: &Warp,
    kernel: &Kernel,
    env: &Env,
    lane: usize,
    address: u64,
    rank: u8,
) -> Result<TensorMap> {
    let mut bytes = [0; BYTES];
    system::read(warp, kernel, env, lane, address, &mut bytes)?;
    let map = TensorMap::decode(&bytes).ok_or_else(|| {
        format!("finds no tensor map at generic address {address:#x}; cuTensorMapEncodeTiled makes one")
    })?;
    if map.rank != rank {
        return Err(format!("needs a tensor map of {rank} dimensions, got one of {}", map.rank));
    }
    Ok(map)
}
