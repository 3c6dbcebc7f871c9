//! Tests the results of whole kernels.

use super::super::{Arg, LaunchDims, Module, run_functional};
use crate::memory::DeviceMemory;

const VECADD: &str = "
.version 5.0
.target sm_60
.address_size 64
.visible .entry vecadd(
	.param .u64 vecadd_param_0,
	.param .u64 vecadd_param_1,
	.param .u64 vecadd_param_2,
	.param .u32 vecadd_param_3
)                                       // @vecadd
{
	.reg .pred 	%p<2>;
	.reg .b32 	%r<6>;
	.reg .f32 	%f<4>;
	.reg .b64 	%rd<11>;
	ld.param.u32 	%r1, [vecadd_param_3];
	mov.u32 	%r2, %ctaid.x;
	mov.u32 	%r3, %ntid.x;
	mov.u32 	%r4, %tid.x;
	mad.lo.s32 	%r5, %r2, %r3, %r4;
	setp.ge.s32 	%p1, %r5, %r1;
	@%p1 bra 	$L__BB1_2;
	ld.param.u64 	%rd4, [vecadd_param_0];
	ld.param.u64 	%rd5, [vecadd_param_2];
	cvta.to.global.u64 	%rd6, %rd5;
	ld.param.u64 	%rd7, [vecadd_param_1];
	cvta.to.global.u64 	%rd8, %rd7;
	cvta.to.global.u64 	%rd9, %rd4;
	mul.wide.u32 	%rd10, %r5, 4;
	add.s64 	%rd1, %rd6, %rd10;
	add.s64 	%rd2, %rd8, %rd10;
	add.s64 	%rd3, %rd9, %rd10;
	ld.global.f32 	%f1, [%rd3];
	ld.global.f32 	%f2, [%rd2];
	add.f32 	%f3, %f1, %f2;
	st.global.f32 	[%rd1], %f3;
$L__BB1_2:
	ret;
}";

#[test]
fn vector_addition_adds_every_element_once() {
    let module = Module::parse("vecadd.ptx", VECADD).unwrap();
    let kernel = module.kernel("vecadd").unwrap();
    let mut memory = DeviceMemory::new();
    let n = 1000;
    let a: Vec<f32> = (0..n).map(|i| i as f32 * 0.5).collect();
    let b: Vec<f32> = (0..n).map(|i| 3.0 - i as f32).collect();
    let buffers: Vec<u64> = ["a", "b", "c"].iter().map(|name| memory.alloc(4 * n, name).unwrap()).collect();
    memory.write_f32s(buffers[0], &a).unwrap();
    memory.write_f32s(buffers[1], &b).unwrap();
    let arguments = [Arg::Ptr(buffers[0]), Arg::Ptr(buffers[1]), Arg::Ptr(buffers[2]), Arg::U32(n as u32)];
    let params = kernel.pack(&arguments).unwrap();
    let launch = LaunchDims::new([4, 1, 1], [256, 1, 1]);
    run_functional(&module, &kernel, &launch, &params, &mut memory).unwrap();
    let expected: Vec<f32> = a.iter().zip(&b).map(|(a, b)| a + b).collect();
    assert_eq!(memory.read_f32s(buffers[2], n as usize).unwrap(), expected);
}
