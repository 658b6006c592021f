// SPDX-License-Identifier: Apache-2.0
// The vocabulary of ir/*.td: what an op record may say. Read by dlc-tblgen.

//===--- Attribute kinds --------------------------------------------------===//
// `cpp` is the type that accessors return and builders take, `storage` the
// member of dlc::Attribute that holds it.

class AttrKind<string cpp, string storage_> {
  string cppType = cpp;
  string storage = storage_;
  bit optional = 0;         // may be absent; the accessor returns std::optional
  string defaultValue = ""; // C++; not printed in text when equal to it
}
def I64 : AttrKind<"int64_t", "Int">;
def F64 : AttrKind<"double", "Float">;
def Bool : AttrKind<"bool", "Bool">;
def Str : AttrKind<"std::string", "String">;
def I64List : AttrKind<"std::vector<int64_t>", "IntList">;
def F64List : AttrKind<"std::vector<double>", "FloatList">;
def StrList : AttrKind<"std::vector<std::string>", "StringList">;
def Dims : AttrKind<"std::vector<dlc::Dim>", "DimList">;
def ElementType : AttrKind<"dlc::DataType", "Type">;
def LayoutAttr : AttrKind<"dlc::Layout", "Layout">;
def Dense : AttrKind<"dlc::Constant", "Dense">;

// An attribute that may be left out; the value it then has.
class Default<AttrKind base_, string value>
    : AttrKind<base_.cppType, base_.storage> {
  AttrKind base = base_;
  let defaultValue = value;
}
class Optional<AttrKind base_> : AttrKind<base_.cppType, base_.storage> {
  AttrKind base = base_;
  let optional = 1;
}

// An enumeration: generates `enum class <def name> { ... }`, stringify(e),
// parse<Name>(text). Stored as its text in the text form, as an integer in
// memory.
class Enum<list<string> cases_> : AttrKind<"", "Int"> { list<string> cases = cases_; }

//===--- Operands and results ---------------------------------------------===//
class OperandKind {
  bit optional = 0;  // an absent operand is an empty slot (null), in the middle too
  bit variadic = 0;  // any number; last operand only
  string types = ""; // C++ predicate on the element type `t`; empty: any
  string what = "";  // what a violation says was expected
}
def Tensor : OperandKind;
def OptionalTensor : OperandKind { let optional = 1; }
def Tensors : OperandKind { let variadic = 1; }
def FloatTensor : OperandKind { let types = "isFloat(t)"; let what = "a floating-point tensor"; }
def OptionalFloatTensor : OperandKind { let optional = 1; let types = "isFloat(t)"; let what = "a floating-point tensor"; }
def NumberTensor : OperandKind { let types = "t != DataType::Bool"; let what = "a tensor of numbers"; }
def IntTensor : OperandKind { let types = "isInteger(t)"; let what = "an integer tensor"; }
def BoolTensor : OperandKind { let types = "t == DataType::Bool"; let what = "a bool tensor"; }
def BitsTensor : OperandKind { let types = "isInteger(t) || t == DataType::Bool"; let what = "an integer or bool tensor"; }

def ins;
def outs;
def attrs;

//===--- Traits -------------------------------------------------------------===//
class Trait;
def Pointwise : Trait;    // element i of the result depends on element i of the operands
def Commutative : Trait;
def Pure : Trait;         // no effect beyond its results: may be folded, merged, dropped
def View : Trait;         // moves elements, computes nothing: index arithmetic in a fusion
def Hero : Trait;         // gives a fusion its kind: reductions, contractions, windows
def SameTypeOperands : Trait; // all operands have one element type
// Math libraries differ in the last bits of it: folded and evaluated in f64 and
// rounded once, in f64 not folded.
def Transcendental : Trait;

//===--- Constraints ----------------------------------------------------------===//
// A rule of the verifier: a C++ expression over `op` that yields Proof (proved,
// refuted, unknown: symbols may leave it open) or bool, the sentence that a
// violation prints, and the values found, as C++ expressions printed after it.
class Constraint<string cond, string sentence, list<string> found_ = []> {
  string condition = cond;
  string message = sentence;
  list<string> found = found_;
}

//===--- Op -----------------------------------------------------------------===//
class Op<string mnemonic_, list<Trait> traits_ = []> {
  string mnemonic = mnemonic_;
  list<Trait> traits = traits_;
  string summary = "";      // one sentence
  string description = "";  // shapes, formula, source (ONNX section)
  dag operands = (ins);
  dag attributes = (attrs);
  dag results = (outs Tensor:$result);
  list<Constraint> constraints = [];
  list<string> regions = [];
  // Name of the C++ function `Expected<SmallVector<TensorType, 1>> f(const Op &)`
  // in ir/infer/ that gives the result types. Empty: builder takes them.
  string inferTypes = "";
  // Pointwise only: the result, a C++ expression over the operands x0, x1, ... of
  // the compute type T. It may call the functions of ir/scalar/Functions.h and those
  // of ops above. dlc-tblgen writes it as dlc::scalar::<mnemonic> into
  // ir/scalar/Scalar.h, which the host and NVRTC both compile.
  string scalar = "";
  // Its C++ types where they are not all T, "T(bool, T, T)": bool, or the name of a
  // type parameter. Operands of one name have one element type, and the result of
  // that name has it, too.
  string scalarTypes = "";
  // Pointwise only: element type of the result, C++ over `t`, the element type of the
  // first operand. Empty: the same as the operands'.
  string scalarResult = "";
  // ONNX operator of the same meaning, operand by operand: imported with no C++.
  string onnx = "";
}

class PointwiseOp<string mnemonic, list<Trait> more = []>
    : Op<mnemonic, !listconcat([Pointwise, Pure], more)> {
  let inferTypes = "inferPointwise"; // shapes broadcast as in NumPy
}
class UnaryOp<string mnemonic> : PointwiseOp<mnemonic> {
  let operands = (ins Tensor:$input);
}
class FloatUnaryOp<string mnemonic, list<Trait> more = []>
    : PointwiseOp<mnemonic, more> {
  let operands = (ins FloatTensor:$input);
}
class TranscendentalOp<string mnemonic>
    : FloatUnaryOp<mnemonic, [Transcendental]>;
class BinaryOp<string mnemonic, list<Trait> more = []>
    : PointwiseOp<mnemonic, !listconcat([SameTypeOperands], more)> {
  let operands = (ins Tensor:$lhs, Tensor:$rhs);
}
class CompareOp<string mnemonic, list<Trait> more = []> : BinaryOp<mnemonic, more> {
  let scalarResult = "DataType::Bool";
}
