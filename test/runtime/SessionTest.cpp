// SPDX-License-Identifier: Apache-2.0
// Sessions on the host device, over bundles that need no kernel: steps,
// control flow, state, shapes, memory, messages.
#include "SessionFixture.h"

#include <cmath>

using namespace dlc;
using namespace dlc::test;

namespace {

/// y[N, 4] = x[N, 4] through a buffer in the arena; N in 1..8, even.
PlanMaker copyPlan() {
  PlanMaker m;
  uint32_t n = m.symbol("N", Home::HostArgument, 2, 8, 0, 0);
  m.plan->symbols[n]->divisibility = 2;
  uint32_t N = m.pool.symbol(n);
  uint32_t bytes = m.pool.mul(N, m.pool.constant(16));
  uint32_t x = m.buffer(Space::Input, bytes);
  uint32_t t = m.buffer(Space::Arena, bytes, 0, 1);
  uint32_t y = m.buffer(Space::Output, bytes);
  m.port(m.plan->inputs, "x", ElementType::F32, {N, m.pool.constant(4)}, x);
  m.port(m.plan->outputs, "y", ElementType::F32, {N, m.pool.constant(4)}, y);
  m.copy(x, t, bytes);
  m.copy(t, y, bytes);
  return m;
}

} // namespace

TEST(Session, CopiesThroughTheArena) {
  PlanMaker m = copyPlan();
  Fixture f(m);
  for (int64_t n : {2, 8, 4}) {
    std::vector<float> x = randomFloats(size_t(n * 4), uint32_t(n));
    ASSERT_EQ(f.bind(0, x, DLC_F32, {n, 4}), DLC_OK) << dlc_last_error();
    ASSERT_EQ(dlc_session_run(f.session), DLC_OK) << dlc_last_error();
    EXPECT_EQ(f.result<float>(0), x);
    EXPECT_EQ(f.shape(0), (std::vector<int64_t>{n, 4}));
  }
}

TEST(Session, WritesIntoTheCallersMemory) {
  PlanMaker m = copyPlan();
  Fixture f(m);
  std::vector<float> x = randomFloats(8, 1), y(100, NAN);
  // Neither aligned nor of the exact size.
  for (size_t shift : {0, 1, 7}) {
    std::fill(y.begin(), y.end(), NAN);
    dlc_tensor out = {};
    out.data = y.data() + shift;
    out.bytes = (y.size() - shift) * 4;
    out.type = DLC_F32;
    ASSERT_EQ(f.bind(0, x, DLC_F32, {2, 4}), DLC_OK);
    ASSERT_EQ(dlc_session_bind_output(f.session, 0, &out), DLC_OK);
    ASSERT_EQ(dlc_session_run(f.session), DLC_OK) << dlc_last_error();
    EXPECT_TRUE(std::equal(x.begin(), x.end(), y.begin() + long(shift)));
    EXPECT_TRUE(std::isnan(y[shift + x.size()]));
    dlc_tensor result;
    ASSERT_EQ(dlc_session_output(f.session, 0, &result), DLC_OK);
    EXPECT_EQ(result.data, out.data);
    EXPECT_EQ(result.bytes, 32u);
  }
  dlc_tensor small = {};
  small.data = y.data();
  small.bytes = 31;
  small.type = DLC_F32;
  ASSERT_EQ(dlc_session_bind_output(f.session, 0, &small), DLC_OK);
  EXPECT_EQ(dlc_session_run(f.session), DLC_BAD_INPUT);
  EXPECT_STREQ(dlc_last_error(), "output \"y\": got memory of 31 bytes, "
                                 "expected 32 for 2x4");
}

