// SPDX-License-Identifier: Apache-2.0
// dlc-run's parts: array files, comparison; and the program itself.
#include "RichBundle.h"

#include "runtime/tools/Array.h"
#include "runtime/tools/Compare.h"

#include <cmath>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <random>

using namespace dlc::tools;
using dlc::test::BundleFile;

namespace {

/// A folder that goes away.
struct Folder {
  std::filesystem::path path;
  Folder() {
    std::string name =
        (std::filesystem::temp_directory_path() / "dlc-run-XXXXXX").string();
    path = mkdtemp(name.data());
  }
  ~Folder() { std::filesystem::remove_all(path); }
  std::string operator/(const std::string &name) const {
    return (path / name).string();
  }
};

void write(const std::string &path, std::string_view bytes) {
  std::ofstream(path, std::ios::binary) << bytes;
}

Array randomArray(dlc_type type, std::vector<int64_t> dims, uint32_t seed) {
  std::mt19937 random(seed);
  Array array = makeArray(type, dims);
  for (uint64_t i = 0; i < array.count(); i++)
    array.set(i, type == DLC_BOOL ? double(random() % 2)
                                  : double(random() % 1000) / 8 - 60);
  return array;
}

std::string failure(const std::string &path) {
  try {
    readArray(path);
  } catch (const Failure &error) {
    return std::string(error.what()).substr(path.size() + 4);
  }
  return "none";
}

/// Status and all output of dlc-run or another tool.
std::pair<int, std::string> dlcRun(const std::string &arguments,
                                   const std::string &tool = DLC_RUN) {
  std::string command = tool + " " + arguments + " 2>&1";
  FILE *pipe = popen(command.c_str(), "r");
  std::string text;
  for (int c; (c = fgetc(pipe)) != EOF;)
    text += char(c);
  int status = pclose(pipe);
  return {WIFEXITED(status) ? WEXITSTATUS(status) : -1, text};
}

} // namespace

TEST(Array, SmallFloatsRoundToNearestEven) {
  struct {
    dlc_type type;
    double in, out;
  } cases[] = {
      {DLC_F16, 1 + 0x1p-11, 1},  {DLC_F16, 1 + 0x3p-11, 1 + 0x1p-9},
      {DLC_F16, 65519, 65504},    {DLC_F16, 65520, INFINITY},
      {DLC_F16, 0x1p-25, 0},      {DLC_F16, 0x1.8p-25, 0x1p-24},
      {DLC_BF16, 1 + 0x1p-8, 1},  {DLC_BF16, -(1 + 0x3p-8), -(1 + 0x1p-6)},
      {DLC_F8E4M3, 448, 448},     {DLC_F8E4M3, 17, 16},
      {DLC_F8E5M2, 57344, 57344}, {DLC_F8E5M2, 0x1p-16, 0x1p-16}};
  for (auto &c : cases) {
    Array array = makeArray(c.type, {1});
    array.set(0, c.in);
    EXPECT_EQ(array.at(0), c.out) << c.in;
  }
  for (uint32_t bits = 0; bits < 65536; bits++)
    for (dlc_type type : {DLC_F16, DLC_BF16}) {
      Array array = makeArray(type, {2});
      uint16_t value = uint16_t(bits);
      memcpy(array.bytes.data(), &value, 2);
      double number = array.at(0);
      array.set(1, number);
      if (!std::isnan(number))
        EXPECT_EQ(memcmp(array.bytes.data(), array.bytes.data() + 2, 2), 0);
      else
        EXPECT_TRUE(std::isnan(array.at(1)));
    }
}

TEST(Array, NpyComesBack) {
  Folder folder;
  for (dlc_type type : {DLC_BOOL, DLC_I8, DLC_I16, DLC_I32, DLC_I64, DLC_U8,
                        DLC_F16, DLC_F32, DLC_F64})
    for (std::vector<int64_t> dims :
         {std::vector<int64_t>{}, {7}, {2, 3, 4}, {0, 5}}) {
      Array array = randomArray(type, dims, uint32_t(type));
      writeNpy(folder / "x.npy", array);
      Array back = readArray(folder / "x.npy");
      EXPECT_EQ(back.type, array.type);
      EXPECT_EQ(back.dims, array.dims);
      EXPECT_EQ(back.bytes, array.bytes);
    }
  // bf16 travels as u16.
  Array array = randomArray(DLC_BF16, {5}, 3);
  writeNpy(folder / "x.npy", array);
  Array back = readArray(folder / "x.npy");
  EXPECT_EQ(back.type, DLC_U16);
  EXPECT_EQ(asType(back, DLC_BF16).type, DLC_BF16);
  EXPECT_EQ(asType(back, DLC_F32).type, DLC_U16);
}

