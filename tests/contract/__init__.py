"""The contract of the interface, row by row, and the tests that hold each row."""
