"""How agents see operations: tools, their arguments and answers. Each feature's `tools` lists its own."""
