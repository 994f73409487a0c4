"""The tensor IR: whole-array operations in SSA form (`program`)."""
