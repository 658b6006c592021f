// SPDX-License-Identifier: Apache-2.0
// Scalar operations, applied element by element; shapes broadcast as in NumPy.
// Semantics at the edges (NaN, overflow, division by zero): docs/ir.md.

//===--- Arithmetic ---------------------------------------------------------===//
def AddOp : BinaryOp<"add", [Commutative]> { let summary = "x0 + x1"; let scalar = "add"; let onnx = "Add"; }
def SubOp : BinaryOp<"sub"> { let summary = "x0 - x1"; let scalar = "sub"; let onnx = "Sub"; }
def MulOp : BinaryOp<"mul", [Commutative]> { let summary = "x0 * x1"; let scalar = "mul"; let onnx = "Mul"; }
def DivOp : BinaryOp<"div"> { let summary = "x0 / x1; integers truncate, x / 0 is 0, lowest / -1 is lowest"; let scalar = "div"; let onnx = "Div"; }
def RemOp : BinaryOp<"rem"> { let summary = "C remainder (sign of x0): fmod for floats; x % 0 is 0 for integers"; let scalar = "rem"; }
def ModOp : BinaryOp<"mod"> { let summary = "remainder with the divisor's sign; x mod 0 is 0 for integers"; let scalar = "mod"; }
def PowOp : PointwiseOp<"pow"> { let summary = "x0 to the power of x1, in x0's type"; let operands = (ins Tensor:$lhs, Tensor:$rhs); let scalar = "pow"; }
def MaxOp : BinaryOp<"max", [Commutative]> { let summary = "the larger; a NaN wins"; let scalar = "max"; }
def MinOp : BinaryOp<"min", [Commutative]> { let summary = "the smaller; a NaN wins"; let scalar = "min"; }
def NegOp : UnaryOp<"neg"> { let summary = "-x0"; let scalar = "neg"; let onnx = "Neg"; }
def AbsOp : UnaryOp<"abs"> { let summary = "|x0|"; let scalar = "abs"; let onnx = "Abs"; }
def SignOp : UnaryOp<"sign"> { let summary = "-1, 0 or 1; a NaN stays a NaN"; let scalar = "sign"; let onnx = "Sign"; }
def FloorOp : FloatUnaryOp<"floor"> { let summary = "round down"; let scalar = "floor"; let onnx = "Floor"; }
def CeilOp : FloatUnaryOp<"ceil"> { let summary = "round up"; let scalar = "ceil"; let onnx = "Ceil"; }
def RoundOp : FloatUnaryOp<"round"> { let summary = "round to nearest, halves to even"; let scalar = "round"; let onnx = "Round"; }
def SqrtOp : FloatUnaryOp<"sqrt"> { let summary = "square root"; let scalar = "sqrt"; let onnx = "Sqrt"; }
def RsqrtOp : FloatUnaryOp<"rsqrt"> { let summary = "1 / sqrt(x0)"; let scalar = "rsqrt"; }
def ReciprocalOp : FloatUnaryOp<"reciprocal"> { let summary = "1 / x0"; let scalar = "reciprocal"; let onnx = "Reciprocal"; }
def ReluOp : UnaryOp<"relu"> { let summary = "max(x0, 0); a NaN stays a NaN"; let scalar = "relu"; let onnx = "Relu"; }

//===--- Transcendental -------------------------------------------------------===//
def ExpOp : FloatUnaryOp<"exp"> { let summary = "e^x0"; let scalar = "exp"; let onnx = "Exp"; }
def Expm1Op : FloatUnaryOp<"expm1"> { let summary = "e^x0 - 1, exact near 0"; let scalar = "expm1"; }
def LogOp : FloatUnaryOp<"log"> { let summary = "natural logarithm"; let scalar = "log"; let onnx = "Log"; }
def Log1pOp : FloatUnaryOp<"log1p"> { let summary = "log(1 + x0), exact near 0"; let scalar = "log1p"; }
def ErfOp : FloatUnaryOp<"erf"> { let summary = "Gauss error function"; let scalar = "erf"; let onnx = "Erf"; }
def SigmoidOp : FloatUnaryOp<"sigmoid"> { let summary = "1 / (1 + e^-x0)"; let scalar = "sigmoid"; let onnx = "Sigmoid"; }
def TanhOp : FloatUnaryOp<"tanh"> { let summary = "hyperbolic tangent"; let scalar = "tanh"; let onnx = "Tanh"; }
def SinOp : FloatUnaryOp<"sin"> { let summary = "sine"; let scalar = "sin"; let onnx = "Sin"; }
def CosOp : FloatUnaryOp<"cos"> { let summary = "cosine"; let scalar = "cos"; let onnx = "Cos"; }
def TanOp : FloatUnaryOp<"tan"> { let summary = "tangent"; let scalar = "tan"; let onnx = "Tan"; }
def AsinOp : FloatUnaryOp<"asin"> { let summary = "inverse sine"; let scalar = "asin"; let onnx = "Asin"; }
def AcosOp : FloatUnaryOp<"acos"> { let summary = "inverse cosine"; let scalar = "acos"; let onnx = "Acos"; }
def AtanOp : FloatUnaryOp<"atan"> { let summary = "inverse tangent"; let scalar = "atan"; let onnx = "Atan"; }
def SinhOp : FloatUnaryOp<"sinh"> { let summary = "hyperbolic sine"; let scalar = "sinh"; let onnx = "Sinh"; }
def CoshOp : FloatUnaryOp<"cosh"> { let summary = "hyperbolic cosine"; let scalar = "cosh"; let onnx = "Cosh"; }
def AsinhOp : FloatUnaryOp<"asinh"> { let summary = "inverse hyperbolic sine"; let scalar = "asinh"; let onnx = "Asinh"; }
def AcoshOp : FloatUnaryOp<"acosh"> { let summary = "inverse hyperbolic cosine"; let scalar = "acosh"; let onnx = "Acosh"; }
def AtanhOp : FloatUnaryOp<"atanh"> { let summary = "inverse hyperbolic tangent"; let scalar = "atanh"; let onnx = "Atanh"; }