TEST(Array, NpyOfColumnsIsTurned) {
  Folder folder;
  Array columns = randomArray(DLC_I16, {4, 3, 5}, 1);
  writeNpy(folder / "x.npy", columns);
  std::vector<uint8_t> file = readFile(folder / "x.npy");
  std::string text(file.begin(), file.end());
  size_t at = text.find("False, 'shape': (4, 3, 5, )");
  ASSERT_NE(at, std::string::npos);
  // As many characters, and the same elements in the other order.
  text.replace(at, 27, "True, 'shape': (5, 3, 4)   ");
  write(folder / "x.npy", text);
  Array rows = readArray(folder / "x.npy");
  ASSERT_EQ(rows.dims, (std::vector<int64_t>{5, 3, 4}));
  for (uint64_t i = 0; i < 5; i++)
    for (uint64_t j = 0; j < 3; j++)
      for (uint64_t k = 0; k < 4; k++)
        EXPECT_EQ(rows.at((i * 3 + j) * 4 + k), columns.at((k * 3 + j) * 5 + i))
            << i << " " << j << " " << k;
}

TEST(Array, FourBitsTakeWhatFits) {
  // Also as raw bytes, which come as u8.
  for (auto [type, from, low, high] :
       {std::tuple(DLC_I4, DLC_I8, -8, 7), std::tuple(DLC_I4, DLC_U8, -8, 7),
        std::tuple(DLC_U4, DLC_U8, 0, 15), std::tuple(DLC_U4, DLC_I8, 0, 15)})
    for (int value = -128; value < 128; value++) {
      Array array = makeArray(from, {3});
      array.bytes[1] = uint8_t(value);
      Array packed = asType(array, type);
      if (value >= low && value <= high) {
        ASSERT_EQ(packed.type, type) << value;
        EXPECT_EQ(packed.at(1), value);
        EXPECT_EQ(packed.at(0) + packed.at(2), 0);
      } else {
        EXPECT_EQ(packed.type, from) << value;
      }
    }
}

TEST(Array, BytesOfBoolsBecomeOneOrZero) {
  Folder folder;
  Array array = makeArray(DLC_BOOL, {256}), expected = array;
  for (size_t i = 0; i < 256; i++) {
    array.bytes[i] = uint8_t(255 - i);
    expected.bytes[i] = i != 255;
  }
  writeNpy(folder / "x.npy", array);
  EXPECT_EQ(readArray(folder / "x.npy").bytes, expected.bytes);
  // dims 256, data_type 9, raw_data.
  write(folder / "x.pb",
        std::string("\x08\x80\x02\x10\x09\x4a\x80\x02") +
            std::string(array.bytes.begin(), array.bytes.end()));
  EXPECT_EQ(readArray(folder / "x.pb").bytes, expected.bytes);
}

TEST(Array, IsReadWithoutExceptions) {
  Folder folder;
  std::string error;
  EXPECT_FALSE(readArray(folder / "no.npy", DLC_F32, error));
  EXPECT_NE(error.find("no.npy"), std::string::npos) << error;
  Array array = randomArray(DLC_BF16, {5}, 3);
  error.clear();
  ASSERT_TRUE(writeNpy(folder / "x.npy", array, error)) << error;
  std::optional<Array> back = readArray(folder / "x.npy", DLC_BF16, error);
  ASSERT_TRUE(back) << error;
  EXPECT_EQ(back->type, DLC_BF16);
  EXPECT_EQ(back->bytes, array.bytes);
  EXPECT_FALSE(writeNpy(folder / "no/x.npy", array, error));
  EXPECT_NE(error.find("no/x.npy"), std::string::npos) << error;
}

