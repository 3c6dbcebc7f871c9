//! Derives `selvedge_hw::rtl::circuit::Part`, the evaluation of a block in order, from the block's fields.

use proc_macro2::TokenStream;
use quote::quote;
use syn::{Data, DeriveInput, Error, Result};

/// Implements `Part` for the block. Fields whose names begin with `_` are not part of the circuit. The clock `clk_i` is not
/// an input here: a call of `edge` signals the clock edge.
pub fn part(item: TokenStream) -> TokenStream {
    implementation(item).unwrap_or_else(|error| error.into_compile_error())
}

fn implementation(item: TokenStream) -> Result<TokenStream> {
    let block: DeriveInput = syn::parse2(item)?;
    let Data::Struct(data) = &block.data else {
        return Err(Error::new_spanned(&block.ident, "a block is a struct"));
    };
    let fields = data.fields.iter().filter_map(|field| field.ident.as_ref());
    let parts: Vec<_> = fields.filter(|name| !name.to_string().starts_with('_')).collect();
    let inputs: Vec<_> = parts.iter().filter(|name| **name != "clk_i").collect();
    let name = &block.ident;
    let (generics, arguments, conditions) = block.generics.split_for_impl();
    Ok(quote! {
        #[automatically_derived]
        impl #generics ::selvedge_hw::rtl::circuit::Part for #name #arguments #conditions {
            #[inline]
            fn has_state(&mut self) -> bool {
                #[allow(unused_imports)]
                use ::selvedge_hw::rtl::circuit::{Field, Foreign as _, Stateless as _};
                self.has_own_state() #(|| Field(&mut self.#parts).has_state())*
            }
            #[inline]
            fn is_due(&mut self) -> bool {
                #[allow(unused_imports)]
                use ::selvedge_hw::rtl::circuit::{Attentive as _, Field, Foreign as _};
                if self.ignores_inputs() {
                    return self._activity.begin(false);
                }
                let has_input = false;
                #(let has_input = Field(&mut self.#inputs).has_input(has_input);)*
                if has_input {
                    self.take_inputs();
                }
                self._activity.begin(has_input)
            }
            #[inline]
            fn is_leaf(&mut self) -> bool {
                #[allow(unused_imports)]
                use ::selvedge_hw::rtl::circuit::{Field, Foreign as _};
                true #(&& Field(&mut self.#parts).is_atom())*
            }
            #[inline]
            fn take_inputs(&mut self) {
                #[allow(unused_imports)]
                use ::selvedge_hw::rtl::circuit::{Field, Foreign as _};
                #(Field(&mut self.#inputs).take_input();)*
            }
            fn evaluate(&mut self) {
                #[allow(unused_imports)]
                use ::selvedge_hw::rtl::circuit::{Bodied as _, Field, Foreign as _};
                let has_registers = false #(|| Field(&mut self.#parts).has_state())*;
                if self.is_leaf() && !(has_registers && self._activity.is_thorough()) {
                    if !self.evaluates_itself() {
                        ::selvedge_hw::rtl::source::Logic::update(self);
                    }
                    return;
                }
                ::selvedge_hw::rtl::circuit::settle(
                    self,
                    |block| &mut block._activity,
                    |block| ::selvedge_hw::rtl::source::Logic::update(block),
                    |block| {
                        let mut due = false;
                        #(
                            let mut part = Field(&mut block.#parts);
                            if part.is_due() {
                                part.evaluate();
                                due = true;
                            }
                        )*
                        due
                    },
                );
            }
            #[inline]
            fn edge(&mut self) -> bool {
                #[allow(unused_imports)]
                use ::selvedge_hw::rtl::circuit::{Field, Foreign as _, Stateless as _};
                if !self._activity.is_armed() {
                    return false;
                }
                let changed = self.take_edge() #(| Field(&mut self.#parts).edge())*;
                self._activity.end(changed);
                changed
            }
            fn wake(&mut self) {
                #[allow(unused_imports)]
                use ::selvedge_hw::rtl::circuit::{Field, Foreign as _};
                self._activity.wake();
                #(Field(&mut self.#parts).wake();)*
            }
        }
    })
}
