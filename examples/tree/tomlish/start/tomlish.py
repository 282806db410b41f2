"""A small part of TOML: comments, tables, strings, numbers, booleans, arrays. Slow on purpose."""


def parse(text):
    """Return a document as nested dicts; raises ValueError naming the line."""
    document, number = {}, 0
    table = document
    for line in lines_of(text):
        number += 1
        line = without_comment(line)
        where = f"line {number}"
        if is_blank(line):
            continue
        line = stripped(line)
        try:
            if line[0] == "[":
                table = opened(document, line)
                continue
            key, value = pair_of(line)
            if key in table:
                raise ValueError(f"{key} is there already")
            table[key] = value_of(value)
        except (ValueError, IndexError) as error:
            raise ValueError(f"{where}: {error}") from None
    return document


def lines_of(text):
    """Return the lines of a text, character by character."""
    lines, line = [], ""
    for character in text:
        if character == "\n":
            lines.append(line)
            line = ""
        else:
            line = line + character
    return [*lines, line]


def without_comment(line):
    """Return a line up to its comment; a # inside a string is none."""
    kept, quoted = "", False
    for character in line:
        if character == '"':
            quoted = not quoted
        if character == "#" and not quoted:
            break
        kept = kept + character
    return kept


def is_blank(line):
    """Whether a line has nothing but white space."""
    blank = True
    for character in line:
        if character not in (" ", "\t"):
            blank = False
    return blank


def stripped(line):
    """Return a line without white space at its ends."""
    while line and line[0] in (" ", "\t"):
        line = line[1:]
    while line and line[-1] in (" ", "\t"):
        line = line[:-1]
    return line


def opened(document, line):
    """Return the table that a header names; it is made if it is not there."""
    if line[-1] != "]":
        raise ValueError("the header does not end")
    table = document
    for name in line[1:-1].split("."):
        table = table.setdefault(stripped(name), {})
    return table


def pair_of(line):
    """Return the key and the text of the value."""
    key = ""
    for position, character in enumerate(line):
        if character == "=":
            return stripped(key), stripped(line[position + 1 :])
        key = key + character
    raise ValueError("there is no =")


def value_of(text):
    """Return a value from its text."""
    if text in ("true", "false"):
        return text == "true"
    if text[0] == '"':
        if len(text) < 2 or text[-1] != '"':
            raise ValueError("the string does not end")
        return text[1:-1]
    if text[0] == "[":
        if text[-1] != "]":
            raise ValueError("the array does not end")
        inner = stripped(text[1:-1])
        return [value_of(stripped(item)) for item in inner.split(",")] if inner else []
    return number_of(text)


def number_of(text):
    """Return a whole number or a fraction, digit by digit."""
    sign = -1 if text[0] == "-" else 1
    digits, places = 0, None
    for character in text[1:] if text[0] in "+-" else text:
        if character == "." and places is None:
            places = 0
        elif character in "0123456789":
            digits = digits * 10 + "0123456789".index(character)
            places = None if places is None else places + 1
        else:
            raise ValueError(f"{text} is not a value")
    return sign * digits if places is None else sign * digits / 10**places
