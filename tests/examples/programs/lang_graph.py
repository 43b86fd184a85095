"""The sample of LangGraph, as it is."""

import os

exec(os.environ["SAMPLE"])
