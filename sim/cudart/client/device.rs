//! The only device, with the properties of the simulated configuration.
use crate::pointers::{bytes_mut, put, put_if};
use crate::protocol::{Property, error};
use crate::runtime::Runtime;
use crate::{Done, api};
use std::ffi::{c_char, c_int, c_void};

/// CUDA's error code for an invalid device number.
const INVALID_DEVICE: i32 = 101;
/// Max size of a module's constants in bytes.
const CONSTANT_BYTES: u64 = 64 << 10;
/// Alignment of texture rows in memory, in bytes.
const PITCH_ALIGNMENT: u64 = 32;
const MOST_PITCH: u64 = (1 << 31) - 1;
const MOST_BLOCKS: [u64; 3] = [0x7fff_ffff, 0xffff, 0xffff];
const MOST_THREADS: [u64; 3] = [1024, 1024, 64];
const MOST_TEXELS: [u64; 3] = [1 << 17, 1 << 16, 1 << 14];

/// Name of the device.
const NAME: &[u8] = b"Selvedge simulated GPU";
/// Attributes with the major and minor number of the compute capability.
pub const MAJOR: c_int = 75;
pub const MINOR: c_int = 76;

/// Stores the device's name with a zero at its end, cut to `size` bytes.
pub fn put_name(to: *mut c_char, size: c_int) -> Done {
    let size = usize::try_from(size).ok().filter(|size| *size > 0).ok_or(error::INVALID_VALUE)?;
    let out = bytes_mut(to.cast(), size)?;
    out.fill(0);
    let count = NAME.len().min(size - 1);
    out[..count].copy_from_slice(&NAME[..count]);
    Ok(())
}

/// The CUDA releases that the library can replace.
#[unsafe(no_mangle)]
static selvedge_release_11: u8 = 11;
#[unsafe(no_mangle)]
static selvedge_release_12: u8 = 12;
#[unsafe(no_mangle)]
static selvedge_release_13: u8 = 13;

unsafe extern "C" {
    /// The release that the linker selects.
    safe static selvedge_cudart_release: u8;
}

/// Returns the CUDA release: 11, 12 or 13.
pub fn release() -> u8 {
    selvedge_cudart_release
}

/// A property: offset in the structure of CUDA 11 and 12, offset in CUDA 13 if it exists there, size in bytes, value.
type PropertyField = (usize, Option<usize>, usize, u64);

/// Returns all properties that are not 0.
fn fields(runtime: &mut Runtime) -> Done<Vec<PropertyField>> {
    let mut of = |property| runtime.property(property);
    let architecture = of(Property::Architecture)?;
    let (shared, registers, memory) =
        (of(Property::SharedBytes)?, of(Property::Registers)?, of(Property::Memory)?);
    let has_clusters = u64::from(of(Property::ClusterBlocks)? > 1);
    let mut out = vec![
        (288, Some(288), 8, memory),
        (296, Some(296), 8, shared),
        (304, Some(304), 4, registers),
        (308, Some(308), 4, 32),
        (312, Some(312), 8, MOST_PITCH),
        (320, Some(320), 4, 1024),
        (348, None, 4, of(Property::CoreKhz)?),
        (352, Some(352), 8, CONSTANT_BYTES),
        (360, Some(360), 4, architecture / 10),
        (364, Some(364), 4, architecture % 10),
        (368, Some(368), 8, 256),
        (376, Some(376), 8, PITCH_ALIGNMENT),
        (384, None, 4, 1),
        (388, Some(384), 4, of(Property::Sms)?),
        (400, Some(392), 4, 1),
        (408, Some(396), 4, MOST_TEXELS[0]),
        (416, None, 4, 1 << 27),
        (576, Some(560), 4, 0),
        (600, Some(584), 4, 1),
        (604, Some(588), 4, 1),
        (608, None, 4, of(Property::MemoryKhz)?),
        (612, Some(592), 4, of(Property::BusBits)?),
        (616, Some(596), 4, of(Property::L2Bytes)?),
        (624, Some(604), 4, of(Property::Threads)?),
        (640, Some(624), 8, shared),
        (648, Some(632), 4, registers),
        (652, Some(636), 4, 1),
        (688, Some(668), 4, 1),
        (696, Some(672), 8, shared),
        (712, Some(688), 4, of(Property::Blocks)?),
        // Registration of host memory, and the default memory pool.
        (728, Some(704), 4, 1),
        (744, Some(720), 4, 1),
        (772, Some(748), 4, has_clusters),
    ];
    for axis in 0..3 {
        out.push((324 + 4 * axis, Some(324 + 4 * axis), 4, MOST_THREADS[axis]));
        out.push((336 + 4 * axis, Some(336 + 4 * axis), 4, MOST_BLOCKS[axis]));
        out.push((456 + 4 * axis, Some(440 + 4 * axis), 4, MOST_TEXELS[2]));
    }
    for axis in 0..2 {
        out.push((420 + 4 * axis, Some(404 + 4 * axis), 4, MOST_TEXELS[1]));
    }
    Ok(out)
}

/// Fills a structure of `size` bytes. `is_newest` selects the layout of CUDA 13.
fn properties(runtime: &mut Runtime, to: *mut c_void, size: usize, is_newest: bool) -> Done {
    let out = bytes_mut(to, size)?;
    out.fill(0);
    out[..NAME.len()].copy_from_slice(NAME);
    for (old, new, bytes, value) in fields(runtime)? {
        let Some(at) = (if is_newest { new } else { Some(old) }) else { continue };
        // The structure of CUDA 11 ends before the last fields.
        if let Some(field) = out.get_mut(at..at + bytes) {
            field.copy_from_slice(&value.to_le_bytes()[..bytes]);
        }
    }
    Ok(())
}

