"""The reviewer's pages: what waits for me, one question at a time, and what I have answered."""
