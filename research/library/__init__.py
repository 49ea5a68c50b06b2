"""The user's documents: read, cut into passages, indexed and searched.

`add_path` and `add_file` bring documents in, `search` finds passages. All of it is plain blocking
code: call it from a command or a thread.
"""
