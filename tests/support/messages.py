"""What every message about a user's mistake is like."""

from hanamachi.limits import MESSAGE


def assert_one_sentence(said: object, *words: str) -> str:
    """An error, or its text, is one printable line of at most 300 characters with these words."""
    text = str(said)
    assert 0 < len(text) <= MESSAGE
    assert text.isprintable()
    for word in words:
        assert word in text
    return text
