"""TensorProgram to LoopProgram: what becomes a node (`realize`), and each node's loops (`lower`)."""
