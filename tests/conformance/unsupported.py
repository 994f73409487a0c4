"""The files of `programs/` that use what is not built yet, each with what that is.

Every case on such a file is expected to fail, strictly: once that is built, its cases pass, the tests fail,
and the entry has to go.
"""

UNSUPPORTED: dict[str, str] = {}
