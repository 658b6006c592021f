// SPDX-License-Identifier: Apache-2.0
// Reductions and what depends on them row by row: softmax, normalisations,
// means. One kernel; few long rows take two.
#include "codegen/TypicalSize.h"
#include "codegen/emitters/Emitters.h"
#include "codegen/emitters/ReductionPrinter.h"
#include "codegen/tiling/ReductionSchedule.h"

using namespace dlc;
using namespace dlc::codegen;

namespace {
ReductionProblem problemOf(const ReductionView &view, const Unit &unit,
                           const EmitContext &context) {
  ReductionProblem p;
  p.rows = typicalSize(view.rows, context.symbols);
  p.size = typicalSize(view.size, context.symbols);
  p.largestSize = upperBound(view.size, context.symbols).value_or(INT64_MAX);
  p.fixedRows = view.rows.isConstant();
  p.columns = view.columns;
  p.reducesOnly = view.passes == 1 && !view.storesElements;
  // Lanes along the innermost reduced extent, if it lies innermost in memory.
  if (!view.columns && !view.reducedAxes.box.empty())
    p.vector = unit.vectorWidth(view.reducedAxes.box.back(), context.symbols);
  return p;
}

/// Bytes of struct Acc at most.
unsigned accumulatorBytes(const ReductionView &view) { return view.widest * 8; }

/// How the entry point calls the template.
struct Call {
  std::string kind, statement;
  Dim blocks;
};

/// The only kernel: each row is one worker's, or one block's.
Call callWhole(KernelBuilder &kernel, const ReductionView &view,
               const ReductionSchedule &schedule) {
  using By = ReductionSchedule::By;
  const unsigned bytes = accumulatorBytes(view);
  switch (schedule.by) {
  case By::Thread:
    return {"reduce", "by_thread(p)", ceilDiv(view.rows, schedule.threads)};
  case By::Warp:
    return {"reduce", "by_warp(p)", ceilDiv(view.rows, schedule.threads / 32)};
  case By::Block:
    kernel.smemBytes = bytes * 32;
    return {"reduce", "by_block(p, smem)", view.rows};
  default:
    kernel.smemBytes = bytes * schedule.threads;
    return {"reduce", "by_column(p, smem)", ceilDiv(view.rows, 32)};
  }
}

/// The first of two kernels, which leaves sums of parts, or the second.
Call callSplit(KernelBuilder &kernel, const ReductionView &view,
               const ReductionSchedule &schedule, bool rest) {
  const bool column =
      schedule.by == ReductionSchedule::By::SplitColumn && !rest;
  kernel.smemBytes = accumulatorBytes(view) * (column ? schedule.threads : 32);
  const std::string kind = rest ? "reduce_rest" : "reduce_parts",
                    name = column ? "reduce_column_parts" : kind,
                    work = kernel.workspace(0, DataType::F64);
  const Dim groups = column ? ceilDiv(view.rows, 32) : view.rows;
  return {kind,
          name + "(p, reinterpret_cast<Pass<0>::Acc *>(" + work + "), " +
              std::to_string(schedule.parts) + ", smem)",
          rest ? groups : groups * int64_t(schedule.parts)};
}

llvm::Expected<Launch> printKernel(const Unit &unit, const EmitContext &context,
                                   const ReductionView &view,
                                   const ReductionSchedule &schedule,
                                   bool rest) {
  KernelBuilder kernel(unit, context);
  kernel.include("reduction");
  if (llvm::Error e = ReductionPrinter(kernel, view, schedule.vector).print())
    return e;
  kernel.functors += "using Kernel = Reduction<Pass, Body, Scalars, Index>;\n";
  kernel.threads = schedule.threads;
  const Call call = schedule.splits() ? callSplit(kernel, view, schedule, rest)
                                      : callWhole(kernel, view, schedule);
  return kernel.finish(call.kind, kernel.types(), schedule.name(),
                       "  Kernel::" + call.statement + ";\n",
                       {limitBlocks(call.blocks)});
}
} // namespace

llvm::Expected<Emission>
ReductionEmitter::emit(const Unit &unit, const EmitContext &context) const {
  llvm::Expected<ReductionView> view = viewReduction(unit);
  if (!view)
    return view.takeError();
  const ReductionSchedule schedule =
      chooseReductionSchedule(problemOf(*view, unit, context), context.target);
  Emission made;
  made.report = "reduction " + schedule.name() + ", " +
                std::to_string(view->passes) + " passes";
  if (schedule.splits())
    made.workspaces.push_back(
        {DataType::F64,
         view->rows * int64_t(schedule.parts) * int64_t(view->widest), ""});
  for (bool rest : {false, true}) {
    if (rest && !schedule.splits())
      break;
    llvm::Expected<Launch> launch =
        printKernel(unit, context, *view, schedule, rest);
    if (!launch)
      return launch.takeError();
    made.steps.push_back(std::move(*launch));
  }
  return made;
}
