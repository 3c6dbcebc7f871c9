//! Tests texture samples against CUDA's addressing and filtering rules.

use super::super::{Arg, LaunchDims, Module, run_functional};
use super::{kernel_text, note, own_element};
use crate::memory::DeviceMemory;
use crate::texture::{AddressMode, ChannelKind, FilterMode, Texture};

/// Returns a texture of single-precision numbers, with one channel.
fn singles(size: &[u32]) -> Texture {
    Texture {
        address: 0,
        size: size.to_vec(),
        pitch: 4 * u64::from(size[0]),
        kind: ChannelKind::Float,
        bits: 32,
        channels: 1,
        normalized: false,
        address_mode: AddressMode::Clamp,
        filter: FilterMode::Point,
    }
}

/// Samples `texture` over `texels` in one lane per element of `places`. Returns four words per lane.
fn sample(
    form: &str,
    texture: &Texture,
    texels: &[u8],
    places: &[[f32; 3]],
) -> Result<Vec<[u32; 4]>, String> {
    note(form);
    let float = form.ends_with("f32");
    let list = |prefix: &str| {
        let count = if form.contains("1d") { 1 } else { if form.contains("2d") { 2 } else { 4 } };
        (1..=count).map(|number| format!("{prefix}{number}")).collect::<Vec<_>>().join(", ")
    };
    let load = if float { "ld.global.f32 %f" } else { "ld.global.u32 %r1" };
    let coordinates: String = (1..=3).map(|n| format!("{load}{n}, [%rd0+{}];", 4 * (n - 1))).collect();
    let body = own_element(16)
        + &format!(
            "{coordinates} ld.param.u64 %rd5, [handle]; {form} {{%r1, %r2, %r3, %r4}}, [%rd5, {{{}}}];\n\
             st.global.v4.u32 [%rd0], {{%r1, %r2, %r3, %r4}}; ret;",
            list(if float { "%f" } else { "%r1" })
        );
    let text = kernel_text("", &body).replace("(.param .u64 out)", "(.param .u64 out, .param .u64 handle)");
    let module = Module::parse("test.ptx", &text).map_err(|e| e.to_string())?;
    let mut memory = DeviceMemory::new();
    let data = memory.alloc(texels.len() as u64, "texels").unwrap();
    memory.write(data, texels).unwrap();
    let handle =
        memory.create_texture(Texture { address: data, ..texture.clone() }).map_err(|e| e.to_string())?;
    let out = memory.alloc(16 * places.len() as u64, "out").unwrap();
    for (index, place) in places.iter().enumerate() {
        let words = if float { place.map(f32::to_bits) } else { place.map(|v| v as i32 as u32) };
        memory.write_u32s(out + 16 * index as u64, &words).unwrap();
    }
    let kernel = module.kernel("k").unwrap();
    let params = kernel.pack(&[Arg::Ptr(out), Arg::U64(handle)]).unwrap();
    let launch = LaunchDims::new([1, 1, 1], [places.len() as u32, 1, 1]);
    run_functional(&module, &kernel, &launch, &params, &mut memory).map_err(|e| e.to_string())?;
    Ok(memory.read_u32s(out, 4 * places.len()).unwrap().as_chunks::<4>().0.to_vec())
}

fn along_x(places: &[f32]) -> Vec<[f32; 3]> {
    places.iter().map(|&x| [x, 0.0, 0.0]).collect()
}

/// Returns the first channels of the samples as numbers.
fn values(form: &str, texture: &Texture, numbers: &[f32], places: &[[f32; 3]]) -> Vec<f32> {
    let texels: Vec<u8> = numbers.iter().flat_map(|v| v.to_le_bytes()).collect();
    let samples = sample(form, texture, &texels, places).unwrap();
    samples.iter().map(|channels| f32::from_bits(channels[0])).collect()
}

const FOUR: [f32; 4] = [10.0, 20.0, 30.0, 40.0];

