//! A launch file to begin with: every kernel of a PTX file with its parameters, and values that run.
use super::LaunchFileError;
use selvedge_ptx::ptx::{Kernel, Module, Param, ParamKind, TextureSource, TextureUse};
use std::fmt::Write;
use std::sync::Arc;

/// What a template's integers are. As they often count the points along a side, buffers hold a cube of that side.
const SIDE: u64 = 16;
/// Threads of a template's launches.
const THREADS: u32 = 32;

/// The text of a launch file for `kernel`, or for every kernel of `module` in turn; `file` is the PTX file, and `ptx` its
/// path as the launch file shall name it.
///
/// # Errors
/// The PTX has no such kernel, or none at all.
pub(super) fn template(
    file: &str,
    ptx: &str,
    module: &Module,
    kernel: Option<&str>,
) -> Result<String, LaunchFileError> {
    let kernels = module.kernels();
    let chosen: Vec<&Arc<Kernel>> =
        kernels.iter().filter(|k| kernel.is_none_or(|name| k.name == name)).collect();
    if chosen.is_empty() {
        let names = kernels.iter().map(|k| k.name.as_str()).collect::<Vec<_>>().join(", ");
        let message = match kernel {
            Some(name) if !names.is_empty() => format!("no kernel `{name}` in the PTX: there are {names}"),
            _ => "there is no kernel in the PTX".into(),
        };
        return Err(LaunchFileError::Bad { file: file.into(), line: 1, message });
    }
    let mut out = String::new();
    // Writing to a string cannot fail.
    let _ = head(&mut out, ptx, kernels, module);
    for kernel in &chosen {
        let _ = buffers(&mut out, kernel);
    }
    let _ = textures(&mut out, &chosen, module);
    for kernel in &chosen {
        let _ = launch(&mut out, kernel);
    }
    Ok(out)
}

/// A parameter in words.
pub(super) fn describe(param: &Param) -> String {
    let noun = match (param.kind, param.bytes) {
        (ParamKind::Integer, 8) => "address or integer",
        (ParamKind::Integer, _) => "integer",
        (ParamKind::Float, _) => "floating-point number",
        (ParamKind::Bytes, _) => "structure",
    };
    format!("{noun} of {} bytes", param.bytes)
}

/// Is it taken for an address?
fn is_address(param: &Param) -> bool {
    (param.kind, param.bytes) == (ParamKind::Integer, 8)
}

fn buffer_name(kernel: &Kernel, index: usize) -> String {
    format!("{}.{index}", kernel.name)
}

/// How the kernel samples the texture whose handle is this parameter, if it is one.
fn handle(kernel: &Kernel, param: usize) -> Option<TextureUse> {
    kernel.textures().into_iter().find(|texture| texture.source == TextureSource::Param(param))
}

/// How many texels a template's texture has in each direction.
fn texels(texture: &TextureUse) -> Vec<u64> {
    vec![SIDE; usize::from(texture.dimensions)]
}

/// What a texture is, in words.
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

fn head(out: &mut String, ptx: &str, kernels: &[Arc<Kernel>], module: &Module) -> std::fmt::Result {
    writeln!(out, "# Run it with: selvedge run THIS_FILE")?;
    writeln!(out, "# Every path starts from this file's folder.")?;
    writeln!(out, "ptx = {}", quoted(ptx))?;
    writeln!(out, "\n# The kernels in it:")?;
    for kernel in kernels {
        writeln!(out, "#   {}", kernel.name)?;
        for (index, param) in kernel.params.iter().enumerate() {
            writeln!(out, "#     {index}: {}, {}", param.name, describe(param))?;
        }
        for texture in kernel.textures() {
            writeln!(out, "#     {}", describe_texture(&texture, module))?;
        }
    }
    Ok(())
}

/// A TOML string.
fn quoted(text: &str) -> String {
    toml::Value::String(text.into()).to_string()
}

