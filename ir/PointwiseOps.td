// SPDX-License-Identifier: Apache-2.0
// Scalar operations, applied element by element; shapes broadcast as in NumPy.
// Semantics at the edges (NaN, overflow, division by zero): docs/ir.md.
// The functions that `scalar` calls are in ir/scalar/Functions.h.

//===--- Arithmetic ---------------------------------------------------------===//
def AddOp : BinaryOp<"add", [Commutative]> { let summary = "x0 + x1"; let scalar = "sum(x0, x1)"; let onnx = "Add"; }
def SubOp : BinaryOp<"sub"> { let summary = "x0 - x1"; let scalar = "difference(x0, x1)"; let onnx = "Sub"; }
def MulOp : BinaryOp<"mul", [Commutative]> { let summary = "x0 * x1"; let scalar = "product(x0, x1)"; let onnx = "Mul"; }
def DivOp : BinaryOp<"div"> { let summary = "x0 / x1; integers truncate, x / 0 is 0, lowest / -1 is lowest"; let scalar = "quotient(x0, x1)"; let onnx = "Div"; }
def RemOp : BinaryOp<"rem"> { let summary = "C remainder (sign of x0): fmod for floats; x % 0 is 0 for integers"; let scalar = "remainder(x0, x1)"; }
def ModOp : BinaryOp<"mod"> { let summary = "remainder with the divisor's sign; x mod 0 is 0 for integers"; let scalar = "floored_remainder(x0, x1)"; }
def PowOp : PointwiseOp<"pow", [Transcendental]> { let summary = "x0 to the power of x1, in x0's type"; let operands = (ins Tensor:$lhs, Tensor:$rhs); let scalar = "power(x0, x1)"; let scalarTypes = "T(T, E)"; }
def MaxOp : BinaryOp<"max", [Commutative]> { let summary = "the larger; a NaN wins"; let scalar = "x0 > x1 || x0 != x0 ? x0 : x1"; }
def MinOp : BinaryOp<"min", [Commutative]> { let summary = "the smaller; a NaN wins"; let scalar = "x0 < x1 || x0 != x0 ? x0 : x1"; }
def NegOp : UnaryOp<"neg"> { let summary = "-x0"; let scalar = "negated(x0)"; let onnx = "Neg"; }
def AbsOp : UnaryOp<"abs"> { let summary = "|x0|"; let scalar = "magnitude(x0)"; let onnx = "Abs"; }
def SignOp : UnaryOp<"sign"> { let summary = "-1, 0 or 1; a NaN stays a NaN"; let scalar = "x0 != x0 ? x0 : x0 > T(0) ? T(1) : is_negative(x0) ? T(-1) : T(0)"; let onnx = "Sign"; }
def FloorOp : FloatUnaryOp<"floor"> { let summary = "round down"; let scalar = "ieee::floor(x0)"; let onnx = "Floor"; }
def CeilOp : FloatUnaryOp<"ceil"> { let summary = "round up"; let scalar = "ieee::ceil(x0)"; let onnx = "Ceil"; }
def RoundOp : FloatUnaryOp<"round"> { let summary = "round to nearest, halves to even"; let scalar = "ieee::rint(x0)"; let onnx = "Round"; }
def SqrtOp : FloatUnaryOp<"sqrt"> { let summary = "square root"; let scalar = "ieee::sqrt(x0)"; let onnx = "Sqrt"; }
def RsqrtOp : FloatUnaryOp<"rsqrt", [Transcendental]> { let summary = "1 / sqrt(x0)"; let scalar = "T(1) / sqrt(x0)"; }
def ReciprocalOp : FloatUnaryOp<"reciprocal"> { let summary = "1 / x0"; let scalar = "T(1) / x0"; let onnx = "Reciprocal"; }
def ReluOp : UnaryOp<"relu"> { let summary = "max(x0, 0); a NaN stays a NaN"; let scalar = "is_negative(x0) ? T(0) : x0"; let onnx = "Relu"; }