#[test]
fn a_fetch_by_integers_reads_one_texel_or_zero_outside() {
    let places = along_x(&[0.0, 3.0, 4.0, -1.0]);
    assert_eq!(values("tex.1d.v4.f32.s32", &singles(&[4]), &FOUR, &places), [10.0, 40.0, 0.0, 0.0]);
    let plane = [[1.0, 1.0, 0.0], [0.0, 1.0, 0.0], [0.0, 2.0, 0.0]];
    assert_eq!(values("tex.2d.v4.f32.s32", &singles(&[2, 2]), &FOUR, &plane), [40.0, 30.0, 0.0]);
}

#[test]
fn points_lie_in_the_texel_below_and_modes_decide_what_lies_outside() {
    let form = "tex.1d.v4.f32.f32";
    let texels = singles(&[4]);
    let places = along_x(&[0.99, 1.0, -5.0, 9.0, f32::NAN, f32::INFINITY, f32::NEG_INFINITY]);
    assert_eq!(values(form, &texels, &FOUR, &places), [10.0, 20.0, 10.0, 40.0, 10.0, 40.0, 10.0]);
    let border = Texture { address_mode: AddressMode::Border, ..texels.clone() };
    assert_eq!(values(form, &border, &FOUR, &places[..4]), [10.0, 20.0, 0.0, 0.0]);
    // Coordinates in texels support neither wrapping nor mirroring.
    let unscaled = Texture { address_mode: AddressMode::Wrap, ..texels.clone() };
    assert_eq!(values(form, &unscaled, &FOUR, &places[2..4]), [10.0, 40.0]);
    let places = along_x(&[0.0, 0.25, 0.99, 1.0, 1.3, -0.1, -1.3, 2.3]);
    let wrap = Texture { normalized: true, ..unscaled };
    assert_eq!(values(form, &wrap, &FOUR, &places), [10.0, 20.0, 40.0, 10.0, 20.0, 40.0, 30.0, 20.0]);
    let mirror = Texture { address_mode: AddressMode::Mirror, ..wrap.clone() };
    assert_eq!(values(form, &mirror, &FOUR, &places), [10.0, 20.0, 40.0, 40.0, 30.0, 10.0, 30.0, 20.0]);
    let clamp = Texture { address_mode: AddressMode::Clamp, ..wrap };
    assert_eq!(values(form, &clamp, &FOUR, &places), [10.0, 20.0, 40.0, 40.0, 40.0, 10.0, 10.0, 40.0]);
}

#[test]
fn a_linear_filter_weighs_neighbours_in_steps_of_a_256th() {
    let form = "tex.1d.v4.f32.f32";
    let linear = Texture { filter: FilterMode::Linear, ..singles(&[4]) };
    // Texel centres are at one half; 1.0 is between the first and the second.
    let places = along_x(&[0.5, 1.0, 1.25, 0.0, 4.0, 1.5 + 1.0 / 1024.0, 1.5 + 3.0 / 1024.0]);
    let step = 20.0 + 10.0 / 256.0;
    assert_eq!(values(form, &linear, &FOUR, &places), [10.0, 15.0, 17.5, 10.0, 40.0, 20.0, step]);
    let border = Texture { address_mode: AddressMode::Border, ..linear.clone() };
    assert_eq!(values(form, &border, &FOUR, &along_x(&[0.0, 4.0, -0.5])), [5.0, 20.0, 0.0]);
    let wrap = Texture { address_mode: AddressMode::Wrap, normalized: true, ..linear.clone() };
    assert_eq!(values(form, &wrap, &FOUR, &along_x(&[0.0, 1.0])), [25.0, 25.0]);
    // The neighbour beyond an edge of a mirrored texture is the edge texel itself.
    let mirror = Texture { address_mode: AddressMode::Mirror, ..wrap };
    let places = along_x(&[0.0, 1.0, 1.25, -0.25, 2.0, -1.0, 3.5, -2.75]);
    assert_eq!(values(form, &mirror, &FOUR, &places), [10.0, 40.0, 35.0, 15.0, 10.0, 40.0, 25.0, 35.0]);
    let plane = Texture { filter: FilterMode::Linear, ..singles(&[2, 2]) };
    assert_eq!(values("tex.2d.v4.f32.f32", &plane, &FOUR, &[[1.0, 1.0, 0.0], [0.5, 1.0, 0.0]]), [25.0, 20.0]);
    let volume = Texture { filter: FilterMode::Linear, ..singles(&[2, 2, 2]) };
    let numbers: Vec<f32> = (0..8).map(|v| v as f32).collect();
    assert_eq!(values("tex.3d.v4.f32.f32", &volume, &numbers, &[[1.0; 3], [1.5, 1.5, 1.5]]), [3.5, 7.0]);
}

