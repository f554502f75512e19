"""From captured text to a Python expression that makes the value again.

`decode.decode` is the door. Captured text is hostile: it is parsed by a grammar with an allow-list
of node kinds and constructors, and what comes out is a new expression made from the value. Nothing
here executes, imports or looks at the code under test; what is known about classes comes from a
`classes.ClassLookup`.
"""
