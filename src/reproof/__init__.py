"""A crash event in, a failing pytest out, checked in a sandbox, with evidence."""
