"""The one form of what rules refuse at analysis."""

visibility("//gate/...")

def refusal(label, attribute, expected, found, do):
    """The text of a refusal, in the one form that all of them have.

    Args:
      label: of the target.
      attribute: that was wrong.
      expected: what it takes.
      found: what it holds.
      do: what to do.

    Returns:
      A string.
    """
    return "{}: `{}`: expected {}, found {}. {}".format(label, attribute, expected, found, do)