TEST(Session, TakesTheCallersArena) {
  PlanMaker m = copyPlan();
  Fixture f(m);
  std::vector<float> x = randomFloats(16, 2);
  dlc_tensor shapeOnly = tensorOf(x, DLC_F32, {4, 4});
  shapeOnly.data = nullptr;
  ASSERT_EQ(dlc_session_bind_input(f.session, 0, &shapeOnly), DLC_OK);
  uint64_t bytes = 0;
  ASSERT_EQ(dlc_session_arena_bytes(f.session, &bytes), DLC_OK);
  EXPECT_EQ(bytes, 64u);
  EXPECT_EQ(dlc_session_run(f.session), DLC_BAD_INPUT);
  EXPECT_STREQ(dlc_last_error(), "input \"x\" is bound to no memory");

  alignas(256) uint8_t arena[512] = {};
  EXPECT_EQ(dlc_session_bind_arena(f.session, arena + 1, 64),
            DLC_INVALID_ARGUMENT);
  ASSERT_EQ(dlc_session_bind_arena(f.session, arena, 63), DLC_OK);
  ASSERT_EQ(f.bind(0, x, DLC_F32, {4, 4}), DLC_OK);
  EXPECT_EQ(dlc_session_run(f.session), DLC_BAD_INPUT);
  EXPECT_STREQ(dlc_last_error(),
               "the arena has 63 bytes, these shapes need 64");
  ASSERT_EQ(dlc_session_bind_arena(f.session, arena, 64), DLC_OK);
  ASSERT_EQ(dlc_session_run(f.session), DLC_OK) << dlc_last_error();
  EXPECT_EQ(memcmp(arena, x.data(), 64), 0);
  EXPECT_EQ(f.result<float>(0), x);
}

TEST(Session, SaysWhatIsWrongWithAnInput) {
  PlanMaker m = copyPlan();
  Fixture f(m);
  std::vector<float> x(64);
  struct {
    dlc_type type;
    std::vector<int64_t> dims;
    dlc_status status;
    const char *sentence;
  } cases[] = {
      {DLC_F16,
       {2, 4},
       DLC_BAD_INPUT,
       "input \"x\": got type f16, expected f32"},
      {DLC_F32,
       {2, 4, 1},
       DLC_BAD_INPUT,
       "input \"x\": got rank 3 (2x4x1), expected 2 (?x4)"},
      {DLC_F32,
       {-2, 4},
       DLC_BAD_INPUT,
       "input \"x\": got -2x4, which is no shape"},
      {DLC_F32,
       {int64_t(1) << 62, 4},
       DLC_BAD_INPUT,
       "input \"x\": got 4611686018427387904x4, which is no shape"},
      {DLC_F32,
       {20, 4},
       DLC_BAD_INPUT,
       "input \"x\": got memory of 256 bytes, expected 320 for 20x4 of f32"},
      {DLC_F32,
       {2, 5},
       DLC_UNSUPPORTED,
       "input \"x\": got 2x5, expected Nx4: dimension 1 is 5, expected 4"},
      {DLC_F32,
       {10, 4},
       DLC_UNSUPPORTED,
       "input \"x\": dimension 0 (N) is 10, expected 2..8"},
      {DLC_F32,
       {3, 4},
       DLC_UNSUPPORTED,
       "input \"x\": dimension 0 (N) is 3, expected a multiple of 2"},
  };
  EXPECT_EQ(dlc_session_run(f.session), DLC_BAD_INPUT);
  EXPECT_STREQ(dlc_last_error(), "input \"x\" is not bound");
  for (auto &c : cases) {
    dlc_status status = f.bind(0, x, c.type, c.dims);
    if (status == DLC_OK)
      status = dlc_session_run(f.session);
    EXPECT_EQ(status, c.status);
    EXPECT_STREQ(dlc_last_error(), c.sentence);
  }
  size_t index = 0;
  EXPECT_EQ(dlc_session_find_input(f.session, "z", &index), DLC_NOT_FOUND);
  EXPECT_STREQ(dlc_last_error(), "no input \"z\": the model has \"x\"");
  EXPECT_EQ(f.bind(1, x, DLC_F32, {2, 4}), DLC_INVALID_ARGUMENT);
  EXPECT_STREQ(dlc_last_error(),
               "no input number 1: there are 1, counted from 0");
  // And it still runs.
  ASSERT_EQ(f.bind(0, x, DLC_F32, {2, 4}), DLC_OK);
  EXPECT_EQ(dlc_session_run(f.session), DLC_OK) << dlc_last_error();
}

