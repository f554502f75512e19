from __future__ import annotations

import pytest

from reproof.errors import InputError
from reproof.sandbox.select import choose


def test_unknown_sandbox_names_the_known_ones() -> None:
    with pytest.raises(InputError, match="docker") as caught:
        choose("docker")
    assert "bubblewrap" in caught.value.hint


def test_no_wall_is_only_by_name() -> None:
    assert choose("process").level == "none"
    assert choose("bubblewrap").name == "bubblewrap"
