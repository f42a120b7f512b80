// Carries the precompiled header that Braid's MLIR libraries share (see BraidMLIR.cmake).
