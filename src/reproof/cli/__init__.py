"""The command line: one module per command, imported only when that command runs.

`main` parses and is the one place where errors become exit codes; `repro`, `demo`, `doctor` and
`bench` are the commands; `console` owns the two streams; `render` turns a verdict into text and
`documents` holds the JSON that is written when there is no verdict. Nothing here decides a verdict.
"""