//===--- Comparison and selection -----------------------------------------------===//
def EqualOp : CompareOp<"equal", [Commutative]> { let summary = "x0 == x1"; let scalar = "equal"; let onnx = "Equal"; }
def LessOp : CompareOp<"less"> { let summary = "x0 < x1"; let scalar = "less"; let onnx = "Less"; }
def LessEqualOp : CompareOp<"less_equal"> { let summary = "x0 <= x1"; let scalar = "less_equal"; let onnx = "LessOrEqual"; }
def IsNanOp : PointwiseOp<"is_nan"> { let operands = (ins FloatTensor:$input); let summary = "x0 is a NaN"; let scalar = "is_nan"; let scalarResult = "DataType::Bool"; let onnx = "IsNaN"; }
def IsInfOp : PointwiseOp<"is_inf"> { let operands = (ins FloatTensor:$input); let summary = "x0 is infinite, of either sign"; let scalar = "is_inf"; let scalarResult = "DataType::Bool"; }
def SelectOp : PointwiseOp<"select"> {
  let summary = "onTrue where the condition holds, onFalse elsewhere";
  let operands = (ins BoolTensor:$condition, Tensor:$onTrue, Tensor:$onFalse);
  let inferTypes = "inferSelect";
  let scalar = "select"; // select(bool, T, T)
  let onnx = "Where";
}

//===--- Bits -------------------------------------------------------------------===//
def AndOp : BinaryOp<"and", [Commutative]> { let operands = (ins BitsTensor:$lhs, BitsTensor:$rhs); let summary = "bitwise (logical on bool) and"; let scalar = "bit_and"; }
def OrOp : BinaryOp<"or", [Commutative]> { let operands = (ins BitsTensor:$lhs, BitsTensor:$rhs); let summary = "bitwise (logical on bool) or"; let scalar = "bit_or"; }
def XorOp : BinaryOp<"xor", [Commutative]> { let operands = (ins BitsTensor:$lhs, BitsTensor:$rhs); let summary = "bitwise (logical on bool) exclusive or"; let scalar = "bit_xor"; }
def NotOp : PointwiseOp<"not"> { let operands = (ins BitsTensor:$input); let summary = "bitwise (logical on bool) complement"; let scalar = "bit_not"; }
def ShiftLeftOp : BinaryOp<"shift_left"> { let operands = (ins IntTensor:$lhs, IntTensor:$rhs); let summary = "x0 << x1; 0 when x1 is not below the width"; let scalar = "shift_left"; }
def ShiftRightOp : BinaryOp<"shift_right"> { let operands = (ins IntTensor:$lhs, IntTensor:$rhs); let summary = "x0 >> x1 with the sign from above; when x1 is not below the width, only that"; let scalar = "shift_right"; }

//===--- Element types -------------------------------------------------------------===//
def CastOp : Op<"cast", [Pointwise, Pure]> {
  let summary = "to another element type; always rounds";
  let description = "float to int truncates and saturates, NaN gives 0; int to narrower int wraps; to bool: not zero.";
  let operands = (ins Tensor:$input);
  let attributes = (attrs ElementType:$to);
  let inferTypes = "inferCast";
  let scalar = "cast"; // cast<To>(From)
}
def ConvertOp : Op<"convert", [Pointwise, Pure]> {
  let summary = "as cast between floating-point types, but may be elided: what LowerPrecision inserts";
  let operands = (ins FloatTensor:$input);
  let attributes = (attrs ElementType:$to);
  let inferTypes = "inferConvert";
  let scalar = "cast";
}
