#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Seeds bugs into kernels, one at a time, and shows that the emulator notices.

usage: mutants.py DEVICE_HEADERS TEST_FOLDER PROGRAMS COMPILER [FILTER]

DEVICE_HEADERS is the include folder with dlc/, PROGRAMS the folder of the test
programs. A mutant is noticed when the test of its kernels fails; the same
kernels without the change must pass.
"""
import os
import re
import shutil
import subprocess
import sys
import tempfile

# (what is wrong, file, pattern, replacement)
IGEMM = [
    ("no wait on full", r"^        mbar_wait\(c\.full \+ 8 \* s, ph\);", ";"),
    ("no wait on empty",
     r"else \{ mbar_wait\(c\.empty \+ 8 \* s, ph\); mbar_expect\(bar, C::AB \* C::KSUB\); \}",
     "else mbar_expect(bar, C::AB * C::KSUB);"),
    ("slot released before its wgmma is done", r"wg_wait<1>\(\);  ", "wg_wait<2>();  "),
    ("no wait 0 before the epilogue", r"^      wg_wait<0>\(\);", ";"),
    ("wrong epilogue swizzle", r"\(c16 \^ \(row & 7\)\)", "(c16 ^ (row & 3))"),
    ("wrong transaction bytes", r"mbar_expect\(bar, C::WB \* C::KSUB\)",
     "mbar_expect(bar, C::WB * C::KSUB - 128)"),
    ("no fence.proxy.async", r"^            fence_async\(\);", ";"),
    ("no barrier before the TMA store", r"^            wg_sync<NC>\(wg\);$", ";"),
    ("no bulk wait before a panel is reused",
     r"else \{ if \(tid == 0\) bulk_wait_read<E - 1>\(\); wg_sync<NC>\(wg\); \}", ";"),
    ("no cluster_wait before split-K sends", r"^    cluster_wait\(\);  .*", ";"),
    ("phase never flips", r"if \(\+\+s == ST\) \{ s = 0; ph \^= 1; \}$",
     "if (++s == ST) { s = 0; }"),
    ("no wait for the residual",
     r"if \(RES\) mbar_wait\(c\.rfull \+ 8 \* slot, \(np / E\) & 1\);", "if (RES) ;"),
]
ATTENTION = [
    ("keys not waited for", "attention.cuh", r"cp_wait<kBehind>\(\);", ""),
    ("values one group short", "attention.cuh",
     r"cp_wait<Stages == 1 \? 0 : kBehind>\(\);", "cp_wait<kBehind + 1>();"),
    ("values loaded into a slot in use", "attention.cuh",
     r"load_v\(t \+ Stages - 1, before\)", "load_v(t + Stages - 1, slot)"),
    ("missing barrier before the keys' slot is loaded again", "attention.cuh",
     r"kBehind>\(\);\n      sync_block\(\);\n      if constexpr \(Stages > 1\)\n"
     r"        load_k", "kBehind>();\n      if constexpr (Stages > 1)\n        load_k"),
    ("missing barrier before the staging of the results", "attention.cuh",
     r"sync_block\(\); // the tiles", "// the tiles"),
    ("keys past the end", "attention.cuh", r">= left\)", "> left)"),
    ("sums not scaled", "attention.cuh", r"(state\.o\[0\]\[j\]\[e\] \*=) before;", r"\1 1.f;"),
    ("maximum of -inf", "attention.cuh",
     r"largest == -INFINITY \? 0\.f : largest", "largest"),
    ("rows past the end", "attention.cuh", r"if \(m >= M\)", "if (m > M)"),
]
CONTRACTION = [
    ("missing cp.async wait", "contraction.cuh", r"cp_wait<kAhead - 1>\(\);", ""),
    ("cp.async wait one group short", "contraction.cuh", r"cp_wait<kAhead - 1>\(\);",
     "cp_wait<kAhead>();"),
    ("missing barrier before products", "contraction.cuh",
     r"\} else\n        sync_block\(\);", "}"),
    ("missing barrier before the stages are reused", "contraction.cuh",
     r"sync_block\(\); // the stages", "// the stages"),
    ("one stage too many in flight", "contraction.cuh",
     r"Config::kWgmma \? Stages - 2 : Stages - 1;", "Stages;"),
    ("missing fence.proxy.async", "contraction.cuh",
     r"\{ fence_async_proxy\(\); \}", "{}"),
    ("wgmma not waited for", "contraction.cuh", r"wait_products<1>\(\);",
     "wait_products<2>();"),
    ("m bound off by one", "contraction_store.cuh", r"m >= M \|\|", "m > M ||"),
    ("k bound off by one", "contraction_load.cuh", r"k \+ e < K", "k + e <= K"),
    ("row bound missing", "contraction_load.cuh", r"r < rows && row\(i\) < Rows",
     "row(i) < Rows"),
    ("wrong lane of a fragment", "contraction_store.cuh", r"row \+ l / 4 \+ 8 \* h",
     "row + l / 8 + 8 * h"),
    ("wrong stride of the staging", "contraction_store.cuh", r"\(r \* Pitch \+ c\)",
     "(r * (Pitch - 8) + c)"),
    ("missing warp barrier in the epilogue", "contraction_store.cuh",
     r"stageRows<kPitch>\(sum, stage, 0, 0\);\n        sync_warp\(\);",
     "stageRows<kPitch>(sum, stage, 0, 0);"),
    ("missing cluster barrier", "contraction_store.cuh", r"cluster_sync\(\);", ""),
    ("a block leaves while peers read it", "contraction_store.cuh",
     r"cluster_arrive\(\); // peers", "// peers"),
    ("last block not told apart", "contraction_store.cuh", r"before == S - 1\)",
     "before == S - 2)"),
    ("counter not left at zero", "contraction_store.cuh",
     r"st\(counter, tile, int32_t\(0\)\);", ";"),
    ("partial sums of another part", "contraction_store.cuh",
     r"place\(tile, r, ", "place(tile, r - 1, "),
    ("wrong swizzle", "warp_tile.cuh", r"row & 7\)", "row & 3)"),
]
TMA = [
    ("no wait for a full slot", "contraction_tma.cuh",
     r"mbar_wait\(full\(base, ring\.slot\), ring\.parity\);", ""),
    ("no wait for an empty slot", "contraction_tma.cuh",
     r"mbar_wait\(empty\(base, slot\), parity\);", ";"),
    ("slot released before its wgmma is done", "contraction_tma.cuh",
     r"wgmma_wait<1>\(\); // the step", "wgmma_wait<2>(); // the step"),
    ("no wait for the last products", "contraction_tma.cuh", r"wgmma_wait<0>\(\);", ""),
    ("last slot never released", "contraction_tma.cuh",
     r"    if \(before >= 0\)\n      release\(base, before\);\n  \}", "  }"),
    ("wrong transaction bytes", "contraction_tma.cuh",
     r"if \(!armed\)\n          mbar_expect\(full\(base, slot\), uint32_t\(kBytes \* KSub\)\)",
     "if (!armed)\n mbar_expect(full(base, slot), uint32_t(kBytes * KSub - 128))"),
    ("phase of the ring never flips", "contraction_tma.cuh",
     r"slot = 0;\n        parity \^= 1;\n      \}\n    \}\n    DLC_DEVICE void skip",
     "slot = 0;\n      }\n    }\n    DLC_DEVICE void skip"),
    ("the other warpgroup's tile not skipped", "contraction_tma.cuh",
     r"ring\.skip\(share\.units\);", ""),
    ("products without a turn", "contraction_tma.cuh", r"passTurn\(group\);", ";"),
    ("rows of the other warpgroup", "contraction_tma.cuh",
     r"uint32_t\(rowX \* 128\)", "uint32_t(0)"),
    ("k begins anew in every part", "contraction_tma.cuh",
     r"share\.unit0 \* KSub\);", "0);"),
    ("taps of the filter transposed", "contraction_tma_load.cuh",
     r"uint16_t\(tapX \* w\.dilationX\), uint16_t\(tapY \* w\.dilationY\)",
     "uint16_t(tapY * w.dilationX), uint16_t(tapX * w.dilationY)"),
    ("padding forgotten", "contraction_tma_load.cuh", r" - w\.padX;", ";"),
    ("channels not advanced", "contraction_tma_load.cuh",
     r"tapY = 0;\n        channel \+= kTmaStep;", "tapY = 0;"),
    ("no cluster_wait before sums are sent", "contraction_tma_store.cuh",
     r"cluster_wait\(\); // every", "// every"),
    ("no wait for the sums", "contraction_tma_store.cuh", r"mbar_wait\(bar, 0\);", ";"),
    ("sums of another part", "contraction_tma_store.cuh",
     r"place\(r, group, j\)\);\n        DLC_UNROLL", "place(r - 1, group, j));\n        DLC_UNROLL"),
    ("sums for a block outside of the cluster", "contraction_tma_store.cuh",
     r"peer_address\(received, uint32_t\(to\)\)",
     "peer_address(received, uint32_t(to + S))"),
    ("too few bytes of sums expected", "contraction_tma_store.cuh",
     r"\(S - 1\) \* Groups", "(S - 2) * Groups"),
    ("ring overwritten before all have read it", "contraction_tma_store.cuh",
     r"// The staging lies where the operands were\.\n(.*\n){4}", ""),
    ("panel read before it is complete", "contraction_tma_store.cuh",
     r"stageColumns\(d\[i\], q \* \(kPanelM / 8\), t\.stage\);\n      sync_group<Config::Groups>\(t\.group\);",
     "stageColumns(d[i], q * (kPanelM / 8), t.stage);"),
    ("panel overwritten while it is read", "contraction_tma_store.cuh",
     r"sync_group<Config::Groups>\(t\.group\); // the panel", "// the panel"),
    ("halves of a panel not exchanged", "contraction_tma_store.cuh",
     r"\(l / 4 \^ \(warp & 2\) \* 2\)", "l / 4"),
    ("quads exchange once", "contraction_tma_store.cuh", r"mask <= 2;", "mask <= 1;"),
    ("m bound off by one", "contraction_tma_store.cuh",
     r"at\.m \+ row<I>\(\) < Problem::m\(p\)", "at.m + row<I>() <= Problem::m(p)"),
    ("rows of the next tile stored", "contraction_tma_store.cuh",
     r"at\.m \+ row<I>\(\) < at\.end &&", ""),
]
IMAGE_CONV = [
    ("missing cp.async wait", "image_conv.cuh", r"cp_wait<0>\(\);", ""),
    ("missing fence.proxy.async", "image_conv.cuh", r"\{ fence_async_proxy\(\); \}", "{}"),
    ("band read before it is complete", "image_conv.cuh",
     r"publish\(\);\n    sync_block\(\);", "publish();"),
    ("staging read before it is complete", "image_conv.cuh",
     r"sync_block\(\);\n      store", "store"),
    ("staging overwritten while it is read", "image_conv.cuh",
     r"column0, left\);\n      sync_block\(\);", "column0, left);"),
    ("pixels behind the image", "image_conv.cuh", r"xe < X::In", "xe <= X::In"),
    ("rows behind the image", "image_conv.cuh", r"y < Y::In", "y <= Y::In"),
    ("columns behind the result", "image_conv.cuh", r" && x \+ s < X::Out\)", ")"),
    ("row of another window", "image_conv.cuh", r"y \+= taken;", "y += 1;"),
    ("products not waited for", "image_conv.cuh", r"wgmma_wait<0>\(\);", ""),
    ("taps exchanged", "image_conv.cuh", r"g & 1 \? Smem", "g & 2 ? Smem"),
]


def main():
    headers, folder, programs, compiler = sys.argv[1:5]
    only = sys.argv[5] if len(sys.argv) > 5 else ""
    work = tempfile.mkdtemp()
    flags = ("-std=c++20 -x c++ -DDLC_HOST -DDLC_FEW -O1 -fPIC -shared -w "
             "-fno-strict-aliasing -ffp-contract=off -fno-exceptions -fno-rtti "
             "-fvisibility=hidden").split()
    if os.uname().machine == "x86_64":
        flags.append("-march=x86-64-v3")
    failures = total = 0

    def run(program, source, change):
        """True when the test fails. change: (file, pattern, text) or None."""
        tree = os.path.join(work, "tree")
        shutil.rmtree(tree, ignore_errors=True)
        shutil.copytree(os.path.join(headers, "dlc"), os.path.join(tree, "dlc"))
        shutil.copytree(folder, os.path.join(tree, "test"))
        if change:
            path = os.path.join(tree, change[0])
            with open(path) as f:
                text = f.read()
            changed = re.sub(change[1], change[2], text, flags=re.M)
            if changed == text:
                print("  the pattern no longer applies")
                return False
            with open(path, "w") as f:
                f.write(changed)
        module = os.path.join(work, "kernels.so")
        path = os.path.join(tree, "test", source)
        subprocess.run([compiler, *flags, "-I" + tree,
                        "-I" + os.path.join(tree, "test"), path, "-o", module],
                       check=True)
        env = dict(os.environ, DLC_TEST_KERNELS=module)
        try:
            done = subprocess.run(
                [os.path.join(programs, program), "--gtest_brief=1"],
                env=env, timeout=300, capture_output=True)
            return done.returncode != 0
        except subprocess.TimeoutExpired:
            return True

    groups = [
        ("IgemmTest", "igemm/igemm.cu",
         [(n, "test/igemm/igemm.cuh", p, t) for n, p, t in IGEMM]),
        ("ContractionTest", "contraction.cu",
         [(n, "dlc/" + f, p, t) for n, f, p, t in CONTRACTION]),
        ("AttentionTest", "attention.cu",
         [(n, "dlc/" + f, p, t) for n, f, p, t in ATTENTION]),
        ("TmaTest", "tma.cu", [(n, "dlc/" + f, p, t) for n, f, p, t in TMA]),
        ("ImageConvTest", "image_conv.cu",
         [(n, "dlc/" + f, p, t) for n, f, p, t in IMAGE_CONV]),
    ]
    for program, source, mutants in groups:
        if only and only not in program:
            continue
        if run(program, source, None):
            print(f"{program} fails without a change")
            failures += 1
        for name, *change in mutants:
            total += 1
            noticed = run(program, source, change)
            failures += not noticed
            print(f"{program}: {name}: {'noticed' if noticed else 'MISSED'}",
                  flush=True)
    shutil.rmtree(work)
    print(f"{total - failures} of {total} noticed")
    return failures != 0


if __name__ == "__main__":
    sys.exit(main())
