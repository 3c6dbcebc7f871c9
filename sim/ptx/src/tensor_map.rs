//! Tensor maps: descriptions of tensors in global memory, from which a copy takes a box. The driver library makes them, and the
//! executor reads them.

/// Bytes of a tensor map.
pub const BYTES: usize = 128;
/// Max dimensions of a tensor.
pub const MOST_DIMENSIONS: usize = 5;
/// First bytes of a tensor map.
const MAGIC: u32 = 0x6d61_7401;

/// Element bytes by number of the data type in the driver API; 0 for an unsupported type.
const ELEMENT_BYTES: [u8; 16] = [1, 2, 4, 4, 8, 8, 2, 4, 8, 2, 4, 4, 4, 0, 0, 0];
/// Data types that are floating-point numbers.
const FLOATS: std::ops::RangeInclusive<usize> = 6..=12;
/// Data types that flush subnormal numbers or round to TF32.
const ROUNDED: std::ops::RangeInclusive<usize> = 10..=12;

/// A tensor in global memory, and the box that a copy takes from it. The first dimension is contiguous.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TensorMap {
    /// Number of the data type in the driver API.
    pub data_type: u8,
    /// Number of dimensions.
    pub rank: u8,
    /// Address of the first element.
    pub address: u64,
    /// Elements in each dimension.
    pub sides: [u32; MOST_DIMENSIONS],
    /// Bytes from an element to the next, in each dimension.
    pub strides: [u64; MOST_DIMENSIONS],
    /// Elements of the box in each dimension, before [`Self::steps`].
    pub box_sides: [u16; MOST_DIMENSIONS],
    /// Distance of the elements that are taken, in each dimension.
    pub steps: [u8; MOST_DIMENSIONS],
    /// Bytes of the span in which a row's 16-byte pieces are permuted: 32, 64 or 128; 0 for none.
    pub swizzle: u8,
    /// `true`: elements outside the tensor are NaN; `false`: 0.
    pub fills_nan: bool,
}

/// Arguments of the driver API.
pub struct TiledTensor<'a> {
    /// Number of the data type.
    pub data_type: u32,
    /// Address of the first element.
    pub address: u64,
    /// Elements in each dimension.
    pub sides: &'a [u64],
    /// Bytes from an element to the next, in each dimension but the first.
    pub strides: &'a [u64],
    /// Elements of the box in each dimension.
    pub box_sides: &'a [u32],
    /// Distance of the elements that are taken, in each dimension.
    pub steps: &'a [u32],
    /// Number of the interleaved layout; only 0 is supported.
    pub interleave: u32,
    /// Number of the permutation; 0 to 3 are supported.
    pub swizzle: u32,
    /// 0: elements outside the tensor are 0; 1: they are NaN.
    pub fill: u32,
}

impl TensorMap {
    /// Checks the arguments of the driver API. Returns `None` if they are invalid or unsupported.
    pub fn new(of: &TiledTensor) -> Option<Self> {
        let rank = of.sides.len();
        let data_type = usize::try_from(of.data_type).ok()?;
        let bytes = u64::from(*ELEMENT_BYTES.get(data_type)?);
        let rounded = ROUNDED.contains(&data_type);
        if bytes == 0 || rounded || !(1..=MOST_DIMENSIONS).contains(&rank) || of.interleave != 0 {
            return None;
        }
        let swizzle = *[0, 32, 64, 128].get(of.swizzle as usize)?;
        let aligned = of.address.is_multiple_of(16)
            && of.strides.iter().all(|stride| stride.is_multiple_of(16) && *stride < 1 << 40);
        let sides = of.sides.iter().all(|side| (1..=1 << 31).contains(side));
        let boxes = of.box_sides.iter().all(|side| (1..=256).contains(side));
        let steps = of.steps.iter().all(|step| (1..=8).contains(step));
        let row = u64::from(*of.box_sides.first()?) * bytes;
        let fits = row.is_multiple_of(16) && (swizzle == 0 || row <= u64::from(swizzle));
        let fill = of.fill == 0 || of.fill == 1 && FLOATS.contains(&data_type);
        if !(aligned && sides && boxes && steps && fits && fill) {
            return None;
        }
        let mut map = Self {
            data_type: data_type as u8,
            rank: rank as u8,
            address: of.address,
            sides: [1; MOST_DIMENSIONS],
            strides: [0; MOST_DIMENSIONS],
            box_sides: [1; MOST_DIMENSIONS],
            steps: [1; MOST_DIMENSIONS],
            swizzle,
            fills_nan: of.fill == 1,
        };
        map.strides[0] = bytes;
        for dimension in 0..rank {
            map.sides[dimension] = of.sides[dimension] as u32;
            map.box_sides[dimension] = *of.box_sides.get(dimension)? as u16;
            if dimension > 0 {
                map.strides[dimension] = *of.strides.get(dimension - 1)?;
                // The first dimension has no step.
                map.steps[dimension] = *of.steps.get(dimension)? as u8;
            }
        }
        Some(map)
    }

    /// Returns the bytes of an element.
    pub fn element_bytes(&self) -> u64 {
        self.strides[0]
    }

    /// Returns the elements that a copy takes in a dimension.
    pub fn count(&self, dimension: usize) -> u64 {
        u64::from(self.box_sides[dimension].div_ceil(self.steps[dimension].into()))
    }

