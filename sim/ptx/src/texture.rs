//! Textures: views of device memory that kernels sample through a handle.
//!
//! A host program describes a texture. [`crate::memory::DeviceMemory::create_texture`] checks it and returns a
//! handle, which the kernel takes as a 64-bit argument. A texture reference (a `.texref` variable of the module)
//! holds such a handle: the host writes it to the variable. Texels are stored row by row, with `pitch` bytes between
//! rows. The planes of a volume follow one another. Arrays on real GPUs have an undocumented tiling.

use selvedge_state::State;

/// Interpretation of the bits of a texel's channel.
#[derive(Debug, Clone, Copy, PartialEq, Eq, State)]
pub enum ChannelKind {
    /// Unsigned integers of 8, 16 or 32 bits.
    Unsigned,
    /// Signed integers of 8, 16 or 32 bits.
    Signed,
    /// Unsigned integers of 8 or 16 bits that read as 0 to 1.
    UnsignedNormalized,
    /// Signed integers of 8 or 16 bits that read as -1 to 1.
    SignedNormalized,
    /// Floating-point numbers of 16 or 32 bits.
    Float,
}

/// Value at a coordinate outside the texture.
#[derive(Debug, Clone, Copy, PartialEq, Eq, State)]
pub enum AddressMode {
    /// The texel at the edge.
    Clamp,
    /// Zeros.
    Border,
    /// The texture repeated, for normalized coordinates only. Otherwise as [`AddressMode::Clamp`].
    Wrap,
    /// The texture repeated, every second copy mirrored, for normalized coordinates only. Otherwise as
    /// [`AddressMode::Clamp`].
    Mirror,
}

/// Value at a coordinate between texels.
#[derive(Debug, Clone, Copy, PartialEq, Eq, State)]
pub enum FilterMode {
    /// The texel that contains the coordinate.
    Point,
    /// The weighted mean of the two nearest texels in each dimension. Weights are multiples of 1/256.
    Linear,
}

/// A texture object.
#[derive(Debug, Clone, PartialEq, Eq, State)]
pub struct Texture {
    /// Device address of the first texel, a multiple of the texel's size.
    pub address: u64,
    /// Texels per dimension, for one to three dimensions.
    pub size: Vec<u32>,
    /// Bytes from one row to the next, a multiple of the texel's size.
    pub pitch: u64,
    /// Interpretation of a channel's bits.
    pub kind: ChannelKind,
    /// Bits of a channel: 8, 16 or 32.
    pub bits: u8,
    /// Channels of a texel: 1, 2 or 4.
    pub channels: u8,
    /// `true`: floating-point coordinates range from 0 to 1 over the texture; `false`: they count texels.
    pub normalized: bool,
    /// Treatment of coordinates outside the texture.
    pub address_mode: AddressMode,
    /// Treatment of coordinates between texels.
    pub filter: FilterMode,
}

/// Address of a texel of a sample, and its weight. A texel without an address is zero.
pub type Tap = (Option<u64>, f32);

/// Max texels of a sample.
pub const MAX_TAPS: usize = 8;

/// Texels of a sample.
#[derive(Debug, Clone, Copy)]
pub struct Taps {
    list: [Tap; MAX_TAPS],
    count: usize,
}

impl Taps {
    /// Returns the texels in order.
    pub fn iter(&self) -> impl Iterator<Item = &Tap> {
        self.list[..self.count].iter()
    }
}

/// A texel index in one dimension and its weight. The index is `None` outside the texture.
type Pick = (Option<u32>, f32);

impl Texture {
    /// Returns the bytes of a texel.
    #[must_use]
    pub(crate) fn texel_bytes(&self) -> u8 {
        self.bits / 8 * self.channels
    }

    /// Returns the bytes from the first texel to the end of the last; `None` on overflow.
    #[must_use]
    pub fn span(&self) -> Option<u64> {
        let rows: u64 = self.size[1..].iter().try_fold(1u64, |n, &side| n.checked_mul(side.into()))?;
        let row = u64::from(*self.size.first()?).checked_mul(self.texel_bytes().into())?;
        self.pitch.checked_mul(rows.checked_sub(1)?)?.checked_add(row)
    }

