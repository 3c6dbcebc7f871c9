//! Derives `State`: a type saves itself into a checkpoint and loads itself from it, field by field.

use proc_macro2::{Ident, Span, TokenStream};
use quote::{format_ident, quote};
use syn::spanned::Spanned;
use syn::{Data, DeriveInput, Error, Field, Fields, LitStr, Member, Path, Result, Type, parse_quote};

/// Returns the implementation of `State` for `input`.
pub fn derive(input: DeriveInput) -> Result<TokenStream> {
    let variants = match &input.data {
        Data::Struct(data) => vec![StateVariant::new(quote!(Self), &data.fields)?],
        Data::Enum(data) => {
            let one = |variant: &syn::Variant| {
                let name = &variant.ident;
                StateVariant::new(quote!(Self::#name), &variant.fields)
            };
            data.variants.iter().map(one).collect::<Result<_>>()?
        }
        Data::Union(data) => return Err(Error::new(data.union_token.span, "State: a union has no state")),
    };
    let StateOptions { in_place, root } = StateOptions::of(&input)?;
    let functions = match &input.data {
        Data::Struct(_) => of_struct(&variants[0], in_place),
        _ => of_enum(&variants),
    };
    let name = &input.ident;
    let mut generics = input.generics.clone();
    if generics.type_params().next().is_some() {
        let bounds = generics.make_where_clause();
        for field in variants.iter().flat_map(|variant| &variant.fields).filter(|field| !field.skipped) {
            let of = &field.of;
            bounds.predicates.push(parse_quote!(#of: root::State));
        }
    }
    let (parameters, arguments, bounds) = generics.split_for_impl();
    Ok(quote! {
        const _: () = {
            use #root as root;

            #[automatically_derived]
            impl #parameters root::State for #name #arguments #bounds {
                #functions
            }
        };
    })
}

/// A struct, or one variant of an enum.
struct StateVariant {
    path: TokenStream,
    fields: Vec<FieldState>,
}

struct FieldState {
    member: Member,
    /// The variable to which a pattern binds the field.
    bound: Ident,
    of: Type,
    skipped: bool,
}

impl StateVariant {
    fn new(path: TokenStream, fields: &Fields) -> Result<Self> {
        let one = |(index, field): (usize, &Field)| {
            let member = match &field.ident {
                Some(name) => Member::Named(name.clone()),
                None => Member::Unnamed(index.into()),
            };
            let bound = format_ident!("field_{}", index, span = Span::mixed_site());
            Ok(FieldState { member, bound, of: field.ty.clone(), skipped: is_skipped(field)? })
        };
        Ok(StateVariant { path, fields: fields.iter().enumerate().map(one).collect::<Result<_>>()? })
    }

    /// Returns a pattern that binds the fields that are not skipped.
    fn pattern(&self) -> TokenStream {
        let path = &self.path;
        let kept = self.kept().map(|FieldState { member, bound, .. }| quote!(#member: #bound));
        quote!(#path { #(#kept,)* .. })
    }

    fn kept(&self) -> impl Iterator<Item = &FieldState> {
        self.fields.iter().filter(|field| !field.skipped)
    }

    fn has_skipped(&self) -> bool {
        self.fields.iter().any(|field| field.skipped)
    }

    /// Returns an expression that reads all fields.
    fn read(&self) -> TokenStream {
        let path = &self.path;
        let fields = self
            .fields
            .iter()
            .map(|FieldState { member, of, .. }| quote!(#member: <#of as root::State>::read(from)?));
        quote!(Ok(#path { #(#fields),* }))
    }
}

/// Returns the functions of a struct. A struct that can only be loaded in place has no `read`.
fn of_struct(whole: &StateVariant, in_place: bool) -> TokenStream {
    let members: Vec<_> = whole.kept().map(|field| &field.member).collect();
    let types = whole.kept().map(|field| &field.of);
    let read = (!in_place && !whole.has_skipped()).then(|| {
        let read = whole.read();
        quote! {
            fn read(from: &mut root::Reader) -> ::core::result::Result<Self, root::StateError> {
                #read
            }
            fn is_value() -> bool {
                true #(&& <#types as root::State>::is_value())*
            }
        }
    });
    quote! {
        fn save(&self, to: &mut root::Writer) {
            #(root::State::save(&self.#members, to);)*
        }
        fn load(&mut self, from: &mut root::Reader) -> ::core::result::Result<(), root::StateError> {
            #(root::State::load(&mut self.#members, from)?;)*
            Ok(())
        }
        #read
    }
}

/// Returns the functions of an enum, which save the variant's number and then its fields. `load` keeps a variant in place if
/// the number is unchanged.
fn of_enum(variants: &[StateVariant]) -> TokenStream {
    let arms = |function: &dyn Fn(u8, &StateVariant) -> TokenStream| -> Vec<TokenStream> {
        (0..).zip(variants).map(|(number, variant)| function(number, variant)).collect()
    };
    let save = arms(&|number, variant| {
        let (pattern, bound) = (variant.pattern(), variant.kept().map(|field| &field.bound));
        quote!(#pattern => {
            root::State::save(&#number, to);
            #(root::State::save(#bound, to);)*
        })
    });
    let load = arms(&|number, variant| {
        let (pattern, bound) = (variant.pattern(), variant.kept().map(|field| &field.bound));
        quote!((#number, #pattern) => {
            from.take(1)?;
            #(root::State::load(#bound, from)?;)*
        })
    });
    let read = arms(&|number, variant| {
        if variant.has_skipped() {
            return quote!(#number => Err(from.shape(::core::any::type_name::<Self>())));
        }
        let read = variant.read();
        quote!(#number => #read)
    });
    let types = variants.iter().flat_map(StateVariant::kept).map(|field| &field.of);
    let skips_none = !variants.iter().any(StateVariant::has_skipped);
    quote! {
        fn save(&self, to: &mut root::Writer) {
            match self { #(#save)* }
        }
        #[allow(unreachable_patterns, reason = "an enum of one variant has no other")]
        fn load(&mut self, from: &mut root::Reader) -> ::core::result::Result<(), root::StateError> {
            match (from.peek()?, &mut *self) {
                #(#load)*
                _ => *self = <Self as root::State>::read(from)?,
            }
            Ok(())
        }
        fn read(from: &mut root::Reader) -> ::core::result::Result<Self, root::StateError> {
            match <u8 as root::State>::read(from)? {
                #(#read,)*
                other => Err(from.not(other.into(), ::core::any::type_name::<Self>())),
            }
        }
        fn is_value() -> bool {
            #skips_none #(&& <#types as root::State>::is_value())*
        }
    }
}

/// Returns whether `#[state(skip = "why")]` leaves out the field. The reason must not be empty.
fn is_skipped(field: &Field) -> Result<bool> {
    let mut skipped = false;
    for attribute in field.attrs.iter().filter(|attribute| attribute.path().is_ident("state")) {
        attribute.parse_nested_meta(|meta| {
            if !meta.path.is_ident("skip") {
                return Err(meta.error("must be `skip = \"why\"`"));
            }
            let why: LitStr = meta.value()?.parse()?;
            if why.value().trim().is_empty() {
                return Err(Error::new(why.span(), "must say why the field is left out"));
            }
            skipped = true;
            Ok(())
        })?;
    }
    Ok(skipped)
}

/// The contents of `#[state(...)]` on a type.
struct StateOptions {
    /// `true` if the type can only be loaded in place.
    in_place: bool,
    /// Path of the crate with the trait.
    root: Path,
}

impl StateOptions {
    fn of(input: &DeriveInput) -> Result<Self> {
        let mut options = StateOptions { in_place: false, root: parse_quote!(::selvedge_state) };
        for attribute in input.attrs.iter().filter(|attribute| attribute.path().is_ident("state")) {
            attribute.parse_nested_meta(|meta| {
                if meta.path.is_ident("in_place") {
                    options.in_place = true;
                } else if meta.path.is_ident("crate") {
                    options.root = meta.value()?.parse()?;
                } else {
                    return Err(meta.error("must be `in_place` or `crate = path`"));
                }
                Ok(())
            })?;
        }
        match &input.data {
            Data::Enum(_) if options.in_place => {
                Err(Error::new(input.span(), "State: an enum is not marked `in_place`"))
            }
            _ => Ok(options),
        }
    }
}
