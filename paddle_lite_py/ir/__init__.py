"""The Program: values, operators, blocks, and what is done to them."""
