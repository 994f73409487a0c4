"""Messages to the user: a model (`model`) apart from its renderers (`render`)."""

from tensorc.diagnostics.model import (
    CompileError,
    Diagnostic,
    DiagnosticBag,
    Label,
    Severity,
    ToolchainError,
)

__all__ = ["CompileError", "Diagnostic", "DiagnosticBag", "Label", "Severity", "ToolchainError"]
