"""Text to AST: `parser.parse_file(source, bag) -> ast.File`."""
