//! `selvedge new`: writes a launch file as a start.
use crate::arguments::NewOptions;
use crate::error::Failure;
use crate::output::{say, write_new};
use selvedge_sim::launch_file::{Template, template_of};
use selvedge_sim::printable::printable_lines;
use std::path::{Path, PathBuf};

mod cuda;

/// Writes the launch file. For CUDA kernels, also writes the PTX from clang next to it.
pub fn run(options: &NewOptions) -> Result<(), Failure> {
    let Some(file) = options.output.as_ref().or(options.file.as_ref()) else {
        return Err(Failure::usage("--output: must be given, NAME.toml"));
    };
    if file.extension().is_none_or(|end| end != "toml") {
        return Err(Failure::usage(format!("{}: must be a name that ends in .toml", file.display())));
    }
    let kernel = options.kernel.as_deref();
    if let Some(ptx) = &options.ptx {
        let template = template_of(ptx, &from_folder_of(file, ptx), kernel).map_err(Failure::usage)?;
        return write_template(file, &template);
    }
    let source = options.cuda.as_deref().unwrap_or(Path::new(""));
    let ptx = file.with_extension("ptx");
    if let Some(taken) = [file, &ptx].into_iter().find(|path| path.exists()) {
        return Err(Failure::usage(format!("{} exists already: it is not overwritten", taken.display())));
    }
    write_new(&ptx, &cuda::compile(source, options.clang.as_deref())?)?;
    let template = template_of(&ptx, &from_folder_of(file, &ptx), kernel).map_err(Failure::usage);
    template.and_then(|template| write_template(file, &template)).inspect_err(|_| {
        // Remove the PTX that was made for the launch file. A failed removal is not reported.
        let _ = std::fs::remove_file(&ptx);
    })
}

/// Writes the launch file, and reports the kernels that it leaves out.
fn write_template(file: &Path, template: &Template) -> Result<(), Failure> {
    write_new(file, template.text.as_bytes())?;
    for refused in &template.refused {
        say(printable_lines(&format!("selvedge: {refused}\n")));
    }
    Ok(())
}

/// Returns `target` relative to the folder of `file`, or absolute if they share only the root.
fn from_folder_of(file: &Path, target: &Path) -> PathBuf {
    let folder = file.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let (Ok(folder), Ok(absolute)) = (std::path::absolute(folder), std::path::absolute(target)) else {
        return target.into();
    };
    // With symbolic links, `..` may lead to another folder.
    let (folder, absolute) =
        (folder.canonicalize().unwrap_or(folder), absolute.canonicalize().unwrap_or(absolute));
    let common = folder.components().zip(absolute.components()).take_while(|(a, b)| a == b).count();
    if common <= 1 {
        return absolute;
    }
    let up = folder.components().skip(common).map(|_| Path::new("..").to_path_buf());
    up.chain([absolute.components().skip(common).collect()]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_starts_from_the_folder_of_the_launch_file() {
        let root = tempfile::tempdir().expect("a folder");
        let at = |path: &str| root.path().join(path);
        for folder in ["a/b", "c"] {
            std::fs::create_dir_all(at(folder)).expect("a folder");
        }
        std::fs::write(at("c/k.ptx"), "").expect("written");
        for (file, from) in [("my.toml", "c/k.ptx"), ("c/my.toml", "k.ptx"), ("a/b/my.toml", "../../c/k.ptx")]
        {
            assert_eq!(from_folder_of(&at(file), &at("c/k.ptx")), Path::new(from), "{file}");
        }
    }
}