/// Returns an attribute by its CUDA number. Unknown attributes are 0.
pub fn attribute(runtime: &mut Runtime, number: c_int) -> Done<u64> {
    let mut of = |property| runtime.property(property);
    Ok(match number {
        1 => 1024,
        2..=4 => MOST_THREADS[number as usize - 2],
        5..=7 => MOST_BLOCKS[number as usize - 5],
        8 | 81 | 97 => of(Property::SharedBytes)?,
        9 => CONSTANT_BYTES,
        10 => 32,
        11 => MOST_PITCH,
        12 | 82 => of(Property::Registers)?,
        13 => of(Property::CoreKhz)?,
        14 => 256,
        15 | 19 | 40 | 41 | 79 | 80 | 83 | 95 | 99 | 115 => 1,
        16 => of(Property::Sms)?,
        21 => MOST_TEXELS[0],
        22 | 23 => MOST_TEXELS[1],
        24..=26 => MOST_TEXELS[2],
        36 => of(Property::MemoryKhz)?,
        37 => of(Property::BusBits)?,
        38 => of(Property::L2Bytes)?,
        39 => of(Property::Threads)?,
        51 => PITCH_ALIGNMENT,
        MAJOR => of(Property::Architecture)? / 10,
        MINOR => of(Property::Architecture)? % 10,
        106 => of(Property::Blocks)?,
        120 => (of(Property::ClusterBlocks)? > 1).into(),
        _ => 0,
    })
}

/// Checks that the device number is 0.
pub fn check(device: c_int) -> Done {
    if device == 0 { Ok(()) } else { Err(INVALID_DEVICE) }
}

api! {
    fn cudaGetDeviceCount(to: *mut c_int) |_| put(to, 1);
    fn cudaGetDevice(to: *mut c_int) |_| put(to, 0);
    fn cudaSetDevice(device: c_int) |_| check(device);
    fn cudaInitDevice(device: c_int, _flags: u32, _device_flags: u32) |_| check(device);
    fn cudaSetDeviceFlags(_flags: u32) |_| Ok(());
    fn cudaGetDeviceFlags(flags: *mut u32) |_| put(flags, 0);
    fn cudaSetValidDevices(_devices: *mut c_int, _count: c_int) |_| Ok(());
    fn cudaChooseDevice(to: *mut c_int, _wanted: *const c_void) |_| put(to, 0);
    fn cudaGetDeviceProperties(to: *mut c_void, device: c_int) |runtime| {
        check(device)?;
        match release() {
            13 => properties(runtime, to, 1008, true),
            _ => properties(runtime, to, 728, false),
        }
    };
    // Name in the headers of CUDA 12, and of some releases of CUDA 13.
    fn cudaGetDeviceProperties_v2(to: *mut c_void, device: c_int) |runtime| {
        check(device)?;
        match release() {
            13 => properties(runtime, to, 1008, true),
            _ => properties(runtime, to, 1032, false),
        }
    };
    fn cudaDeviceGetAttribute(to: *mut c_int, number: c_int, device: c_int) |runtime| {
        check(device)?;
        put(to, attribute(runtime, number)? as c_int)
    };
    fn cudaDeviceGetPCIBusId(to: *mut c_char, length: c_int, device: c_int) |_| {
        check(device)?;
        let id = b"0000:00:00.0\0";
        let out = bytes_mut(to.cast(), usize::try_from(length).map_err(|_| error::INVALID_VALUE)?)?;
        out.get_mut(..id.len()).ok_or(error::INVALID_VALUE)?.copy_from_slice(id);
        Ok(())
    };
    fn cudaDeviceCanAccessPeer(to: *mut c_int, _device: c_int, _peer: c_int) |_| put(to, 0);
    fn cudaDriverGetVersion(to: *mut c_int) |_| put(to, version());
    fn cudaRuntimeGetVersion(to: *mut c_int) |_| put(to, version());
    fn cudaDeviceSetCacheConfig(_config: c_int) |_| Ok(());
    fn cudaDeviceGetCacheConfig(to: *mut c_int) |_| put(to, 0);
    fn cudaThreadSetCacheConfig(_config: c_int) |_| Ok(());
    fn cudaDeviceSetSharedMemConfig(_config: c_int) |_| Ok(());
    fn cudaDeviceGetSharedMemConfig(to: *mut c_int) |_| put(to, 1);
    // Stack, heap and print buffer of kernels have no limit.
    fn cudaDeviceSetLimit(_limit: c_int, _value: usize) |_| Ok(());
    fn cudaThreadSetLimit(_limit: c_int, _value: usize) |_| Ok(());
    fn cudaDeviceGetLimit(to: *mut usize, _limit: c_int) |runtime| {
        put(to, runtime.property(Property::Memory)? as usize)
    };
    // The report covers the whole program. A reset therefore has no effect.
    fn cudaDeviceReset() |_| Ok(());
    fn cudaThreadExit() |_| Ok(());
    fn cudaProfilerStart() |_| Ok(());
    fn cudaProfilerStop() |_| Ok(());
    fn cudaDeviceGetDefaultMemPool(to: *mut *mut c_void, device: c_int) |_| {
        check(device)?;
        put_if(to, std::ptr::dangling_mut());
        Ok(())
    };
    fn cudaMemPoolSetAttribute(_pool: *mut c_void, _attribute: c_int, _value: *const c_void) |_| Ok(());
}

/// Returns the CUDA version as an integer, such as 12090 for 12.9.
pub fn version() -> c_int {
    match release() {
        11 => 11_080,
        12 => 12_090,
        _ => 13_000,
    }
}