TEST(Session, NullsAreRefused) {
  EXPECT_EQ(dlc_bundle_open(nullptr, nullptr), DLC_INVALID_ARGUMENT);
  EXPECT_EQ(dlc_session_run(nullptr), DLC_INVALID_ARGUMENT);
  EXPECT_EQ(dlc_session_create(nullptr, nullptr, nullptr),
            DLC_INVALID_ARGUMENT);
  dlc_bundle_close(nullptr);
  dlc_session_destroy(nullptr);
  dlc_bundle *bundle = nullptr;
  EXPECT_EQ(dlc_bundle_open("/nowhere/x.bundle", &bundle), DLC_NOT_FOUND);
  EXPECT_STREQ(dlc_last_error(), "\"/nowhere/x.bundle\": cannot open: No such "
                                 "file or directory");
}

TEST(Session, ReadsWeightsAndAliases) {
  PlanMaker m;
  uint32_t bytes = m.pool.constant(32), half = m.pool.constant(16);
  uint32_t w = m.weight("w", bytes);
  uint32_t y = m.buffer(Space::Output, bytes);
  // The two halves of w change places, through aliases of y.
  uint32_t upper = m.buffer(Space::Output, half);
  m.plan->buffers[upper]->alias = y;
  m.plan->buffers[upper]->alias_offset = half;
  m.copy(w, upper, half);
  m.copy(w, y, half, 0, half);
  m.port(m.plan->outputs, "y", ElementType::F32, {m.pool.constant(8)}, y);
  m.port(m.plan->outputs, "z", ElementType::F32, {m.pool.constant(4)}, upper);
  m.port(m.plan->outputs, "w", ElementType::F32, {m.pool.constant(8)}, w);

  std::vector<float> weights = randomFloats(8, 3), other = randomFloats(8, 4);
  bundle::BundleBuilder builder;
  bundle::VariantContent variant = hostVariant(m);
  variant.weights = {{reinterpret_cast<const uint8_t *>(weights.data()), 32}};
  builder.addVariant(std::move(variant));
  Fixture f(builder);
  ASSERT_EQ(dlc_session_run(f.session), DLC_OK) << dlc_last_error();
  std::vector<float> swapped(weights.begin() + 4, weights.end());
  swapped.insert(swapped.end(), weights.begin(), weights.begin() + 4);
  EXPECT_EQ(f.result<float>(0), swapped);
  EXPECT_EQ(f.result<float>(1),
            std::vector<float>(weights.begin(), weights.begin() + 4));
  EXPECT_EQ(f.result<float>(2), weights);
}

TEST(Session, BranchesOnWhatItReads) {
  // y = c ? a : b, with c an i32 on the device.
  PlanMaker m;
  uint32_t c4 = m.pool.constant(4), c16 = m.pool.constant(16);
  uint32_t c = m.buffer(Space::Input, c4), a = m.buffer(Space::Input, c16);
  uint32_t b = m.buffer(Space::Input, c16), y = m.buffer(Space::Output, c16);
  m.port(m.plan->inputs, "c", ElementType::I32, {}, c);
  m.port(m.plan->inputs, "a", ElementType::F32, {c4}, a);
  m.port(m.plan->inputs, "b", ElementType::F32, {c4}, b);
  m.port(m.plan->outputs, "y", ElementType::F32, {c4}, y);
  HostReadT read;
  read.buffer = c;
  read.type = ElementType::I32;
  read.symbol = m.symbol("c", Home::DeviceCell, -10, 10);
  m.step(std::move(read));
  IfT branch;
  branch.condition = 0;
  branch.then_block = m.block();
  branch.else_block = m.block();
  branch.results = {y};
  m.copy(a, y, c16, branch.then_block);
  m.copy(b, y, c16, branch.else_block);
  m.step(std::move(branch));
  Fixture f(m);
  std::vector<float> va = randomFloats(4, 5), vb = randomFloats(4, 6);
  ASSERT_EQ(f.bind(1, va, DLC_F32, {4}), DLC_OK);
  ASSERT_EQ(f.bind(2, vb, DLC_F32, {4}), DLC_OK);
  for (int32_t value : {1, 0, -3}) {
    std::vector<int32_t> vc = {value};
    ASSERT_EQ(f.bind(0, vc, DLC_I32, {}), DLC_OK);
    ASSERT_EQ(dlc_session_run(f.session), DLC_OK) << dlc_last_error();
    EXPECT_EQ(f.result<float>(0), value ? va : vb);
  }
  std::vector<int32_t> beyond = {11};
  ASSERT_EQ(f.bind(0, beyond, DLC_I32, {}), DLC_OK);
  EXPECT_EQ(dlc_session_run(f.session), DLC_KERNEL_ERROR);
  EXPECT_STREQ(dlc_last_error(), "HostRead for node node_0: symbol c became "
                                 "11, expected -10..10");
}

