# SPDX-License-Identifier: Apache-2.0
"""The two bounds within which an output has to be: the norm of the difference,
and every single element."""

import numpy as np


def compare(out, expected, bound):
    """(within, sentence): bound is on the norm, relative; an element may be
    off by 8 times the bound of its own size plus the root mean square."""
    if out.shape != expected.shape:
        return False, f"shape {out.shape}, expected {expected.shape}"
    if expected.dtype.kind not in "f":
        wrong = int((out != expected).sum())
        return wrong == 0, f"{wrong} of {expected.size} elements differ"
    if expected.size == 0:
        return True, "empty"
    ours, theirs = out.astype(np.float64), expected.astype(np.float64)
    finite = np.isfinite(theirs)
    same = np.array_equal(ours[~finite], theirs[~finite], equal_nan=True)
    if not same or not np.isfinite(ours[finite]).all():
        return False, "NaN or infinity in other places than expected"
    ours, theirs = ours[finite], theirs[finite]
    off = np.abs(ours - theirs)
    size = np.linalg.norm(theirs)
    norm = np.linalg.norm(off) / size if size else np.linalg.norm(off)
    rms = size / max(1, theirs.size) ** 0.5
    allowed = 8 * bound * (np.abs(theirs) + rms)
    worst = float((off / np.maximum(allowed, np.finfo(np.float64).tiny)).max(
        initial=0.0))
    within = norm <= bound and worst <= 1
    return within, (f"norm {norm:.1e} of {bound:.0e}, "
                    f"worst element {worst:.2f} of 1")
