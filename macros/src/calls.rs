//! The macros that a body may call: `dff_setup!` and `comment!`. They are known by their names.

use crate::name::name;
use syn::parse::{Parse, ParseStream};
use syn::punctuated::Punctuated;
use syn::{Error, Expr, LitStr, Macro, Result, Token};

/// A macro called in a body.
pub enum Call {
    /// `comment!("text")`
    Comment(String),
    /// `dff_setup!(self, clk_i, a, b[i])`
    Registers(Box<Registers>),
}

/// The arguments of `dff_setup!`.
pub struct Registers {
    /// `self`
    pub block: Expr,
    /// The clock of the block.
    pub clock: Expr,
    /// The registers, each as it stands behind `self.`
    pub registers: Vec<Expr>,
}

impl Parse for Registers {
    fn parse(input: ParseStream) -> Result<Self> {
        let block = input.parse()?;
        input.parse::<Token![,]>()?;
        let clock = input.parse()?;
        input.parse::<Token![,]>()?;
        let registers = Punctuated::<Expr, Token![,]>::parse_terminated(input)?.into_iter().collect();
        Ok(Registers { block, clock, registers })
    }
}

impl Registers {
    /// The names of clock and registers.
    pub fn names(&self) -> Result<(String, Vec<String>)> {
        Ok((name(&self.clock)?, self.registers.iter().map(name).collect::<Result<_>>()?))
    }
}

/// Which call this is.
pub fn call(mac: &Macro) -> Result<Call> {
    if mac.path.is_ident("comment") {
        Ok(Call::Comment(mac.parse_body::<LitStr>()?.value()))
    } else if mac.path.is_ident("dff_setup") {
        Ok(Call::Registers(Box::new(mac.parse_body()?)))
    } else {
        Err(Error::new_spanned(mac, "the only macros in a block's body are `dff_setup!` and `comment!`"))
    }
}