    /// Returns the error in the description, if any.
    pub fn mistake(&self) -> Option<String> {
        let kind_fits = match self.kind {
            ChannelKind::Float => matches!(self.bits, 16 | 32),
            ChannelKind::Unsigned | ChannelKind::Signed => matches!(self.bits, 8 | 16 | 32),
            _ => matches!(self.bits, 8 | 16),
        };
        let texel = u64::from(self.texel_bytes()).max(1);
        if !matches!(self.size.len(), 1..=3) || self.size.contains(&0) {
            return Some(format!("size {:?}: must be one to three numbers from 1", self.size));
        }
        if !kind_fits || !matches!(self.channels, 1 | 2 | 4) {
            let (channels, bits, kind) = (self.channels, self.bits, self.kind);
            return Some(format!("{channels} channels of {bits} bits, {kind:?}: no texel has that format"));
        }
        let row = u64::from(self.size[0]) * texel;
        if self.size.len() > 1 && self.pitch < row {
            return Some(format!("pitch {}: must be at least {row} bytes, a whole row", self.pitch));
        }
        if !self.address.is_multiple_of(texel) || !self.pitch.is_multiple_of(texel) {
            let (address, pitch) = (self.address, self.pitch);
            return Some(format!("address {address:#x}, pitch {pitch}: must be multiples of {texel}"));
        }
        let integers = matches!(self.kind, ChannelKind::Unsigned | ChannelKind::Signed);
        if integers && self.filter == FilterMode::Linear {
            return Some("linear filtering: allowed for floating-point and normalized channels".to_owned());
        }
        None
    }

    fn address_of(&self, texel: [Option<u32>; 3]) -> Option<u64> {
        let [x, y, z] = [texel[0]?, texel[1]?, texel[2]?].map(u64::from);
        let height = self.size.get(1).copied().map_or(1, u64::from);
        Some(self.address + (z * height + y) * self.pitch + x * u64::from(self.texel_bytes()))
    }

    /// Returns the texel at integer coordinates. Address mode and filter do not apply: coordinates outside have no
    /// texel.
    pub fn fetch(&self, coordinates: [i32; 3]) -> Taps {
        let pick = |axis: usize| {
            let Some(&side) = self.size.get(axis) else { return Some(0) };
            u32::try_from(coordinates[axis]).ok().filter(|&index| index < side)
        };
        let mut list = [(None, 0.0); MAX_TAPS];
        list[0] = (self.address_of([pick(0), pick(1), pick(2)]), 1.0);
        Taps { list, count: 1 }
    }

    /// Returns the texels at floating-point coordinates, according to address mode and filter.
    pub fn sample(&self, coordinates: [f32; 3]) -> Taps {
        self.taps(std::array::from_fn(|axis| match self.size.get(axis) {
            Some(&side) => self.picks(coordinates[axis], side),
            None => [(Some(0), 1.0), (None, 0.0)],
        }))
    }

    /// Samples as [`Texture::sample`] does, in one layer of a texture whose last dimension counts layers. `layer` is
    /// clamped to the last layer.
    pub(crate) fn sample_layer(&self, coordinates: [f32; 3], layer: u32) -> Taps {
        let last = self.size.len() - 1;
        self.taps(std::array::from_fn(|axis| match self.size.get(axis) {
            Some(&side) if axis < last => self.picks(coordinates[axis], side),
            Some(&layers) => [(Some(layer.min(layers - 1)), 1.0), (None, 0.0)],
            None => [(Some(0), 1.0), (None, 0.0)],
        }))
    }

