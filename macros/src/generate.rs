//! Assembles the generated functions: `update` with the evaluation of its sub-blocks, `connect`, `hdl` and `timing`.

use crate::body::{BodyTranslator, no_attributes};
use crate::connect::connects;
use crate::order::ordered;
use crate::read::in_place;
use crate::shorthand::written_out;
use proc_macro2::TokenStream;
use quote::{ToTokens, quote};
use syn::parse::Parser;
use syn::punctuated::Punctuated;
use syn::{Error, Expr, FnArg, ImplItem, ItemFn, ItemImpl, Result, ReturnType, Token, Type};

/// Returns the code for `impl Logic for Block` or for `fn update`.
pub fn generated(arguments: TokenStream, item: TokenStream) -> TokenStream {
    match syn::parse2(item.clone()) {
        Ok(block) => implementation(arguments, &block).unwrap_or_else(|error| error.into_compile_error()),
        Err(_) => functions(arguments, item),
    }
}

/// Returns the implementation with the generics of the block. `rtl_block!` has declared a macro that adds them, under the
/// block's name.
fn implementation(arguments: TokenStream, block: &ItemImpl) -> Result<TokenStream> {
    no_attributes(&block.attrs)?;
    let name = match &*block.self_ty {
        Type::Path(path) if block.generics.params.is_empty() => path.path.get_ident(),
        _ => None,
    };
    let (Some(name), [ImplItem::Fn(update)]) = (name, &block.items[..]) else {
        let allowed = "`#[hdl_gen]` is for `impl Logic for Block`, without generics and with `update` alone";
        return Err(Error::new_spanned(&block.self_ty, allowed));
    };
    let functions = functions(arguments, update.to_token_stream());
    Ok(quote!(#name! { #functions }))
}

/// Returns `update` and its companions. If they cannot be generated, returns `update` and a compile error.
pub fn functions(arguments: TokenStream, item: TokenStream) -> TokenStream {
    let function = match written(item.clone()) {
        Ok(function) => function,
        Err(error) => {
            // Without its body, the compiler does not complain a second time.
            let error = error.into_compile_error();
            let signature = syn::parse2::<ItemFn>(item).map(|function| function.sig);
            return signature.map_or(error.clone(), |signature| quote!(#signature {} #error));
        }
    };
    let companions = companions(arguments, &function).unwrap_or_else(|error| error.into_compile_error());
    let (attributes, signature) = (&function.attrs, &function.sig);
    let body = in_place(ordered(&function.block));
    quote! {
        #[allow(unreachable_patterns, unused_parens)]
        #(#attributes)* #signature #body
        #companions
    }
}

/// Returns the function in `item`. Assignments replace the short forms.
pub fn written(item: TokenStream) -> Result<ItemFn> {
    let mut function: ItemFn = syn::parse2(item)?;
    function.block = Box::new(written_out(*function.block)?);
    Ok(function)
}

/// Returns `connect`, `hdl` and `timing` for `update`.
pub fn companions(arguments: TokenStream, function: &ItemFn) -> Result<TokenStream> {
    let records = Punctuated::<Expr, Token![,]>::parse_terminated.parse2(arguments)?.into_iter();
    let me = receiver(function)?;
    let mut body = BodyTranslator::default();
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
            let body: ::selvedge_hw::rtl::source::StatementBlock = {
                use ::selvedge_hw::rtl::source::*;
                static BODY: StatementBlock = #statements;
                BODY
            };
            ::selvedge_hw::rtl::source::verilog(body, &[#(#values),*])
        }

        #[automatically_derived]
        fn timing(&#me) -> ::std::vec::Vec<::selvedge_hw::rtl::source::TimingInfo> {
            #[allow(unused_imports)]
            use ::selvedge_hw::rtl::describe::{Described as _, Undescribed as _};
            [#me.describe() #(, #records)*].concat()
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
