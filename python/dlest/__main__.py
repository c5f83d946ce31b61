# SPDX-License-Identifier: GPL-3.0-or-later
"""python3 -m dlest: the program that this module uses."""

import os
import sys

from ._program import Error, program

try:
    path = program()
    os.execv(path, [path] + sys.argv[1:])
except Error as e:
    sys.exit("dlest: %s" % e)
except OSError as e:
    sys.exit("dlest: %s: %s" % (path, e.strerror))
