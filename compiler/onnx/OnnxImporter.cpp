// SPDX-License-Identifier: Apache-2.0
// Opens a model, checks its versions, and imports its main graph.
#include "compiler/onnx/OnnxImporter.h"
#include "compiler/onnx/GraphImporter.h"
#include "compiler/onnx/GraphInputs.h"
#include "compiler/onnx/Operators.h"
#include "ir/Rewriter.h"
#include "ir/infer/Assumptions.h"
#include "llvm/Support/Path.h"

using namespace dlc;

static void readOpsets(const onnx::ModelProto &model, ImportContext &context) {
  for (const onnx::OperatorSetIdProto &opset : model.opset_import()) {
    std::string domain = opset.domain() == "ai.onnx" ? "" : opset.domain();
    context.opsets[domain] = opset.version();
    if (domain.empty() &&
        (opset.version() < kOldestOpset || opset.version() > kNewestOpset))
      context.diagnostics.error(
          "the model uses opset " + llvm::Twine(opset.version()) +
          " of ai.onnx, supported are " + llvm::Twine(kOldestOpset) + " to " +
          llvm::Twine(kNewestOpset));
  }
  if (!context.opsets.count("") && model.graph().node_size())
    context.diagnostics.error("the model names no opset of ai.onnx, supported "
                              "are " +
                              llvm::Twine(kOldestOpset) + " to " +
                              llvm::Twine(kNewestOpset));
  for (const onnx::FunctionProto &function : model.functions()) {
    std::string domain =
        function.domain() == "ai.onnx" ? "" : function.domain();
    context
        .functions[domain + ":" + function.name() + ":" + function.overload()] =
        &function;
    context.opsets.try_emplace(domain, 1);
  }
}

/// Drops what folding at import has left without a use, in regions too.
static void eraseUnused(Graph &graph) {
  Rewriter(graph).eraseDeadOps();
  for (Op &op : graph.ops())
    for (unsigned i = 0; i < op.numRegions(); ++i)
      eraseUnused(op.region(i));
}

/// A note where the shape that the model declares of an output contradicts the
/// one that its nodes give: exporters and editors of models leave old ones.
static void compareShapes(const onnx::ValueInfoProto &declared,
                          const TensorType &found, Diagnostics &diagnostics) {
  if (!declared.type().tensor_type().has_shape())
    return;
  const auto &dims = declared.type().tensor_type().shape().dim();
  std::string text;
  bool differs = dims.size() != found.rank();
  for (int i = 0; i < dims.size(); ++i) {
    const auto &dim = dims[i];
    text +=
        (i ? "x" : "") + (dim.has_dim_value() ? std::to_string(dim.dim_value())
                          : dim.dim_param().empty() ? "?"
                                                    : dim.dim_param());
    differs |= dim.has_dim_value() && i < found.rank() &&
               found.shape[size_t(i)].isConstant() &&
               found.shape[size_t(i)].constant() != dim.dim_value();
  }
  if (differs)
    diagnostics.note("output \"" + declared.name() + "\" is declared as " +
                     (text.empty() ? "a scalar" : text) + ", its nodes give " +
                     found.str() + ", which holds");
}

static llvm::Error asError(const Diagnostics &diagnostics,
                           llvm::StringRef path) {
  size_t count = diagnostics.errors().size();
  return llvm::createStringError(
      llvm::inconvertibleErrorCode(),
      path + ": cannot be imported: " + llvm::Twine(count) +
          (count == 1 ? " fault" : " faults"));
}

llvm::Expected<std::unique_ptr<Module>>
dlc::importOnnx(llvm::StringRef path, const ImportOptions &options,
                Diagnostics &diagnostics) {
  llvm::Expected<std::unique_ptr<ModelFile>> file = ModelFile::open(path);
  if (!file) {
    diagnostics.error(llvm::toString(file.takeError()));
    return asError(diagnostics, path);
  }
  const onnx::ModelProto &model = (*file)->model();
  auto module = std::make_unique<Module>();
  module->name = llvm::sys::path::stem(path).str();
  ImportContext context(**file, *module, diagnostics);
  readOpsets(model, context);
  if (diagnostics.hasErrors())
    return asError(diagnostics, path);

  Graph &graph = module->main();
  graph.name = "main";
  Builder builder(graph);
  Scope scope(context, builder);
  importInputs(model.graph(), options, scope);
  llvm::SmallVector<Value *, 4> outputs = importGraph(model.graph(), scope);
  if (model.graph().output_size() == 0)
    diagnostics.error("the model has no outputs");
  llvm::StringSet<> names;
  for (int i = 0; i < model.graph().output_size(); ++i) {
    const onnx::ValueInfoProto &declared = model.graph().output(i);
    if (!names.insert(declared.name()).second)
      diagnostics.error("output \"" + declared.name() + "\" is listed twice");
    if (!outputs[size_t(i)])
      continue;
    if (context.sequences.count(outputs[size_t(i)])) {
      diagnostics.error("output \"" + declared.name() +
                        "\" is a sequence, supported are tensors");
      continue;
    }
    int type = declared.type().tensor_type().elem_type();
    DataType found = outputs[size_t(i)]->type().element;
    if (type && elementTypeOf(type) != found)
      diagnostics.error("output \"" + declared.name() + "\" is declared as " +
                        onnxTypeName(type) + ", its node gives " +
                        stringify(found));
    // Other sizes than the model's own make other outputs.
    if (options.shapes.empty() && options.bindings.empty())
      compareShapes(declared, outputs[size_t(i)]->type(), diagnostics);
    graph.addOutput(outputs[size_t(i)]);
    graph.outputNames.push_back(declared.name());
  }
  if (diagnostics.hasErrors())
    return asError(diagnostics, path);
  eraseUnused(graph);
  if (llvm::Error e = verify(*module)) {
    diagnostics.error("the imported module does not verify: " +
                      llvm::toString(std::move(e)));
    return asError(diagnostics, path);
  }
  if (llvm::Error e = recordAssumptions(*module)) {
    diagnostics.error(llvm::toString(std::move(e)));
    return asError(diagnostics, path);
  }
  return module;
}
