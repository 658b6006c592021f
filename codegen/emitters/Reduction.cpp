// SPDX-License-Identifier: Apache-2.0
// Reductions and what depends on them row by row: softmax, normalisations,
// means. One kernel; few long rows take two.
#include "codegen/Contraction.h"
#include "codegen/emitters/Emitters.h"

using namespace dlc;
using namespace dlc::codegen;

namespace {
struct Config {
  enum class By : uint8_t { Thread, Warp, Block, Column, Split, SplitColumn };
  By by = By::Thread;
  unsigned threads = 256;
  int64_t vector = 1;
  int parts = 1; ///< Split, SplitColumn
  bool splits() const { return by == By::Split || by == By::SplitColumn; }

  std::string str() const {
    static const char *const names[] = {"thread", "warp",  "block",
                                        "column", "split", "split_column"};
    return names[int(by)] + std::to_string(threads) + "v" +
           std::to_string(vector);
  }
};

const ReduceOp asReduce(const Op *op) { return llvm::cast<ReduceOp>(op); }

class Printer {
public:
  Printer(KernelBuilder &kernel, const Unit &unit)
      : kernel(kernel), unit(unit) {}
  /// The common space of the heroes, or why there is none.
  llvm::Error analyse();
  llvm::Error print(int64_t vector);
  int64_t chooseVector();

  Dim rows, size;      ///< rows, and elements of each
  Dim innerKept = 1;   ///< innermost extent in memory, if it is kept
  unsigned levels = 0; ///< passes
  unsigned widest = 0; ///< accumulators of a pass
  bool storesElements = false, storesRows = false;

private:
  bool isKept(size_t d) const { return !reduced[d]; }
  void setUp(BodyPrinter &printer, const Dim &row, const Dim &r,
             unsigned level);
  llvm::Error printPass(unsigned level, int64_t vector);
  llvm::Error printStores(int64_t vector);
  std::string member(const Op *hero) const {
    return "h" + std::to_string(std::find(heroes.begin(), heroes.end(), hero) -
                                heroes.begin());
  }

