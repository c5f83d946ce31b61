# SPDX-License-Identifier: GPL-3.0-or-later
# A terminal for tests; loaded by those that look at screens.

# on_terminal ARG...: runs dlest on a terminal; the file seen has what it shows,
# without the carriage returns that the terminal adds. It has $WIDTH columns
# (default: it does not tell) and colours if $COLOUR says so. With $CHECKED a
# failure of dlest is one of the test.
on_terminal() {
  python3 - "$DLEST" "$@" <<'PY'
import fcntl, os, pty, struct, sys, termios
pid, fd = pty.fork()
if pid == 0:
    if 'COLOUR' not in os.environ:
        os.environ['NO_COLOR'] = '1'
    columns = int(os.environ.get('WIDTH', '0'))
    fcntl.ioctl(1, termios.TIOCSWINSZ, struct.pack('HHHH', 40, columns, 0, 0))
    os.execv(sys.argv[1], sys.argv[1:])
seen = b''
while True:
    try:
        block = os.read(fd, 65536)
    except OSError:
        break
    if not block:
        break
    seen += block
status = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
open('seen', 'wb').write(seen.replace(b'\r\n', b'\n'))
sys.exit(status if 'CHECKED' in os.environ else 0)
PY
}
