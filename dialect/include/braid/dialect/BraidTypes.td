//===- BraidTypes.td - the token ----------------------------------------------------------------*- tablegen -*-===//
#ifndef BRAID_DIALECT_BRAIDTYPES_TD
#define BRAID_DIALECT_BRAIDTYPES_TD

include "braid/dialect/BraidBase.td"
include "mlir/IR/AttrTypeBase.td"

def Braid_TokenType : TypeDef<Braid_Dialect, "Token"> {
  let mnemonic = "token";
  let summary = "a collective in flight";
  let description = [{
    Stands for a collective between its `braid.start` and its `braid.wait`.
  }];
}

#endif // BRAID_DIALECT_BRAIDTYPES_TD
