"""Maintains the catalogues in `locale/`: extracts texts, compiles, and makes a pseudo-locale."""
