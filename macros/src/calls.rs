//! The macros that a body may call, recognized by name: `dff_setup!` and `comment!`. `shorthand` has written out `drive!`.

use crate::name::name;
use syn::parse::{Parse, ParseStream};
use syn::punctuated::Punctuated;
use syn::{Error, Expr, LitStr, Macro, Result, Token};

/// A macro call in a body.
pub enum MacroCall {
    /// `comment!("text")`
    Comment(String),
    /// `dff_setup!(self, clk_i, a, b[i])`
    Registers(Box<DffSetup>),
}

/// The arguments of `dff_setup!`.
pub struct DffSetup {
    /// `self`
    pub block: Expr,
    pub clock: Expr,
    /// The registers, each without its `self.`
    pub registers: Vec<Expr>,
}

impl Parse for DffSetup {
    fn parse(input: ParseStream) -> Result<Self> {
        let block = input.parse()?;
        input.parse::<Token![,]>()?;
        let clock = input.parse()?;
        input.parse::<Token![,]>()?;
        let registers = Punctuated::<Expr, Token![,]>::parse_terminated(input)?.into_iter().collect();
        Ok(DffSetup { block, clock, registers })
    }
}

impl DffSetup {
    /// Returns the names of the clock and of the registers.
    pub fn names(&self) -> Result<(String, Vec<String>)> {
        Ok((name(&self.clock)?, self.registers.iter().map(name).collect::<Result<_>>()?))
    }
}

/// Parses a macro call.
pub fn call(mac: &Macro) -> Result<MacroCall> {
    if mac.path.is_ident("comment") {
        Ok(MacroCall::Comment(mac.parse_body::<LitStr>()?.value()))
    } else if mac.path.is_ident("dff_setup") {
        Ok(MacroCall::Registers(Box::new(mac.parse_body()?)))
    } else {
        Err(Error::new_spanned(
            mac,
            "the only macros in a block's body are `drive!`, `dff_setup!` and `comment!`",
        ))
    }
}
