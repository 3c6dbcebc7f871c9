"""Runs the Python blocks of a page in order, and compares what each prints with the `text` block after it: tests/python_page.py PAGE."""

import contextlib
import io
import re
import sys
from pathlib import Path

page = Path(sys.argv[1]).read_text()
blocks = re.findall(r"^```([^\n]*)\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)
names, printed, count = {"__name__": "__page__"}, None, 0
for kind, text in blocks:
    if kind == "python":
        count += 1
        with contextlib.redirect_stdout(io.StringIO()) as out:
            exec(compile(text, f"block {count}", "exec"), names)
        printed = out.getvalue()
    elif kind == "text" and printed is not None:
        assert printed == text, f"block {count} prints:\n{printed}"
        printed = None
    elif printed:
        sys.exit(f"block {count} prints, and no text follows:\n{printed}")
print(count)