//===--- Transcendental -------------------------------------------------------===//
def ExpOp : TranscendentalOp<"exp"> { let summary = "e^x0"; let scalar = "libm::exp(x0)"; let onnx = "Exp"; }
def Expm1Op : TranscendentalOp<"expm1"> { let summary = "e^x0 - 1, exact near 0"; let scalar = "libm::expm1(x0)"; }
def LogOp : TranscendentalOp<"log"> { let summary = "natural logarithm"; let scalar = "libm::log(x0)"; let onnx = "Log"; }
def Log1pOp : TranscendentalOp<"log1p"> { let summary = "log(1 + x0), exact near 0"; let scalar = "libm::log1p(x0)"; }
def ErfOp : TranscendentalOp<"erf"> { let summary = "Gauss error function"; let scalar = "libm::erf(x0)"; let onnx = "Erf"; }
def SigmoidOp : TranscendentalOp<"sigmoid"> { let summary = "1 / (1 + e^-x0)"; let scalar = "T(1) / (T(1) + exp(-x0))"; let onnx = "Sigmoid"; }
def TanhOp : TranscendentalOp<"tanh"> { let summary = "hyperbolic tangent"; let scalar = "libm::tanh(x0)"; let onnx = "Tanh"; }
def SinOp : TranscendentalOp<"sin"> { let summary = "sine"; let scalar = "libm::sin(x0)"; let onnx = "Sin"; }
def CosOp : TranscendentalOp<"cos"> { let summary = "cosine"; let scalar = "libm::cos(x0)"; let onnx = "Cos"; }
def TanOp : TranscendentalOp<"tan"> { let summary = "tangent"; let scalar = "libm::tan(x0)"; let onnx = "Tan"; }
def AsinOp : TranscendentalOp<"asin"> { let summary = "inverse sine"; let scalar = "libm::asin(x0)"; let onnx = "Asin"; }
def AcosOp : TranscendentalOp<"acos"> { let summary = "inverse cosine"; let scalar = "libm::acos(x0)"; let onnx = "Acos"; }
def AtanOp : TranscendentalOp<"atan"> { let summary = "inverse tangent"; let scalar = "libm::atan(x0)"; let onnx = "Atan"; }
def SinhOp : TranscendentalOp<"sinh"> { let summary = "hyperbolic sine"; let scalar = "libm::sinh(x0)"; let onnx = "Sinh"; }
def CoshOp : TranscendentalOp<"cosh"> { let summary = "hyperbolic cosine"; let scalar = "libm::cosh(x0)"; let onnx = "Cosh"; }
def AsinhOp : TranscendentalOp<"asinh"> { let summary = "inverse hyperbolic sine"; let scalar = "libm::asinh(x0)"; let onnx = "Asinh"; }
def AcoshOp : TranscendentalOp<"acosh"> { let summary = "inverse hyperbolic cosine"; let scalar = "libm::acosh(x0)"; let onnx = "Acosh"; }
def AtanhOp : TranscendentalOp<"atanh"> { let summary = "inverse hyperbolic tangent"; let scalar = "libm::atanh(x0)"; let onnx = "Atanh"; }

//===--- Comparison and selection -----------------------------------------------===//
def EqualOp : CompareOp<"equal", [Commutative]> { let summary = "x0 == x1"; let scalar = "x0 == x1"; let onnx = "Equal"; }
def LessOp : CompareOp<"less"> { let summary = "x0 < x1"; let scalar = "x0 < x1"; let onnx = "Less"; }
def LessEqualOp : CompareOp<"less_equal"> { let summary = "x0 <= x1"; let scalar = "x0 <= x1"; let onnx = "LessOrEqual"; }
def IsNanOp : PointwiseOp<"is_nan"> { let operands = (ins FloatTensor:$input); let summary = "x0 is a NaN"; let scalar = "x0 != x0"; let scalarResult = "DataType::Bool"; let onnx = "IsNaN"; }
def IsInfOp : PointwiseOp<"is_inf"> { let operands = (ins FloatTensor:$input); let summary = "x0 is infinite, of either sign"; let scalar = "x0 == lowest<T>() || x0 == highest<T>()"; let scalarResult = "DataType::Bool"; }
def SelectOp : PointwiseOp<"select"> {
  let summary = "onTrue where the condition holds, onFalse elsewhere";
  let operands = (ins BoolTensor:$condition, Tensor:$onTrue, Tensor:$onFalse);
  let scalar = "x0 ? x1 : x2";
  let scalarTypes = "T(bool, T, T)";
  let onnx = "Where";
}

//===--- Bits -------------------------------------------------------------------===//
def AndOp : BinaryOp<"and", [Commutative]> { let operands = (ins BitsTensor:$lhs, BitsTensor:$rhs); let summary = "bitwise (logical on bool) and"; let scalar = "x0 & x1"; }
def OrOp : BinaryOp<"or", [Commutative]> { let operands = (ins BitsTensor:$lhs, BitsTensor:$rhs); let summary = "bitwise (logical on bool) or"; let scalar = "x0 | x1"; }
def XorOp : BinaryOp<"xor", [Commutative]> { let operands = (ins BitsTensor:$lhs, BitsTensor:$rhs); let summary = "bitwise (logical on bool) exclusive or"; let scalar = "x0 ^ x1"; }
def NotOp : PointwiseOp<"not"> { let operands = (ins BitsTensor:$input); let summary = "bitwise (logical on bool) complement"; let scalar = "complement(x0)"; }
def ShiftLeftOp : BinaryOp<"shift_left"> { let operands = (ins IntTensor:$lhs, IntTensor:$rhs); let summary = "x0 << x1; 0 when x1 is not below the width"; let scalar = "shifts_all(x1) ? T(0) : T(Unsigned<T>(x0) << Unsigned<T>(x1))"; }
def ShiftRightOp : BinaryOp<"shift_right"> { let operands = (ins IntTensor:$lhs, IntTensor:$rhs); let summary = "x0 >> x1 with the sign from above; when x1 is not below the width, only that"; let scalar = "shifts_all(x1) ? (is_negative(x0) ? T(-1) : T(0)) : T(x0 >> x1)"; }

//===--- Element types -------------------------------------------------------------===//
def CastOp : Op<"cast", [Pointwise, Pure]> {
  let summary = "to another element type; always rounds";
  let description = "float to int truncates and saturates, NaN gives 0; int to narrower int wraps; to bool: not zero.";
  let operands = (ins Tensor:$input);
  let attributes = (attrs ElementType:$to);
  let inferTypes = "inferCast";
  let scalar = "cast_to<To>(x0)";
  let scalarTypes = "To(From)";
}
def ConvertOp : Op<"convert", [Pointwise, Pure]> {
  let summary = "as cast between floating-point types, but may be elided: what LowerPrecision inserts";
  let operands = (ins FloatTensor:$input);
  let attributes = (attrs ElementType:$to);
  let inferTypes = "inferConvert";
  let scalar = "cast_to<To>(x0)";
  let scalarTypes = "To(From)";
}
