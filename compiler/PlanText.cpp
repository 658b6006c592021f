// SPDX-License-Identifier: Apache-2.0
// A plan as text, for `dlc --emit=plan` and for tests.
#include "compiler/PlanText.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

namespace dlc {

namespace {
constexpr uint32_t kNone = 0xffffffff;

class PlanPrinter {
public:
  PlanPrinter(const plan::PlanT &plan, llvm::raw_ostream &os)
      : plan(plan), os(os) {}
  void run();

private:
  std::string expression(uint32_t index) const;
  std::string buffer(uint32_t index) const;
  void step(const plan::StepT &step, unsigned indent);
  void block(uint32_t index, unsigned indent);
  void launch(const plan::LaunchT &launch);
  const plan::PlanT &plan;
  llvm::raw_ostream &os;
};
} // namespace

std::string PlanPrinter::expression(uint32_t index) const {
  if (index == kNone)
    return "0";
  const plan::Expression &e = plan.expressions[index];
  auto binary = [&](const char *op) {
    return "(" + expression(e.a()) + " " + op + " " + expression(e.b()) + ")";
  };
  auto call = [&](const char *name) {
    return std::string(name) + "(" + expression(e.a()) + ", " +
           expression(e.b()) + ")";
  };
  switch (e.op()) {
  case plan::ExpressionOp::Const:
    return std::to_string(e.value());
  case plan::ExpressionOp::Symbol:
    return plan.symbols[size_t(e.value())]->name;
  case plan::ExpressionOp::Add:
    return binary("+");
  case plan::ExpressionOp::Sub:
    return binary("-");
  case plan::ExpressionOp::Mul:
    return binary("*");
  case plan::ExpressionOp::FloorDiv:
    return call("floordiv");
  case plan::ExpressionOp::CeilDiv:
    return call("ceildiv");
  case plan::ExpressionOp::Mod:
    return call("mod");
  case plan::ExpressionOp::Min:
    return call("min");
  case plan::ExpressionOp::Max:
    return call("max");
  }
  return "?";
}

std::string PlanPrinter::buffer(uint32_t index) const {
  if (index == kNone)
    return "none";
  const plan::BufferT &b = *plan.buffers[index];
  return "%" + std::to_string(index) + (b.name.empty() ? "" : ":" + b.name);
}

void PlanPrinter::launch(const plan::LaunchT &launch) {
  const plan::KernelT &kernel = *plan.kernels[launch.kernel];
  os << "launch " << kernel.name << " <<<" << expression(launch.grid_x) << ", "
     << expression(launch.grid_y) << ", " << expression(launch.grid_z) << "; "
     << kernel.threads << ">>>(";
  llvm::ListSeparator comma;
  for (const plan::Patch &p : launch.patches) {
    os << comma;
    switch (p.what()) {
    case plan::PatchKind::Pointer:
      os << buffer(p.buffer());
      if (p.value() != kNone)
        os << " + " << expression(p.value());
      break;
    case plan::PatchKind::Map:
      os << "map " << p.value() << " of " << buffer(p.buffer());
      break;
    case plan::PatchKind::Symbol:
      os << expression(p.value());
      break;
    case plan::PatchKind::Cell:
      os << "cell " << buffer(p.buffer());
      break;
    }
  }
  os << ")";
}

void PlanPrinter::step(const plan::StepT &step, unsigned indent) {
  os.indent(indent);
  if (step.stream)
    os << "stream " << step.stream << ": ";
  if (const plan::LaunchT *s = step.action.AsLaunch()) {
    launch(*s);
  } else if (const plan::CopyT *s = step.action.AsCopy()) {
    os << "copy " << buffer(s->to) << " <- " << buffer(s->from) << ", "
       << expression(s->bytes) << " bytes";
  } else if (const plan::FillT *s = step.action.AsFill()) {
    os << "fill " << buffer(s->buffer) << " with " << s->value << ", "
       << expression(s->bytes) << " bytes";
  } else if (const plan::HostReadT *s = step.action.AsHostRead()) {
    os << "read " << plan.symbols[s->symbol]->name << " <- "
       << buffer(s->buffer);
  } else if (const plan::StateT *s = step.action.AsState()) {
    os << "state " << plan.states[s->state]->name << " <- " << buffer(s->from);
  } else if (const plan::IfT *s = step.action.AsIf()) {
    os << "if " << plan.symbols[s->condition]->name << "\n";
    block(s->then_block, indent + 2);
    if (s->else_block != kNone) {
      os.indent(indent) << "else\n";
      block(s->else_block, indent + 2);
    }
    return;
  } else if (const plan::LoopT *s = step.action.AsLoop()) {
    os << "loop";
    if (s->trips != kNone)
      os << " " << expression(s->trips) << " times";
    if (s->condition != kNone)
      os << " while " << plan.symbols[s->condition]->name;
    os << "\n";
    block(s->body, indent + 2);
    return;
  }
  if (!step.nodes.empty()) {
    os << "  // ";
    llvm::interleaveComma(step.nodes, os);
  }
  os << "\n";
}

void PlanPrinter::block(uint32_t index, unsigned indent) {
  for (const auto &s : plan.blocks[index]->steps)
    step(*s, indent);
}

void PlanPrinter::run() {
  for (const auto &s : plan.symbols)
    os << "symbol " << s->name << " " << plan::EnumNameHome(s->home) << " ["
       << s->lower << ", " << s->upper << "]\n";
  for (const auto &c : plan.constraints)
    os << "constraint " << expression(c->left) << " "
       << plan::EnumNameRelation(c->relation) << " " << expression(c->right)
       << ": " << c->sentence << "\n";
  auto ports = [&](const char *what, const auto &list) {
    for (const auto &p : list) {
      os << what << " " << p->name << " " << plan::EnumNameElementType(p->type)
         << " [";
      llvm::interleaveComma(p->dims, os,
                            [&](uint32_t d) { os << expression(d); });
      os << "] " << buffer(p->buffer) << "\n";
    }
  };
  ports("input", plan.inputs);
  ports("output", plan.outputs);
  for (auto [i, b] : llvm::enumerate(plan.buffers)) {
    os << "buffer " << buffer(uint32_t(i)) << " "
       << plan::EnumNameSpace(b->space) << " " << expression(b->bytes)
       << " bytes";
    if (b->space == plan::Space::Arena && b->alias == kNone)
      os << ", live " << b->first << " to " << b->last;
    if (b->alias != kNone)
      os << ", in " << buffer(b->alias) << " at "
         << expression(b->alias_offset);
    if (b->weight != kNone)
      os << ", weight " << plan.weights[b->weight]->name;
    os << "\n";
  }
  block(0, 0);
}

void printPlan(const plan::PlanT &plan, llvm::raw_ostream &os) {
  PlanPrinter(plan, os).run();
}

} // namespace dlc
