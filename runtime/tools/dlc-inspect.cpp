// SPDX-License-Identifier: Apache-2.0
// dlc-inspect: what is in a bundle. Reads the file and runs nothing of it.
#include "runtime/bundle/BundleReader.h"
#include "runtime/plan/Expression.h"
#include "runtime/tools/Counted.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <string>

using namespace dlc;
using bundle::BundleReader;
using tools::counted;

static const char *kHelp =
    R"(dlc-inspect: says what is in a bundle. Runs nothing of it.

usage: dlc-inspect BUNDLE [what] [--variant N]

  dlc-inspect resnet.bundle                    size, sections, variants
  dlc-inspect resnet.bundle --kernels          each kernel and what it computes
  dlc-inspect resnet.bundle --source=dlc_conv  the CUDA of these kernels

  --kernels         kernels: launches, threads, shared memory, ONNX nodes
  --source[=NAME]   the sources of the kernels whose names begin so
  --steps           the program: launches, copies, control flow
  --weights         each weight: bytes, hash, the ONNX nodes that it is for
  --report          why each decision was taken
  --model           the imported model as text, without weights
  --tuning          the tuning data
  --variant N       of this variant only; default: all
  -h, --help        this text
  --version         the version
)";

static void put(std::string_view text) {
  fwrite(text.data(), 1, text.size(), stdout);
  if (!text.empty() && text.back() != '\n')
    putchar('\n');
}

static const char *name(bundle::SectionKind kind) {
  static const char *kNames[] = {"?",        "manifest", "plan",
                                 "binaries", "sources",  "report",
                                 "model",    "tuning",   "weights"};
  return kNames[size_t(kind) < std::size(kNames) ? size_t(kind) : 0];
}

static std::string joined(const std::vector<std::string> &parts) {
  std::string text;
  for (const std::string &part : parts)
    text += (text.empty() ? "" : ", ") + part;
  return text;
}

// ---- what can be asked for --------------------------------------------------

static void printOverview(const BundleReader &file, size_t) {
  const bundle::ManifestT &manifest = file.manifest();
  printf("%.2f MB", double(file.fileBytes()) / 1e6);
  if (!manifest.model_name.empty())
    printf(", model %s", manifest.model_name.c_str());
  if (!manifest.producer.empty())
    printf(", by %s", manifest.producer.c_str());
  printf("\n");
  std::map<bundle::SectionKind, std::pair<size_t, uint64_t>> kinds;
  for (const bundle::Section &section : file.sections()) {
    kinds[section.kind].first++;
    kinds[section.kind].second += section.bytes;
  }
  for (const auto &[kind, size] : kinds)
    printf("  %-9s %12llu bytes in %zu\n", name(kind),
           static_cast<unsigned long long>(size.second), size.first);
}

static void printVariant(const BundleReader &file, size_t index) {
  const bundle::VariantT &variant = file.variant(index);
  const plan::PlanT &plan = file.plan(index);
  uint64_t weights = 0, code = 0;
  for (const auto &weight : plan.weights)
    weights += weight->bytes;
  for (const auto &binary : variant.binaries)
    code += binary->bytes;
  printf("variant %zu: %s %s, shapes %s", index, variant.target.c_str(),
         variant.precision.c_str(), file.shapes(index).c_str());
  if (variant.least_driver)
    printf(", driver for CUDA %u.%u or newer", variant.least_driver / 1000,
           variant.least_driver % 1000 / 10);
  printf("\n  %s (%.1f KB), %s (%.2f MB), %s, %s\n",
         counted(plan.kernels.size(), "kernel").c_str(), double(code) / 1e3,
         counted(plan.weights.size(), "weight").c_str(), double(weights) / 1e6,
         counted(plan.blocks[0]->steps.size(), "step").c_str(),
         counted(plan.streams, "stream").c_str());
  std::vector<std::string> names;
  for (const auto &symbol : plan.symbols)
    names.push_back("\"" + symbol->name + "\""); // "N"x3, not Nx3
  auto ports = [&](const char *what, const auto &all) {
    for (const auto &port : all) {
      std::string shape;
      for (uint32_t dim : port->dims)
        shape += (shape.empty() ? "" : "x") +
                 plan::print(plan.expressions, dim, names);
      printf("  %s %s: %s %s\n", what, port->name.c_str(),
             plan::elementName(port->type),
             shape.empty() ? "scalar" : shape.c_str());
    }
  };
  ports("input ", plan.inputs);
  ports("output", plan.outputs);
}

static void printKernels(const BundleReader &file, size_t index) {
  const plan::PlanT &plan = file.plan(index);
  std::vector<size_t> launches(plan.kernels.size());
  std::vector<std::vector<std::string>> nodes(plan.kernels.size());
  for (const auto &block : plan.blocks)
    for (const auto &step : block->steps)
      if (const plan::LaunchT *launch = step->action.AsLaunch()) {
        launches[launch->kernel]++;
        nodes[launch->kernel].push_back("[" + joined(step->nodes) + "]");
      }
  for (size_t i = 0; i < plan.kernels.size(); i++) {
    const plan::KernelT &kernel = *plan.kernels[i];
    printf("%s: %s, %s, %s of shared memory%s%s\n  %s\n", kernel.name.c_str(),
           counted(launches[i], "launch", "launches").c_str(),
           counted(kernel.threads, "thread").c_str(),
           counted(kernel.smem_bytes, "byte").c_str(),
           kernel.cluster > 1 ? say(", clusters of ", kernel.cluster).c_str()
                              : "",
           kernel.pdl ? ", may start early" : "", joined(nodes[i]).c_str());
  }
}