TEST(Session, LoopsWithCarriedAndScannedValues) {
  // Each iteration rotates v by one element and collects what it was.
  PlanMaker m;
  auto k = [&](int64_t value) { return m.pool.constant(value); };
  uint32_t v = m.buffer(Space::Input, k(12));
  uint32_t in = m.buffer(Space::Arena, k(12)),
           out = m.buffer(Space::Arena, k(12));
  uint32_t last = m.buffer(Space::Output, k(12));
  uint32_t all = m.buffer(Space::Output, k(60));
  uint32_t count = m.symbol("count", Home::Iteration, 0, 100);
  uint32_t i = m.symbol("i", Home::Iteration, 0, 100);
  uint32_t trips = m.symbol("trips", Home::Constant);
  m.plan->symbols[trips]->value = 5;
  m.port(m.plan->inputs, "v", ElementType::F32, {k(3)}, v);
  m.port(m.plan->outputs, "last", ElementType::F32, {k(3)}, last);
  m.port(m.plan->outputs, "all", ElementType::F32, {k(5), k(3)}, all);
  LoopT loop;
  loop.trips = m.pool.symbol(trips);
  loop.iteration = i;
  loop.count = count;
  loop.body = m.block();
  m.copy(in, out, k(8), loop.body, k(4));
  m.copy(in, out, k(4), loop.body, kNone, k(8));
  auto carried = std::make_unique<CarriedT>();
  carried->initial = v;
  carried->in = in;
  carried->out = out;
  carried->bytes = k(12);
  loop.carried.push_back(std::move(carried));
  auto scan = std::make_unique<ScanT>();
  scan->from = in;
  scan->to = all;
  scan->bytes = k(12);
  scan->reverse = true;
  loop.scans.push_back(std::move(scan));
  m.step(std::move(loop));
  m.copy(in, last, k(12));
  Fixture f(m);
  std::vector<float> x = randomFloats(3, 7);
  ASSERT_EQ(f.bind(0, x, DLC_F32, {3}), DLC_OK);
  for (int run = 0; run < 2; run++) {
    ASSERT_EQ(dlc_session_run(f.session), DLC_OK) << dlc_last_error();
    EXPECT_EQ(f.result<float>(0), (std::vector<float>{x[2], x[0], x[1]}));
    std::vector<float> rows = f.result<float>(1);
    for (size_t row = 0; row < 5; row++)
      for (size_t column = 0; column < 3; column++)
        EXPECT_EQ(rows[(4 - row) * 3 + column], x[(column + row) % 3]);
  }
}

TEST(Session, AnEndlessLoopStopsAtItsBound) {
  PlanMaker m;
  LoopT loop;
  loop.iteration = m.symbol("i", Home::Iteration, 0, 1000);
  loop.body = m.block();
  m.step(std::move(loop));
  Fixture f(m);
  EXPECT_EQ(dlc_session_run(f.session), DLC_KERNEL_ERROR);
  EXPECT_STREQ(dlc_last_error(),
               "Loop for node node_0: iteration 1001: symbol i became 1001, "
               "expected 0..1000");
}