TEST(Array, NpySaysWhatIsWrong) {
  Folder folder;
  std::string path = folder / "x.npy";
  auto npy = [&](std::string header, std::string data) {
    write(path, std::string("\x93NUMPY\x01\x00", 8) + char(header.size()) +
                    '\0' + header + data);
    return failure(path);
  };
  write(path, "PK");
  EXPECT_EQ(failure(path), "not an .npy file");
  EXPECT_EQ(npy("{'descr': '<c8', 'fortran_order': False, 'shape': (1,), }",
                "12345678"),
            "arrays of type '<c8' are not supported, expected a little-endian "
            "bool, integer or float type");
  EXPECT_EQ(npy("{'descr': '<f4', 'fortran_order': False, 'shape': (3,), }",
                "12345678"),
            "got 8 bytes of data, expected 12 for 3 of f32");
  // Refused before there is memory for it.
  EXPECT_EQ(npy("{'descr': '|u1', 'fortran_order': True, 'shape': "
                "(1048576, 1048576), }",
                "12345678"),
            "got 8 bytes of data, expected 1099511627776 for 1048576x1048576 "
            "of u8");
  EXPECT_EQ(npy("{'descr': '<f4', 'fortran_order': False, 'shape': "
                "(4294967296, 4294967296, 4294967296), }",
                "12345678"),
            "4294967296x4294967296x4294967296 is too large for memory");
  EXPECT_EQ(npy("{'descr': '<f4', 'fortran_order': False, 'shape': (-2,), }",
                "12345678"),
            "the shape (-2,) has a negative dimension");
  EXPECT_EQ(npy("{'descr': '<f4', 'shape': (2,), }", "12345678"),
            "the .npy header has no fortran_order");
  EXPECT_THROW(readArray(folder / "no.npy"), Failure);
}

TEST(Array, ReadsTensorProtos) {
  Folder folder;
  std::string path = folder / "x.pb";
  // dims 2 (not packed), float (1), two float_data one by one.
  write(path, std::string("\x08\x02\x10\x01\x25\x00\x00\x80\x3f\x25\x00\x00"
                          "\x00\xc0",
                          14));
  Array array = readArray(path);
  EXPECT_EQ(array.type, DLC_F32);
  EXPECT_EQ(array.dims, std::vector<int64_t>{2});
  EXPECT_EQ(array.at(0), 1);
  EXPECT_EQ(array.at(1), -2);
  // Packed dims 1 x 3, int32 (6), packed int32_data 1, -1, 300.
  write(path, std::string("\x0a\x02\x01\x03\x10\x06\x2a\x0d\x01\xff\xff\xff\xff"
                          "\xff\xff\xff\xff\xff\x01\xac\x02",
                          21));
  array = readArray(path);
  EXPECT_EQ(array.type, DLC_I32);
  EXPECT_EQ(array.dims, (std::vector<int64_t>{1, 3}));
  EXPECT_EQ(array.at(1), -1);
  EXPECT_EQ(array.at(2), 300);
  // A scalar, int64 (7), raw_data.
  write(path,
        std::string("\x10\x07\x4a\x08\x05\x00\x00\x00\x00\x00\x00\x00", 12));
  array = readArray(path);
  EXPECT_EQ(array.type, DLC_I64);
  EXPECT_EQ(array.at(0), 5);
  for (size_t size = 1; size < 12; size++) {
    write(path, std::string("\x10\x07\x4a\x08\x05\x00\x00\x00\x00\x00\x00\x00",
                            size));
    EXPECT_NE(failure(path), "none") << size;
  }
}

TEST(Array, ReadsCompressedNpz) {
  // np.savez_compressed("arrays.npz", a=a, b=np.float32([1.5, -2])) with
  // a = (np.arange(600)**2 % 251).astype("u1").reshape(20, 30); a[3:12] = a[0]
  std::string path = DLC_TEST_ARRAYS;
  Array a = readArray(path + ":a"), b = readArray(path + ":b");
  EXPECT_EQ(a.type, DLC_U8);
  ASSERT_EQ(a.dims, (std::vector<int64_t>{20, 30}));
  for (uint64_t i = 0; i < 600; i++) {
    uint64_t from = i / 30 >= 3 && i / 30 < 12 ? i % 30 : i;
    ASSERT_EQ(a.at(i), double(from * from % 251)) << i;
  }
  EXPECT_EQ(b.at(0), 1.5);
  EXPECT_EQ(b.at(1), -2);
  EXPECT_EQ(failure(path), "holds several arrays (a, b): name one as "
                           "FILE.npz:KEY");
  EXPECT_TRUE(failure(path + ":c").ends_with(" no array \"c\", it holds a, b"));
  // Damage is refused, or comes out as another array; it never crashes.
  Folder folder;
  std::vector<uint8_t> good = readFile(path);
  size_t refused = 0;
  for (size_t i = 0; i < good.size(); i++) {
    std::vector<uint8_t> bad = good;
    bad[i] ^= 0x55;
    write(folder / "x.npz",
          {reinterpret_cast<const char *>(bad.data()), bad.size()});
    try {
      readArray((folder / "x.npz") + ":a");
    } catch (const Failure &) {
      refused++;
    }
  }
  EXPECT_GT(refused, 50u);
}