static void printSources(const BundleReader &file, size_t index,
                         const std::string &prefix) {
  const bundle::VariantT &variant = file.variant(index);
  for (size_t i = 0; i < variant.sources.size(); i++)
    if (variant.sources[i]->name.rfind(prefix, 0) == 0) {
      printf("// ---- %s\n", variant.sources[i]->name.c_str());
      put(file.source(index, i));
    }
}

static void printSteps(const plan::PlanT &plan, size_t block, int depth) {
  std::vector<std::string> names;
  for (const auto &symbol : plan.symbols)
    names.push_back(symbol->name);
  auto text = [&](uint32_t expression) {
    return plan::print(plan.expressions, expression, names);
  };
  for (size_t i = 0; i < plan.blocks[block]->steps.size(); i++) {
    const plan::StepT &step = *plan.blocks[block]->steps[i];
    std::string what = plan::EnumNameAction(step.action.type);
    if (const plan::LaunchT *launch = step.action.AsLaunch())
      what =
          say(plan.kernels[launch->kernel]->name, "<<<", text(launch->grid_x),
              ", ", text(launch->grid_y), ", ", text(launch->grid_z), ">>>");
    if (const plan::CopyT *copy = step.action.AsCopy())
      what = say("Copy ", text(copy->bytes), " bytes, buffer ", copy->from,
                 " to ", copy->to);
    if (const plan::FillT *fill = step.action.AsFill())
      what = say("Fill ", text(fill->bytes), " bytes of buffer ", fill->buffer);
    std::string after;
    for (uint32_t other : step.after)
      after += say(after.empty() ? " after " : ", ", other);
    printf("%*s%zu: %s%s%s%s%s\n", depth * 2, "", i, what.c_str(),
           step.stream ? say(" on stream ", step.stream).c_str() : "",
           after.c_str(), step.nodes.empty() ? "" : ": ",
           joined(step.nodes).c_str());
    if (const plan::IfT *branch = step.action.AsIf()) {
      printSteps(plan, branch->then_block, depth + 1);
      if (branch->else_block != plan::kNone) {
        printf("%*selse\n", depth * 2, "");
        printSteps(plan, branch->else_block, depth + 1);
      }
    }
    if (const plan::LoopT *loop = step.action.AsLoop())
      printSteps(plan, loop->body, depth + 1);
  }
}

static void printWeights(const plan::PlanT &plan) {
  for (const auto &weight : plan.weights) {
    printf("%12llu ", static_cast<unsigned long long>(weight->bytes));
    for (size_t i = 0; i < 8; i++)
      printf("%02x", weight->hash[i]);
    printf(" %s\n", weight->name.c_str());
  }
}

// ---- command line -----------------------------------------------------------

static int fail(const std::string &sentence) {
  fprintf(stderr, "dlc-inspect: error: %s\n", sentence.c_str());
  return 2;
}

int main(int argc, char **argv) {
  std::string path, what = "--overview", prefix;
  long only = -1;
  for (int i = 1; i < argc; i++) {
    std::string argument = argv[i];
    if (argument == "--help" || argument == "-h")
      return put(kHelp), 0;
    if (argument == "--version")
      return printf("dlc-inspect %s\n", DLC_VERSION), 0;
    if (argument.rfind("--variant", 0) == 0) {
      const char *value = argument.size() > 10 ? argv[i] + 10
                          : i + 1 < argc       ? argv[++i]
                                               : "";
      char *end = nullptr;
      only = strtol(value, &end, 10);
      if (!*value || *end || only < 0)
        return fail("--variant needs a number from 0");
    } else if (argument.rfind("--source", 0) == 0) {
      what = "--source";
      prefix = argument.size() > 9 ? argument.substr(9) : "";
    } else if (argument[0] == '-') {
      static const char *kKnown[] = {"--kernels", "--steps", "--weights",
                                     "--report",  "--model", "--tuning"};
      what.clear();
      for (const char *known : kKnown)
        if (argument == known)
          what = argument;
      if (what.empty())
        return fail(say("no option ", argument, "; see dlc-inspect --help"));
    } else if (!path.empty()) {
      return fail(say("got a second bundle, \"", argument, "\""));
    } else {
      path = argument;
    }
  }
  if (path.empty())
    return fail("expected a bundle; see dlc-inspect --help");

  std::shared_ptr<const BundleReader> file;
  if (Status status = BundleReader::open(path.c_str(), file); !status.ok())
    return fail(status.sentence());
  if (only >= long(file->variants()))
    return fail(say("no variant ", only, ": there are ", file->variants(),
                    ", counted from 0"));
  if (what == "--model")
    return put(file->model()), 0;
  if (what == "--tuning")
    return put(file->tuning()), 0;
  if (what == "--overview")
    printOverview(*file, 0);
  for (size_t i = 0; i < file->variants(); i++) {
    if (only >= 0 && size_t(only) != i)
      continue;
    if (what == "--overview") {
      printVariant(*file, i);
      continue;
    }
    if (file->variants() > 1 && only < 0)
      printf("== variant %zu: %s %s\n", i, file->variant(i).target.c_str(),
             file->variant(i).precision.c_str());
    if (what == "--kernels")
      printKernels(*file, i);
    if (what == "--source")
      printSources(*file, i, prefix);
    if (what == "--steps")
      printSteps(file->plan(i), 0, 0);
    if (what == "--weights")
      printWeights(file->plan(i));
    if (what == "--report")
      put(file->report(i));
  }
  return 0;
}