/// y = x[0:count], z = the count; the count is read by no step.
static PlanMaker countPlan() {
  PlanMaker m;
  auto k = [&](int64_t value) { return m.pool.constant(value); };
  uint32_t c = m.buffer(Space::Input, k(8)), x = m.buffer(Space::Input, k(40));
  uint32_t cell = m.buffer(Space::Cell, k(8));
  uint32_t y = m.buffer(Space::Output, k(40));
  uint32_t n = m.symbol("count", Home::DeviceCell, 0, 10, kNone, 0, cell);
  m.port(m.plan->inputs, "c", ElementType::I64, {}, c);
  m.port(m.plan->inputs, "x", ElementType::F32, {k(10)}, x);
  m.port(m.plan->outputs, "y", ElementType::F32, {m.pool.symbol(n)}, y);
  m.copy(c, cell, k(8));
  m.copy(x, y, k(40));
  return m;
}

TEST(Session, GivesTheTrueShapeOfWhatTheDeviceCounts) {
  PlanMaker m = countPlan();
  Fixture f(m);
  std::vector<float> x = randomFloats(10, 8);
  ASSERT_EQ(f.bind(1, x, DLC_F32, {10}), DLC_OK);
  dlc_port port;
  ASSERT_EQ(dlc_session_output_port(f.session, 0, &port), DLC_OK);
  EXPECT_EQ(port.dims[0], -1);
  for (int64_t count : {3, 0, 10}) {
    std::vector<int64_t> c = {count};
    std::vector<float> expected(x.begin(), x.begin() + count);
    ASSERT_EQ(f.bind(0, c, DLC_I64, {}), DLC_OK);
    ASSERT_EQ(dlc_session_run(f.session), DLC_OK) << dlc_last_error();
    EXPECT_EQ(f.shape(0), std::vector<int64_t>{count});
    EXPECT_EQ(f.result<float>(0), expected);

    // Through an allocator it comes in memory of the true size.
    std::vector<float> given;
    auto allocate = [](void *user, size_t output, const dlc_tensor *tensor) {
      auto *memory = static_cast<std::vector<float> *>(user);
      memory->assign(size_t(tensor->dims[0]), NAN);
      return static_cast<void *>(memory->data());
    };
    ASSERT_EQ(dlc_session_set_allocator(f.session, allocate, &given), DLC_OK);
    ASSERT_EQ(dlc_session_run(f.session), DLC_OK) << dlc_last_error();
    EXPECT_EQ(given, expected);
    ASSERT_EQ(dlc_session_set_allocator(f.session, nullptr, nullptr), DLC_OK);
  }
  std::vector<int64_t> c = {11};
  ASSERT_EQ(f.bind(0, c, DLC_I64, {}), DLC_OK);
  EXPECT_EQ(dlc_session_run(f.session), DLC_KERNEL_ERROR);
  EXPECT_STREQ(dlc_last_error(), "symbol count became 11, expected 0..10");
}

TEST(Session, KeepsStateFromRunToRun) {
  // out = state; state = x. Starts as the weight.
  PlanMaker m;
  uint32_t bytes = m.pool.constant(8), two = m.pool.constant(2);
  m.weight("start", bytes);
  PlanMaker::InOut io = m.inOut(two);
  m.copy(m.state("h", bytes, 0), io.y, bytes);
  m.store(io.x);
  bundle::BundleBuilder builder;
  bundle::VariantContent variant = hostVariant(m);
  std::vector<float> start = randomFloats(2, 9);
  variant.weights = {{reinterpret_cast<const uint8_t *>(start.data()), 8}};
  builder.addVariant(std::move(variant));
  Fixture f(builder);
  std::vector<float> before = start;
  for (uint32_t run = 0; run < 4; run++) {
    if (run == 3) {
      ASSERT_EQ(dlc_session_reset_state(f.session), DLC_OK);
      before = start;
    }
    std::vector<float> next = randomFloats(2, 10 + run);
    ASSERT_EQ(f.bind(0, next, DLC_F32, {2}), DLC_OK);
    ASSERT_EQ(dlc_session_run(f.session), DLC_OK) << dlc_last_error();
    EXPECT_EQ(f.result<float>(0), before);
    before = next;
  }
}

