# SPDX-License-Identifier: GPL-3.0-or-later
# Makes macros for unit tests of tests/messages: MSG_KEY, or MSG_KEY(a1, a2)
# where the text has places for arguments, which are string literals.
BEGIN {
  FS = "\t"
  print "/* Made of tests/messages by tests/messages.awk. */"
}
{
  text = $2
  gsub(/\\/, "\\\\", text)
  gsub(/"/, "\\\"", text)
  n = split(text, part, "%s")
  body = ""
  names = ""
  for (i = 1; i <= n; i++) {
    gsub(/%%/, "%", part[i])
    body = body " \"" part[i] "\""
    if (i < n) {
      body = body " a" i
      names = names (i > 1 ? ", " : "") "a" i
    }
  }
  print "#define MSG_" $1 (n > 1 ? "(" names ")" : "") body
}