  KernelBuilder &kernel;
  const Unit &unit;
  llvm::ArrayRef<Op *> heroes;
  std::vector<unsigned> level; ///< of each hero
  const Value *space = nullptr;
  llvm::SmallVector<bool, 6> reduced;
  llvm::SmallVector<int64_t, 6> keptDims, reducedDims; ///< in memory order
  Shape keptBox, reducedBox;
  Coordinates full; ///< set by setUp
};

llvm::Error Printer::analyse() {
  heroes = unit.heroes();
  space = heroes[0]->operand(0);
  const TensorType &type = space->type();
  int64_t rank = type.rank();
  reduced.assign(rank, false);
  for (int64_t axis : asReduce(heroes[0]).axes())
    reduced[axis < 0 ? axis + rank : axis] = true;
  for (const Op *hero : heroes) {
    if (hero->kind() != OpKind::Reduce)
      return refuse("");
    llvm::SmallVector<bool, 6> own(rank, false);
    if (hero->operand(0)->type().shape != type.shape)
      return refuse("reductions of different shapes, " + type.str() + " and " +
                    hero->operand(0)->type().str());
    for (int64_t axis : asReduce(hero).axes())
      own[axis < 0 ? axis + rank : axis] = true;
    if (own != reduced)
      return refuse("reductions along different axes");
  }
  // Of an operand as it is stored, else of the result.
  Layout layout = type.layout;
  if (!layout.isUnsplit())
    layout = Layout();
  for (int64_t d : layout.order(rank)) {
    if (type.shape[d].isConstant(1))
      continue;
    (reduced[d] ? reducedDims : keptDims).push_back(d);
    (reduced[d] ? reducedBox : keptBox).push_back(type.shape[d]);
    innerKept = reduced[d] ? Dim(1) : type.shape[d];
  }
  rows = elementCount(keptBox);
  size = elementCount(reducedBox);

  // A hero's pass comes after those of the heroes it reads.
  std::map<const Value *, unsigned> depth;
  auto at = [&](const Value *v) { return depth.count(v) ? depth[v] : 0u; };
  for (const Op &op : unit.body().ops()) {
    unsigned d = 0;
    for (const Value *v : op.operands())
      if (v)
        d = std::max(d, at(v));
    if (llvm::is_contained(heroes, &op)) {
      level.push_back(d);
      levels = std::max(levels, d + 1);
      d++;
    }
    for (unsigned i = 0; i < op.numResults(); i++)
      depth[op.result(i)] = d;
  }
  for (unsigned l = 0; l < levels; l++)
    widest =
        std::max<unsigned>(widest, std::count(level.begin(), level.end(), l));
  return llvm::Error::success();
}

/// Places the heroes' results and the space's element at (row, r).
void Printer::setUp(BodyPrinter &printer, const Dim &row, const Dim &r,
                    unsigned known) {
  const TensorType &type = space->type();
  Shape outer = delinearize(row, keptBox), inner = delinearize(r, reducedBox);
  full = Coordinates();
  full.index.assign(type.rank(), Dim(0));
  for (size_t i = 0; i < keptDims.size(); i++)
    full.index[keptDims[i]] = outer[i];
  for (size_t i = 0; i < reducedDims.size(); i++)
    full.index[reducedDims[i]] = inner[i];
  if (!reducedDims.empty())
    full.index[reducedDims.back()] =
        full.index[reducedDims.back()] + printer.lane();
  printer.hero =
      [this, known](const Op &op, unsigned,
                    const Coordinates &where) -> std::optional<std::string> {
    const Op *hero = &op;
    auto it = std::find(heroes.begin(), heroes.end(), hero);
    if (it == heroes.end() || level[it - heroes.begin()] >= known)
      return std::nullopt;
    Coordinates expected;
    bool keep = asReduce(hero).keepDims();
    for (size_t d = 0; d < reduced.size(); d++)
      if (keep || isKept(d))
        expected.index.push_back(isKept(d) ? full.index[d] : Dim(0));
    if (!SpaceMap::same(expected, where, hero->result()->type().shape,
                        kernel.index()))
      return std::nullopt;
    return "s." + member(hero);
  };
}

int64_t Printer::chooseVector() {
  // Lanes along the innermost reduced extent, if it lies innermost in memory.
  if (reducedDims.empty() || !innerKept.isConstant(1))
    return 1;
  int64_t v = 16 / kernel.unit().streamedBytes();
  while (v > 1 && !isMultipleOf(reducedBox.back(), v, kernel.context().symbols))
    v /= 2;
  return v;
}

struct Kind {
  std::string init, combine;
};
Kind kindOf(ReduceKind kind) {
  switch (kind) {
  case ReduceKind::Sum:
    return {"T(0)", "add"};
  case ReduceKind::Prod:
    return {"T(1)", "mul"};
  case ReduceKind::Max:
    return {"scalar::lowest<T>()", "max"};
  case ReduceKind::Min:
    return {"scalar::highest<T>()", "min"};
  case ReduceKind::Any:
    return {"false", "or_"};
  case ReduceKind::All:
    return {"true", "and_"};
  }
  return {};
}

llvm::Error Printer::printPass(unsigned pass, int64_t vector) {
  std::string members, init, combine, finish;
  BodyPrinter printer(kernel, vector);
  Dim row = printer.coordinate("row", rows);
  Dim r = printer.coordinate("r", size - (vector - 1));
  if (vector > 1)
    kernel.index().requireMultiple("%r", vector);
  setUp(printer, row, r, pass);
  for (size_t i = 0; i < heroes.size(); i++) {
    if (level[i] != pass)
      continue;
    const Op *hero = heroes[i];
    std::string name = member(hero);
    std::string type = computeName(hero->result()->type().element).str();
    Kind kind = kindOf(asReduce(hero).kind());
    members += "    " + type + " " + name + ";\n";
    if (size_t t = kind.init.find("T>"); t != std::string::npos)
      kind.init.replace(t, 1, type);
    else if (kind.init[0] == 'T')
      kind.init.replace(0, 1, type);
    init += (init.empty() ? "" : ", ") + kind.init;
    std::string call = "scalar::" + kind.combine;
    combine += (combine.empty() ? "" : ", ") + call + "(a." + name + ", b." +
               name + ")";
    finish += "    s." + name + " = acc." + name + ";\n";
    std::string x = printer.value(hero->operand(0), full);
    printer.statement("acc." + name + " = " + call + "(acc." + name + ", " + x +
                      ");");
  }
  kernel.functors +=
      "template <> struct Pass<" + std::to_string(pass) +
      "> {\n  struct Acc {\n" + members +
      "  };\n  static DLC_DEVICE Acc init() { return {" + init +
      "}; }\n  template <int V>\n  static DLC_DEVICE void add(const P &p, "
      "Index "
      "row, Index r, const Scalars &s, Acc &acc) {\n" +
      printer.take(4) +
      "  }\n  static DLC_DEVICE Acc combine(const Acc &a, const Acc &b) {\n"
      "    return {" +
      combine +
      "};\n  }\n  static DLC_DEVICE void finish(const Acc &acc, Scalars &s) "
      "{\n" +
      finish + "  }\n};\n";
  return printer.takeError();
}

llvm::Error Printer::printStores(int64_t vector) {
  std::string texts[2]; // per element, per row
  for (bool perRow : {false, true}) {
    BodyPrinter printer(kernel, perRow ? 1 : vector);
    Dim row = printer.coordinate("row", rows);
    Dim r = perRow ? Dim(0) : printer.coordinate("r", size - (vector - 1));
    if (!perRow && vector > 1)
      kernel.index().requireMultiple("%r", vector);
    setUp(printer, row, r, levels);
    SpaceMap map;
    map.anchor(space, full);
    for (const Op *hero : heroes) {
      Coordinates at;
      for (size_t d = 0; d < reduced.size(); d++)
        if (asReduce(hero).keepDims() || isKept(d))
          at.index.push_back(isKept(d) ? full.index[d] : Dim(0));
      map.anchor(hero->result(), at);
    }
    bool any = false;
    for (unsigned i = 0; i < unit.numResults(); i++) {
      std::optional<Coordinates> at = map.at(unit.body().outputs()[i]);
      if (!at)
        return refuse("a result of shape " + unit.resultType(i).str() +
                      " does not follow the reduction's");
      bool isRow = provedEqual(unit.resultType(i).elementCount(), rows) ==
                       Proof::Proved &&
                   !(size.isConstant(1));
      if (isRow != perRow)
        continue;
      any = true;
      printer.store(i, *at);
    }
    texts[perRow] = printer.take(4);
    (perRow ? storesRows : storesElements) = any;
    if (llvm::Error e = printer.takeError())
      return e;
  }
  auto flag = [](bool b) { return std::string(b ? "true" : "false"); };
  IndexPrinter &index = kernel.index();
  kernel.functors +=
      "struct Body {\n  static constexpr int kPasses = " +
      std::to_string(levels) + ", kVector = " + std::to_string(vector) +
      ";\n  static constexpr bool kStoresElements = " + flag(storesElements) +
      ", kStoresRows = " + flag(storesRows) +
      ";\n  static DLC_DEVICE Index rows(const P &p) { return " +
      index.print(rows) +
      "; }\n  static DLC_DEVICE Index size(const P &p) { return " +
      index.print(size) +
      "; }\n  template <int V>\n  static DLC_DEVICE void "
      "store_elements(const P &p, Index row, Index r, const Scalars &s) {\n" +
      texts[0] +
      "  }\n  static DLC_DEVICE void store_row(const P &p, Index row, const "
      "Scalars &s) {\n" +
      texts[1] + "  }\n};\n";
  return llvm::Error::success();
}

llvm::Error Printer::print(int64_t vector) {
  kernel.functors += "struct Scalars {\n";
  for (const Op *hero : heroes) {
    DataType t = hero->result()->type().element;
    if (!hasDeviceType(t))
      return refuse("no reduction of " + stringify(t) + " elements");
    kernel.functors += "  " + computeName(t).str() + " " + member(hero) + ";\n";
  }
  kernel.functors += "};\ntemplate <int K> struct Pass;\n";
  for (unsigned l = 0; l < levels; l++)
    if (llvm::Error e = printPass(l, vector))
      return e;
  return printStores(vector);
}

int64_t typical(const Dim &d, const SymbolTable &symbols) {
  std::optional<int64_t> v =
      d.evaluate([&](llvm::StringRef name) -> std::optional<int64_t> {
        auto it = symbols.find(name);
        if (it == symbols.end())
          return 64;
        int64_t low = std::max<int64_t>(it->second.lower, 1);
        return std::min<int64_t>(it->second.upper.value_or(low * 64), low * 64);
      });
  return std::max<int64_t>(v.value_or(1), 1);
}

Config configure(Printer &printer, const EmitContext &context) {
  Config c;
  c.vector = printer.chooseVector();
  int64_t rows = typical(printer.rows, context.symbols);
  int64_t size = typical(printer.size, context.symbols);
  bool columns = !printer.innerKept.isConstant(1);
  // On the host a thread that need not wait costs nothing.
  if (context.target.isHost() || (!columns && size <= 8)) {
    c.by = Config::By::Thread;
    c.threads = context.target.isHost() ? 32 : 128;
    return c;
  }
  bool single = printer.levels == 1 && !printer.storesElements;
  if (single && size >= 16384 && rows * 4 <= context.target.multiprocessors &&
      printer.rows.isConstant()) {
    c.by = Config::By::Split;
    c.parts = int(std::min<int64_t>(
        {context.target.multiprocessors / rows, size / 4096, 256}));
    return c;
  }
  // Few channels of a large map: the blocks of a column would be too few.
  const int64_t blocks = (rows + 31) / 32;
  if (columns && single && size >= 4096 &&
      blocks * 4 <= context.target.multiprocessors) {
    c.by = Config::By::SplitColumn;
    c.threads = 512;
    c.parts = int(std::min<int64_t>(
        {context.target.multiprocessors / blocks, size / 512, 256}));
    return c;
  }
  if (columns) {
    c.by = size >= 32 ? Config::By::Column : Config::By::Thread;
    c.threads = size >= 512 ? 1024 : size >= 32 ? 256 : 128;
    return c;
  }
  if (size <= 1024) {
    c.by = Config::By::Warp;
    c.threads = 128;
    return c;
  }
  c.by = Config::By::Block;
  c.threads = size >= 16384 ? 1024 : size >= 4096 ? 512 : 256;
  return c;
}

} // namespace

