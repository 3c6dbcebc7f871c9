//! Generates a launch file: every kernel of a PTX file with its parameters, and values with which it runs.
use super::LaunchFileError;
use super::kernel_name::{self, NoKernel};
use super::trial::{self, TrialSizes};
use selvedge_ptx::ptx::{Kernel, Module, Param, ParamKind, RefusedKernel, TextureSource, TextureUse};
use std::fmt::Write;
use std::sync::Arc;

/// Returns the text of a launch file for `kernel`, or for every kernel of `module`. `file` is the path of the PTX
/// file for messages; `ptx` is its path in the launch file.
///
/// # Errors
/// [`LaunchFileError`] if the PTX has no such kernel, no kernel, or no executable kernel.
pub(super) fn template(
    file: &str,
    ptx: &str,
    module: &Module,
    kernel: Option<&str>,
) -> Result<String, LaunchFileError> {
    let bad = |message: String| LaunchFileError::Bad { file: file.into(), line: 1, message };
    let chosen = match kernel {
        Some(name) => vec![kernel_name::find(module, name).map_err(|why| match why {
            NoKernel::Refused(kernel) => refuse(&kernel),
            NoKernel::Name(message) => bad(message),
        })?],
        None => module.kernels().to_vec(),
    };
    if chosen.is_empty() {
        let none = || bad("there is no kernel in the PTX".into());
        return Err(module.refused().first().map_or_else(none, refuse));
    }
    let chosen: Vec<Chosen> = chosen.into_iter().map(|kernel| Chosen::new(module, kernel)).collect();
    let mut out = String::new();
    // Writing to a string cannot fail.
    let _ = head(&mut out, ptx, module);
    for kernel in &chosen {
        let _ = buffers(&mut out, kernel);
    }
    let _ = textures(&mut out, &chosen, module);
    for kernel in &chosen {
        let _ = launch(&mut out, kernel);
    }
    Ok(out)
}

/// Returns the error that a kernel cannot be executed.
fn refuse(RefusedKernel { kernel, error }: &RefusedKernel) -> LaunchFileError {
    let message = format!("kernel '{kernel}': {}", error.message);
    LaunchFileError::Bad { file: error.file.clone(), line: error.line as usize, message }
}

/// A kernel with sizes for its inputs.
struct Chosen {
    kernel: Arc<Kernel>,
    sizes: TrialSizes,
    /// Reason why it does not run with these sizes, if so.
    stops: Option<String>,
}

impl Chosen {
    fn new(module: &Module, kernel: Arc<Kernel>) -> Self {
        match trial::find(module, &kernel) {
            Ok(sizes) => Chosen { kernel, sizes, stops: None },
            Err((sizes, why)) => Chosen { kernel, sizes, stops: Some(why) },
        }
    }
}

/// Assumed meaning of a parameter.
pub(super) enum Guess {
    Texture(TextureUse),
    /// The address of a buffer of elements.
    Buffer {
        bits: u8,
        float: bool,
        signed: bool,
    },
    Integer,
    Float,
    Structure,
}

/// Returns the assumed meaning of each parameter of a kernel.
pub(super) fn guesses(kernel: &Kernel, sizes: TrialSizes) -> Vec<Guess> {
    let pointers = kernel.pointers();
    let guess = |(index, param): (usize, &Param)| {
        if let Some(texture) = handle(kernel, index) {
            return Guess::Texture(texture);
        }
        let pointer = pointers.iter().find(|pointer| pointer.param == index);
        match (param.kind, param.bytes) {
            (ParamKind::Integer, 8) if let Some(found) = pointer => {
                Guess::Buffer { bits: found.bits, float: found.float, signed: found.signed }
            }
            (ParamKind::Integer, 8) if sizes.addresses => {
                Guess::Buffer { bits: 32, float: true, signed: false }
            }
            (ParamKind::Integer, _) => Guess::Integer,
            (ParamKind::Float, _) => Guess::Float,
            (ParamKind::Bytes, _) => Guess::Structure,
        }
    };
    kernel.params.iter().enumerate().map(guess).collect()
}

