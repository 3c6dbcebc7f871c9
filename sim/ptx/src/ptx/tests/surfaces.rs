//! Tests surfaces, and layers and faces of textures.

use super::super::{Arg, LaunchDims, Module, run_functional};
use super::{kernel_text, note_all, own_element};
use crate::memory::DeviceMemory;
use crate::texture::{AddressMode, ChannelKind, FilterMode, Texture};

/// Runs `body` over a texture of `size`, whose handle is in `%rd5` and whose texels count up from 0. Each lane reads
/// three words from `places`. Returns `%r1` to `%r4` of each lane, and the texels.
fn run(
    body: &str,
    size: &[u32],
    float: bool,
    filter: FilterMode,
    places: &[[u32; 3]],
) -> Result<(Vec<[u32; 4]>, Vec<u32>), String> {
    let texels = size.iter().product::<u32>();
    let load: String = (1..=3).map(|n| format!("ld.global.u32 %r1{n}, [%rd0+{}];", 4 * (n - 1))).collect();
    let body = own_element(16)
        + &format!(
            "{load} ld.param.u64 %rd5, [handle]; {body}\nst.global.v4.u32 [%rd0], {{%r1, %r2, %r3, %r4}}; ret;"
        );
    note_all(&body);
    let text = kernel_text("", &body).replace("(.param .u64 out)", "(.param .u64 out, .param .u64 handle)");
    let module = Module::parse("test.ptx", &text).map_err(|error| error.to_string())?;
    let mut memory = DeviceMemory::new();
    let data = memory.alloc(4 * u64::from(texels), "texels").unwrap();
    let value = |n: u32| if float { (n as f32).to_bits() } else { n };
    memory.write_u32s(data, &(0..texels).map(value).collect::<Vec<_>>()).unwrap();
    let texture = Texture {
        address: data,
        size: size.to_vec(),
        pitch: 4 * u64::from(size[0]),
        kind: if float { ChannelKind::Float } else { ChannelKind::Unsigned },
        bits: 32,
        channels: 1,
        normalized: float,
        address_mode: AddressMode::Clamp,
        filter,
    };
    let handle = memory.create_texture(texture).unwrap();
    let out = memory.alloc(16 * places.len() as u64, "out").unwrap();
    for (index, place) in places.iter().enumerate() {
        memory.write_u32s(out + 16 * index as u64, place).unwrap();
    }
    let kernel = module.kernel("k").unwrap();
    let params = kernel.pack(&[Arg::Ptr(out), Arg::U64(handle)]).unwrap();
    let launch = LaunchDims::new([1, 1, 1], [places.len() as u32, 1, 1]);
    run_functional(&module, &kernel, &launch, &params, &mut memory).map_err(|error| error.to_string())?;
    let words = memory.read_u32s(out, 4 * places.len()).unwrap().as_chunks::<4>().0.to_vec();
    Ok((words, memory.read_u32s(data, texels as usize).unwrap()))
}

const POINT: FilterMode = FilterMode::Point;

#[test]
fn surfaces_are_read_and_written_by_byte() {
    let body = "suld.b.2d.b32.trap {%r1}, [%rd5, {%r11, %r12}]; suld.b.2d.b16.trap {%h1}, [%rd5, {%r11, %r12}];\n\
                cvt.u32.u16 %r2, %h1; add.u32 %r3, %r1, 100; sust.b.2d.b32.trap [%rd5, {%r11, %r12}], {%r3};\n\
                suld.b.2d.v2.b32.clamp {%r3, %r4}, [%rd5, {%r13, %r12}];";
    let (out, texels) = run(body, &[4, 2], false, POINT, &[[0, 0, 1000], [12, 1, 0]]).unwrap();
    assert_eq!(out, [[0, 0, 2, 3], [7, 7, 4, 5]]);
    assert_eq!(texels, [100, 1, 2, 3, 4, 5, 6, 107]);
}