TEST(Session, AStepOutsideItsBufferIsRefused) {
  PlanMaker m = copyPlan();
  m.plan->blocks[0]->steps[0]->action.AsCopy()->to_offset = m.pool.constant(16);
  Fixture f(m);
  std::vector<float> x(8);
  ASSERT_EQ(f.bind(0, x, DLC_F32, {2, 4}), DLC_OK);
  EXPECT_EQ(dlc_session_run(f.session), DLC_BAD_BUNDLE);
  EXPECT_STREQ(dlc_last_error(), "Copy for node node_0: 32 bytes at 16 lie "
                                 "outside buffer 1 (b1) of 32 bytes");
}

TEST(Session, ShapesThatOverflowAreRefused) {
  PlanMaker m;
  uint32_t n = m.symbol("N", Home::HostArgument, 0, INT64_MAX, 0, 0);
  uint32_t N = m.pool.symbol(n), square = m.pool.mul(N, N);
  uint32_t big = m.pool.mul(square, m.pool.mul(square, N));
  uint32_t x = m.buffer(Space::Input, N);
  m.buffer(Space::Arena, big);
  m.port(m.plan->inputs, "x", ElementType::U8, {N}, x);
  Fixture f(m);
  std::vector<uint8_t> data(100000);
  for (auto [size, sentence] :
       {std::pair<int64_t, const char *>(
            100000, "size of b1: N*N*N*N*N overflows for these shapes"),
        {1000, "size of b1: 1000000000000000 bytes for these shapes"}}) {
    ASSERT_EQ(f.bind(0, data, DLC_U8, {size}), DLC_OK);
    EXPECT_EQ(dlc_session_run(f.session), DLC_UNSUPPORTED);
    EXPECT_STREQ(dlc_last_error(), sentence);
  }
  // 100 to the fifth: 10 GB, which a 24 GB machine would promise; smaller fits.
  ASSERT_EQ(f.bind(0, data, DLC_U8, {20}), DLC_OK);
  EXPECT_EQ(dlc_session_run(f.session), DLC_OK) << dlc_last_error();
}

TEST(Session, ConstraintsPrintTheirSentence) {
  PlanMaker m = copyPlan();
  auto constraint = std::make_unique<ConstraintT>();
  constraint->left = m.plan->inputs[0]->dims[0];
  constraint->relation = Relation::NotEqual;
  constraint->right = m.pool.constant(6);
  constraint->sentence = "node \"split\" (Split): N must not be 6";
  m.plan->constraints.push_back(std::move(constraint));
  Fixture f(m);
  std::vector<float> x(24);
  ASSERT_EQ(f.bind(0, x, DLC_F32, {6, 4}), DLC_OK);
  EXPECT_EQ(dlc_session_run(f.session), DLC_UNSUPPORTED);
  EXPECT_STREQ(dlc_last_error(),
               "node \"split\" (Split): N must not be 6: got 6 and 6, "
               "where N is 6");
  ASSERT_EQ(f.bind(0, x, DLC_F32, {4, 4}), DLC_OK);
  EXPECT_EQ(dlc_session_run(f.session), DLC_OK) << dlc_last_error();
}

/// Copies x[n, 2] to y, for one n only, and adds which variant it was.
static PlanMaker fixedPlan(int64_t n) {
  PlanMaker m;
  auto k = [&](int64_t value) { return m.pool.constant(value); };
  uint32_t x = m.buffer(Space::Input, k(n * 8));
  uint32_t y = m.buffer(Space::Output, k(n * 8));
  m.port(m.plan->inputs, "x", ElementType::F32, {k(n), k(2)}, x);
  m.port(m.plan->outputs, "y", ElementType::F32, {k(n), k(2)}, y);
  m.copy(x, y, k(n * 8));
  return m;
}

