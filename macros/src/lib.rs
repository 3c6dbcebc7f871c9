//! The attribute `#[hdl_gen]` of Selvedge's RTL, and the derive of the state that a checkpoint holds.
//!
//! On a block's `update` it adds the evaluation of sub-blocks between the statements that drive them and those that read them,
//! and the two functions that follow from the body: `connect`, which marks every signal that the body drives, and `hdl`, which
//! gives the body as rust-hdl's syntax tree.
//!
//! The tree is a `static` of the small types in `selvedge_hw::rtl::source`, and the numbers in it that depend on the
//! block's parameters stand in an array beside it. So the compiler has next to nothing to do for each instance of a block.
//!
//! | module | what it does |
//! |---|---|
//! | `generate` | the functions as a whole |
//! | `body` | statements to data |
//! | `expression` | expressions to data |
//! | `connect` | the signals that a body drives |
//! | `order` | where a body evaluates its sub-blocks |
//! | `read` | how a body reads signals |
//! | `circuit` | a block as a part that can be evaluated |
//! | `calls` | arguments of `dff_setup!` and `comment!` |
//! | `name` | paths and indices as text |
//! | `state` | the derive of `State` |

mod body;
mod calls;
mod circuit;
mod connect;
mod expression;
mod generate;
mod name;
mod order;
mod read;
mod state;
#[cfg(test)]
mod tests;

use proc_macro::TokenStream;

/// Gives a block's `update` its companions `connect` and `hdl`.
///
/// What a body may consist of:
/// - `self.a.b[i].next = expression;`, also to one field of a `LogicStruct`: `self.a.next.field = expression;`
/// - `if`, `else if`, `else`; `match` with constants and `_` as patterns; `for i in from..to`
/// - `dff_setup!(self, clk_i, ...)` and `comment!("...")`
///
/// What an expression may consist of:
/// - signals (`.val()`), numbers, constants, loop variables, parentheses
/// - `+ - * & | ^ ! && || << >> == != < <= > >=`, and `-` before a number
/// - `get_bit(i)`, `get_bits::<N>(i)`, `replace_bit(i, value)`, `any()`, `all()`, `xor()`
/// - `bit_cast::<M, N>(value)`, `bit_cast_to::<T>(value)`, `signed_cast(value)`, `unsigned_cast(value)`
/// - `into()`, `index()`, `to_bits()`, `to_signed_bits()`, which change the type only
///
/// Everything else is a compile error.
#[proc_macro_attribute]
pub fn hdl_gen(arguments: TokenStream, item: TokenStream) -> TokenStream {
    generate::functions(arguments.into(), item.into()).into()
}

/// Implements `selvedge_hw::rtl::circuit::Part` for a block that [`rtl_block!`] declares.
///
/// [`rtl_block!`]: https://docs.rs/selvedge-hw/latest/selvedge_hw/macro.rtl_block.html
#[proc_macro_derive(Part)]
pub fn part(item: TokenStream) -> TokenStream {
    circuit::part(item.into()).into()
}

/// Implements `selvedge_state::State` over all fields.
///
/// `#[state(skip = "why")]` leaves a field out that follows from the options of a run. A type with such a field is loaded in
/// place only. `#[state(in_place)]` states the same of a struct that has no other reason, which spares the code to read it.
/// `#[state(crate = path)]` is where a macro of another crate finds `selvedge_state`.
#[proc_macro_derive(State, attributes(state))]
pub fn state(item: TokenStream) -> TokenStream {
    let input = syn::parse_macro_input!(item as syn::DeriveInput);
    state::derive(input).unwrap_or_else(syn::Error::into_compile_error).into()
}