llvm::Expected<Emission>
ReductionEmitter::emit(const Unit &unit, const EmitContext &context) const {
  if (unit.heroes().empty() || unit.heroes()[0]->kind() != OpKind::Reduce)
    return refuse("");
  // What the stores are decides the configuration: printed twice.
  bool storesElements = false;
  {
    KernelBuilder scratch(unit, context);
    Printer printer(scratch, unit);
    if (llvm::Error e = printer.analyse())
      return e;
    if (llvm::Error e = printer.print(1))
      return e;
    storesElements = printer.storesElements;
  }
  Emission made;
  const int64_t limit = (int64_t(1) << 31) - 1;
  auto build = [&](KernelBuilder &kernel, Config &config, Printer &printer,
                   bool rest) -> llvm::Expected<Launch> {
    kernel.include("reduction");
    if (llvm::Error e = printer.analyse())
      return e;
    printer.storesElements = storesElements;
    config = configure(printer, context);
    if (llvm::Error e = printer.print(config.vector))
      return e;
    kernel.functors +=
        "using Kernel = Reduction<Pass, Body, Scalars, Index>;\n";
    kernel.threads = config.threads;
    std::string body, kind = "reduce";
    Dim grid = printer.rows;
    unsigned accBytes = printer.widest * 8;
    switch (config.by) {
    case Config::By::Thread:
      body = "  Kernel::by_thread(p);\n";
      grid = ceilDiv(printer.rows, int64_t(config.threads));
      break;
    case Config::By::Warp:
      body = "  Kernel::by_warp(p);\n";
      grid = ceilDiv(printer.rows, int64_t(config.threads / 32));
      break;
    case Config::By::Block:
      body = "  Kernel::by_block(p, smem);\n";
      kernel.smemBytes = accBytes * 32;
      break;
    case Config::By::Column:
      body = "  Kernel::by_column(p, smem);\n";
      kernel.smemBytes = accBytes * config.threads;
      grid = ceilDiv(printer.rows, 32);
      break;
    case Config::By::Split:
    case Config::By::SplitColumn: {
      const bool column = config.by == Config::By::SplitColumn && !rest;
      kernel.smemBytes = accBytes * (column ? config.threads : 32);
      kind = rest ? "reduce_rest" : "reduce_parts";
      const std::string call = column ? "reduce_column_parts" : kind;
      body = "  Kernel::" + call + "(p, reinterpret_cast<Pass<0>::Acc *>(" +
             kernel.workspace(0, DataType::F64) + "), " +
             std::to_string(config.parts) + ", smem);\n";
      if (column)
        grid = ceilDiv(grid, 32);
      if (!rest)
        grid = grid * int64_t(config.parts);
      break;
    }
    }
    return kernel.finish(kind, kernel.types(), config.str(), body,
                         {min(grid, limit)});
  };
  Config config;
  KernelBuilder kernel(unit, context);
  Printer printer(kernel, unit);
  llvm::Expected<Launch> first = build(kernel, config, printer, false);
  if (!first)
    return first.takeError();
  made.steps.push_back(std::move(*first));
  made.report = "reduction " + config.str() + ", " +
                std::to_string(printer.levels) + " passes";
  if (config.splits()) {
    made.workspaces.push_back(
        {DataType::F64,
         printer.rows * int64_t(config.parts) * int64_t(printer.widest), ""});
    KernelBuilder second(unit, context);
    Printer again(second, unit);
    llvm::Expected<Launch> rest = build(second, config, again, true);
    if (!rest)
      return rest.takeError();
    made.steps.push_back(std::move(*rest));
  }
  return made;
}
