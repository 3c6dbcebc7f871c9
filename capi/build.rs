//! Gives the shared library the name under which `capi/install` puts it.

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    if std::env::var("CARGO_CFG_TARGET_OS").as_deref() == Ok("linux") {
        // The number is SELVEDGE_API_VERSION.
        println!("cargo::rustc-cdylib-link-arg=-Wl,-soname,libselvedge.so.1");
    }
}