TEST(Compare, HasBothBounds) {
  Array expected = randomArray(DLC_F32, {1000}, 1), out = expected;
  EXPECT_TRUE(compare(out, expected, 1e-4).isEqual);
  // One ruined element hides in the norm, and not in its own bound.
  std::vector<double> squares;
  out.set(500, expected.at(500) + 1);
  Comparison found = compare(out, expected, 1e-3);
  EXPECT_LT(found.norm, 1e-3);
  EXPECT_GT(found.worst, 1);
  EXPECT_FALSE(found.isEqual);
  EXPECT_EQ(found.worstAt, 500u);
  // All a little: the norm sees it.
  for (uint64_t i = 0; i < 1000; i++)
    out.set(i, expected.at(i) * 1.002);
  found = compare(out, expected, 1e-3);
  EXPECT_GT(found.norm, 1e-3);
  EXPECT_LT(found.worst, 1);
  EXPECT_FALSE(found.isEqual);
  EXPECT_TRUE(compare(out, expected, 1e-2).isEqual);
}

TEST(Compare, WantsNaNsInPlace) {
  Array expected = randomArray(DLC_F32, {4}, 1);
  expected.set(1, NAN);
  expected.set(2, INFINITY);
  Array out = expected;
  EXPECT_TRUE(compare(out, expected, 1e-4).isEqual);
  out.set(2, -INFINITY);
  EXPECT_FALSE(compare(out, expected, 1e-4).isEqual);
  out.set(2, INFINITY);
  out.set(1, 0);
  EXPECT_EQ(compare(out, expected, 1e-4).sentence,
            "element 1 is 0, expected nan");
  out = expected;
  out.set(0, NAN);
  EXPECT_FALSE(compare(out, expected, 1e-4).isEqual);
}

TEST(Compare, IntegersAreExact) {
  Array expected = randomArray(DLC_I32, {10}, 1), out = expected;
  EXPECT_TRUE(compare(out, expected, 1).isEqual);
  out.set(3, expected.at(3) + 1);
  EXPECT_FALSE(compare(out, expected, 1).isEqual);
  out.dims = {5, 2};
  EXPECT_EQ(compare(out, expected, 1).sentence, "got shape 5x2, expected 10");
}

TEST(DlcRun, RunsSavesAndCompares) {
  Folder folder;
  BundleFile file = dlc::test::richBundle();
  std::string bundle = folder / "m.bundle";
  write(bundle,
        {reinterpret_cast<const char *>(file.span().data()), file.size});
  Array x = randomArray(DLC_F32, {2, 4}, 1), count = makeArray(DLC_I64, {});
  count.set(0, 3);
  writeNpy(folder / "x.npy", x);
  writeNpy(folder / "count.npy", count);
  std::string run = bundle + " --device=host --input x=" + (folder / "x.npy") +
                    " --input count=" + (folder / "count.npy");
  auto [status, text] = dlcRun(run + " --save " + (folder / "a/b"));
  ASSERT_EQ(status, 0) << text;
  EXPECT_NE(text.find("output z: f32 3, 1 to 1, mean 1\n"), std::string::npos)
      << text;
  EXPECT_EQ(readArray(folder / "a/b/y.npy").bytes, x.bytes);
  EXPECT_EQ(readArray(folder / "a/b/all.npy").dims,
            (std::vector<int64_t>{3, 2, 4}));
  std::tie(status, text) = dlcRun(run + " -q --expect y=" + (folder / "x.npy"));
  EXPECT_EQ(status, 0);
  EXPECT_EQ(text, "expect y: equal, error 0.00e+00 (bound 1e-04), worst "
                  "element at 0 of its bound\n");
  x.set(0, x.at(0) + 20);
  writeNpy(folder / "other.npy", x);
  std::tie(status, text) =
      dlcRun(run + " -q --expect y=" + (folder / "other.npy"));
  EXPECT_EQ(status, 1) << text;
  EXPECT_NE(text.find("expect y: DIFFERENT"), std::string::npos) << text;
}