    /// Returns the bytes of a box.
    pub fn box_bytes(&self) -> u64 {
        (0..MOST_DIMENSIONS).map(|dimension| self.count(dimension)).product::<u64>() * self.element_bytes()
    }

    /// Returns the bits of an element outside the tensor.
    pub fn fill(&self) -> [u8; 8] {
        let bits: u64 = match (self.fills_nan, self.data_type) {
            (false, _) => 0,
            (true, 6 | 9) => 0x7fff,
            (true, 8) => 0x7fff_ffff_ffff_ffff,
            (true, _) => 0x7fff_ffff,
        };
        bits.to_le_bytes()
    }

    /// Returns the address in shared memory of byte `at` of the box, which starts at `base`. The pieces of 16 bytes are permuted by
    /// bits of the address.
    pub fn place(&self, base: u64, at: u64) -> u64 {
        let address = base + at;
        let pieces = u64::from(self.swizzle) / 16;
        match pieces {
            0 => address,
            _ => address ^ (address >> 7 & (pieces - 1)) << 4,
        }
    }

    /// Returns the form in which programs hold the map.
    pub fn encode(&self) -> [u8; BYTES] {
        let mut out = Vec::with_capacity(BYTES);
        out.extend(MAGIC.to_le_bytes());
        out.extend([self.data_type, self.rank, self.swizzle, u8::from(self.fills_nan)]);
        out.extend(self.address.to_le_bytes());
        self.sides.iter().for_each(|side| out.extend(side.to_le_bytes()));
        self.strides.iter().for_each(|stride| out.extend(stride.to_le_bytes()));
        self.box_sides.iter().for_each(|side| out.extend(side.to_le_bytes()));
        out.extend(self.steps);
        out.resize(BYTES, 0);
        out.try_into().expect("it has that many bytes")
    }

    /// Reads a map; `None` if the bytes are none.
    pub fn decode(bytes: &[u8; BYTES]) -> Option<Self> {
        fn take<const N: usize>(rest: &mut &[u8]) -> [u8; N] {
            let (taken, left) = rest.split_at(N);
            *rest = left;
            taken.try_into().expect("it has that many bytes")
        }
        let mut rest = &bytes[..];
        if u32::from_le_bytes(take(&mut rest)) != MAGIC {
            return None;
        }
        let [data_type, rank, swizzle, fills_nan] = take(&mut rest);
        let address = u64::from_le_bytes(take(&mut rest));
        let sides = std::array::from_fn(|_| u32::from_le_bytes(take(&mut rest)));
        let strides = std::array::from_fn(|_| u64::from_le_bytes(take(&mut rest)));
        let box_sides = std::array::from_fn(|_| u16::from_le_bytes(take(&mut rest)));
        let steps = take(&mut rest);
        Some(Self {
            data_type,
            rank,
            address,
            sides,
            strides,
            box_sides,
            steps,
            swizzle,
            fills_nan: fills_nan != 0,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns a valid tensor of half precision with three dimensions.
    fn tensor() -> TiledTensor<'static> {
        TiledTensor {
            data_type: 6,
            address: 0x1000,
            sides: &[100, 20, 1 << 31],
            strides: &[208, 4160],
            box_sides: &[64, 8, 2],
            steps: &[1, 3, 1],
            interleave: 0,
            swizzle: 3,
            fill: 1,
        }
    }

    #[test]
    fn a_map_is_read_as_it_was_made() {
        let map = TensorMap::new(&tensor()).expect("valid");
        assert_eq!(
            (map.rank, map.swizzle, map.strides, map.sides[2]),
            (3, 128, [2, 208, 4160, 0, 0], 1 << 31)
        );
        // Three of eight rows are taken.
        assert_eq!((map.count(1), map.box_bytes()), (3, 64 * 3 * 2 * 2));
        assert_eq!(TensorMap::decode(&map.encode()), Some(map));
        assert_eq!(TensorMap::decode(&[0; BYTES]), None);
    }

    #[test]
    fn arguments_beyond_the_limits_of_the_api_are_refused() {
        let refused = |change: &dyn Fn(&mut TiledTensor)| {
            let mut of = tensor();
            change(&mut of);
            TensorMap::new(&of).is_none()
        };
        assert!(!refused(&|_| ()));
        assert!(refused(&|of| of.data_type = 16) && refused(&|of| of.data_type = 13));
        assert!(refused(&|of| of.address = 0x1008));
        assert!(refused(&|of| of.sides = &[100, 0, 3]) && refused(&|of| of.sides = &[]));
        assert!(refused(&|of| of.sides = &[1 << 32, 1, 1]));
        assert!(refused(&|of| of.strides = &[208, 4168]) && refused(&|of| of.strides = &[208]));
        // The row of a box has whole pieces of 16 bytes, and at most the bytes of a permuted span.
        assert!(refused(&|of| of.box_sides = &[60, 8, 2]) && refused(&|of| of.box_sides = &[72, 8, 2]));
        assert!(refused(&|of| of.box_sides = &[64, 257, 2]));
        assert!(refused(&|of| of.steps = &[1, 9, 1]) && refused(&|of| of.steps = &[1, 0, 1]));
        assert!(refused(&|of| of.interleave = 1) && refused(&|of| of.swizzle = 4));
        assert!(refused(&|of| of.data_type = 1), "integers have no NaN");
    }
}
