//! Blocks that evaluate an inner block less often.

/// Makes a wrapper with a field `inner` pass everything to the inner block, except the evaluation as a [`Block`].
///
/// [`Block`]: rust_hdl_core::prelude::Block
macro_rules! wrapper {
    ($wrapper:ident) => {
        impl<B> ::std::ops::Deref for $wrapper<B> {
            type Target = B;
            #[inline(always)]
            fn deref(&self) -> &B {
                &self.inner
            }
        }

        impl<B> ::std::ops::DerefMut for $wrapper<B> {
            #[inline(always)]
            fn deref_mut(&mut self) -> &mut B {
                &mut self.inner
            }
        }

        impl<B: Logic> Logic for $wrapper<B> {
            fn update(&mut self) {
                self.inner.update();
            }
            fn connect(&mut self) {
                self.inner.connect();
            }
            fn hdl(&self) -> Verilog {
                self.inner.hdl()
            }
            fn timing(&self) -> Vec<TimingInfo> {
                self.inner.timing()
            }
        }
    };
}
pub(super) use wrapper;
