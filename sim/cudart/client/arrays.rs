//! CUDA arrays: rows of texels in device memory, and copies to and from them.
use crate::copies::CopySide;
use crate::pointers::{field, get, put, put_if};
use crate::protocol::error;
use crate::runtime::Runtime;
use crate::work::Work;
use crate::{Done, api};
use std::ffi::{c_int, c_void};

/// Alignment of rows in bytes.
const ROW_ALIGNMENT: u64 = 32;

/// Layout of a texel, as `cudaChannelFormatDesc`.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct TexelFormat {
    /// Bits of each channel; 0 for a missing channel.
    pub bits: [c_int; 4],
    /// Signed, unsigned or floating-point, as `cudaChannelFormatKind`.
    pub kind: c_int,
}

impl TexelFormat {
    /// Returns the number of channels.
    pub fn channels(&self) -> u64 {
        self.bits.iter().filter(|bits| **bits > 0).count() as u64
    }

    /// Returns the size of a texel in bytes.
    pub fn bytes(&self) -> u64 {
        self.channels() * u64::from(self.bits[0].unsigned_abs()) / 8
    }
}

/// Size of a volume. The width is in texels for an array, and in bytes for memory.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct VolumeExtent {
    pub width: usize,
    pub height: usize,
    pub depth: usize,
}

/// An array; its handle is a pointer to this structure.
pub struct Array {
    pub address: u64,
    /// Distance between rows in bytes.
    pub pitch: u64,
    /// Texels in x, y and z; 0 for missing dimensions. The layers of a layered array, or the faces of a cube, are in z.
    pub size: [u64; 3],
    pub format: TexelFormat,
    flags: u32,
}

/// Flag `cudaArrayLayered`.
const LAYERED: u32 = 1;
/// Flag `cudaArrayCubemap`.
const CUBE: u32 = 4;

/// Returns the array of a handle.
pub fn array<'a>(handle: *const Array) -> Done<&'a Array> {
    // SAFETY: the program gives a handle that `make` has given it, and not yet back.
    unsafe { handle.as_ref() }.ok_or(error::INVALID_VALUE)
}

fn make(
    runtime: &mut Runtime,
    to: *mut *mut Array,
    format: *const TexelFormat,
    size: [usize; 3],
    flags: u32,
) -> Done {
    let format = get(format)?;
    let size = size.map(|side| side as u64);
    let is_cube = size[0] == size[1] && size[2] == 6;
    if (flags & CUBE != 0 && !is_cube) || (flags & LAYERED != 0 && size[2] == 0) {
        return Err(error::INVALID_VALUE);
    }
    let row = size[0].checked_mul(format.bytes()).filter(|row| *row > 0).ok_or(error::INVALID_VALUE)?;
    let pitch = row.next_multiple_of(ROW_ALIGNMENT);
    let rows = size[1].max(1).checked_mul(size[2].max(1)).ok_or(error::MEMORY_ALLOCATION)?;
    let address = runtime.allocate(pitch.checked_mul(rows).ok_or(error::MEMORY_ALLOCATION)?, 256)?;
    put(to, Box::into_raw(Box::new(Array { address, pitch, size, format, flags })))
}

impl Array {
    /// Returns the side of a copy that starts at byte `x` in row `y` of plane `z`.
    fn side(&self, x: usize, y: usize, z: usize) -> CopySide {
        let row = z as u64 * self.size[1].max(1) + y as u64;
        CopySide::device(self.address + row * self.pitch + x as u64, self.pitch as usize)
    }

    /// Checks that a range of rows is inside the array. `x` and `width` are in bytes.
    fn check(&self, x: usize, y: usize, width: usize, height: usize) -> Done {
        let row = self.size[0] * self.format.bytes();
        let fits = |first: usize, count: usize, all: u64| {
            first.checked_add(count).is_some_and(|end| end as u64 <= all)
        };
        if fits(x, width, row) && fits(y, height, self.size[1].max(1)) {
            Ok(())
        } else {
            Err(error::INVALID_VALUE)
        }
    }
}

/// Value of `cudaMemcpyKind` for copies within the device.
const DEVICE_TO_DEVICE: c_int = 3;

