//! TOML form of a launch file: keys with their positions, before any checks.
use super::element::{Element, FileNumber};
use super::error::LaunchFileError;
use serde::Deserialize;
use std::path::{Path, PathBuf};
use toml::Spanned;

/// Declares a table with optional keys that keep their positions. One such table may represent several kinds of
/// items.
macro_rules! table {
    ($(#[$doc:meta])* $name:ident { $($(#[$key_doc:meta])* $key:ident $text:literal : $type:ty),* $(,)? }) => {
        $(#[$doc])*
        #[derive(Clone, Debug, Default, Deserialize)]
        #[serde(deny_unknown_fields)]
        pub(super) struct $name { $($(#[$key_doc])* #[serde(rename = $text)] pub $key: Option<Spanned<$type>>),* }

        impl $name {
            /// Returns the keys that are present, each with its position.
            pub(super) fn given(&self) -> impl Iterator<Item = (&'static str, usize)> {
                let places = [$(($text, self.$key.as_ref().map(|value| value.span().start))),*];
                places.into_iter().filter_map(|(key, place)| Some((key, place?)))
            }
        }
    };
}

table! {
    /// `[[buffer]]`, `[[symbol]]` or an argument. A later check permits keys by kind.
    Item {
        name "name": String,
        /// Buffer whose address is the argument.
        buffer "buffer": String,
        /// Elements between the start of `buffer` and the address.
        offset "offset": u64,
        /// Texture whose handle is the argument.
        texture "texture": String,
        element "type": Element,
        /// Types of a structure's members, instead of one type.
        members "members": Vec<Element>,
        /// Buffer that contains this one.
        of "of": String,
        /// Positions that hold addresses of buffers.
        addresses "addresses": Vec<RawAddress>,
        /// A number that depends on turns.
        expression "expression": String,
        value "value": FileNumber,
        values "values": Vec<FileNumber>,
        /// Increment of `value` per turn of the loop.
        per_turn "per_turn": FileNumber,
        count "count": u64,
        init "init": Init,
        start "start": FileNumber,
        step "step": FileNumber,
        seed "seed": u64,
        distribution "distribution": Distribution,
        low "low": FileNumber,
        high "high": FileNumber,
        mean "mean": f64,
        deviation "deviation": f64,
        exponent "exponent": f64,
        limit "limit": u64,
        file "file": String,
        format "format": NumberText,
        expect "expect": Expect,
        save "save": Save,
    }
}

/// A position that holds the address of a buffer's element.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RawAddress {
    /// Bytes before the position.
    pub at: u64,
    pub buffer: Spanned<String>,
    /// Index of the element to which the address points.
    #[serde(default)]
    pub offset: u64,
}

/// `[[host]]`: an operation of the host between launches.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RawHost {
    pub copy: Option<Spanned<RawCopy>>,
    pub set: Option<Spanned<RawSet>>,
    /// Buffer whose initial contents are restored.
    pub reset: Option<Spanned<String>>,
    /// Loop that contains the operation.
    pub r#loop: Option<Spanned<String>>,
}

/// `copy` of a `[[host]]`.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RawCopy {
    pub from: Option<Spanned<String>>,
    pub to: Option<Spanned<String>>,
    pub from_offset: Option<u64>,
    pub to_offset: Option<u64>,
    pub count: Option<u64>,
}

/// `set` of a `[[host]]`.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RawSet {
    pub buffer: Option<Spanned<String>>,
    pub value: Option<Spanned<FileNumber>>,
    pub offset: Option<u64>,
    pub count: Option<u64>,
}

/// `[[loop]]`: turns of a loop.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Loop {
    pub name: Option<Spanned<String>>,
    /// Loop that contains this one.
    pub within: Option<Spanned<String>>,
    pub turns: Option<Spanned<u64>>,
    pub until: Option<Spanned<Until>>,
    /// Pairs of buffers that are swapped between turns.
    pub swap: Option<Spanned<Vec<[String; 2]>>>,
}

