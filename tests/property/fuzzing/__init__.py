"""The fuzzer: random programs through every path that must agree, and random texts through the front end.

`agreement` checks one text, `worker` does so in a process that may die, `shrinking` makes a failing text
small, `campaign` runs for a time and writes what fails. `texts` and `front_end` are the same for texts that
are mostly wrong. `tools/fuzz.py` starts it all.
"""
