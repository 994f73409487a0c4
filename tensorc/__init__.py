"""tensorc: a compiler from a small tensor language to native CPU kernels."""

__version__ = "0.1.0"