/// `until` of a loop.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Until {
    pub buffer: Option<Spanned<String>>,
    pub index: Option<u64>,
    pub is: Option<Spanned<Is>>,
    /// Value that the host writes to the flag before every turn.
    pub reset: Option<Spanned<FileNumber>>,
}

/// `expect` of a buffer.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Expect {
    pub file: Option<Spanned<String>>,
    #[serde(default)]
    pub format: NumberText,
    pub absolute: Option<Spanned<f64>>,
    pub relative: Option<Spanned<f64>>,
}

/// `save` of a buffer.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Save {
    pub file: Option<Spanned<String>>,
    #[serde(default)]
    pub format: NumberText,
}

/// Initial contents of a buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Init {
    Zeros,
    Constant,
    Iota,
    Random,
    Values,
    File,
}

/// Distribution of random numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Distribution {
    Uniform,
    Normal,
    Zipf,
}

/// Format of numbers in a file: text, or little-endian bytes as in memory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum NumberText {
    #[default]
    Text,
    Raw,
}

/// Value of a flag at which its loop ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Is {
    Zero,
    Nonzero,
}

/// `[[texture]]`: a view of a buffer that kernels sample.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RawTexture {
    pub name: Option<Spanned<String>>,
    pub buffer: Option<Spanned<String>>,
    /// Elements of the buffer before the first texel.
    pub offset: Option<Spanned<u64>>,
    /// Texels in x, y and z.
    pub size: Option<Spanned<Vec<u32>>>,
    /// Bytes from one row to the next.
    pub pitch: Option<Spanned<u64>>,
    /// Channels per texel, each of the buffer's type.
    pub channels: Option<Spanned<u8>>,
    pub read: Option<Spanned<TexelRead>>,
    pub coordinates: Option<Spanned<Coordinates>>,
    pub address: Option<Spanned<Address>>,
    pub filter: Option<Spanned<Filter>>,
    /// PTX variable that holds the handle.
    pub reference: Option<Spanned<String>>,
}

/// Value of an integer texel in a sample.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum TexelRead {
    /// The integer itself.
    Element,
    /// A number from 0 to 1, or from -1 to 1.
    Normalized,
}

/// Unit of floating-point coordinates.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Coordinates {
    Texels,
    /// 0 to 1 over the texture.
    Normalized,
}

/// Treatment of coordinates outside a texture.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Address {
    Clamp,
    Border,
    Wrap,
    Mirror,
}

impl Address {
    /// Returns the name of a mode that repeats the texture. Such a mode needs normalized coordinates.
    pub(super) fn needs_normalized(self) -> Option<&'static str> {
        match self {
            Self::Clamp | Self::Border => None,
            Self::Wrap => Some("wrap"),
            Self::Mirror => Some("mirror"),
        }
    }
}

/// Treatment of coordinates between texels.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Filter {
    Point,
    Linear,
}

/// One `[[launch]]`.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RawLaunch {
    pub kernel: Spanned<String>,
    pub grid: Spanned<Vec<FileNumber>>,
    pub block: Spanned<Vec<FileNumber>>,
    #[serde(default)]
    pub dynamic_shared: u32,
    #[serde(default)]
    pub arg: Vec<Spanned<Item>>,
    /// Loop that contains the launch.
    pub r#loop: Option<Spanned<String>>,
}

/// The whole file. A file with one launch may have the launch's keys at the top level.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RawFile {
    pub ptx: Spanned<PtxFiles>,
    pub kernel: Option<Spanned<String>>,
    pub grid: Option<Spanned<Vec<FileNumber>>>,
    pub block: Option<Spanned<Vec<FileNumber>>>,
    pub dynamic_shared: Option<Spanned<u32>>,
    #[serde(default)]
    pub arg: Vec<Spanned<Item>>,
    #[serde(default)]
    pub buffer: Vec<Spanned<Item>>,
    #[serde(default)]
    pub symbol: Vec<Spanned<Item>>,
    #[serde(default)]
    pub texture: Vec<Spanned<RawTexture>>,
    #[serde(default)]
    pub r#loop: Vec<Spanned<Loop>>,
    #[serde(default)]
    pub launch: Vec<Spanned<RawLaunch>>,
    #[serde(default)]
    pub host: Vec<Spanned<RawHost>>,
}