/// Copies `count` contiguous bytes to or from consecutive rows of an array.
fn run(
    runtime: &mut Runtime,
    handle: *const Array,
    [x, y]: [usize; 2],
    other: CopySide,
    count: usize,
    kind: c_int,
    to: bool,
) -> Done {
    let array = array(handle)?;
    let row = (array.size[0] * array.format.bytes()) as usize;
    let (mut x, mut y, mut done) = (x, y, 0);
    while done < count {
        let width = (count - done).min(row.saturating_sub(x));
        let whole = if x == 0 && width == row { (count - done) / row } else { 1 };
        if width == 0 {
            return Err(error::INVALID_VALUE);
        }
        array.check(x, y, width, whole)?;
        let (inside, outside) = (array.side(x, y, 0), other.moved(done).with_pitch(row));
        let (target, source) = if to { (inside, outside) } else { (outside, inside) };
        runtime.copy(target, source, width, whole, kind)?;
        (x, y, done) = (0, y + whole, done + width * whole);
    }
    Ok(())
}

fn rows(
    runtime: &mut Runtime,
    handle: *const Array,
    [x, y]: [usize; 2],
    other: CopySide,
    size: [usize; 2],
    kind: c_int,
    to: bool,
) -> Done {
    let array = array(handle)?;
    let [width, height] = size;
    array.check(x, y, width, height)?;
    let inside = array.side(x, y, 0);
    let (target, source) = if to { (inside, other) } else { (other, inside) };
    runtime.copy(target, source, width, height, kind)
}

/// One side of a three-dimensional copy: an array or a pitched pointer, and the position of the copy in it.
struct Volume {
    array: *const Array,
    position: [usize; 3],
    pointer: *const c_void,
    pitch: usize,
    rows: usize,
}

impl Volume {
    /// Reads one side from the parameters of a copy.
    fn read(params: *const c_void, at: usize) -> Done<Self> {
        Ok(Volume {
            array: field(params, at)?,
            position: [field(params, at + 8)?, field(params, at + 16)?, field(params, at + 24)?],
            pointer: field(params, at + 32)?,
            pitch: field(params, at + 40)?,
            rows: field(params, at + 56)?,
        })
    }

    /// Returns the unit of positions and widths in bytes: a texel for arrays, else 1.
    fn unit(&self) -> Done<usize> {
        if self.array.is_null() { Ok(1) } else { Ok(array(self.array)?.format.bytes() as usize) }
    }

    /// Returns the rows of plane `z`.
    fn plane(&self, z: usize, width: usize, height: usize) -> Done<CopySide> {
        let [x, y, first] = self.position;
        if self.array.is_null() {
            let row = (first + z) * self.rows + y;
            return Ok(CopySide::of(self.pointer.wrapping_byte_add(row * self.pitch + x), self.pitch));
        }
        let array = array(self.array)?;
        let x = x * self.unit()?;
        array.check(x, y, width, height)?;
        if (first + z) as u64 >= array.size[2].max(1) {
            return Err(error::INVALID_VALUE);
        }
        Ok(array.side(x, y, first + z))
    }
}

/// Copies between arrays or pitched memory. `params` points to `cudaMemcpy3DParms`.
pub fn volume(runtime: &mut Runtime, params: *const c_void) -> Done {
    let (from, to) = (Volume::read(params, 0)?, Volume::read(params, 64)?);
    let [width, height, depth]: [usize; 3] = [field(params, 128)?, field(params, 136)?, field(params, 144)?];
    let kind: c_int = field(params, 152)?;
    // If either side is an array, the width is in texels.
    let width = width * from.unit()?.max(to.unit()?);
    for z in 0..depth {
        let (target, source) = (to.plane(z, width, height)?, from.plane(z, width, height)?);
        runtime.copy(target, source, width, height, kind)?;
    }
    Ok(())
}

#[unsafe(no_mangle)]
extern "C" fn cudaCreateChannelDesc(x: c_int, y: c_int, z: c_int, w: c_int, kind: c_int) -> TexelFormat {
    TexelFormat { bits: [x, y, z, w], kind }
}

