"""The files of `programs/` that use what is not built yet, each with what that is.

Every case on such a file is expected to fail, strictly: once that is built, its cases pass, the tests fail,
and the entry has to go.
"""

UNSUPPORTED: dict[str, str] = {
    "C05.tdsl": "bf16, f16",
    "C17.tdsl": "f16",
    "C27.tdsl": "f16",
    "C30.tdsl": "i16, i8, u32, u64, u8",
    "C31.tdsl": "i16, i8",
    "C32.tdsl": "u8",
    "C34.tdsl": "i8, u32",
    "C36.tdsl": "i8, u32",
    "C38.tdsl": "i16, i8, u32, u64, u8",
    "C40.tdsl": "f16, i16, i8, u64, u8",
    "C71.tdsl": "i8, u16",
    "C73.tdsl": "take, take_along_axis",
    "C74.tdsl": "take, take_along_axis",
    "C76.tdsl": "take",
    "C77.tdsl": "f16, i16, i8, u16, u32, u64, u8",
}
