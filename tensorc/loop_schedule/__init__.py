"""FusedProgram to NestProgram: explicit loops, registers, scratch rows (`schedule`)."""
