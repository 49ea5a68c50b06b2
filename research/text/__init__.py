"""Words, sentences, markers and verdicts: plain Python that knows nothing of Django."""
