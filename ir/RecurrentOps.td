// SPDX-License-Identifier: Apache-2.0
// Recurrences.

def Direction : Enum<["forward", "reverse", "bidirectional"]>;
def LstmOp : Op<"lstm", [Pure, Hero]> {
  let summary = "LSTM over a sequence (ONNX LSTM, layout 0)";
  let description = "x [S, B, I]; w [D, 4H, I]; r [D, 4H, H]; b [D, 8H]; lengths [B]; initial states [D, B, H]; p [D, 3H]; gates in ONNX's order i, o, f, c. Results y [S, D, B, H], yH and yC [D, B, H]. activations: f, g, h per direction, lower case.";
  let operands = (ins FloatTensor:$x, FloatTensor:$w, FloatTensor:$r, OptionalTensor:$b, OptionalTensor:$lengths, OptionalTensor:$initialH, OptionalTensor:$initialC, OptionalTensor:$p);
  let attributes = (attrs I64:$hidden, Direction:$direction, StrList:$activations, Default<F64List, "{}">:$alpha, Default<F64List, "{}">:$beta, Default<F64, "0.0">:$clip, Default<Bool, "false">:$inputForget);
  let results = (outs Tensor:$y, Tensor:$yH, Tensor:$yC);
  let inferTypes = "inferLstm";
}
