//! Hardware blocks as golden model or as RTL, clocked one cycle at a time.
use crate::SelvedgeStatus;
use crate::call::{Failure, Guarded, call, free};
use crate::text::{c_string, is_null, read, read_if_any, write, write_json};
use selvedge_hw::Direction;
use std::ffi::{CString, c_char};
use std::sync::OnceLock;

/// A block under an engine.
pub struct SelvedgeBlock(Guarded<Block>);

/// A port of a block.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct SelvedgePort {
    /// Name of the port. The text is valid until the block is freed.
    pub name: *const c_char,
    /// Width in bits.
    pub bits: u32,
    /// Number of 64-bit words of a value.
    pub words: u32,
    /// True for an output, false for an input.
    pub is_output: bool,
}

struct Block {
    inner: selvedge_embed::block::Block,
    /// Names of the ports.
    names: Vec<CString>,
}

impl Block {
    fn new(name: &str, parameters: Option<&str>, engine: &str) -> Result<Self, Failure> {
        let inner = selvedge_embed::block::Block::new(name, parameters, engine)?;
        let names = inner.ports().iter().map(|port| c_string(port.name)).collect();
        Ok(Block { inner, names })
    }
}

/// Returns the names of all blocks.
fn names() -> &'static [CString] {
    static NAMES: OnceLock<Vec<CString>> = OnceLock::new();
    NAMES.get_or_init(|| selvedge_blocks::all().into_iter().map(|block| c_string(block.name())).collect())
}

/// Writes the number of blocks.
///
/// # Safety
/// `count` is null or a place for the result.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn selvedge_block_count(count: *mut usize) -> SelvedgeStatus {
    // SAFETY: the caller's promise.
    call(|| unsafe { write("count", count, names().len()) })
}

/// Writes the name of a block by its number, from 0. The library owns the text.
///
/// # Safety
/// `name` is null or a place for the result.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn selvedge_block_name(index: usize, name: *mut *const c_char) -> SelvedgeStatus {
    call(|| {
        let all = names();
        let text = all.get(index);
        let text =
            text.ok_or_else(|| Failure::invalid(format!("block {index}: must be below {}", all.len())))?;
        // SAFETY: the caller's promise.
        unsafe { write("name", name, text.as_ptr()) }
    })
}

/// Creates a block in its reset state. `parameters` is null or a JSON object with the parameters that differ from their
/// defaults. `engine` is "model" or "rtl". The caller frees the block.
///
/// # Safety
/// `name`, `parameters` and `engine` are texts or null; `block` is null or a place for the result.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn selvedge_block_new(
    name: *const c_char,
    parameters: *const c_char,
    engine: *const c_char,
    block: *mut *mut SelvedgeBlock,
) -> SelvedgeStatus {
    call(|| {
        if block.is_null() {
            return Err(is_null("block"));
        }
        // SAFETY: the caller's promise.
        let (name, parameters, engine) =
            unsafe { (read("name", name)?, read_if_any("parameters", parameters)?, read("engine", engine)?) };
        let made = SelvedgeBlock(Guarded::new(Block::new(name, parameters, engine)?));
        // SAFETY: the caller's promise.
        unsafe { write("block", block, Box::into_raw(Box::new(made))) }
    })
}

/// Frees a block. Null is ignored.
///
/// # Safety
/// `block` is null, or a block that has not been freed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn selvedge_block_free(block: *mut SelvedgeBlock) {
    // SAFETY: the caller's promise.
    unsafe { free(block) }
}

/// Writes all parameters of a block as a JSON object. The caller frees the text.
///
/// # Safety
/// `block` is null or a block that no other thread uses; `json` is null or a place for the result.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn selvedge_block_parameters(
    block: *mut SelvedgeBlock,
    json: *mut *mut c_char,
) -> SelvedgeStatus {
    // SAFETY: the caller's promise.
    with!(block, |block| unsafe { write_json("json", json, block.inner.parameters()) })
}

/// Writes the number of ports of a block, without its clock and reset.
///
/// # Safety
/// `block` is null or a block that no other thread uses; `count` is null or a place for the result.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn selvedge_block_port_count(
    block: *mut SelvedgeBlock,
    count: *mut usize,
) -> SelvedgeStatus {
    // SAFETY: the caller's promise.
    with!(block, |block| unsafe { write("count", count, block.names.len()) })
}

/// Writes the description of a port by its number, from 0. Inputs come first.
///
/// # Safety
/// `block` is null or a block that no other thread uses; `port` is null or a place for the result.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn selvedge_block_port(
    block: *mut SelvedgeBlock,
    index: usize,
    port: *mut SelvedgePort,
) -> SelvedgeStatus {
    with!(block, |block| {
        let found = block.inner.port(index)?;
        let found = SelvedgePort {
            name: block.names[index].as_ptr(),
            bits: found.bits as u32,
            words: found.words() as u32,
            is_output: found.direction == Direction::Output,
        };
        // SAFETY: the caller's promise.
        unsafe { write("port", port, found) }
    })
}

/// Writes the number of the port with this name.
///
/// # Safety
/// `block` is null or a block that no other thread uses; `name` is null or a text; `index` is null or a place for the result.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn selvedge_block_port_index(
    block: *mut SelvedgeBlock,
    name: *const c_char,
    index: *mut usize,
) -> SelvedgeStatus {
    with!(block, |block| {
        // SAFETY: the caller's promise.
        let name = unsafe { read("name", name)? };
        let found = block.inner.index(name)?;
        // SAFETY: the caller's promise.
        unsafe { write("index", index, found) }
    })
}

/// Sets an input for the following cycles. `count` must be the number of words of the port; the first word has the lowest
/// bits. Inputs are 0 until they are set.
///
/// # Safety
/// `block` is null or a block that no other thread uses; `words` is null or points to `count` words.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn selvedge_block_set(
    block: *mut SelvedgeBlock,
    index: usize,
    words: *const u64,
    count: usize,
) -> SelvedgeStatus {
    with!(block, |block| {
        if words.is_null() {
            return Err(is_null("words"));
        }
        block.inner.port_of(index, count)?;
        // SAFETY: the caller's promise.
        Ok(block.inner.set(index, unsafe { std::slice::from_raw_parts(words, count) })?)
    })
}

/// Writes the value of a port. The value of an output is from the last cycle, before the clock edge. `count` must be the
/// number of words of the port.
///
/// # Safety
/// `block` is null or a block that no other thread uses; `words` is null or a place for `count` words.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn selvedge_block_get(
    block: *mut SelvedgeBlock,
    index: usize,
    words: *mut u64,
    count: usize,
) -> SelvedgeStatus {
    with!(block, |block| {
        if words.is_null() {
            return Err(is_null("words"));
        }
        block.inner.port_of(index, count)?;
        let value = block.inner.get(index)?;
        // SAFETY: the caller's promise.
        unsafe { words.copy_from_nonoverlapping(value.as_ptr(), count) };
        Ok(())
    })
}

/// Runs one clock cycle: computes the outputs from the inputs, then applies the clock edge.
///
/// # Safety
/// `block` is null or a block that no other thread uses.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn selvedge_block_step(block: *mut SelvedgeBlock) -> SelvedgeStatus {
    with!(block, |block| {
        block.inner.step();
        Ok(())
    })
}

/// Runs one clock cycle in reset. Inputs keep their values for the following cycles.
///
/// # Safety
/// `block` is null or a block that no other thread uses.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn selvedge_block_reset(block: *mut SelvedgeBlock) -> SelvedgeStatus {
    with!(block, |block| {
        block.inner.reset();
        Ok(())
    })
}
