"""Becomes the program, after asking the system to end it when the process that called solve() ends, for whatever reason.

This is a separate script instead of a preexec_fn, because code between fork and exec may block if the caller has threads.
"""

import ctypes
import os
import signal
import sys

if __name__ == "__main__":
    PR_SET_PDEATHSIG = 1
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGTERM)
    if os.getppid() != int(sys.argv[1]):
        # The caller has ended already.
        sys.exit(1)
    os.execv(sys.argv[2], sys.argv[2:])
