"""Actions: the only writers of the rows of research.

An action is a function of the locked `Run` that changes rows and returns a `Change`: what to say
in the log. `research.engine.work.apply` runs it and writes its events in one transaction.
"""