#[test]
fn channels_of_every_format_are_read() {
    let read = |texture: &Texture, texels: &[u8], result: &str| {
        sample(&format!("tex.1d.v4.{result}.s32"), texture, texels, &along_x(&[0.0, 1.0])).unwrap()
    };
    let bytes = Texture { kind: ChannelKind::Unsigned, bits: 8, channels: 4, ..singles(&[2]) };
    let texels = [1, 2, 0x80, 0xff, 5, 6, 7, 8];
    assert_eq!(read(&bytes, &texels, "u32"), [[1, 2, 0x80, 0xff], [5, 6, 7, 8]]);
    let signed = Texture { kind: ChannelKind::Signed, ..bytes.clone() };
    assert_eq!(read(&signed, &texels, "s32")[0], [1, 2, 0xffff_ff80, u32::MAX]);
    let one = 1f32.to_bits();
    let unit = Texture { kind: ChannelKind::UnsignedNormalized, ..bytes };
    let third = (51.0f32 / 255.0).to_bits();
    assert_eq!(read(&unit, &[0, 51, 255, 0, 0, 0, 0, 0], "f32")[0], [0, third, one, 0]);
    let signed_unit = Texture { kind: ChannelKind::SignedNormalized, ..signed };
    let minus_one = (-1f32).to_bits();
    assert_eq!(
        read(&signed_unit, &[0x80, 0x81, 0x7f, 0, 0, 0, 0, 0], "f32")[0],
        [minus_one, minus_one, one, 0]
    );
    // Missing channels read 0, except the fourth, which reads 1.
    let halves = Texture { bits: 16, channels: 2, ..singles(&[2]) };
    let texels = [0x00, 0x3c, 0x00, 0xc0, 0x01, 0x00, 0x00, 0x7c];
    let expected =
        [[one, (-2f32).to_bits(), 0, one], [2f32.powi(-24).to_bits(), f32::INFINITY.to_bits(), 0, one]];
    assert_eq!(read(&halves, &texels, "f32"), expected);
    let words = Texture { kind: ChannelKind::Unsigned, ..singles(&[2]) };
    assert_eq!(
        read(&words, &[1, 2, 3, 4, 0, 0, 0, 0x80], "u32"),
        [[0x0403_0201, 0, 0, 1], [0x8000_0000, 0, 0, 1]]
    );
}

#[test]
fn integers_are_fetched_from_a_plane_by_coordinates_of_floats() {
    let plane = Texture { kind: ChannelKind::Unsigned, ..singles(&[2, 2]) };
    let texels: Vec<u8> = [1u32, 2, 3, 0xffff_fff0].iter().flat_map(|v| v.to_le_bytes()).collect();
    let places = [[0.0, 0.0, 0.0], [1.5, 0.0, 0.0], [0.0, 1.9, 0.0], [7.0, 7.0, 0.0]];
    for (form, kind) in
        [("tex.2d.v4.u32.f32", ChannelKind::Unsigned), ("tex.2d.v4.s32.f32", ChannelKind::Signed)]
    {
        let texture = Texture { kind, ..plane.clone() };
        let samples = sample(form, &texture, &texels, &places).unwrap();
        assert_eq!(samples.iter().map(|s| s[0]).collect::<Vec<_>>(), [1, 2, 3, 0xffff_fff0], "{form}");
    }
}