/// Describes a parameter.
pub(super) fn describe(param: &Param) -> String {
    let noun = match (param.kind, param.bytes) {
        (ParamKind::Integer, 8) => "address or integer",
        (ParamKind::Integer, _) => "integer",
        (ParamKind::Float, _) => "floating-point number",
        (ParamKind::Bytes, _) => "structure",
    };
    format!("{noun} of {} bytes", param.bytes)
}

fn buffer_name(kernel: &Kernel, index: usize) -> String {
    format!("{}.{index}", kernel.name)
}

/// Returns the kernel's use of the texture whose handle is this parameter, if any.
fn handle(kernel: &Kernel, param: usize) -> Option<TextureUse> {
    kernel.textures().into_iter().find(|texture| texture.source == TextureSource::Param(param))
}

/// Describes a texture.
fn describe_texture(texture: &TextureUse, module: &Module) -> String {
    let source = match texture.source {
        TextureSource::Variable(address) => {
            format!("through {}", module.global_at(address).unwrap_or("a variable"))
        }
        TextureSource::Param(index) => format!("by parameter {index}"),
        TextureSource::Elsewhere => "by a handle from memory, which a launch file cannot give".into(),
    };
    let kind = if texture.float { "floating-point numbers" } else { "integers" };
    format!("samples {kind} in {}D {source}", texture.dimensions)
}

fn head(out: &mut String, ptx: &str, module: &Module) -> std::fmt::Result {
    writeln!(out, "# Run it with: selvedge run THIS_FILE")?;
    writeln!(out, "# Every path starts from this file's folder.")?;
    writeln!(out, "ptx = {}", quoted(ptx))?;
    writeln!(out, "\n# The kernels in it:")?;
    for kernel in module.kernels() {
        writeln!(out, "#   {}", kernel.name)?;
        for (index, param) in kernel.params.iter().enumerate() {
            writeln!(out, "#     {index}: {}, {}", param.name, describe(param))?;
        }
        for texture in kernel.textures() {
            writeln!(out, "#     {}", describe_texture(&texture, module))?;
        }
    }
    if !module.refused().is_empty() {
        writeln!(out, "\n# Kernels that cannot be executed:")?;
    }
    for refused in module.refused() {
        writeln!(out, "#   {}", refused.kernel)?;
        writeln!(out, "#     line {}: {}", refused.error.line, refused.error.message)?;
    }
    Ok(())
}

/// Returns a TOML string.
fn quoted(text: &str) -> String {
    toml::Value::String(text.into()).to_string()
}

fn buffers(out: &mut String, chosen: &Chosen) -> std::fmt::Result {
    let kernel = &chosen.kernel;
    for (index, (param, guess)) in kernel.params.iter().zip(guesses(kernel, chosen.sizes)).enumerate() {
        let Guess::Buffer { bits, float, signed } = guess else { continue };
        let letter = match (float, signed) {
            (true, _) => 'f',
            (false, true) => 's',
            (false, false) => 'u',
        };
        let element = format!("\"{letter}{bits}\"");
        writeln!(out, "\n[[buffer]]                 # for {} of {}", param.name, kernel.name)?;
        writeln!(out, "name = {}", quoted(&buffer_name(kernel, index)))?;
        writeln!(out, "type = {element:<19} # b, u, s or f with 8, 16, 32 or 64 bits; bf16")?;
        writeln!(out, "count = {}", chosen.sizes.count)?;
        writeln!(out, "init = \"zeros\"             # zeros, constant, iota, random, values or file")?;
        writeln!(out, "# expect = {{ file = \"wanted.txt\", relative = 1e-5 }}")?;
        writeln!(out, "# save = {{ file = \"result.txt\" }}")?;
    }
    Ok(())
}