/// One or several PTX files.
#[derive(Clone, Debug, Deserialize)]
#[serde(untagged, expecting = "expected the name of a PTX file, or a list of them")]
pub(super) enum PtxFiles {
    One(String),
    Several(Vec<String>),
}

impl RawFile {
    /// Returns the PTX files, each at the position of the key.
    pub(super) fn ptx_files(&self) -> Vec<Spanned<String>> {
        let names = match self.ptx.get_ref() {
            PtxFiles::One(name) => std::slice::from_ref(name),
            PtxFiles::Several(names) => names,
        };
        names.iter().map(|name| Spanned::new(self.ptx.span(), name.clone())).collect()
    }

    /// Returns the files that a run reads.
    pub(super) fn reads(&self) -> impl Iterator<Item = Spanned<String>> {
        let values = self.items().filter_map(|item| item.file.as_ref());
        let expected = self.items().filter_map(|item| item.expect.as_ref()?.get_ref().file.as_ref());
        self.ptx_files().into_iter().chain(values.chain(expected).cloned())
    }

    /// Returns the files that a run saves.
    pub(super) fn saves(&self) -> impl Iterator<Item = &Spanned<String>> {
        self.items().filter_map(|item| item.save.as_ref()?.get_ref().file.as_ref())
    }

    /// Returns the tables that may name files.
    fn items(&self) -> impl Iterator<Item = &Item> {
        let of_launches = self.launch.iter().flat_map(|launch| &launch.get_ref().arg);
        let all = self.symbol.iter().chain(&self.buffer).chain(&self.arg).chain(of_launches);
        all.map(Spanned::get_ref)
    }
}

/// Text of the launch file, for messages with line numbers, and the folder to which its paths are relative.
#[derive(Clone, Debug)]
pub(super) struct Text {
    /// Path as given by the user.
    pub name: String,
    pub folder: PathBuf,
    pub text: String,
}

impl Text {
    /// Parses the TOML.
    pub(super) fn parse(&self) -> Result<RawFile, LaunchFileError> {
        toml::from_str(&self.text)
            .map_err(|error| self.bad(error.span().map_or(0, |span| span.start), error.message()))
    }

    /// Returns the error `message` at byte `at`.
    pub(super) fn bad(&self, at: usize, message: impl Into<String>) -> LaunchFileError {
        LaunchFileError::at(&self.name, self.text.as_bytes(), at, message.into())
    }

    /// Returns the location of a path in the file.
    pub(super) fn path(&self, written: &str) -> PathBuf {
        self.folder.join(Path::new(written))
    }

    /// Returns the value of a key that a table at `at` must have.
    pub(super) fn need<'a, T>(
        &self,
        value: &'a Option<Spanned<T>>,
        key: &str,
        at: usize,
    ) -> Result<&'a Spanned<T>, LaunchFileError> {
        value.as_ref().ok_or_else(|| self.bad(at, format!("missing key `{key}`")))
    }

    /// Returns an error for a key that is not among `allowed`.
    pub(super) fn only(
        &self,
        mut given: impl Iterator<Item = (&'static str, usize)>,
        allowed: &[&str],
        noun: &str,
    ) -> Result<(), LaunchFileError> {
        given.find(|(key, _)| !allowed.contains(key)).map_or(Ok(()), |(key, at)| {
            let allowed = allowed.join("`, `");
            Err(self.bad(at, format!("unknown field `{key}` for {noun}: must be `{allowed}`")))
        })
    }
}