#[test]
fn a_texture_reference_of_the_module_holds_the_handle() {
    let body = own_element(4)
        + "tex.1d.v4.f32.s32 {%f1, _, _, _}, [reference, {%r0}]; st.global.f32 [%rd0], %f1; ret;";
    let text = kernel_text(".global .texref reference;", &body);
    let module = Module::parse("test.ptx", &text).unwrap();
    let mut memory = DeviceMemory::new();
    module.load(&mut memory).unwrap();
    let data = memory.alloc(16, "texels").unwrap();
    memory.write_f32s(data, &FOUR).unwrap();
    let handle = memory.create_texture(Texture { address: data, ..singles(&[4]) }).unwrap();
    let kernel = module.kernel("k").unwrap();
    let out = memory.alloc(16, "out").unwrap();
    let params = kernel.pack(&[Arg::Ptr(out)]).unwrap();
    let launch = LaunchDims::new([1, 1, 1], [4, 1, 1]);
    let unbound = run_functional(&module, &kernel, &launch, &params, &mut memory).unwrap_err().to_string();
    assert!(unbound.contains("samples 0x0, which is no texture that the host made"), "{unbound}");
    memory.write_u64s(module.global("reference").unwrap().0, &[handle]).unwrap();
    run_functional(&module, &kernel, &launch, &params, &mut memory).unwrap();
    assert_eq!(memory.read_f32s(out, 4).unwrap(), FOUR);
}

#[test]
fn textures_that_cannot_be_are_refused_in_words() {
    let refused =
        |texture: Texture| sample("tex.1d.v4.f32.s32", &texture, &[0; 64], &[[0.0; 3]]).unwrap_err();
    assert!(
        refused(Texture { size: vec![], ..singles(&[4]) }).contains("must be one to three numbers from 1")
    );
    assert!(refused(Texture { channels: 3, ..singles(&[4]) }).contains("no texel has that format"));
    assert!(refused(Texture { pitch: 8, ..singles(&[4, 2]) }).contains("at least 16 bytes, a whole row"));
    assert!(refused(Texture { pitch: 18, ..singles(&[4, 2]) }).contains("must be multiples of 4"));
    assert!(refused(singles(&[17])).contains("are not inside a buffer"));
    let integers = Texture { kind: ChannelKind::Signed, ..singles(&[4]) };
    assert!(refused(Texture { filter: FilterMode::Linear, ..integers.clone() }).contains("linear filtering"));
    assert!(
        refused(integers).contains("samples a texture of Signed channels into registers of another kind")
    );
    assert!(refused(singles(&[4, 2])).contains("samples 1 dimensions of a texture that has 2"));
}

#[test]
fn references_and_handles_are_found_through_moves() {
    use crate::ptx::TextureSource;
    let body = "mov.u64 %rd1, photo; mov.b64 %rd2, %rd1;\n\
                tex.2d.v4.f32.f32 {%f1, %f2, %f3, %f4}, [%rd2, {%f1, %f2}];\n\
                ld.param.u64 %rd3, [out]; mov.u64 %rd4, %rd3;\n\
                tex.cube.v4.f32.f32 {%f1, %f2, %f3, %f4}, [%rd4, {%f1, %f2, %f3, %f3}];\n\
                mov.u64 %rd5, 5; tex.1d.v4.u32.s32 {%r1, %r2, %r3, %r4}, [%rd5, {%r1}]; ret;";
    let module = Module::parse("test.ptx", &kernel_text(".global .texref photo;", body)).unwrap();
    let found = module.kernels()[0].textures();
    let variable = module.global("photo").unwrap().0;
    let sources: Vec<_> =
        found.iter().map(|texture| (texture.source, texture.dimensions, texture.cube)).collect();
    assert_eq!(
        sources,
        [
            (TextureSource::Variable(variable), 2, false),
            (TextureSource::Param(0), 3, true),
            (TextureSource::Elsewhere, 1, false)
        ]
    );
}
