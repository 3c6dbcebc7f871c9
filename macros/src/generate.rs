//! Assembles the generated functions: `update` with the evaluation of its sub-blocks, `connect` and `hdl`.

use crate::body::Body;
use crate::connect::connects;
use crate::order::ordered;
use crate::read::in_place;
use proc_macro2::TokenStream;
use quote::quote;
use syn::{Error, FnArg, ItemFn, Result, ReturnType, Token};

/// Returns `item` and its companions. If they cannot be generated, returns `item` and a compile error.
pub fn functions(arguments: TokenStream, item: TokenStream) -> TokenStream {
    let companions = companions(&arguments, item.clone()).unwrap_or_else(|error| error.into_compile_error());
    let item = syn::parse2::<ItemFn>(item.clone()).map_or(item, |function| {
        let (attributes, signature, body) =
            (&function.attrs, &function.sig, in_place(ordered(&function.block)));
        quote!(#(#attributes)* #signature #body)
    });
    quote! {
        #[allow(unreachable_patterns, unused_parens)]
        #item
        #companions
    }
}

/// Returns `connect` and `hdl` for the `update` in `item`.
pub fn companions(arguments: &TokenStream, item: TokenStream) -> Result<TokenStream> {
    if !arguments.is_empty() {
        return Err(Error::new_spanned(arguments, "`#[hdl_gen]` takes no arguments"));
    }
    let function: ItemFn = syn::parse2(item)?;
    let me = receiver(&function)?;
    let mut body = Body::default();
    let statements = body.block(&function.block)?;
    let values = &body.values.code;
    let connects = connects(&function.block)?;
    Ok(quote! {
        #[automatically_derived]
        #[allow(unused_variables)]
        fn connect(&mut #me) {
            #connects
        }

        #[automatically_derived]
        #[allow(unused_braces, unused_parens)]
        fn hdl(&#me) -> ::selvedge_hw::rtl::source::Verilog {
            let body: ::selvedge_hw::rtl::source::Block = {
                use ::selvedge_hw::rtl::source::*;
                static BODY: Block = #statements;
                BODY
            };
            ::selvedge_hw::rtl::source::verilog(body, &[#(#values),*])
        }
    })
}

/// Returns the `self` of `fn update(&mut self)`.
fn receiver(function: &ItemFn) -> Result<Token![self]> {
    let signature = &function.sig;
    let plain = signature.generics.params.is_empty() && matches!(signature.output, ReturnType::Default);
    match (signature.inputs.first(), signature.inputs.len()) {
        (Some(FnArg::Receiver(me)), 1) if plain && me.reference.is_some() && me.mutability.is_some() => {
            Ok(me.self_token)
        }
        _ => Err(Error::new_spanned(signature, "`#[hdl_gen]` is for `fn update(&mut self)`")),
    }
}