/// Writes the textures that the kernels sample through a parameter or a variable, each with a buffer of texels.
fn textures(out: &mut String, chosen: &[Chosen], module: &Module) -> std::fmt::Result {
    let mut references = Vec::new();
    for Chosen { kernel, sizes, .. } in chosen {
        for texture in kernel.textures() {
            match texture.source {
                TextureSource::Param(index) if handle(kernel, index) == Some(texture) => {
                    view(out, &buffer_name(kernel, index), (&texture, *sizes), None)?;
                }
                TextureSource::Variable(address) if !references.contains(&address) => {
                    references.push(address);
                    let Some(name) = module.global_at(address) else { continue };
                    view(out, name, (&texture, *sizes), Some(name))?;
                }
                _ => {}
            }
        }
    }
    Ok(())
}

/// Writes one texture called `name`, with its texels.
fn view(
    out: &mut String,
    name: &str,
    (texture, sizes): (&TextureUse, TrialSizes),
    reference: Option<&str>,
) -> std::fmt::Result {
    let size = trial::texels(texture, sizes);
    let coordinates = if texture.cube { "\"normalized\"" } else { "\"texels\"" };
    let buffer = quoted(&format!("{name}.texels"));
    let element = if texture.float { "f32" } else { "u32" };
    writeln!(out, "\n[[buffer]]                 # the texels of {name}, row by row")?;
    writeln!(out, "name = {buffer}")?;
    writeln!(out, "type = \"{element}\"               # u or s with 8, 16 or 32 bits, f16 or f32")?;
    writeln!(out, "count = {}", size.iter().product::<u64>())?;
    writeln!(out, "\n[[texture]]")?;
    writeln!(out, "name = {}", quoted(name))?;
    writeln!(out, "buffer = {buffer}")?;
    writeln!(out, "size = {size:?}           # texels in x, y and z")?;
    writeln!(out, "channels = 1               # 1, 2 or 4 numbers to a texel")?;
    writeln!(out, "coordinates = {coordinates:<12} # texels or normalized, for floating-point coordinates")?;
    writeln!(out, "address = \"clamp\"          # clamp, border, wrap or mirror")?;
    writeln!(out, "filter = \"point\"           # point or linear")?;
    if let Some(reference) = reference {
        writeln!(out, "reference = {}           # the variable of the PTX", quoted(reference))?;
    }
    Ok(())
}

fn launch(out: &mut String, chosen: &Chosen) -> std::fmt::Result {
    let Chosen { kernel, sizes, stops } = chosen;
    let block = match trial::block(kernel, *sizes) {
        [x, 1, 1] => format!("[{x}]"),
        block => format!("{block:?}"),
    };
    writeln!(out)?;
    if let Some(why) = stops {
        writeln!(out, "# It does not run with these inputs: {why}")?;
    }
    writeln!(out, "[[launch]]")?;
    writeln!(out, "kernel = {}", quoted(&kernel.name))?;
    writeln!(out, "grid = [1]                 # blocks in x, y and z")?;
    writeln!(out, "block = {block:<18} # threads of a block in x, y and z")?;
    if kernel.dynamic_shared {
        let bytes = trial::dynamic_shared(kernel, *sizes);
        writeln!(out, "dynamic_shared = {bytes:<9} # bytes of `.extern .shared` memory per block")?;
    }
    for (index, (param, guess)) in kernel.params.iter().zip(guesses(kernel, *sizes)).enumerate() {
        writeln!(out, "\n[[launch.arg]]             # {}: {}", param.name, describe(param))?;
        let bits = 8 * param.bytes;
        match guess {
            Guess::Texture(_) => writeln!(out, "texture = {}", quoted(&buffer_name(kernel, index)))?,
            Guess::Buffer { .. } => {
                writeln!(out, "buffer = {}", quoted(&buffer_name(kernel, index)))?;
                writeln!(out, "# If it is a number and no address: type = \"u64\" and value = 1 instead.")?;
            }
            Guess::Integer => writeln!(out, "type = \"s{bits}\"\nvalue = {}", sizes.side)?,
            Guess::Float => writeln!(out, "type = \"f{bits}\"\nvalue = 1.0")?,
            Guess::Structure => {
                let zeros = vec!["0"; param.bytes as usize].join(", ");
                writeln!(
                    out,
                    "type = \"b8\"                # its bytes; or the type of its members, if all have one"
                )?;
                writeln!(out, "values = [{zeros}]")?;
            }
        }
    }
    Ok(())
}
