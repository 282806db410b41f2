"""What runs in the candidate's process: the parser, and the count of its opcodes. Protected."""

import sys

import tomlish


def meaning(text):
    """Return what a document means, or that it is refused."""
    try:
        return {"value": tomlish.parse(text)}
    except ValueError as error:
        return {"error": str(error)}


def count(text):
    """Return how many opcodes the interpreter executes to parse a document.

    From Python 3.12 on, opcodes of code that is traced for the first time are not all counted.
    """
    traced(text)
    return traced(text)


def traced(text):
    """Parse a document; return how many opcodes the interpreter reports."""
    executed = 0

    def trace(frame, event, _):
        nonlocal executed
        frame.f_trace_opcodes, frame.f_trace_lines = True, False
        executed += event == "opcode"
        return trace

    sys.settrace(trace)
    try:
        tomlish.parse(text)
    finally:
        sys.settrace(None)
    return executed
