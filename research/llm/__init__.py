"""Models: which there are, and how what they do wrong is called."""

import pydantic_ai

pydantic_ai.BANNER_ENABLED = False  # the terminal is the run's
