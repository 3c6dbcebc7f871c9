//! Textures: texture objects, texture references to which the program binds memory, and surface objects.
use crate::arrays::{Array, TexelFormat, array};
use crate::pointers::{field, get, put, put_if};
use crate::protocol::{Call, error, sync};
use crate::runtime::Runtime;
use crate::{Done, api, memory};
use std::ffi::{c_int, c_void};

struct Texels {
    address: u64,
    pitch: u64,
    /// Texels in each dimension.
    size: Vec<u64>,
    format: TexelFormat,
}

/// Parameters of sampling.
struct TextureSampling {
    normalized_coordinates: bool,
    normalized_values: bool,
    address_mode: c_int,
    filter: c_int,
}

impl Texels {
    fn of_array(handle: *const Array) -> Done<Self> {
        let Array { address, pitch, size, format, .. } = array(handle)?;
        // Layers of one-dimensional arrays have a width and a depth.
        let size = size.iter().copied().filter(|side| *side > 0).collect();
        Ok(Texels { address: *address, pitch: *pitch, size, format: *format })
    }

    /// Returns the texels in at most `bytes` bytes, as one row.
    fn linear(runtime: &Runtime, pointer: *const c_void, format: TexelFormat, bytes: u64) -> Done<Self> {
        let address = pointer as usize as u64;
        let (base, size) = runtime.allocation(address).ok_or(error::INVALID_VALUE)?;
        let bytes = bytes.min(base + size - address);
        let texel = format.bytes();
        if texel == 0 {
            return Err(error::INVALID_VALUE);
        }
        Ok(Texels { address, pitch: bytes.next_multiple_of(texel), size: vec![bytes / texel], format })
    }

    /// Creates the texture and returns its handle.
    fn texture(&self, runtime: &mut Runtime, sampling: &TextureSampling) -> Done<u64> {
        runtime.send_managed()?;
        let format = &self.format;
        let kind = match (format.kind, sampling.normalized_values) {
            (0, true) => 3,
            (1, true) => 4,
            (kind, _) => kind as u64,
        };
        let mut words = vec![
            self.address,
            self.pitch,
            kind,
            format.bits[0].unsigned_abs().into(),
            format.channels(),
            sampling.normalized_coordinates.into(),
            u64::from(sampling.address_mode.unsigned_abs()),
            u64::from(sampling.filter.unsigned_abs()),
        ];
        words.extend(&self.size);
        Ok(runtime.connection.numbers(Call::Texture, &words, &[], 1)?[0])
    }
}

/// Binds a texture reference to texels.
fn bind(runtime: &mut Runtime, reference: *const c_void, texels: &Texels) -> Done {
    let variable = runtime.variables.get(&(reference as usize)).ok_or(18)?;
    let sampling = TextureSampling {
        normalized_values: variable.is_normalized,
        normalized_coordinates: field::<c_int>(reference, 0)? != 0,
        filter: field(reference, 4)?,
        address_mode: field(reference, 8)?,
    };
    let handle = texels.texture(runtime, &sampling)?;
    let (address, _) = runtime.variable(reference)?;
    runtime.wait_for(sync::ALL, 0)?;
    runtime.connection.write(address, &handle.to_le_bytes())
}

/// Returns the texels of a resource descriptor.
fn resource(runtime: &Runtime, desc: *const c_void) -> Done<Texels> {
    let format = || -> Done<TexelFormat> { field(desc, 16) };
    match field::<c_int>(desc, 0)? {
        0 => Texels::of_array(field(desc, 8)?),
        2 => Texels::linear(runtime, field(desc, 8)?, format()?, field(desc, 40)?),
        3 => {
            let pointer: *const c_void = field(desc, 8)?;
            let [width, height, pitch]: [u64; 3] = [field(desc, 40)?, field(desc, 48)?, field(desc, 56)?];
            Ok(Texels {
                address: pointer as usize as u64,
                pitch,
                size: vec![width, height],
                format: format()?,
            })
        }
        _ => Err(error::NOT_SUPPORTED),
    }
}

api! {
    fn cudaCreateTextureObject(to: *mut u64, resource_desc: *const c_void, texture: *const c_void, _view: *const c_void) |runtime| {
        let texels = resource(runtime, resource_desc)?;
        let sampling = TextureSampling {
            address_mode: field(texture, 0)?,
            filter: field(texture, 12)?,
            normalized_values: field::<c_int>(texture, 16)? != 0,
            normalized_coordinates: field::<c_int>(texture, 40)? != 0,
        };
        put(to, texels.texture(runtime, &sampling)?)
    };
    fn cudaCreateSurfaceObject(to: *mut u64, resource_desc: *const c_void) |runtime| {
        if field::<c_int>(resource_desc, 0)? != 0 {
            return Err(error::INVALID_VALUE);
        }
        // Instructions on surfaces access bytes, and do not sample.
        let sampling =
            TextureSampling { address_mode: 0, filter: 0, normalized_values: false, normalized_coordinates: false };
        let texels = Texels::of_array(field(resource_desc, 8)?)?;
        put(to, texels.texture(runtime, &sampling)?)
    };
    // Textures and surfaces have no memory to free.
    fn cudaDestroySurfaceObject(_surface: u64) |_| Ok(());
    fn cudaDestroyTextureObject(_texture: u64) |_| Ok(());
    fn cudaBindTexture(
        offset: *mut usize, reference: *const c_void, pointer: *const c_void, format: *const TexelFormat, size: usize,
    ) |runtime| {
        put_if(offset, 0);
        let texels = Texels::linear(runtime, pointer, get(format)?, size as u64)?;
        bind(runtime, reference, &texels)
    };
    fn cudaBindTexture2D(
        offset: *mut usize, reference: *const c_void, pointer: *const c_void, format: *const TexelFormat, width: usize,
        height: usize, pitch: usize,
    ) |runtime| {
        put_if(offset, 0);
        let size = vec![width as u64, height as u64];
        let texels = Texels { address: pointer as usize as u64, pitch: pitch as u64, size, format: get(format)? };
        bind(runtime, reference, &texels)
    };
    fn cudaBindTextureToArray(reference: *const c_void, handle: *const Array, _format: *const TexelFormat) |runtime| {
        bind(runtime, reference, &Texels::of_array(handle)?)
    };
    fn cudaUnbindTexture(_reference: *const c_void) |_| Ok(());
    fn cudaGetTextureAlignmentOffset(offset: *mut usize, _reference: *const c_void) |_| put(offset, 0);
    fn cudaGetTextureReference(to: *mut *const c_void, symbol: *const c_void) |_| put(to, symbol);
    fn cudaDeviceGetTexture1DLinearMaxWidth(to: *mut usize, _format: *const TexelFormat, _device: c_int) |_| {
        put(to, memory::MOST_LINEAR_TEXELS)
    };
}