TEST(DlcRun, SavesOutputsWhoseNamesLookAlike) {
  Folder folder;
  dlc::bundle::VariantContent variant = dlc::test::runnableVariant();
  variant.plan->outputs[0]->name = "a/b";
  variant.plan->outputs[3]->name = "a.b";
  BundleFile file = dlc::test::fileOf(std::move(variant));
  std::string bundle = folder / "m.bundle";
  write(bundle,
        {reinterpret_cast<const char *>(file.span().data()), file.size});
  auto [status, text] = dlcRun(bundle +
                               " --device=host --shape x=2x4 --range "
                               "count=1..2 --save " +
                               (folder / "out"));
  ASSERT_EQ(status, 0) << text;
  EXPECT_EQ(readArray(folder / "out/a_b.npy").dims,
            (std::vector<int64_t>{2, 4}));
  EXPECT_EQ(readArray(folder / "out/a_b_2.npy").dims,
            (std::vector<int64_t>{4}));
}

TEST(DlcRun, MeasuresAndLists) {
  Folder folder;
  BundleFile file = dlc::test::richBundle();
  std::string bundle = folder / "m.bundle";
  write(bundle,
        {reinterpret_cast<const char *>(file.span().data()), file.size});
  auto [status, text] =
      dlcRun(bundle + " --device=host --range count=0..4 --bench --warmup=0 "
                      "--iterations=5 --profile");
  EXPECT_EQ(status, 0) << text;
  for (const char *part :
       {"bench: 5 runs on host\n", "median ", "p90 ", "p99 ", "runs/s",
        "inputs to it", "profile: ", "Copy: node_"})
    EXPECT_NE(text.find(part), std::string::npos) << part << " in " << text;
  std::tie(status, text) = dlcRun(bundle + " --list");
  EXPECT_EQ(status, 0);
  EXPECT_NE(text.find("  0: host fp32, 0 kernels, "), std::string::npos)
      << text;
  EXPECT_NE(text.find("  1: sm_90a fp16, 1 kernel, 0.00 MB of weights, shapes "
                      "any, driver for CUDA 13.0 or newer\n"),
            std::string::npos)
      << text;
}

TEST(DlcRun, SaysWhatIsWrong) {
  Folder folder;
  BundleFile file = dlc::test::richBundle();
  std::string bundle = folder / "m.bundle";
  write(bundle,
        {reinterpret_cast<const char *>(file.span().data()), file.size});
  write(folder / "x.txt", "1 2 3");
  auto says = [&](const std::string &arguments, const std::string &sentence) {
    auto [status, text] = dlcRun(arguments);
    EXPECT_EQ(status, 2) << text;
    EXPECT_EQ(text.find("dlc-run: error: " + sentence), 0u) << text;
  };
  std::string host = bundle + " -q --device=host ";
  says("", "expected a bundle; see dlc-run --help");
  says("--what", "no option --what; see dlc-run --help");
  says(bundle + " --device=tpu", "--device: got \"tpu\", expected cuda, host "
                                 "or auto");
  says(folder / "no.bundle",
       "\"" + (folder / "no.bundle") + "\": cannot open: No such file");
  says(host + "--input z=" + (folder / "x.txt"),
       "no input \"z\": the model has \"x\", \"count\"");
  says(host + "--input x=" + (folder / "x.txt"),
       "\"" + (folder / "x.txt") + "\": expected a .npy, .npz or .pb file");
  says(host + "--shape x=9x4 --range count=0..0",
       "input \"x\": dimension 0 is 9, expected 1..4");
  for (const char *shape : {"-1x4", "4x", "4by4"})
    says(host + "--shape x=" + shape, std::string("--shape: got \"") + shape +
                                          "\", expected sizes such as 1x3");
  says(host + "--shape 1x4", "--shape: got \"1x4\", expected NAME=1x3x224x224");
  says(host + "--input x.npy", "--input: got \"x.npy\", expected NAME=FILE");
  for (const char *option : {"--duration", "--warmup", "--tolerance"})
    for (const char *amount : {"-1", "nan"})
      says(host + option + "=" + amount, std::string(option) + ": got \"" +
                                             amount +
                                             "\", expected a number from 0");
  for (const char *range : {"3..1", "nan..1"})
    says(host + "--range x=" + range, std::string("--range: got \"") + range +
                                          "\", expected LOW up to HIGH");
  for (auto [option, first, second] :
       {std::tuple("--input", "x=a.npy", "x=b.npy"),
        {"-i", "x=a.npy", "x=a.npy"},
        {"--shape", "x=2x4", "x=1x4"},
        {"--range", "x=1..2", "x=0..1"},
        {"--expect", "x=a.npy", "x=b.npy"}})
    says(host + option + " " + first + " " + option + " " + second,
         std::string(option) + ": \"x\" is given twice; see dlc-run --help");
  // Before anything runs, and with nothing said of it.
  for (std::string file : {"", "/sub", "/sub/sub"})
    says(bundle + " --device=host --save " + (folder / "x.txt") + file,
         "cannot save into \"" + (folder / "x.txt") + file + "\": " +
             (file.empty() ? "\"" + (folder / "x.txt") + "\" is not a folder"
                           : "Not a directory"));
  says(host + "--target sm_90a",
       "no variant of the bundle fits: the device is host, asked for sm_90a; "
       "the bundle holds host fp32, sm_90a fp16");
}