api! {
    fn cudaMallocArray(to: *mut *mut Array, format: *const TexelFormat, width: usize, height: usize, flags: u32) |runtime| {
        make(runtime, to, format, [width, height, 0], flags)
    };
    fn cudaMalloc3DArray(to: *mut *mut Array, format: *const TexelFormat, extent: VolumeExtent, flags: u32) |runtime| {
        if flags & (LAYERED | CUBE) == LAYERED | CUBE {
            return runtime.not_supported("cudaMalloc3DArray of layers of cubes");
        }
        make(runtime, to, format, [extent.width, extent.height, extent.depth], flags)
    };
    fn cudaFreeArray(handle: *mut Array) |runtime| {
        if handle.is_null() {
            return Ok(());
        }
        runtime.release(array(handle)?.address)?;
        // SAFETY: `make` made it, and the program gives it back once: a second time its memory is not the device's.
        drop(unsafe { Box::from_raw(handle) });
        Ok(())
    };
    fn cudaGetChannelDesc(to: *mut TexelFormat, handle: *const Array) |_| put(to, array(handle)?.format);
    fn cudaArrayGetInfo(format: *mut TexelFormat, extent: *mut VolumeExtent, flags: *mut u32, handle: *const Array) |_| {
        let array = array(handle)?;
        let [width, height, depth] = array.size.map(|side| side as usize);
        put_if(format, array.format);
        put_if(extent, VolumeExtent { width, height, depth });
        put_if(flags, array.flags);
        Ok(())
    };
    fn cudaMemcpyToArray(to: *mut Array, x: usize, y: usize, from: *const c_void, count: usize, kind: c_int) |runtime| {
        run(runtime, to, [x, y], CopySide::of(from, 0), count, kind, true)
    };
    fn cudaMemcpyToArrayAsync(
        to: *mut Array, x: usize, y: usize, from: *const c_void, count: usize, kind: c_int, stream: *mut c_void,
    ) |runtime| runtime.on(stream, |runtime| run(runtime, to, [x, y], CopySide::of(from, 0), count, kind, true));
    fn cudaMemcpyFromArray(to: *mut c_void, from: *const Array, x: usize, y: usize, count: usize, kind: c_int) |runtime| {
        run(runtime, from, [x, y], CopySide::of(to, 0), count, kind, false)
    };
    fn cudaMemcpyFromArrayAsync(
        to: *mut c_void, from: *const Array, x: usize, y: usize, count: usize, kind: c_int, stream: *mut c_void,
    ) |runtime| runtime.on(stream, |runtime| run(runtime, from, [x, y], CopySide::of(to, 0), count, kind, false));
    fn cudaMemcpy2DToArray(
        to: *mut Array, x: usize, y: usize, from: *const c_void, pitch: usize, width: usize, height: usize, kind: c_int,
    ) |runtime| rows(runtime, to, [x, y], CopySide::of(from, pitch), [width, height], kind, true);
    fn cudaMemcpy2DToArrayAsync(
        to: *mut Array, x: usize, y: usize, from: *const c_void, pitch: usize, width: usize, height: usize, kind: c_int,
        stream: *mut c_void,
    ) |runtime| {
        runtime.on(stream, |runtime| rows(runtime, to, [x, y], CopySide::of(from, pitch), [width, height], kind, true))
    };
    fn cudaMemcpy2DFromArray(
        to: *mut c_void, pitch: usize, from: *const Array, x: usize, y: usize, width: usize, height: usize, kind: c_int,
    ) |runtime| rows(runtime, from, [x, y], CopySide::of(to, pitch), [width, height], kind, false);
    fn cudaMemcpy2DArrayToArray(
        to: *mut Array, to_x: usize, to_y: usize, from: *const Array, x: usize, y: usize, width: usize, height: usize,
        _kind: c_int,
    ) |runtime| {
        let source = array(from)?;
        source.check(x, y, width, height)?;
        rows(runtime, to, [to_x, to_y], source.side(x, y, 0), [width, height], DEVICE_TO_DEVICE, true)
    };
    fn cudaMemcpy3D(params: *const c_void) |runtime| volume(runtime, params);
    fn cudaMemcpy3DAsync(params: *const c_void, stream: *mut c_void) |runtime| {
        runtime.submit(stream, Work::volume(params)?)
    };
}
