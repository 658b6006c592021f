// SPDX-License-Identifier: Apache-2.0
// dlc-tblgen: turns ir/*.td into the C++ and the manual of the ops.
//   dlc-tblgen -gen-ops -I ir ir/Ops.td -o Ops.inc
#include "ir/tblgen/Emitters.h"

#include "llvm/Support/CommandLine.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/TableGen/Main.h"
#include "llvm/TableGen/TableGenBackend.h"

using namespace llvm;
using namespace dlc::tblgen;

static void genOps(RecordKeeper &records, raw_ostream &os) {
  std::vector<EnumRecord> enums = readEnums(records);
  std::vector<OpRecord> ops = readOps(records);
  os << "// Written by dlc-tblgen from ir/*.td. Each user defines the guard of "
        "the section\n// that it wants and includes the file.\n";
  emitDispatch(ops, os);
  emitEnums(enums, os);
  emitClasses(ops, os);
  emitMakes(ops, os);
  emitInfo(ops, os);
}

static void genScalar(RecordKeeper &records, raw_ostream &os) {
  emitScalar(readOps(records), os);
}

static void genDocs(RecordKeeper &records, raw_ostream &os) {
  emitDocs(readOps(records), readEnums(records), os);
}

static TableGen::Emitter::Opt
    opsOption("gen-ops", genOps, "Ops.inc: classes, tables and dispatch");
static TableGen::Emitter::Opt
    scalarOption("gen-scalar", genScalar,
                 "ir/scalar/Scalar.h: the pointwise ops for one element");
static TableGen::Emitter::Opt docsOption("gen-docs", genDocs, "docs/ops.md");

int main(int argc, char **argv) {
  InitLLVM init(argc, argv);
  cl::ParseCommandLineOptions(argc, argv, "dlc-tblgen\n");
  return TableGenMain(argv[0]);
}
