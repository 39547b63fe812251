"""What an action that runs whisper-cli takes of a machine.

ggml's threads wait for each other by spinning: two runs that share their processors take many times
as long as one after the other.
"""

visibility("//gate/...")

def _one(_os, _inputs):
    return {"cpu": 1}

def _two(_os, _inputs):
    return {"cpu": 2}

def _four(_os, _inputs):
    return {"cpu": 4}

def _eight(_os, _inputs):
    return {"cpu": 8}

def whisper_resources(threads):
    """The resource_set of an action whose whisper-cli has so many threads.

    Args:
      threads: of whisper-cli.

    Returns:
      A function, as ctx.actions.run takes it.
    """
    if threads == 1:
        return _one
    if threads <= 2:
        return _two
    return _four if threads <= 4 else _eight
