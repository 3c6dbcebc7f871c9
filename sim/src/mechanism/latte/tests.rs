//! What the compressed L1D decides, holds and gives up.