    /// Returns the combinations of the texels picked per dimension, with the products of their weights.
    fn taps(&self, picks: [[Pick; 2]; 3]) -> Taps {
        let mut taps = Taps { list: [(None, 0.0); MAX_TAPS], count: 0 };
        for corner in 0..8 {
            let [x, y, z] = std::array::from_fn(|axis| picks[axis][corner >> axis & 1]);
            let weight = x.1 * y.1 * z.1;
            if weight > 0.0 {
                taps.list[taps.count] = (self.address_of([x.0, y.0, z.0]), weight);
                taps.count += 1;
            }
        }
        taps
    }

    /// Returns the texels of one dimension that a coordinate reads, with their weights.
    fn picks(&self, coordinate: f32, side: u32) -> [Pick; 2] {
        // A NaN coordinate reads the first texel.
        let coordinate = if coordinate.is_nan() { 0.0 } else { f64::from(coordinate) };
        let place = if self.normalized { self.folded(coordinate) * f64::from(side) } else { coordinate };
        if self.filter == FilterMode::Point {
            return [(self.index(place.floor(), side), 1.0), (None, 0.0)];
        }
        let below = (place - 0.5).floor();
        let steps = ((place - 0.5 - below) * 256.0).round();
        // An infinite position has no fraction, and both its neighbours are equal.
        let above = if steps.is_finite() { (steps / 256.0) as f32 } else { 0.0 };
        [(self.index(below, side), 1.0 - above), (self.index(below + 1.0, side), above)]
    }

    /// Maps a normalized coordinate into 0 to 1 according to the address mode.
    fn folded(&self, coordinate: f64) -> f64 {
        let (whole, fraction) = (coordinate.floor(), coordinate - coordinate.floor());
        match self.address_mode {
            _ if coordinate.is_infinite() => coordinate,
            AddressMode::Wrap => fraction,
            AddressMode::Mirror if whole % 2.0 != 0.0 => 1.0 - fraction,
            AddressMode::Mirror => fraction,
            AddressMode::Clamp | AddressMode::Border => coordinate,
        }
    }

    /// Returns the texel at an integer position, which may be outside the texture because of the filter.
    fn index(&self, place: f64, side: u32) -> Option<u32> {
        let last = f64::from(side - 1);
        if (0.0..=last).contains(&place) {
            return Some(place as u32);
        }
        match self.address_mode {
            AddressMode::Border => None,
            AddressMode::Wrap if self.normalized && place.is_finite() => {
                Some(place.rem_euclid(f64::from(side)) as u32)
            }
            _ => Some(place.clamp(0.0, last) as u32),
        }
    }

    /// Returns the channels of a texel as 32-bit words. Normalized and floating-point kinds become single precision.
    /// Missing channels are 0, except the fourth, which is 1.
    pub fn channels(&self, texel: &[u8]) -> [u32; 4] {
        let one = if self.is_float() { 1f32.to_bits() } else { 1 };
        let mut out = [0, 0, 0, one];
        let bytes = usize::from(self.bits / 8);
        for (channel, out) in texel.chunks_exact(bytes).zip(&mut out) {
            let mut word = [0; 4];
            word[..bytes].copy_from_slice(channel);
            *out = self.channel(u32::from_le_bytes(word));
        }
        out
    }

    /// Returns whether samples are floating-point numbers.
    pub(crate) fn is_float(&self) -> bool {
        !matches!(self.kind, ChannelKind::Unsigned | ChannelKind::Signed)
    }

    fn channel(&self, bits: u32) -> u32 {
        let unused = 32 - u32::from(self.bits);
        let signed = (bits << unused) as i32 >> unused;
        let most = |bits: u8| ((1u32 << bits) - 1) as f32;
        match self.kind {
            ChannelKind::Unsigned => bits,
            ChannelKind::Signed => signed as u32,
            ChannelKind::UnsignedNormalized => (bits as f32 / most(self.bits)).to_bits(),
            // The most negative number also reads as -1, so that zero is exact.
            ChannelKind::SignedNormalized => (signed as f32 / most(self.bits - 1)).max(-1.0).to_bits(),
            ChannelKind::Float if self.bits == 16 => crate::ptx::half_to_single(bits as u16).to_bits(),
            ChannelKind::Float => bits,
        }
    }
}