TEST(DlcRun, SaysHowToGoOnWithoutAGpu) {
  Folder folder;
  std::string bundle = folder / "m.bundle";
  auto said = [&](bool hasHost, const char *option = "") {
    dlc::bundle::BundleBuilder builder;
    builder.addVariant(dlc::test::launchVariant());
    if (hasHost) {
      dlc::bundle::VariantContent host = dlc::test::launchVariant();
      host.target = "host";
      builder.addVariant(std::move(host));
    }
    BundleFile file(builder);
    write(bundle,
          {reinterpret_cast<const char *>(file.span().data()), file.size});
    return dlcRun(bundle + option).second;
  };
  if (said(false).find("no GPU: ") == std::string::npos)
    GTEST_SKIP() << "there is a GPU";
  EXPECT_TRUE(said(false).ends_with("; dlc --target=host makes a bundle that "
                                    "runs here, with --device=host\n"))
      << said(false);
  EXPECT_TRUE(said(true).ends_with("; the bundle runs on the CPU with "
                                   "--device=host\n"))
      << said(true);
  std::string listed = said(false, " --list");
  EXPECT_TRUE(listed.ends_with("\nits inputs and outputs: dlc-inspect " +
                               bundle + "\n"))
      << listed;
}

TEST(DlcInspect, SaysWhatIsInABundle) {
  Folder folder;
  BundleFile file = dlc::test::richBundle();
  std::string bundle = folder / "m.bundle";
  write(bundle,
        {reinterpret_cast<const char *>(file.span().data()), file.size});
  auto says = [&](const std::string &arguments, const std::string &part,
                  int expected = 0) {
    auto [status, text] = dlcRun(bundle + " " + arguments, DLC_INSPECT);
    EXPECT_EQ(status, expected) << text;
    EXPECT_NE(text.find(part), std::string::npos) << part << " in\n" << text;
  };
  says("", "model rich, by test\n");
  says("", "variant 1: sm_90a fp16, shapes any, driver for CUDA 13.0 or newer");
  says("", "  output z: f32 \"count\"\n");
  says("", "  0 kernels (0.0 KB), 1 weight (0.00 MB), 6 steps, 1 stream\n");
  says("", "  1 kernel (0.0 KB), 0 weights (0.00 MB), 1 step, 2 streams\n");
  says("--kernels --variant=1",
       "dlc_copy_f16_00000000: 1 launch, 128 threads, 1024 bytes of shared "
       "memory, clusters of 2, may start early\n  [node_0]\n");
  says("--source=dlc_copy", "// ---- dlc_copy_f16_00000000.cu\n// kernel\n");
  says("--steps --variant 0",
       "3: If: node_3\n  0: Copy N*16 bytes, buffer 0 to 7: node_0\nelse\n");
  says("--weights --variant 0", "          16 ");
  says("--report --variant 0", "copies only\n");
  says("--model", "module {}\n");
  says("--variant 2",
       "dlc-inspect: error: no variant 2: there are 2, counted "
       "from 0\n",
       2);
  says("--all", "dlc-inspect: error: no option --all; see dlc-inspect --help",
       2);
}
