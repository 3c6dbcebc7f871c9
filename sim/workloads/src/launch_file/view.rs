//! Textures of a launch file: views of its buffers, which kernels sample by a handle or through a texture reference.
use super::buffer::{Buffer, BufferHome, find};
use super::element::{Class, Element};
use super::error::LaunchFileError;
use super::format::{Address, Coordinates, Filter, RawTexture, TexelRead, Text};
use selvedge_ptx::ptx::Module;
use selvedge_ptx::texture::{AddressMode, ChannelKind, FilterMode, Texture};
use toml::Spanned;

/// Size of a handle, in bytes.
const HANDLE_BYTES: u64 = 8;

/// A checked `[[texture]]`.
#[derive(Clone, Debug)]
pub(super) struct TextureView {
    pub name: String,
    /// Byte offset in the launch file.
    pub at: usize,
    pub buffer: usize,
    /// Description of the texture. Its address is the offset in the buffer.
    pub texture: Texture,
    /// PTX variable that holds the handle, and its byte offset in the launch file.
    pub reference: Option<(usize, String)>,
}

impl TextureView {
    /// Checks a table, except for values that only the PTX states.
    pub(super) fn check(
        text: &Text,
        table: &Spanned<RawTexture>,
        buffers: &[Buffer],
    ) -> Result<Self, LaunchFileError> {
        let (at, raw) = (table.span().start, table.get_ref());
        let name = text.need(&raw.name, "name", at)?.get_ref().clone();
        let named = text.need(&raw.buffer, "buffer", at)?;
        let buffer = find(text, named, buffers)?;
        let size = text.need(&raw.size, "size", at)?;
        let element = buffers[buffer].element;
        let normalized = raw.read.as_ref().is_some_and(|read| *read.get_ref() == TexelRead::Normalized);
        let (kind, bits) = channel(element, normalized).ok_or_else(|| {
            let place = raw.read.as_ref().map_or(named.span().start, |read| read.span().start);
            text.bad(place, format!("a texture of {}: must be u8 to u32, s8 to s32, f16 or f32, and with read = \"normalized\" u8, u16, s8 or s16", format!("{element:?}").to_lowercase()))
        })?;
        let channels = raw.channels.as_ref().map_or(1, |channels| *channels.get_ref());
        if !matches!(channels, 1 | 2 | 4) {
            let place = raw.channels.as_ref().map_or(at, |channels| channels.span().start);
            return Err(text.bad(place, format!("channels = {channels}: must be 1, 2 or 4")));
        }
        let texel = u64::from(bits / 8 * channels);
        let row = u64::from(size.get_ref().first().copied().unwrap_or(0)) * texel;
        let offset = raw.offset.as_ref().map_or(0, |offset| *offset.get_ref());
        let normalized_coordinates =
            raw.coordinates.as_ref().is_some_and(|c| *c.get_ref() == Coordinates::Normalized);
        if !normalized_coordinates
            && let Some(address) = raw.address.as_ref()
            && let Some(mode) = address.get_ref().needs_normalized()
        {
            let message = format!(
                "address = \"{mode}\": must be \"clamp\" or \"border\" unless coordinates = \"normalized\""
            );
            return Err(text.bad(address.span().start, message));
        }
        let texture = Texture {
            address: offset.saturating_mul(element.bytes() as u64),
            size: size.get_ref().clone(),
            pitch: raw.pitch.as_ref().map_or(row, |pitch| *pitch.get_ref()),
            kind,
            bits,
            channels,
            normalized: normalized_coordinates,
            address_mode: match raw.address.as_ref().map(Spanned::get_ref) {
                None | Some(Address::Clamp) => AddressMode::Clamp,
                Some(Address::Border) => AddressMode::Border,
                Some(Address::Wrap) => AddressMode::Wrap,
                Some(Address::Mirror) => AddressMode::Mirror,
            },
            filter: match raw.filter.as_ref().map(Spanned::get_ref) {
                None | Some(Filter::Point) => FilterMode::Point,
                Some(Filter::Linear) => FilterMode::Linear,
            },
        };
        if let Some(mistake) = texture.mistake() {
            return Err(text.bad(at, format!("texture `{name}`: {mistake}")));
        }
        let reference = raw.reference.as_ref().map(|r| (r.span().start, r.get_ref().clone()));
        let view = TextureView { name, at, buffer, texture, reference };
        if let Some(count) = buffers[buffer].count {
            view.fits(text, &buffers[buffer], count)?;
        }
        Ok(view)
    }

    /// Checks that the texels are inside `buffer`, which has `count` elements.
    fn fits(&self, text: &Text, buffer: &Buffer, count: u64) -> Result<(), LaunchFileError> {
        let has = count.saturating_mul(buffer.element.bytes() as u64);
        let end = self.texture.span().and_then(|span| span.checked_add(self.texture.address));
        if end.is_some_and(|end| end <= has) {
            return Ok(());
        }
        let needs = end.map_or("more than all memory".into(), |end| format!("{end} bytes"));
        let (name, buffer) = (&self.name, &buffer.name);
        Err(text.bad(self.at, format!("texture `{name}` ends after {needs}: buffer `{buffer}` has {has}")))
    }

    /// Checks the texture against the PTX. Returns the address of the variable that holds its handle.
    pub(super) fn bind(
        &self,
        text: &Text,
        buffers: &[Buffer],
        bound: &[(BufferHome, u64)],
        module: &Module,
    ) -> Result<Option<u64>, LaunchFileError> {
        let (place, count) = bound[self.buffer];
        if place == BufferHome::Constant {
            let message =
                format!("symbol `{}` is constant: no texture can be made of it", buffers[self.buffer].name);
            return Err(text.bad(self.at, message));
        }
        self.fits(text, &buffers[self.buffer], count)?;
        let Some((at, name)) = &self.reference else { return Ok(None) };
        match module.global(name) {
            Some((address, HANDLE_BYTES)) => Ok(Some(address)),
            Some((_, bytes)) => {
                let message =
                    format!("variable `{name}` has {bytes} bytes: must be one of 8 that holds a handle");
                Err(text.bad(*at, message))
            }
            None => Err(text.bad(*at, format!("no global variable `{name}` in the PTX"))),
        }
    }
}

/// Returns the interpretation of texels of this type, and the bits of a channel.
fn channel(element: Element, normalized: bool) -> Option<(ChannelKind, u8)> {
    let bits = 8 * element.bytes() as u8;
    let kind = match (element.class(), element, normalized) {
        (Class::Unsigned, _, false) if bits <= 32 => ChannelKind::Unsigned,
        (Class::Signed, _, false) if bits <= 32 => ChannelKind::Signed,
        (Class::Unsigned, _, true) if bits <= 16 => ChannelKind::UnsignedNormalized,
        (Class::Signed, _, true) if bits <= 16 => ChannelKind::SignedNormalized,
        (_, Element::F16 | Element::F32, false) => ChannelKind::Float,
        _ => return None,
    };
    Some((kind, bits))
}