TEST(Session, ChoosesTheVariantByTheShapes) {
  bundle::BundleBuilder builder;
  for (int64_t n : {1, 4}) {
    PlanMaker m = fixedPlan(n);
    bundle::VariantContent variant = hostVariant(m);
    bundle::ShapeRangeT range;
    range.input = "x";
    range.lower = range.upper = {n, 2};
    variant.shapes.push_back(std::move(range));
    builder.addVariant(std::move(variant));
  }
  Fixture f(builder);
  dlc_variant info;
  ASSERT_EQ(dlc_bundle_variant(f.bundle, 1, &info), DLC_OK);
  EXPECT_STREQ(info.shapes, "x: 4x2");
  dlc_port port;
  ASSERT_EQ(dlc_session_input_port(f.session, 0, &port), DLC_OK);
  EXPECT_EQ(port.dims[0], -1);
  EXPECT_EQ(port.lower[0], 1);
  EXPECT_EQ(port.upper[0], 4);
  EXPECT_EQ(port.dims[1], 2);
  std::vector<float> x = randomFloats(8, 11);
  for (int64_t n : {4, 1, 4}) {
    ASSERT_EQ(f.bind(0, x, DLC_F32, {n, 2}), DLC_OK);
    ASSERT_EQ(dlc_session_run(f.session), DLC_OK) << dlc_last_error();
    size_t variant = 9;
    ASSERT_EQ(dlc_session_variant(f.session, &variant), DLC_OK);
    EXPECT_EQ(variant, n == 4 ? 1u : 0u);
    EXPECT_EQ(f.result<float>(0),
              std::vector<float>(x.begin(), x.begin() + n * 2));
  }
  ASSERT_EQ(f.bind(0, x, DLC_F32, {3, 2}), DLC_OK);
  EXPECT_EQ(dlc_session_run(f.session), DLC_UNSUPPORTED);
  EXPECT_STREQ(
      dlc_last_error(),
      "no variant of the bundle takes these shapes: variant 0 (host, x: 1x2): "
      "input \"x\": dimension 0 is 3, expected 1; variant 1 (host, x: 4x2): "
      "input \"x\": dimension 0 is 3, expected 4");
}

TEST(Session, SaysWhatTheBundleHoldsWhenNothingFits) {
  PlanMaker m = copyPlan();
  bundle::BundleBuilder builder;
  bundle::VariantContent variant = hostVariant(m);
  variant.target = "sm_90a";
  variant.precision = "fp16";
  builder.addVariant(std::move(variant));
  BundleFile file(builder);
  dlc_bundle *bundle = nullptr;
  ASSERT_EQ(dlc_bundle_open_memory(file.span().data(), file.size, &bundle),
            DLC_OK);
  dlc_session_options options;
  dlc_session_options_init(&options);
  options.device = DLC_DEVICE_HOST;
  dlc_session *session = nullptr;
  EXPECT_EQ(dlc_session_create(bundle, &options, &session), DLC_UNSUPPORTED);
  EXPECT_STREQ(dlc_last_error(),
               "no variant of the bundle fits: the device is host; the bundle "
               "holds sm_90a fp16");
  dlc_bundle_close(bundle);
}

TEST(Session, OutlivesItsBundle) {
  PlanMaker m = copyPlan();
  Fixture f(m);
  dlc_bundle_close(f.bundle);
  f.bundle = nullptr;
  std::vector<float> x = randomFloats(8, 12);
  ASSERT_EQ(f.bind(0, x, DLC_F32, {2, 4}), DLC_OK);
  ASSERT_EQ(dlc_session_run(f.session), DLC_OK) << dlc_last_error();
  EXPECT_EQ(f.result<float>(0), x);
}

TEST(Session, TellsTheProfilerOfEachStep) {
  PlanMaker m = copyPlan();
  Fixture f(m);
  std::vector<float> x = randomFloats(8, 13);
  ASSERT_EQ(f.bind(0, x, DLC_F32, {2, 4}), DLC_OK);
  std::vector<std::string> steps;
  auto note = [](void *user, const dlc_step *step) {
    auto &steps = *static_cast<std::vector<std::string> *>(user);
    steps.push_back(std::string(step->name) + ": " + step->nodes);
    EXPECT_GE(step->microseconds, 0);
  };
  ASSERT_EQ(dlc_session_set_profiler(f.session, note, &steps), DLC_OK);
  ASSERT_EQ(dlc_session_run(f.session), DLC_OK) << dlc_last_error();
  EXPECT_EQ(steps, (std::vector<std::string>{"Copy: node_0", "Copy: node_1"}));
}
