# SPDX-License-Identifier: Apache-2.0
"""What can go wrong: each error is a sentence."""

from contextlib import contextmanager

from dlc import _runtime

# The numbers of dlc_status.
UNSUPPORTED, BAD_INPUT, NO_DEVICE = 4, 5, 7


class Error(RuntimeError):
    """A failure of the runtime; status is its dlc_status."""

    def __init__(self, status, sentence):
        super().__init__(sentence)
        self.status = status


class CompileError(RuntimeError):
    """The compiler refused a model; the text is what it printed."""


@contextmanager
def translated():
    """Turns the extension's failures into Error."""
    try:
        yield
    except _runtime.RuntimeFailure as failure:
        raise Error(*failure.args) from None
