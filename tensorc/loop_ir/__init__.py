"""The loop IR: nodes with iteration axes and scalar bodies (`program`)."""