#[test]
fn what_lies_outside_a_surface_is_trapped_clamped_or_zero() {
    let body = "suld.b.2d.b32.zero {%r1}, [%rd5, {%r11, %r12}]; suld.b.2d.b32.clamp {%r2}, [%rd5, {%r11, %r12}];\n\
                mov.u32 %r3, 50; sust.b.2d.b32.zero [%rd5, {%r11, %r12}], {%r3}; mov.u32 %r4, 0;";
    let places = [[16, 0, 0], [0, 2, 0], [-4i32 as u32, -1i32 as u32, 0]];
    let (out, texels) = run(body, &[4, 2], false, POINT, &places).unwrap();
    assert_eq!(out.iter().map(|words| [words[0], words[1]]).collect::<Vec<_>>(), [[0, 3], [0, 4], [0, 0]]);
    assert_eq!(texels, (0..8).collect::<Vec<_>>());
    let trap = "suld.b.2d.b32.trap {%r1}, [%rd5, {%r11, %r12}];";
    let refused = run(trap, &[4, 2], false, POINT, &places[..1]).unwrap_err();
    assert!(refused.ends_with("accesses (16, 0), outside a surface of 16 bytes by 2 rows"), "{refused}");
    let refused = run(trap, &[4, 2], false, POINT, &[[2, 0, 0]]).unwrap_err();
    assert!(refused.ends_with("needs an x that is a multiple of 4 bytes, got 2"), "{refused}");
    let refused = run(trap, &[4], false, POINT, &[[0, 0, 0]]).unwrap_err();
    assert!(refused.ends_with("accesses 2 dimensions of a surface that has 1"), "{refused}");
}

#[test]
fn layers_are_not_filtered() {
    let body = "mov.b32 %f1, %r11; mov.b32 %f2, %r12;\n\
                tex.a2d.v4.f32.f32 {%r1, %r2, %r3, %r4}, [%rd5, {%r13, %f1, %f2, %f2}];";
    let at = |x: f32, y: f32, layer: u32| [x.to_bits(), y.to_bits(), layer];
    // 2 x 2 texels in 3 layers: the middle of a layer is the mean of its four texels.
    let places = [at(0.5, 0.5, 0), at(0.5, 0.5, 1), at(0.25, 0.25, 2), at(0.5, 0.5, 9)];
    let (out, _) = run(body, &[2, 2, 3], true, FilterMode::Linear, &places).unwrap();
    let values: Vec<f32> = out.iter().map(|words| f32::from_bits(words[0])).collect();
    assert_eq!(values, [1.5, 5.5, 8.0, 9.5]);
    let fetch = "tex.a1d.v4.f32.s32 {%r1, %r2, %r3, %r4}, [%rd5, {%r13, %r11}];";
    let (out, _) = run(fetch, &[4, 3], true, POINT, &[[1, 0, 0], [3, 0, 2], [0, 0, 7]]).unwrap();
    let values: Vec<f32> = out.iter().map(|words| f32::from_bits(words[0])).collect();
    assert_eq!(values, [1.0, 11.0, 8.0]);
}

#[test]
fn a_direction_meets_the_face_of_its_longest_axis() {
    let body = "mov.b32 %f1, %r11; mov.b32 %f2, %r12; mov.b32 %f3, %r13;\n\
                tex.cube.v4.f32.f32 {%r1, %r2, %r3, %r4}, [%rd5, {%f1, %f2, %f3, %f3}];";
    let at = |place: [f32; 3]| place.map(f32::to_bits);
    // Faces of 2 x 2 texels in the order +x, -x, +y, -y, +z, -z. The texels count up, so that a face starts every 4.
    let cases = [
        // Texel at the lower end of both axes of each face: s is -z, z, x, x, x, -x; t is -y, -y, z, -z, -y, -y.
        ([1.0, 0.5, 0.5], 0.0),
        ([-1.0, 0.5, -0.5], 4.0),
        ([-0.5, 1.0, -0.5], 8.0),
        ([-0.5, -1.0, 0.5], 12.0),
        ([-0.5, 0.5, 1.0], 16.0),
        ([0.5, 0.5, -1.0], 20.0),
        // One step along s, and one along t.
        ([1.0, 0.5, -0.5], 1.0),
        ([-0.5, -0.5, 1.0], 18.0),
    ];
    let places: Vec<[u32; 3]> = cases.iter().map(|(place, _)| at(*place)).collect();
    let (out, _) = run(body, &[2, 2, 6], true, POINT, &places).unwrap();
    let values: Vec<f32> = out.iter().map(|words| f32::from_bits(words[0])).collect();
    assert_eq!(values, cases.map(|(_, value)| value));
    let refused = run(body, &[2, 2, 5], true, POINT, &places).unwrap_err();
    assert!(refused.contains("the texture must be square, have 6 faces"), "{refused}");
}
