//! State of rust-hdl's signals: the current and the next value of each.
use crate::{Reader, State, StateError, Writer};
use rust_hdl_core::prelude::{
    Bits, Block, Clock, Constant, In, Local, Out, Signal, Signed, Synth, signed_cast, unsigned_cast,
};

macro_rules! signals {
    ($($direction:ty)+) => {$(
        impl<T: Synth + State> State for Signal<$direction, T> {
            fn save(&self, to: &mut Writer) {
                self.val().save(to);
                self.next.save(to);
                self.changed.save(to);
            }
            fn load(&mut self, from: &mut Reader) -> Result<(), StateError> {
                self.next.load(from)?;
                self.update_all();
                self.next.load(from)?;
                self.changed.load(from)
            }
        }
    )+};
}
signals!(In Out Local);

impl State for Clock {
    fn save(&self, to: &mut Writer) {
        self.clk.save(to);
    }
    fn load(&mut self, from: &mut Reader) -> Result<(), StateError> {
        self.clk.load(from)
    }
    fn read(from: &mut Reader) -> Result<Self, StateError> {
        Ok(Clock { clk: bool::read(from)? })
    }
    fn is_value() -> bool {
        true
    }
}

/// A constant has no state.
impl<T: Synth> State for Constant<T> {
    fn save(&self, _: &mut Writer) {}
    fn load(&mut self, _: &mut Reader) -> Result<(), StateError> {
        Ok(())
    }
}

impl<const N: usize> State for Bits<N> {
    fn save(&self, to: &mut Writer) {
        (0..N).for_each(|bit| self.get_bit(bit).save(to));
    }
    fn load(&mut self, from: &mut Reader) -> Result<(), StateError> {
        *self = Self::read(from)?;
        Ok(())
    }
    fn read(from: &mut Reader) -> Result<Self, StateError> {
        (0..N).try_fold(Bits::default(), |bits: Bits<N>, bit| Ok(bits.replace_bit(bit, bool::read(from)?)))
    }
    fn is_value() -> bool {
        true
    }
}

impl<const N: usize> State for Signed<N> {
    fn save(&self, to: &mut Writer) {
        unsigned_cast(*self).save(to);
    }
    fn load(&mut self, from: &mut Reader) -> Result<(), StateError> {
        *self = Self::read(from)?;
        Ok(())
    }
    fn read(from: &mut Reader) -> Result<Self, StateError> {
        Ok(signed_cast(Bits::read(from)?))
    }
    fn is_value() -> bool {
        true
    }
}
