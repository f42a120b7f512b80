"""The one exception that callers of this package have to know."""


class BraidJaxError(Exception):
    """What went wrong in one sentence: subject, what was expected, what was found."""
