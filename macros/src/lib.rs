//! The attribute `#[hdl_gen]` of Selvedge's RTL, and the derive of the state that a checkpoint holds.
//!
//! In a block's `update`, the attribute evaluates each sub-block after the statements that drive it and before those
//! statements that read it. It also generates three functions. `connect` marks every signal that the body drives. `hdl`
//! returns the body as rust-hdl's syntax tree. `timing` returns the block's description.
//!
//! The tree is a `static` of the small types in `selvedge_hw::rtl::source`. Numbers that depend on the block's parameters
//! have a separate array, so that the compiler has little work for each instance of a block.
//!
//! | module | content |
//! |---|---|
//! | `generate` | the functions as a whole |
//! | `shorthand` | `drive!` and assignments to some bits as plain assignments |
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
mod shorthand;
mod state;
#[cfg(test)]
mod tests;

use proc_macro::TokenStream;

/// Generates `connect`, `hdl` and `timing` from a block's `update`.
///
/// The attribute is for `impl Logic for Block`, without the generics that [`rtl_block!`] declares. The declaration must precede
/// it in the same module. For a struct that [`rtl_block!`] does not declare, the attribute is for `fn update(&mut self)`.
///
/// Arguments are further records of the description: `#[hdl_gen(layouts! { entry: { count: 12, tag: TAG } })]`.
///
/// Statements of a body:
/// - `self.a.b[i].next = expression;`, also to one field of a `LogicStruct`: `self.a.next.field = expression;`
/// - `self.a.next[i] = bit;` and `self.a.next[i..] = field;`, which assign bit `i`, or the field's bits from bit `i` on
/// - `drive!(self.part; a_i, b_i: c, d_i: e.q, f_i: 0);`, which assigns signals and constants to several inputs of a part:
///   `self.part.a_i.next = self.a_i.val(); self.part.b_i.next = self.c.val();` and so on. A signal without a target goes to
///   the one of the same name: `drive!(self; part.x_o)` is `self.x_o.next = self.part.x_o.val();`
/// - `if`, `else if`, `else`; `match` with constants and `_` as patterns; `for i in from..to`
/// - `dff_setup!(self, clk_i, ...)` and `comment!("...")`
///
/// Expressions of a body:
/// - signals (`.val()`), numbers, constants, loop variables, parentheses
/// - `+ - * & | ^ ! && || << >> == != < <= > >=`, and `-` before a number
/// - `get_bit(i)`, `get_bits::<N>(i)`, `replace_bit(i, value)`, `any()`, `all()`, `xor()`
/// - `bit_cast::<M, N>(value)`, `bit_cast_to::<T>(value)`, `signed_cast(value)`, `unsigned_cast(value)`
/// - `into()`, `index()`, `to_bits()`, `to_signed_bits()`, which change the type only
///
/// Everything else is a compile error.
///
/// [`rtl_block!`]: https://docs.rs/selvedge-hw/latest/selvedge_hw/macro.rtl_block.html
#[proc_macro_attribute]
pub fn hdl_gen(arguments: TokenStream, item: TokenStream) -> TokenStream {
    generate::generated(arguments.into(), item.into()).into()
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
/// - `#[state(skip = "why")]` leaves out a field that the options of a run determine. A type with such a field can only be
///   loaded in place.
/// - `#[state(in_place)]` on a struct also restricts it to loading in place, and omits the code that reads a new value.
/// - `#[state(crate = path)]` sets the path of `selvedge_state`, for macros of other crates.
#[proc_macro_derive(State, attributes(state))]
pub fn state(item: TokenStream) -> TokenStream {
    let input = syn::parse_macro_input!(item as syn::DeriveInput);
    state::derive(input).unwrap_or_else(syn::Error::into_compile_error).into()
}