fn buffers(out: &mut String, kernel: &Kernel) -> std::fmt::Result {
    for (index, param) in kernel.params.iter().enumerate().filter(|(_, param)| is_address(param)) {
        if handle(kernel, index).is_some() {
            continue;
        }
        writeln!(out, "\n[[buffer]]                 # for {} of {}", param.name, kernel.name)?;
        writeln!(out, "name = {}", quoted(&buffer_name(kernel, index)))?;
        writeln!(out, "type = \"f32\"               # b, u, s or f with 8, 16, 32 or 64 bits; bf16")?;
        writeln!(out, "count = {}", SIDE.pow(3))?;
        writeln!(out, "init = \"zeros\"             # zeros, constant, iota, random, values or file")?;
        writeln!(out, "# expect = {{ file = \"wanted.txt\", relative = 1e-5 }}")?;
        writeln!(out, "# save = {{ file = \"result.txt\" }}")?;
    }
    Ok(())
}

/// The textures that the kernels sample by a parameter or through a variable, each with a buffer of texels.
fn textures(out: &mut String, kernels: &[&Arc<Kernel>], module: &Module) -> std::fmt::Result {
    let mut references = Vec::new();
    for kernel in kernels {
        for texture in kernel.textures() {
            match texture.source {
                TextureSource::Param(index) if handle(kernel, index) == Some(texture) => {
                    view(out, &buffer_name(kernel, index), &texture, None)?;
                }
                TextureSource::Variable(address) if !references.contains(&address) => {
                    references.push(address);
                    let Some(name) = module.global_at(address) else { continue };
                    view(out, name, &texture, Some(name))?;
                }
                _ => {}
            }
        }
    }
    Ok(())
}

/// One texture called `name`, with its texels.
fn view(out: &mut String, name: &str, texture: &TextureUse, reference: Option<&str>) -> std::fmt::Result {
    let size = texels(texture);
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
    writeln!(out, "coordinates = \"texels\"     # texels or normalized, for floating-point coordinates")?;
    writeln!(out, "address = \"clamp\"          # clamp, border, wrap or mirror")?;
    writeln!(out, "filter = \"point\"           # point or linear")?;
    if let Some(reference) = reference {
        writeln!(out, "reference = {}           # the variable of the PTX", quoted(reference))?;
    }
    Ok(())
}

fn launch(out: &mut String, kernel: &Kernel) -> std::fmt::Result {
    let block = match kernel.cta_limit {
        Some((limit, true)) => format!("[{}, {}, {}]", limit[0], limit[1], limit[2]),
        Some((limit, false)) if limit.iter().product::<u32>() < THREADS => "[1]".into(),
        _ => format!("[{THREADS}]"),
    };
    writeln!(out, "\n[[launch]]")?;
    writeln!(out, "kernel = {}", quoted(&kernel.name))?;
    writeln!(out, "grid = [1]                 # blocks in x, y and z")?;
    writeln!(out, "block = {block:<18} # threads of a block in x, y and z")?;
    if kernel.dynamic_shared {
        writeln!(
            out,
            "dynamic_shared = {:<9} # bytes of `.extern .shared` memory per block",
            4 * SIDE * SIDE
        )?;
    }
    for (index, param) in kernel.params.iter().enumerate() {
        writeln!(out, "\n[[launch.arg]]             # {}: {}", param.name, describe(param))?;
        match (param.kind, param.bytes) {
            _ if handle(kernel, index).is_some() => {
                writeln!(out, "texture = {}", quoted(&buffer_name(kernel, index)))?;
            }
            _ if is_address(param) => {
                writeln!(out, "buffer = {}", quoted(&buffer_name(kernel, index)))?;
                writeln!(out, "# If it is a number and no address: type = \"u64\" and value = 1 instead.")?;
            }
            (ParamKind::Integer, bytes @ (1 | 2 | 4)) => {
                writeln!(out, "type = \"s{}\"\nvalue = {SIDE}", 8 * bytes)?;
            }
            (ParamKind::Float, bytes) => writeln!(out, "type = \"f{}\"\nvalue = 1.0", 8 * bytes)?,
            (_, bytes) => {
                let zeros = vec!["0"; bytes as usize].join(", ");
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
